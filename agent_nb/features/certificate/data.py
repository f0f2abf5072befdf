"""Inputs as text that a certificate can contain, and back. No pickle: whoever reads them did not write them."""

import ast
import base64
import io
import json
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agent_nb._base.wire import from_wire, parse_json
from agent_nb.features.certificate.digests import (
    NotCanonicalError,
    columns_of,
    digest_of,
    digest_of_file,
    size_of,
    type_name,
)

MOST_BYTES = 50_000_000
_MOST_LITERAL = 5_000_000
_MISSING = "<NA>"
_DTYPE = re.compile(
    r"(?:u?int|float|complex|U?Int|Float)\d{1,3}|bool|boolean|object|str|string|category|[<>|=]?[biufcmMSU]\d{1,3}"
    r"|(?:datetime|timedelta)64\[(?:s|ms|us|ns)(?:, [\w/+:-]{1,40})?\]|String|Boolean|Date"
)
"""Types that a file may name: each has a small, fixed size."""


class NotExactError(Exception):
    """The text would not give the same value again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """An input, or what a secret leaves of it."""

    name: str
    form: Literal["csv", "array", "literal", "file"]
    text: str
    kind: str = ""
    """The type of a table."""
    dtypes: tuple[tuple[str, str], ...] = ()
    index: tuple[str | None, ...] = ()
    """The names of the first columns, which are the index."""
    left_out: tuple[str, ...] = ()
    """Columns that are named like a secret."""


def encoded(name: str, value: Any, left_out: tuple[str, ...] = ()) -> Stored:
    """The value as text; raises `NotExactError` unless `decoded` gives a value with the same digest."""
    try:
        stored = _encoded(name, value, left_out)
        expected = digest_of(value.drop(columns=[*left_out]) if left_out else value)
        if digest_of(decoded(stored)) == expected:
            return stored
    except (NotCanonicalError, TypeError, ValueError, AttributeError, SyntaxError, RecursionError):
        pass
    raise NotExactError


def _encoded(name: str, value: Any, left_out: tuple[str, ...]) -> Stored:
    kind = type_name(value)
    if kind == "numpy.ndarray":
        text = json.dumps(value.tolist())
        return Stored(name=name, form="array", text=text, dtypes=(("", value.dtype.str),))
    if kind not in ("pandas.DataFrame", "pandas.Series", "polars.DataFrame"):
        return Stored(name=name, form="literal", text=repr(value))
    index: tuple[str | None, ...] = ()
    if kind != "polars.DataFrame":
        value = value.to_frame() if kind == "pandas.Series" else value.drop(columns=[*left_out])
        counts = (
            type(value.index).__name__ == "RangeIndex" and value.index.start == 0 and value.index.step == 1
        )
        index = () if counts and value.index.name is None else tuple(value.index.names)
        table = value.reset_index() if index else value
        text = table.to_csv(index=False, na_rep=_MISSING)
    else:
        table = value = value.drop(left_out)
        text = value.write_csv(null_value=_MISSING)
    dtypes = tuple((label, str(column.dtype)) for label, column in columns_of(table))
    return Stored(name=name, form="csv", text=text, kind=kind, dtypes=dtypes, index=index, left_out=left_out)


def decoded(stored: Stored) -> Any:
    """The value; raises `ValueError`, `SyntaxError` or `TypeError` for a text that is none."""
    if stored.form == "file":
        return base64.b64decode(stored.text)
    if stored.form == "literal":
        if len(stored.text) > _MOST_LITERAL:
            raise ValueError("it is too long")
        return ast.literal_eval(stored.text)
    if unknown := [dtype for _, dtype in stored.dtypes if not _DTYPE.fullmatch(dtype)]:
        raise ValueError(f"it has the type {unknown[0][:40]!r}")
    if stored.form == "array":
        import numpy

        return numpy.array(json.loads(stored.text), dtype=stored.dtypes[0][1])
    return _polars(stored) if stored.kind == "polars.DataFrame" else _pandas(stored)


def _pandas(stored: Stored) -> Any:
    import pandas

    later = {label: dtype for label, dtype in stored.dtypes if "64[" in dtype}  # dates
    types = {label: str if label in later else dtype for label, dtype in stored.dtypes}
    options: Any = {"dtype": types, "keep_default_na": False, "na_values": [_MISSING]}
    with warnings.catch_warnings(action="ignore"):  # the newest pandas needs no option for exact numbers
        table = pandas.read_csv(io.StringIO(stored.text), float_precision="round_trip", **options)
    table = table.astype(later)
    if stored.index:
        table = table.set_index([*table.columns[: len(stored.index)]])
        table.index.names = stored.index
    return table.iloc[:, 0] if stored.kind == "pandas.Series" else table


def _polars(stored: Stored) -> Any:
    import polars

    types = {label: getattr(polars, dtype) for label, dtype in stored.dtypes}
    return polars.read_csv(stored.text.encode(), schema_overrides=types, null_values=[_MISSING])


def encoded_file(name: str, path: Path) -> Stored:
    return Stored(name=name, form="file", text=base64.b64encode(path.read_bytes()).decode())


def is_below(text: str) -> bool:
    """Whether a text can be the path of a file below a folder."""
    if len(text) > 250 or not text.isprintable():
        return False
    path = Path(text)
    return bool(path.name) and not path.is_absolute() and ".." not in path.parts


def set_inputs(namespace: dict[str, Any], file: str) -> None:
    """Runs in the fresh kernel."""
    for wire in parse_json(Path(file).read_bytes()):
        stored: Stored = from_wire(Stored, wire)
        value = decoded(stored)
        if stored.form == "file" and is_below(stored.name):
            Path(stored.name).parent.mkdir(parents=True, exist_ok=True)
            Path(stored.name).write_bytes(value)
        elif stored.name.isidentifier():
            namespace[stored.name] = value


def facts_of(names: Sequence[str], namespace: Mapping[str, Any], salt: str) -> dict[str, Sequence[str]]:
    """Runs in the fresh kernel, before the code of the certificate."""
    facts: dict[str, Sequence[str]] = {}
    for name in names:
        try:
            if name in namespace:
                value = namespace[name]
                facts[name] = type_name(value), size_of(value), digest_of(value, salt)
            elif is_below(name) and Path(name).is_file():
                facts[name] = "file", f"{Path(name).stat().st_size} bytes", digest_of_file(Path(name), salt)
        except Exception as error:  # the value's own code
            facts[name] = type_name(namespace.get(name)), "", type(error).__name__
    return facts
