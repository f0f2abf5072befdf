"""A faster `__init__` for frozen dataclasses that are created for nearly every token."""

from dataclasses import MISSING, fields
from typing import Any, TypeVar

T = TypeVar("T")


def quick(cls: type[T]) -> type[T]:
    """Sets each slot through its descriptor. A frozen dataclass sets it by name, which takes nearly twice as long."""
    scope: dict[str, Any] = {}
    parameters, steps = ["self"], []
    for field in sorted(fields(cls), key=lambda field: bool(field.kw_only)):  # type: ignore[arg-type]
        name = field.name
        if field.kw_only and "*" not in parameters:
            parameters.append("*")
        parameters.append(name if field.default is MISSING else f"{name}=default_{name}")
        steps.append(f"set_{name}(self, {name})")
        scope |= {f"set_{name}": getattr(cls, name).__set__, f"default_{name}": field.default}
    exec(f"def __init__({', '.join(parameters)}): {'; '.join(steps)}", scope)
    setattr(cls, "__init__", scope["__init__"])  # noqa: B010 - mypy rejects a plain assignment
    return cls
