"""Planted keys, and a search for them in whatever has left the kernel."""

import gzip
import html
import io
import json
import random
import string
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from agent_nb.providers.vendors import VENDORS

_LETTERS = string.ascii_letters + string.digits
SHAPES = {
    "openai": "sk-proj-{48}",
    "anthropic": "sk-ant-api03-{48}AA",
    "router": "sk-or-v1-{48}",
    "stripe": "sk_live_{24}",
    "gemini": "AIza{35}",
    "gemini_new": "AQ.{40}",
    "groq": "gsk_{40}",
    "hugging_face": "hf_{34}",
    "github": "ghp_{36}",
    "github_new": "github_pat_{50}",
    "perplexity": "pplx-{48}",
    "slack": "xoxb-{12}-{24}",
    "aws": "AKIA{upper}",
    "signed_token": "eyJ{20}.eyJ{40}.{43}",
}
"""Keys that are known by their shape. They are made at run time, so that no file of the project has one."""
PLAIN = ("hub_token", "database_password", "mcp_token")
"""Keys without a shape, which are known because of where they are."""


def planted_keys() -> dict[str, str]:
    """One key of each kind, by name."""
    chance = random.Random(7)

    def made(length: int, alphabet: str = _LETTERS) -> str:
        return "7a" + "".join(chance.choices(alphabet, k=length - 2))

    keys = {}
    for name, shape in SHAPES.items():
        key = shape.replace("{upper}", made(16, string.ascii_uppercase + string.digits).upper())
        for length in (12, 20, 24, 34, 35, 36, 40, 43, 48, 50):
            key = key.replace(f"{{{length}}}", made(length))
        keys[name] = key
    return keys | {name: made(40, "0123456789abcdef") for name in PLAIN}


def environment(keys: dict[str, str]) -> dict[str, str]:
    """Variables with keys: those of all vendors, of a JupyterHub, of a database."""
    shaped = [keys[name] for name in SHAPES]
    variables = sorted({row.key_variable for row in VENDORS.values() if row.keys})
    return {
        **{name: shaped[number % len(shaped)] for number, name in enumerate(variables)},
        "JUPYTERHUB_API_TOKEN": keys["hub_token"],
        "DATABASE_PASSWORD": keys["database_password"],
    }


@dataclass
class Search:
    """Looks for keys in data of many kinds, also inside zip files, compressed parts and escaped text."""

    keys: dict[str, str]
    looked: Counter[str] = field(default_factory=Counter)
    """Bytes that were searched, by place."""
    found: list[str] = field(default_factory=list)
    """A line for each key that was found: its name, the place, and the text before it."""

    def __post_init__(self) -> None:
        self._forms = {form: name for name, key in self.keys.items() for form in _forms(key)}

    def look(self, place: str, content: Any, where: str = "") -> None:
        """Searches bytes, text, or anything that can be written as JSON."""
        if not isinstance(content, str | bytes):
            content = json.dumps(content, ensure_ascii=False, default=_as_text)
        data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        self.looked[place] += len(data)
        for part in _opened(data):
            for form, name in self._forms.items():
                if (at := part.find(form)) >= 0:
                    before = part[max(0, at - 60) : at].decode("utf-8", "replace")
                    self.found.append(f"{name} in {place} {where}: …{before}")

    def look_in(self, place: str, folder: Path, planted: frozenset[str] = frozenset()) -> None:
        """Searches all files of a folder and their names, except those in which keys were planted."""
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder).as_posix()
            self.look(place, inside, "(a file name)")
            if path.is_file() and inside not in planted:
                self.look(place, path.read_bytes(), inside)


def _as_text(value: Any) -> str:
    return bytes(value).decode("latin-1") if isinstance(value, bytes | memoryview) else str(value)


def _forms(key: str) -> set[bytes]:
    """The key as it stands in plain text, HTML, JSON, an address, and without its shape."""
    texts = {key, html.escape(key), json.dumps(key)[1:-1], quote(key, safe="")}
    body = max(key.replace(".", "-").split("-"), key=len)
    return {text.encode() for text in (*texts, body[-20:], key[-20:])}


def _opened(data: bytes) -> Iterator[bytes]:
    """Yields the data, and whatever is compressed in it, unpacked."""
    yield data
    if data[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                yield member.filename.encode()
                yield from _opened(archive.read(member))
    elif data[:2] == b"\x1f\x8b":
        yield from _opened(gzip.decompress(data))
    elif data[:1] == b"\x78":
        try:
            yield from _opened(zlib.decompress(data))
        except zlib.error:
            return
