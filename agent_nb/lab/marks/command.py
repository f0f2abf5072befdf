"""The command line of `python -m agent_nb.marks`."""

import argparse
import glob
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from agent_nb._base.text import sha256
from agent_nb.errors import AgentError, ConfigError
from agent_nb.files.files import MAX_BINARY_BYTES
from agent_nb.lab.marks.gallery_folder import GalleryFolder, write
from agent_nb.lab.marks.row import Row, read_row, with_same_pages
from agent_nb.lab.marks.table import to_csv
from agent_nb.render.summary import plural

EPILOG = """\
Each zip file is what `%agent submit` wrote; the name of the file is taken for the student's. Nothing is unpacked.
The hashes of a log can be computed anew, and two students may have asked for the same thing: what the table says is
a reason to look, no proof of misconduct.

exit status: 0 all submissions were read, 1 some were not (their rows say why), 2 nothing was written
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status."""
    options = _parser().parse_args(arguments)
    try:
        rows = _run(options)
    except AgentError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    unread = sum(bool(row.error) for row in rows)
    more = f", {unread} could not be read" if unread else ""
    sys.stdout.write(f"Wrote {options.output}: {plural(len(rows), 'submission')}{more}.\n")
    return 1 if unread else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m agent_nb.marks",
        description="One row per student from the submissions of a class: checks, runs, hints, cost, edits by hand, "
        "breaks in the log, and pages that others have too.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("submissions", nargs="+", metavar="ZIP", help="zip files, or folders of zip files")
    parser.add_argument(
        "-o", "--output", required=True, metavar="CSV", help="the table to write, such as marks.csv"
    )
    parser.add_argument(
        "--html",
        metavar="HTML",
        help="also write a page with all pages side by side, such as marks.html, and a folder marks_pages beside it",
    )
    parser.add_argument(
        "--supplied",
        action="append",
        default=[],
        metavar="FILE",
        help="a file, or a folder of files, that all students were given: the same page is no finding",
    )
    return parser


def _run(options: argparse.Namespace) -> list[Row]:
    paths = list(dict.fromkeys(_paths(options.submissions)))
    output = Path(options.output)
    if output.suffix == ".zip" or output.is_dir():
        raise ConfigError(f"{options.output!r} cannot be the table: name a file such as marks.csv.")
    gallery = GalleryFolder(Path(options.html)) if options.html else None
    supplied = set(_supplied(options.supplied))
    students = dict(zip(_names(paths), paths, strict=True))
    found = []
    for name, path in students.items():
        found.append(read_row(name, path))
        if gallery:
            gallery.add(path)
    rows = with_same_pages(found, supplied)
    write(output, to_csv(rows))
    if gallery:
        gallery.finish(rows)
    return rows


def _paths(given: Sequence[str]) -> Iterator[Path]:
    """The zip files. Some shells leave `*.zip` to the program."""
    for name in given:
        path = Path(name)
        if path.is_dir():
            found = sorted(path.glob("*.zip"))
        elif path.exists() or not glob.has_magic(name):
            found = [path]
        else:
            found = sorted(map(Path, glob.glob(name)))
        if not found:
            raise ConfigError(f"There are no zip files in {name!r}.")
        yield from found


def _names(paths: Sequence[Path]) -> list[str]:
    """The students: the names of the files, with as many folders as it takes to tell them apart."""
    depth = 1
    names = [path.stem for path in paths]
    while len(set(names)) < len(names) and depth < max(len(path.parts) for path in paths):
        depth += 1
        counts = Counter(path.stem for path in paths)
        names = [
            path.stem if counts[path.stem] == 1 else "/".join((*path.parts[-depth:-1], path.stem))
            for path in paths
        ]
    return names


def _supplied(given: Sequence[str]) -> Iterator[str]:
    for name in given:
        path = Path(name)
        if not path.exists():
            raise ConfigError(f"There is no file or folder {name!r}.")
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file() and file.stat().st_size <= MAX_BINARY_BYTES:
                yield sha256(file.read_bytes())
