"""`python -m docs.scripts.execute_notebooks [NOTEBOOK]...` runs the lessons and saves them with their outputs.

No key is in the kernel's environment and nobody watches. A notebook that raises is not saved. What differs
from one machine or day to the next is taken out, so that running it again changes nothing.
"""

import argparse
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from tests.support.kernels import quiet_environment

FOLDER = Path(__file__).parents[2] / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
KEPT = ("tags",)
"""Of a cell's metadata; the rest is timings and the state of somebody's front end."""
_BY_CHANCE = re.compile(re.escape(tempfile.gettempdir()) + r"/tmp\w+|(?<= at )0x[0-9a-fA-F]+")
"""A temporary folder of this machine, and the memory address in the text form of an object."""


def execute(path: Path) -> NotebookNode:
    """The notebook with fresh outputs; raises `CellExecutionError` at the first cell that fails."""
    book = nbformat.read(path, as_version=4)
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    NotebookClient(book, timeout=120, resources={"metadata": {"path": str(path.parent)}}).execute()
    return tidy(book)


def tidy(book: NotebookNode) -> NotebookNode:
    """The same notebook without what no reader needs, its cells numbered."""
    book.metadata = nbformat.from_dict(METADATA)
    for number, cell in enumerate(book.cells):
        cell.id = f"cell-{number:02}"
        cell.metadata = nbformat.from_dict({key: cell.metadata[key] for key in KEPT if key in cell.metadata})
        if cell.cell_type == "code":
            cell.outputs = [_without_chance(output) for output in _joined(cell.outputs)]
    return book


def _without_chance(output: NotebookNode) -> NotebookNode:
    """The output without temporary folders and memory addresses."""
    if output.output_type == "stream":
        output.text = _BY_CHANCE.sub("…", output.text)
    for kind, value in output.get("data", {}).items():
        if isinstance(value, str):
            output.data[kind] = _BY_CHANCE.sub("…", value)
    return output


def _joined(outputs: Iterable[NotebookNode]) -> list[NotebookNode]:
    """One output for a stream that came in several pieces: where it was cut is chance."""
    joined: list[NotebookNode] = []
    for output in outputs:
        if joined and output.output_type == "stream" and joined[-1].get("name") == output.name:
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m docs.scripts.execute_notebooks", description=__doc__)
    options.add_argument("notebooks", nargs="*", type=Path)
    options.add_argument("--no-save", action="store_true", help="only run them")
    chosen = options.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as home:
        environment = quiet_environment(Path(home))
        os.environ.clear()
        os.environ.update(environment)
        for path in chosen.notebooks or sorted(FOLDER.glob("*.ipynb")):
            started = time.monotonic()
            try:
                book = execute(path)
            except CellExecutionError as error:
                failed += 1
                print(f"{path.name}: not saved, a cell fails\n{error}", file=sys.stderr)
                continue
            if not chosen.no_save:
                nbformat.write(book, path)
            print(f"{path.name}: {time.monotonic() - started:.1f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
