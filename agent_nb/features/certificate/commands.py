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
from agent_nb._base.secrets import is_secret_name, safe_text
from agent_nb._base.text import listed, printable_line
from agent_nb._base.wire import parse_json
from agent_nb.features.certificate.certificate import Certificate, certificate_of, masked
from agent_nb.features.certificate.data import MOST_BYTES, NotExactError, Stored, encoded, encoded_file
from agent_nb.features.certificate.digests import NotCanonicalError, columns_of, digest_of, digest_of_file
from agent_nb.features.certificate.forms import ChangedError, read_html
from agent_nb.features.certificate.inputs import is_below
from agent_nb.features.certificate.verify import (
    CANNOT,
    DIFFERENT,
    Sources,
    Verification,
    check_complete,
    needed,
    verify,
)
from agent_nb.plugins import ConfigError, Host, Run
from agent_nb.plugins.engine import load, read_notebook_cells

WITH_DATA = "--with-data"
_MOST_FILE = 3 * MOST_BYTES
_MOST_NOTEBOOK = 50_000_000


def runs(host: Host, before: Sequence[str]) -> Iterable[tuple[str, str]]:
    return [(name, value.model) for name, value in host.namespace.items() if isinstance(value, Run)]


def certify_command(host: Host, arguments: str) -> str:
    words = [word for word in _split(arguments) if word != WITH_DATA]
    if not 1 <= len(words) <= 2:
        raise ConfigError(f"Name a run, such as `{host.command('certify hero')}`.")
    run = _run(host, words[0])
    target = words[1] if len(words) == 2 else f"{words[0]}.certificate.html"
    made = certificate_of(replace(run, name=words[0]), host.namespace)
    notes: list[str] = []
    if WITH_DATA in arguments.split():
        made, notes = with_data(made, host.namespace)
    form = {".html": made.to_html, ".md": made.to_markdown}.get(Path(target).suffix.lower())
    if form is None:
        raise ConfigError(f"A certificate is written to files that end in .html or .md, not to {target!r}.")
    text = form()
    if safe_text(text) != text:
        raise ConfigError("The certificate would contain a secret, so it was not written.")
    try:
        path = write_own(target, safe_text(text).encode(), overwrite=False, home=host.home)
    except OSError as error:
        raise ConfigError(f"{target!r} cannot be written: {error.strerror or error}.") from None
    check = f"`agent-nb verify {path.name}` checks it." if path.suffix == ".html" else ""
    return " ".join(filter(None, [f"Wrote {path.name}: {repr(made).splitlines()[-1]}", *notes, check]))


def with_data(made: Certificate, namespace: Mapping[str, Any]) -> tuple[Certificate, list[str]]:
    """The certificate with the inputs that it needs, as text; raises `ConfigError` for one that cannot be included."""
    if made.sent == "schema":
        raise ConfigError("The run sent no values (`--data schema`), so its certificate contains none.")
    stored: list[Stored] = []
    notes: list[str] = []
    size = 0
    for each in needed(made):
        entry = _stored(each.name, each.digest, namespace, made.salt)
        size += len(entry.text)
        if size > MOST_BYTES:
            raise ConfigError(f"The data have more than {MOST_BYTES:,} bytes with `{each.name}`.")
        if entry.left_out:
            notes.append(f"`{each.name}` is without {listed(entry.left_out)}, which is named like a secret.")
        stored.append(entry)
    return masked(replace(made, data=tuple(stored))), notes


def _stored(name: str, digest: str, namespace: Mapping[str, Any], salt: str) -> Stored:
    if name not in namespace:
        path = Path(name)
        if not (is_below(name) and path.is_file()):
            raise ConfigError(f"`{name}` does not exist any more.")
        if digest and digest_of_file(path, salt) != digest:
            raise ConfigError(f"`{name}` has changed since the run.")
        return encoded_file(name, path)
    value = namespace[name]
    try:
        if digest and digest_of(value, salt) != digest:
            raise ConfigError(f"`{name}` has changed since the run.")
        labels = [label for label, _ in columns_of(value)] if hasattr(value, "columns") else []
        entry = encoded(name, value, tuple(label for label in labels if is_secret_name(label)))
    except (NotExactError, NotCanonicalError):
        raise ConfigError(f"`{name}` cannot be written as text from which it could be made again.") from None
    if is_secret_name(name) or safe_text(entry.text) != entry.text:
        raise ConfigError(f"`{name}` contains a secret.")
    return entry


