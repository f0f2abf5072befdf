"""`%agent certify` and `verify`, in a notebook and in a terminal."""

import argparse
import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from agent_nb._base.atomic import read_file, write_own
from agent_nb._base.command import Printed
from agent_nb._base.secrets import has_secret, is_secret_name
from agent_nb._base.text import listed, printable_line
from agent_nb._base.wire import parse_json
from agent_nb.features.certificate.certificate import Certificate, certificate_of, masked
from agent_nb.features.certificate.data import (
    MOST_BYTES,
    NotExactError,
    Stored,
    encoded,
    encoded_file,
    is_below,
)
from agent_nb.features.certificate.digests import NotCanonicalError, columns_of, digest_of, digest_of_file
from agent_nb.features.certificate.forms import ChangedError, read_html
from agent_nb.features.certificate.fresh_kernel import Inputs
from agent_nb.features.certificate.inputs import Input
from agent_nb.features.certificate.verify import CANNOT, DIFFERENT, Verification, check_complete, verify
from agent_nb.plugins import ConfigError, Host, Run
from agent_nb.plugins.engine import load, read_notebook_cells

_MOST_FILE = 3 * MOST_BYTES
_OF_AGENTS = re.compile(r"%%?agent\b|%(?:re)?load_ext agent_nb\b")


def certify_command(host: Host, arguments: str) -> str:
    options = _options("certify", arguments, {"run": {}, "path": {"nargs": "?"}}, ["--with-data"])
    run, path = _run(host, options.run), options.path or f"{options.run}.certificate.html"
    made, notes = certificate_of(replace(run, name=options.run), host.namespace), list[str]()
    if options.with_data:
        made, notes = _with_data(made, host.namespace)
    forms = {".html": made.to_html, ".md": made.to_markdown}
    if (form := forms.get(Path(path).suffix.lower())) is None:
        raise ConfigError(f"A certificate is written to files that end in .html or .md, not to {path!r}.")
    text = form()
    if has_secret(text):
        raise ConfigError("The certificate would contain a secret, so it was not written.")
    try:
        written = write_own(path, text.encode(), overwrite=False, home=host.home)
    except OSError as error:
        raise ConfigError(f"{path!r} cannot be written: {error.strerror or error}.") from None
    return " ".join([f"Wrote {written.name}.", repr(made).splitlines()[-1], *notes])


def runs(host: Host, before: Sequence[str]) -> Iterable[tuple[str, str]]:
    return [(name, value.model) for name, value in host.namespace.items() if isinstance(value, Run)]


def verify_command(host: Host, arguments: str | Run) -> Verification:
    """Verify a run of this session or a file."""
    options = _verify_options("run" if isinstance(arguments, Run) else arguments)
    run = arguments if isinstance(arguments, Run) else host.namespace.get(options.what)
    if not isinstance(run, Run):
        return _verified(host, _read(host.home / os.path.expanduser(options.what)), options)
    made = certificate_of(run, host.namespace)
    if not options.notebook:
        options.yes = options.yes or host.has_run(run)
        made = replace(made, data=tuple(_stored(each, None, host.namespace) for each in made.needs))
    return _verified(host, made, options)


def verify_in_terminal(host: Host, words: Sequence[str]) -> Printed:
    is_json = "--json" in words
    try:
        options = _verify_options(shlex.join(words))
        options.say = host.say
        result = _verified(host, _read(Path(options.what)), options)
    except ConfigError as error:
        status = DIFFERENT if isinstance(error, ChangedError) else CANNOT
        facts = {"status": status, "rows": [], "notes": [str(error)]}
        return Printed(json.dumps(facts) if is_json else printable_line(str(error)), status)
    return Printed(json.dumps(result.to_json()) if is_json else repr(result), result.status)


def _verified(host: Host, made: Certificate, options: argparse.Namespace) -> Verification:
    inputs = _inputs(made, options)
    check_complete(made, inputs)
    if (made.cells or inputs.before) and not options.yes:
        tries = [code for each in made.tries for code in each.code] if made.agree > 1 else []
        code = "\n\n".join([*inputs.before, *(cell.source for cell in made.cells), *tries])
        if not host.confirm(f"\n{code}\n\nRun this code in a fresh kernel, with your rights?"):
            raise ConfigError("Nothing was run: nobody approved the code. `--yes` runs it without asking.")
    return verify(made, inputs, options.seconds, strict=options.strict, say=options.say)


