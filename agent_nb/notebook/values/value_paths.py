"""Resolves paths to values, such as `df.shape` or `config["paths"]`, with or without masking."""

import ast
import re
import unicodedata
from collections import UserList, deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from agent_nb._base.secrets import MASK
from agent_nb._base.text import did_you_mean
from agent_nb.core.errors import AgentError, ConfigError
from agent_nb.engine.handle import Handle
from agent_nb.notebook.values.value_masking import MaskedValue, Masks, is_secret, is_table, stored
from agent_nb.run import Run

NAME = r"[^\W\d](?:\w|[^\x00-\x7f])*"
"""A name in any script. `\\w` lacks the vowel signs of some scripts; `isidentifier` later rejects other characters."""
_TEXT = r"""(?:"[^"\\{}\n]*"|'[^'\\{}\n]*')"""
_CALL = rf"\.(?:element\(\s*{_TEXT}\s*(?:,\s*{_TEXT}\s*)?\)|at\(\s*\d{{1,6}}\s*\))"
"""Calls allowed on a run in a reference: `element(selector)`, `element(selector, file)` and `at(moment)`."""
_VARIANT = r"\.\d{1,6}\b"
"""Variant 2 of a run: `trio.2`."""
_STEP = rf"(?:{_CALL}|{_VARIANT}|\.{NAME}|\[[^\[\]{{}}]+\])"
PATH = NAME + _STEP + "*"

Key = Any
"""The name or key of a step; None for a call on a run, or for one of its variants."""


def lookup(path: str, namespace: Mapping[str, Any]) -> Any:
    """The value of `name`, `name.field` or `name["key"]`; raises `ConfigError` if it cannot be read."""
    return _walk(path, namespace, "", lambda value, step, _: _step(value, step))


def lookup_masked(path: str, namespace: Mapping[str, Any], braces: str = "") -> tuple[Any, list[str]]:
    """The masked value at a path, and the names masked on the way.

    `braces` is the reference as written in the prompt, such as `{{ name }}`.
    Everything below a value with a secret name is masked. A step to a stored item or attribute reads the value itself;
    any other step, such as a property, is evaluated on a masked copy.
    """
    masks = Masks()
    return _walk(path, namespace, braces, partial(_masked_step, masks)), masks.names


def first_name(path: str) -> str:
    match = re.match(NAME, path)
    name = _normal(match[0]) if match else ""
    return name if name.isidentifier() else ""


def is_python(path: str) -> bool:
    """Whether a path is a Python expression, too: the variant of `trio.2` is not."""
    return not any(re.fullmatch(_VARIANT, step) for step in re.findall(_STEP, path))


def _walk(path: str, namespace: Mapping[str, Any], braces: str, take: Callable[[Any, str, Key], Any]) -> Any:
    """Follow a path; `take` resolves one step from the current value, the step and the value's name."""
    name = first_name(path)
    if not name or not re.fullmatch(PATH, path):
        raise ConfigError(f"{path!r} is not a variable. Write its name, such as `df` or `df.shape`.")
    if name not in namespace:
        names = [variable for variable in namespace if variable[0] != "_"]
        remedy = did_you_mean(name, names, 0.7) or "Define it first."
        literal = f" For the braces themselves, write \\{braces}." if braces else ""
        raise ConfigError(f"`{name}` is not defined. {remedy}{literal}")
    value, key = namespace[name], name
    for step in re.findall(_STEP, path):
        try:
            value, key = take(value, step, key), _key(step)
        except AgentError as error:
            raise ConfigError(f"`{path}` cannot be read: {error}") from None
        except Exception as error:
            raise ConfigError(f"`{path}` cannot be read: {type(error).__name__}: {error}") from None
    return value


def _key(step: str) -> Key:
    if step[0] == "[":
        return ast.literal_eval(step[1:-1].strip())
    return None if step.endswith(")") or step[1:].isdigit() else _normal(step[1:])


def _step(value: Any, step: str) -> Any:
    """Resolve one step of a path: a key, an attribute, or a call on a run or its variant."""
    key = _key(step)
    if step[0] == "[":
        return value[key]
    if key is not None:
        return getattr(value, key)
    run = value.result if isinstance(value, Handle) else value
    if not isinstance(run, Run):
        raise ConfigError("only a finished run has elements, moments and variants.")
    if step[1:].isdigit():
        return run.pick(int(step[1:]))
    method = run.at if step.startswith(".at(") else run.element
    return method(*ast.literal_eval(f"[{step[step.index('(') + 1 : -1]}]"))


def _masked_step(masks: Masks, value: Any, step: str, name: Key) -> Any:
    if is_secret(name, value):
        return MaskedValue(MASK)
    key = _key(step)
    if is_table(value) or (item := _stored_item(value, key, in_brackets=step[0] == "[")) is None:
        copied = masks.over(value)
        item = copied if isinstance(copied, MaskedValue) else _step(copied, step)
    return MaskedValue(MASK) if is_secret(key, item) else item


def _stored_item(value: Any, key: Key, *, in_brackets: bool) -> Any:
    """The stored item or attribute; None if finding it would run the value's own code."""
    if isinstance(value, Mapping):
        as_attribute = isinstance(key, str) and not hasattr(type(value), key) and hasattr(value, key)
        return value[key] if key in value and (in_brackets or as_attribute) else None
    if in_brackets:
        return value[key] if isinstance(value, list | tuple | deque | UserList) else None
    return stored(value).get(key) if isinstance(key, str) and not key.startswith("_") else None


def _normal(name: str) -> str:
    """The NFKC form of a name, as Python stores it."""
    return unicodedata.normalize("NFKC", name)
