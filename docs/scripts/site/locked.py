"""The site's own lock: the version and the SHA-256 of each file that is downloaded for the browser's Python."""

import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("locked.txt")
_LINE = re.compile(r"(?P<name>[\w.-]+)==(?P<version>\S+) --hash=sha256:(?P<sha256>[0-9a-f]{64})")


class Locked(NamedTuple):
    """One line of the lock."""

    name: str
    version: str
    sha256: str


def file_hash(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def read(lock: Path = FILE) -> dict[str, Locked]:
    return {found["name"]: Locked(**found.groupdict()) for found in _LINE.finditer(lock.read_text("utf-8"))}


def write(rows: Iterable[Locked], lock: Path = FILE) -> None:
    lines = [f"{row.name}=={row.version} --hash=sha256:{row.sha256}\n" for row in rows]
    lock.write_text("# Written by `make site-lock`.\n" + "".join(lines), encoding="utf-8")


def check(found: Iterable[Locked], lock: Path = FILE) -> None:
    """Ends the build if a file is not the one that the lock names."""
    locked = read(lock)
    for row in found:
        if (expected := locked.get(row.name)) != row:
            wanted = (
                f"{expected.version} with SHA-256 {expected.sha256}" if expected else "nothing of that name"
            )
            raise SystemExit(
                f"{row.name} {row.version} with SHA-256 {row.sha256} is not what {lock.name} names: {wanted}. "
                "If you trust what was found, `make site-lock` writes the lock again."
            )
