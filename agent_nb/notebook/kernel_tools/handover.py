"""What the code of `run_python` gets besides the notebook's names: the run's files, and a way to write one."""

import contextlib
import io
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from agent_nb.files import Content, Workspace
from agent_nb.notebook.values.table_masking import is_of

ALTERNATIVES = {"agent_files": "_agent_files", "to_file": "_to_file"}
"""The names that the code can use, and those it has to use where the notebook has a variable of that name."""


Shield = Callable[[], AbstractContextManager[None]]
"""Delays interrupts to the end of a block."""


@contextlib.contextmanager
def handed_over(namespace: dict[str, Any], files: Workspace, shield: Shield) -> Iterator[list[str]]:
    """Puts `agent_files` and `to_file` into the namespace for the block; yields a note for each other name."""
    given = {"agent_files": dict(files.files.items()), "to_file": file_writer(files, shield)}
    notes, bound = [], {}
    for usual, value in given.items():
        name = usual if usual not in namespace else ALTERNATIVES[usual]
        if name != usual:
            notes.append(f"`{usual}` is a variable of the notebook: use `{name}` instead.")
        if name not in namespace:
            bound[name] = namespace[name] = value
    try:
        yield notes
    finally:
        for name, value in bound.items():
            if namespace.get(name) is value:
                del namespace[name]


def file_writer(files: Workspace, shield: Shield) -> Callable[[str, Any], str]:
    def to_file(path: str, value: Any) -> str:
        """Writes a value to a file of the run, by its suffix: data frames and plain values as JSON, CSV or a
        script, text and bytes as they are, figures as PNG. Returns the path."""
        content = content_of(path, value)
        with shield():
            return files.write(path, content).path

    return to_file


def content_of(path: str, value: Any) -> Content:
    """The content of a file that holds the value."""
    suffix = path.rpartition(".")[2].lower()
    if isinstance(value, str | bytes):
        return value
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if suffix == "js":  # the preview allows no fetch, but it has scripts
        return f"window.{_stem(path)} = {_json(value)};\n"
    if _is_table(value):
        return _table(suffix, value)
    if hasattr(value, "savefig") or hasattr(getattr(value, "figure", None), "savefig"):
        return _figure(suffix, value)
    if is_of(value, "PIL", "Image"):
        return _saved(value.save, format={"jpg": "jpeg"}.get(suffix, suffix))
    return _json(value)


def _json(value: Any) -> str:
    if _is_table(value):
        return _table("json", value)
    return json.dumps(value, ensure_ascii=False, indent=1, default=_plain)


def _is_table(value: Any) -> bool:
    return is_of(value, "pandas", "DataFrame") or is_of(value, "pandas", "Series")


def _stem(path: str) -> str:
    """The name of a file as one that a script can use."""
    stem = path.rpartition("/")[2].rpartition(".")[0]
    return stem if stem.isidentifier() else "data"


def _table(suffix: str, table: Any) -> str:
    if suffix in ("csv", "tsv"):
        return str(table.to_csv(index=not _has_plain_index(table), sep="\t" if suffix == "tsv" else ","))
    if suffix == "html":
        return str(table.to_html())
    if suffix in ("md", "txt"):
        return str(table.to_string())
    table = table if _has_plain_index(table) else table.reset_index()
    orient = "records" if hasattr(table, "columns") else "values"
    return str(table.to_json(orient=orient, date_format="iso", force_ascii=False))


def _has_plain_index(table: Any) -> bool:
    """Whether the rows are only numbered, so that the index says nothing."""
    return type(table.index).__name__ == "RangeIndex"


def _figure(suffix: str, value: Any) -> Content:
    figure = value if hasattr(value, "savefig") else value.figure
    content = _saved(figure.savefig, format=suffix if suffix in ("svg", "jpg", "pdf") else "png")
    return content.decode() if suffix == "svg" else content


def _saved(save: Callable[..., Any], **options: Any) -> bytes:
    buffer = io.BytesIO()
    save(buffer, **options)
    return buffer.getvalue()


def _plain(value: Any) -> Any:
    """A JSON value for something inside a list or a dict that is not JSON."""
    if is_of(value, "pandas", "DataFrame"):
        return json.loads(_table("json", value))
    if isinstance(value, set | frozenset):
        return list(value)
    if callable(to_list := getattr(value, "tolist", None)) and not isinstance(value, type):
        return to_list()  # numpy and pandas
    if callable(iso := getattr(value, "isoformat", None)) and not isinstance(value, type):
        return iso()
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON: convert it first")
