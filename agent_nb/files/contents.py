"""Converts values to file contents. `run.to_cells` copies this source into a cell: import only the standard library."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def to_file(path: str, value: Any) -> str:
    """Writes a value to a file, by its suffix: data frames and plain values as JSON, CSV or a script, text and
    bytes as they are, figures as PNG. Returns the path."""
    content = content_of(path, value)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def content_of(path: str, value: Any) -> str | bytes:
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
    if is_a(value, "PIL.Image", "Image"):
        return _saved(value.save, format={"jpg": "jpeg"}.get(suffix, suffix))
    return _json(value)


def _json(value: Any) -> str:
    if _is_table(value):
        return _table("json", value)
    return json.dumps(value, ensure_ascii=False, indent=1, default=_plain)


def _is_table(value: Any) -> bool:
    return is_a(value, "pandas", "DataFrame") or is_a(value, "pandas", "Series")


def _stem(path: str) -> str:
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


def _figure(suffix: str, value: Any) -> str | bytes:
    figure = value if hasattr(value, "savefig") else value.figure
    content = _saved(figure.savefig, format=suffix if suffix in ("svg", "jpg", "pdf") else "png")
    return content.decode() if suffix == "svg" else content


def _saved(save: Callable[..., Any], **options: Any) -> bytes:
    buffer = io.BytesIO()
    save(buffer, **options)
    return buffer.getvalue()


def _plain(value: Any) -> Any:
    if is_a(value, "pandas", "DataFrame"):
        return json.loads(_table("json", value))
    if isinstance(value, set | frozenset):
        return list(value)
    if callable(to_list := getattr(value, "tolist", None)) and not isinstance(value, type):
        return to_list()  # numpy and pandas
    if callable(iso := getattr(value, "isoformat", None)) and not isinstance(value, type):
        return iso()
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON: convert it first")


def is_a(value: Any, module: str, name: str) -> bool:
    """Whether a value is of this class of a library, which is not imported."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)
