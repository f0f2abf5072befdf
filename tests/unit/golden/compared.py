"""Reads, writes and compares the golden files in `data/`."""

import hashlib
import json
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read(name: str) -> Any:
    text = (DATA / name).read_text(encoding="utf-8")
    return json.loads(text) if name.endswith(".json") else text


def write(name: str, value: Any) -> None:
    text = value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    (DATA / name).write_text(text, encoding="utf-8")


def difference(what: str, then: Sequence[str], now: Sequence[str]) -> str:
    """A unified difference of lines; empty if there is none."""
    lines = unified_diff(then, now, f"{what}, then", f"{what}, now", lineterm="")
    return "\n".join([line.rstrip("\n") for line in lines][:200])
