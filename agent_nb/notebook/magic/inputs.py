"""Reads what a cell names: the images and PDFs of `-i`, the text of `--system`; and finds untouched exercises."""

import ast
import contextlib
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from agent_nb._base.atomic import read_file
from agent_nb._base.constants import MODE_VARIABLE
from agent_nb._base.secrets import mask_values
from agent_nb._base.threads import off_loop
from agent_nb.core.errors import ConfigError
from agent_nb.core.messages import Attachment
from agent_nb.engine.description import Description
from agent_nb.engine.draft import CellPrompt
from agent_nb.engine.feature_code import CellCode
from agent_nb.images.pdf import to_attachment
from agent_nb.notebook.cassette_choice import default_mode
from agent_nb.notebook.session import Session
from agent_nb.notebook.values.value_paths import lookup

DESIGN_FOLDER = "design"
SYSTEM_LIMIT = 100_000
_WHERE = f"a variable, a file `NAME`, `NAME.md` or `{DESIGN_FOLDER}/NAME.md` in the working folder, or the text itself"
_STUBS = {
    "your code here",
    "your answer here",
    "raise notimplementederror",
    "raise notimplementederror()",
    "type your answer here, replacing this text.",
    "...",
    "pass",
}
_MARKER = re.compile(r"(?:begin|end) (?:solution|prompt|question|hidden tests)|solution(?: no prompt)?")
"""Markers that nbgrader and Otter put around solutions."""
_COMMENT = "#%/<!->*_ \t"
"""Comment characters around a stub, in code and in Markdown."""
_CONFIG = "nbgrader_config.py"
_LEVELS = 4
"""nbgrader runs notebooks in `autograded/STUDENT/ASSIGNMENT`; its configuration is in the course folder."""


def check_prompt(session: Session, cell: str) -> None:
    if not cell.strip():
        raise ConfigError(
            f"The cell is empty. Write the prompt below the %%{session.defaults.magic_name} line."
        )
    if is_stub(cell, session.home):
        raise ConfigError(
            "The cell still has the placeholder of an exercise and no prompt, so nothing was sent. Write your prompt in"
            " its place."
        )


class Images(CellCode[Sequence[str]]):
    async def prompt(self, cell: CellPrompt) -> Description | None:
        names, session = cell.get(self.feature) or (), cast("Session", cell.host)
        return Description("", images=tuple(await load_images(names, session.namespace)))


class SystemText(CellCode[str]):
    async def prompt(self, cell: CellPrompt) -> Description | None:
        source, names = cell.get(self.feature), cast("Session", cell.host).namespace
        if source in names and not cell.sends_values:
            raise ConfigError(
                f"`{source}` is a variable, and --data schema sends no values. Write the text itself after --system, or"
                " name a file."
            )
        cell.instructions.append(await off_loop(find_system, source, names, cell.host.home))
        return None


async def load_images(names: Iterable[str], namespace: Mapping[str, Any]) -> list[Attachment]:
    """The images and PDFs that `-i` names: variables, which can be lists of them, then paths and https URLs."""
    images = []
    for name in names:
        for label, source in _sources(name, namespace):
            if str(source).startswith(("https:", "http:")) and default_mode() == "replay":
                raise ConfigError(f"{MODE_VARIABLE}=replay, so {source!r} is not fetched. Use a local file.")
            images.append(await off_loop(to_attachment, source, label))
    return images


def _sources(name: str, namespace: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The inputs for `to_attachment` with their labels, which are empty for paths and URLs."""
    if name not in namespace and not (name.partition("[")[0] in namespace and "[" in name):
        if name.isidentifier() and not Path(name).exists():
            raise ConfigError(
                f"There is no variable or file {name!r}. -i takes a variable, a file or an https URL."
            )
        return [("", name)]
    value = lookup(name, namespace)
    if not isinstance(value, list | tuple):
        return [(name, value)]
    if not value:
        raise ConfigError(f"`{name}` is empty, so there is nothing to send.")
    return [(f"{name}[{number}]", item) for number, item in enumerate(value)]


def find_system(source: str | None, namespace: Mapping[str, Any], home: Path) -> str:
    """The text for `--system`: the value of that variable, else the content of that file, else `source` itself."""
    if not source:
        return ""
    if source in namespace:
        value = namespace[source]
        if not isinstance(value, str | Path):
            raise ConfigError(
                f"`{source}` is of type {type(value).__name__}, not text. --system takes {_WHERE}."
            )
        return mask_values(value) if isinstance(value, str) else _read(home / value)
    for path in (source, f"{source}.md", f"{DESIGN_FOLDER}/{source}.md"):
        if len(source) < 200 and "\n" not in source and (file := home / path).is_file():
            return _read(file)
    if len(source.split()) == 1:
        _check_word(source, namespace, home)
    return source


def system_names(home: Path) -> list[str]:
    return sorted(file.stem for folder in (home, home / DESIGN_FOLDER) for file in folder.glob("*.md"))


def _check_word(word: str, namespace: Mapping[str, Any], home: Path) -> None:
    """Refuse a mistyped name, which would otherwise be sent as a one-word instruction."""
    texts = [name for name, value in namespace.items() if isinstance(value, str) and name[0] != "_"]
    near = difflib.get_close_matches(word, [*texts, *system_names(home)], 1, 0.7)
    if near:
        raise ConfigError(f"There is no variable or file `{word}`. Did you mean `--system {near[0]}`?")
    if "/" in word or word.endswith((".md", ".txt")):
        raise ConfigError(f"There is no file {word!r}. --system takes {_WHERE}.")


def _read(file: Path) -> str:
    try:
        text = read_file(file, 4 * SYSTEM_LIMIT).decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise ConfigError(f"{file.name!r} is not UTF-8 text.") from None
    except OSError as error:
        raise ConfigError(f"{file.name!r} cannot be read: {error.strerror}.") from None
    if len(text) > SYSTEM_LIMIT:
        raise ConfigError(
            f"{file.name!r} has {len(text):,} characters. --system takes up to {SYSTEM_LIMIT:,}."
        )
    return text.strip()


def is_stub(prompt: str, folder: Path) -> bool:
    """Whether an exercise is untouched: every line is an nbgrader or Otter placeholder."""
    lines = set(_lines(prompt))
    custom_stubs = {line for stub in _configured(folder) for line in _lines(stub)}
    return bool(lines) and all(line in _STUBS | custom_stubs or _MARKER.fullmatch(line) for line in lines)


def _lines(text: str) -> Iterator[str]:
    return filter(None, (line.strip(_COMMENT).casefold() for line in text.splitlines()))


def _configured(folder: Path) -> list[str]:
    """The stubs assigned as literals in the nearest nbgrader configuration, which is parsed but not executed."""
    for place in (folder, *folder.parents)[:_LEVELS]:
        with contextlib.suppress(OSError, ValueError, SyntaxError, RecursionError, MemoryError):
            tree = ast.parse(read_file(place / _CONFIG, 1_000_000))
            return [stub for node in tree.body if isinstance(node, ast.Assign) for stub in _assigned(node)]
    return []


def _assigned(node: ast.Assign) -> list[str]:
    if not ast.unparse(node.targets[0]).endswith(("code_stub", "text_stub")):
        return []
    value: Any = ast.literal_eval(node.value)
    stubs = value.values() if isinstance(value, dict) else [value]
    return [stub for stub in stubs if isinstance(stub, str)]
