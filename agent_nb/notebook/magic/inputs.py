"""What `-i` and `--system` name: pictures and design systems, in variables and in files beside the notebook."""

import asyncio
import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from IPython.core.error import UsageError

from agent_nb.images.convert import to_image
from agent_nb.messages import Image
from agent_nb.notebook.magic.context import lookup
from agent_nb.notebook.magic.mode import Playing

DESIGNS = "design"
"""The folder of own design systems."""
SYSTEM_LIMIT = 100_000
_WHERE = f"a variable, a file `NAME`, `NAME.md` or `{DESIGNS}/NAME.md` in the working directory, or the text itself"


async def load_images(names: Iterable[str], namespace: Mapping[str, Any], playing: Playing) -> list[Image]:
    """The pictures that `-i` names: variables, also lists of pictures, else paths and https addresses."""
    images = []
    for name in names:
        for called, picture in _found(name, namespace):
            playing.check_image(picture)
            images.append(await asyncio.to_thread(to_image, picture, called))
    return images


def _found(name: str, namespace: Mapping[str, Any]) -> list[tuple[str, Any]]:
    if name not in namespace and not (name.partition("[")[0] in namespace and "[" in name):
        if not name.strip():
            raise UsageError("-i needs a picture: a file, a variable or an https address.")
        if name.isidentifier() and not Path(name).exists():
            raise UsageError(f"There is no variable and no file {name!r}. -i takes a picture in either.")
        return [("", name)]
    value = lookup(name, namespace)
    if not isinstance(value, list | tuple):
        return [(name, value)]
    if not value:
        raise UsageError(f"`{name}` is empty; there is no picture in it.")
    return [(f"{name}[{number}]", item) for number, item in enumerate(value)]


def find_system(named: str | None, namespace: Mapping[str, Any], home: Path) -> str:
    """The text that `--system` names, from a variable, else a file, else as it stands."""
    if not named:
        return ""
    if named in namespace:
        value = namespace[named]
        if not isinstance(value, str | Path):
            raise UsageError(f"`{named}` is a {type(value).__name__}, not text. --system takes {_WHERE}.")
        return value if isinstance(value, str) else _read(home / value)
    for place in (named, f"{named}.md", f"{DESIGNS}/{named}.md"):
        if len(named) < 200 and "\n" not in named and (file := home / place).is_file():
            return _read(file)
    if len(named.split()) == 1:
        _check_word(named, namespace, home)
    return named


def system_names(home: Path) -> list[str]:
    """What `--system` can name among the files."""
    return sorted(file.stem for folder in (home, home / DESIGNS) for file in folder.glob("*.md"))


def _check_word(word: str, namespace: Mapping[str, Any], home: Path) -> None:
    """A name that leads nowhere must not become one word of instructions."""
    texts = [name for name, value in namespace.items() if isinstance(value, str) and name[0] != "_"]
    near = difflib.get_close_matches(word, [*texts, *system_names(home)], 1, 0.7)
    if near:
        raise UsageError(f"There is no variable or file `{word}`. Did you mean `--system {near[0]}`?")
    if "/" in word or word.endswith((".md", ".txt")):
        raise UsageError(f"There is no file {word!r}. --system takes {_WHERE}.")


def _read(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"There is no file {file.name!r}. --system takes {_WHERE}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{file.name!r} is not text in UTF-8.") from None
    except OSError as error:
        raise UsageError(f"{file.name!r} cannot be read: {error.strerror}.") from None
    if len(text) > SYSTEM_LIMIT:
        raise UsageError(
            f"{file.name!r} has {len(text):,} characters; a system text takes up to {SYSTEM_LIMIT:,}."
        )
    return text.strip()
