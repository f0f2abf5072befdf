"""The lessons on the site: as pages with a link to the live one, and as notebooks that say what they lack there."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat

Notebook = dict[str, Any]

# What PyPI has no wheel for in the browser. Pyodide has these, but only on its own server.
_BINARY = {
    "PIL": "Pillow",
    "matplotlib": "Matplotlib",
    "numpy": "NumPy",
    "pandas": "pandas",
    "polars": "Polars",
}
_IMPORT = re.compile(r"^\s*(?:import|from)\s+(\w+)", re.MULTILINE)
_STACK = re.compile(r"--stack\s+(?!html)\w+|with_stack\(")
_SERVER = re.compile(r"^\s*from http\.server import|^%agent mcp add|mcp_server\(", re.MULTILINE)
_COPIES = re.compile(r"^%%agent(?=.*-t kernel)(?=.* (?:-n \d|--branch)).*-m demo:", re.MULTILINE)
_KERNEL = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
_LANGUAGE = {"name": "python", "pygments_lexer": "ipython3"}  # knows cell magics


def code(notebook: Notebook) -> str:
    return "\n".join(cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code")


def missing(notebook: Notebook, *, offline: bool) -> list[str]:
    """What this lesson does that the browser cannot, a sentence each."""
    source = code(notebook)
    sentences = []
    if offline and (names := sorted({_BINARY[name] for name in _IMPORT.findall(source) if name in _BINARY})):
        sentences.append(
            f"This copy of the site works without the internet and has no {_listed(names)}: "
            f"cells that use {'it' if len(names) == 1 else 'them'} fail here."
        )
    if offline and _STACK.search(source):
        sentences.append("Pages that load a library from the CDN stay empty without the internet.")
    if _SERVER.search(source):
        sentences.append("A browser cannot start servers: cells that need one fail here.")
    if _COPIES.search(source):
        sentences.append("A browser cannot copy its kernel: variants that run code fail here.")
    if sentences:
        sentences.append("With `make lab` the whole lesson runs on your own machine.")
    return sentences


def fetched(notebook: Notebook) -> str:
    """What the public site's lesson gets from Pyodide's own server, and what happens where that is blocked."""
    names = sorted({_BINARY[name] for name in _IMPORT.findall(code(notebook)) if name in _BINARY})
    if not names:
        return ""
    come, them = ("comes", "it") if len(names) == 1 else ("come", "them")
    return (
        f"Here {' and '.join(names)} {come} from `cdn.jsdelivr.net` when a cell imports {them}. "
        "Where that host is blocked, the import fails with `ModuleNotFoundError`."
    )


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def with_note(notebook: Notebook, note: str) -> Notebook:
    """The notebook with a note below its first cell, which holds the title."""
    cell = {"cell_type": "markdown", "id": "note", "metadata": {}, "source": note}
    return {**notebook, "cells": [notebook["cells"][0], cell, *notebook["cells"][1:]]}


def as_page(notebook: Notebook, name: str, *, offline: bool) -> Notebook:
    """The lesson to read, with its saved outputs."""
    link = f'<a class="live" href="../lite/lab/index.html?path={name}">Open it live</a>'
    note = " ".join(missing(notebook, offline=offline))
    noted = with_note(notebook, f"{link}\n\n{note}" if note else link)
    return {**noted, "metadata": {**notebook["metadata"], "language_info": _LANGUAGE}}


def as_live(notebook: Notebook, *, offline: bool) -> Notebook:
    """The lesson to run: its saved outputs are trusted, so that there is something to see while Python starts."""
    sentences = missing(notebook, offline=offline)
    if not offline and (sentence := fetched(notebook)):
        sentences.insert(0, sentence)
    noted = with_note(notebook, "> " + " ".join(sentences)) if sentences else notebook
    cells = [{**cell, "metadata": {**cell["metadata"], "trusted": True}} for cell in noted["cells"]]
    return {**noted, "cells": cells, "metadata": {**notebook["metadata"], "kernelspec": _KERNEL}}


def write(paths: Iterable[Path], pages: Path, live: Path, *, offline: bool) -> None:
    """Writes each lesson to both folders."""
    for path in paths:
        notebook = nbformat.read(path, as_version=4)  # joins lines, which JupyterLite would not do
        _write(pages / path.name, as_page(notebook, path.name, offline=offline))
        _write(live / path.name, as_live(notebook, offline=offline))


def _write(path: Path, notebook: Notebook) -> None:
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1), encoding="utf-8")
