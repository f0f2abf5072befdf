"""What runs in the fresh kernel: loads the inputs, and compares values. It is read as a file, without agent_nb."""

import contextlib
import json
import math
import numbers
import pickle
import sys
import types
from pathlib import Path
from typing import Any

DEEPEST = 20
_CODE = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)


class NotComparableError(Exception):
    """There is no way to say whether two values are equal."""


def load(folder: str, namespace: dict[str, Any]) -> None:
    """Sets the inputs, and makes sure that the cells do not use agent_nb, unless an input is made of it."""
    for name in _named(folder, "inputs"):
        try:
            namespace[name] = _value(folder, "inputs", name)
        except BaseException as error:  # pickles run code of any class
            _report(folder, "inputs", name, f"not verified: it cannot be loaded ({_message(error)})")
    sys.modules.setdefault("agent_nb", None)  # type: ignore[arg-type]


def compare(folder: str, namespace: dict[str, Any]) -> None:
    """Compares the values that the run left with those of the cells."""
    for name in _named(folder, "values"):
        try:
            if name not in namespace:
                found = "differs: the cells do not set it"
            else:
                different = difference(_value(folder, "values", name), namespace[name])
                found = f"differs: {different}" if different else "equal"
        except NotComparableError as error:
            found = f"not verified: {error}"
        except BaseException as error:
            found = f"not verified: {_message(error)}"
        _report(folder, "values", name, found)


def difference(expected: Any, found: Any, depth: int = 0) -> str:
    """What is different, in a few words; empty if nothing is."""
    if depth > DEEPEST:
        raise NotComparableError("it is nested too deep")
    if expected is found:
        return ""
    by_package = _by_package(expected, found)
    if by_package is not None:
        return by_package
    if isinstance(expected, numbers.Number) and isinstance(found, numbers.Number):
        return "" if _close(expected, found) else _instead(expected, found)
    if _name(expected) != _name(found):
        return f"a {_name(found)} instead of a {_name(expected)}"
    if isinstance(expected, _CODE):
        return "" if getattr(expected, "__name__", "") == getattr(found, "__name__", "") else "another one"
    if isinstance(expected, dict):
        return _in_dict(expected, found, depth)
    if isinstance(expected, list | tuple):
        if len(expected) != len(found):
            return f"{len(found)} items instead of {len(expected)}"
        return _in_dict(dict(enumerate(expected)), dict(enumerate(found)), depth)
    if any("__eq__" in vars(kind) for kind in type(expected).__mro__[:-1]):
        same: Any = expected == found
        every = getattr(same, "all", lambda: same)  # arrays, as inside a pandas GroupBy, compare item by item
        return "" if bool(every()) else _instead(expected, found)
    if not hasattr(expected, "__dict__"):
        raise NotComparableError(f"a {_name(expected)} cannot be compared")
    without = {"_cache": None}  # pandas fills it when it is asked
    return _in_dict({**vars(expected), **without}, {**vars(found), **without}, depth)


def _by_package(expected: Any, found: Any) -> str | None:
    """The difference by the testing functions of pandas, polars and numpy; None for other values."""
    package = type(expected).__module__.partition(".")[0]
    if package == "matplotlib":
        raise NotComparableError("figures are compared as images")
    if package not in ("pandas", "polars", "numpy") or _name(expected) != _name(found):
        return None
    import importlib

    testing = importlib.import_module(f"{package}.testing")
    kinds = {"DataFrame": "frame", "Series": "series"}
    kind = kinds.get(_name(expected), "index" if _name(expected).endswith("Index") else "")
    check = getattr(testing, f"assert_{kind}_equal", None)
    if package == "numpy" and _name(expected) == "ndarray":
        check = testing.assert_allclose if expected.dtype.kind in "biufc" else testing.assert_array_equal
    if check is None:
        return None
    try:
        check(found, expected)
    except AssertionError as error:
        return _line(" ".join(str(error).split()), 160)
    return ""


def _in_dict(expected: dict[Any, Any], found: dict[Any, Any], depth: int) -> str:
    if expected.keys() != found.keys():
        return f"other keys: {_line(', '.join(map(repr, expected.keys() ^ found.keys())), 80)}"
    for key, value in expected.items():
        if different := difference(value, found[key], depth + 1):
            return f"at {_line(repr(key), 40)}: {different}"
    return ""


def _close(expected: Any, found: Any) -> bool:
    with contextlib.suppress(TypeError, OverflowError):
        if math.isnan(expected) and math.isnan(found):
            return True
        return math.isclose(expected, found, rel_tol=1e-7)
    return bool(expected == found)


def _instead(expected: Any, found: Any) -> str:
    return f"{_line(repr(found), 60)} instead of {_line(repr(expected), 60)}"


def _name(value: Any) -> str:
    return type(value).__qualname__


def _line(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _message(error: BaseException) -> str:
    return _line(f"{type(error).__name__}: {error}", 160)


def _named(folder: str, kind: str) -> list[str]:
    return sorted(path.stem for path in Path(folder, kind).glob("*.pickle"))


def _value(folder: str, kind: str, name: str) -> Any:
    with Path(folder, kind, f"{name}.pickle").open("rb") as stream:
        return pickle.load(stream)


def _report(folder: str, kind: str, name: str, text: str) -> None:
    """A line for each name, so that those before one that takes too long are known."""
    with Path(folder, f"{kind}.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(json.dumps([name, text]) + "\n")