def _inputs(made: Certificate, options: argparse.Namespace) -> Inputs:
    names = [each.name for each in made.inputs if each.kind != "code"]
    inputs = Inputs(names=names, salt=made.salt, data=made.data)
    if folder := options.data:
        files = [each.name for each in made.needs if each.kind == "file" and is_below(each.name)]
        there = [encoded_file(name, folder / name) for name in files if (folder / name).is_file()]
        inputs = replace(inputs, data=(*made.data, *there))
    if notebook := options.notebook:
        cells = tuple(_cells_above(made.name, parse_json(_bytes(notebook))))
        home = notebook.resolve().parent  # where nothing is written
        data = tuple(each for each in inputs.data if each.form != "file")
        inputs = replace(inputs, data=data, before=cells, home=home)
    return inputs


def _cells_above(name: str, notebook: Any) -> Iterator[str]:
    """The code above the cell of the run, or all of it, without the cells of agents."""
    for cell in read_notebook_cells(notebook.get("cells") if isinstance(notebook, dict) else ()):
        if re.match(rf"%%\w+ {re.escape(name)}\b", cell.source):
            return
        if cell.kind == "code" and not _OF_AGENTS.match(cell.source):
            yield cell.source


def _read(path: Path) -> Certificate:
    """The certificate in a file, or that of a saved run."""
    if path.name.endswith(".jsonl"):
        return certificate_of(load(path))
    return read_html(_bytes(path).decode("utf-8", "replace"))


def _bytes(path: Path) -> bytes:
    try:
        return read_file(path, _MOST_FILE)
    except OSError as error:
        raise ConfigError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from None


def _with_data(made: Certificate, namespace: Mapping[str, Any]) -> tuple[Certificate, list[str]]:
    """The certificate with the inputs that its code needs, and notes; raises `ConfigError` if it cannot have one."""
    if made.is_schema:
        raise ConfigError("The run sent no values (`--data schema`), so its certificate contains none.")
    data, notes, size = list[Stored](), list[str](), 0
    for each in made.needs:
        data.append(stored := _stored(each, made.salt if each.digest else None, namespace))
        size += len(stored.text)
        if size > MOST_BYTES:
            raise ConfigError(f"The data have more than {MOST_BYTES:,} bytes with `{each.name}`.")
        if stored.left_out:
            notes.append(f"`{each.name}` is without {listed(stored.left_out)}, which is named like a secret.")
    return masked(replace(made, data=tuple(data))), notes


def _stored(each: Input, salt: str | None, namespace: Mapping[str, Any]) -> Stored:
    """The input as text; raises `ConfigError` if that cannot be, or if its digest with the salt is another one."""
    name, has_changed = each.name, ConfigError(f"`{each.name}` has changed since the run.")
    if each.kind == "file":
        if not (is_below(name) and Path(name).is_file()):
            raise ConfigError(f"The file `{name}` does not exist any more.")
        if salt is not None and digest_of_file(Path(name), salt) != each.digest:
            raise has_changed
        return encoded_file(name, Path(name))
    if name not in namespace:
        raise ConfigError(f"`{name}` does not exist any more.")
    value = namespace[name]
    try:
        if salt is not None and digest_of(value, salt) != each.digest:
            raise has_changed
        labels = [label for label, _ in columns_of(value)] if hasattr(value, "columns") else []
        stored = encoded(name, value, tuple(label for label in labels if is_secret_name(label)))
    except (NotExactError, NotCanonicalError):
        raise ConfigError(f"`{name}` cannot be written as text from which it could be made again.") from None
    if is_secret_name(name) or has_secret(stored.text):
        raise ConfigError(f"`{name}` contains a secret.")
    return stored


def _run(host: Host, name: str) -> Run:
    run = host.namespace.get(name)
    if not isinstance(run, Run):
        raise ConfigError(f"`{name}` is not a finished run. `{host.command('load NAME')}` loads a saved one.")
    return run


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{self.prog}: {message}.")


def _options(
    command: str, arguments: str, values: Mapping[str, Any], flags: Iterable[str]
) -> argparse.Namespace:
    parser = _Parser(prog=command, add_help=False)
    for name, details in values.items():
        parser.add_argument(name, **details)
    for flag in flags:
        parser.add_argument(flag, action="store_true")
    try:
        return parser.parse_args(shlex.split(arguments))
    except ValueError as error:  # an open quotation mark
        raise ConfigError(f"{error}.") from None


def _verify_options(arguments: str) -> argparse.Namespace:
    paths = {"type": Path}
    values = {
        "what": {},
        "--data": paths,
        "--notebook": paths,
        "--seconds": {"type": float, "default": 300.0},
    }
    options = _options("verify", arguments, values, ["--strict", "--json", "--yes"])
    options.say = len
    return options