def _run(host: Host, name: str) -> Run:
    run = host.namespace.get(name)
    if not isinstance(run, Run):
        raise ConfigError(f"`{name}` is not a finished run. `{host.command('load NAME')}` loads a saved one.")
    return run


def verify_command(host: Host, arguments: "str | Run") -> Verification:
    """Verify a run of this session, or a file."""
    options = _options(_split(arguments) if isinstance(arguments, str) else ["run"])
    run = arguments if isinstance(arguments, Run) else host.namespace.get(options.what)
    if not isinstance(run, Run):
        made = _read(host.home / os.path.expanduser(options.what))
        return _verified(host, made, _sources(options, made), options)
    made = certificate_of(run, host.namespace)
    sources = _sources(options, made)
    if not sources.before:
        sources = replace(sources, data=_of_session(made, host.namespace))
        options.yes = options.yes or host.has_run(run)
    return _verified(host, made, sources, options)


def _of_session(made: Certificate, namespace: Mapping[str, Any]) -> tuple[Stored, ...]:
    stored = []
    for each in needed(made):
        try:
            stored.append(_stored(each.name, "", namespace, made.salt))
        except ConfigError as error:
            raise ConfigError(f"{error} `--notebook FILE` runs a notebook that makes it.") from None
    return tuple(stored)


def _verified(host: Host, made: Certificate, sources: Sources, options: argparse.Namespace) -> Verification:
    check_complete(made, sources)
    if (made.cells or sources.before) and not options.yes:
        if not host.is_attended():
            raise ConfigError("Nothing was run: nobody can be asked. `--yes` runs the code.")
        code = "\n\n".join([*sources.before, *made.codes])
        if not host.confirm(f"\n{code}\n\nRun this code in a fresh kernel, with your rights?"):
            raise ConfigError("Nothing was run: nobody approved the code.")
    return verify(made, sources, options.progress, strict=options.strict)


def verify_in_terminal(host: Host, words: Sequence[str]) -> Printed:
    is_json = "--json" in words
    try:
        options = _options(words)
        options.progress = host.say
        made = _read(Path(options.what))
        result = _verified(host, made, _sources(options, made), options)
    except ConfigError as error:
        status = DIFFERENT if isinstance(error, ChangedError) else CANNOT
        facts = {"status": status, "rows": [], "notes": [str(error)]}
        return Printed(json.dumps(facts) if is_json else printable_line(str(error)), status)
    return Printed(json.dumps(result.to_json()) if is_json else repr(result), result.status)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message}.")


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(prog="verify", add_help=False)
    parser.add_argument("what")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--notebook", type=Path)
    parser.add_argument("--seconds", type=float, default=300.0)
    for name in ("--strict", "--json", "--yes"):
        parser.add_argument(name, action="store_true")
    parser.set_defaults(progress=lambda text: None)
    return parser.parse_args(words)


def _split(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError as error:
        raise ConfigError(f"{error}.") from None


def _read(path: Path) -> Certificate:
    """The certificate in a file, or that of a saved run."""
    if path.name.endswith(".jsonl"):
        return certificate_of(load(path))
    try:
        return read_html(read_file(path, _MOST_FILE).decode())
    except OSError as error:
        raise ConfigError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{str(path)!r} is not a certificate.") from None


def _cells_before(name: str, notebook: Any) -> Iterator[str]:
    """The code cells above that of the run, or all, without those of agents."""
    for cell in read_notebook_cells(notebook.get("cells") if isinstance(notebook, dict) else ()):
        if re.match(rf"%%\w+ {re.escape(name)}\b", cell.source):
            return
        if cell.kind == "code" and not re.match(r"%%agent|%agent|%load_ext agent_nb", cell.source):
            yield cell.source


def _sources(options: argparse.Namespace, made: Certificate) -> Sources:
    sources = Sources(seconds=options.seconds)
    if options.data:
        files = [each.name for each in needed(made) if each.kind == "file" and is_below(each.name)]
        there = [name for name in files if (options.data / name).is_file()]
        sources = replace(sources, data=tuple(encoded_file(name, options.data / name) for name in there))
    if options.notebook:
        try:
            codes = _cells_before(made.name, parse_json(read_file(options.notebook, _MOST_NOTEBOOK)))
        except OSError as error:
            raise ConfigError(
                f"{str(options.notebook)!r} cannot be read: {error.strerror or error}."
            ) from None
        sources = replace(sources, before=tuple(codes), home=options.notebook.resolve().parent)
    return sources
