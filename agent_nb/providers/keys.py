"""Where keys come from: the argument, this process's memory, the environment, then Colab's `userdata`."""

import os
from collections.abc import Sequence

from agent_nb._base.secrets import register

IN_MEMORY = "memory"
"""Stands for the variable of a key that was entered with `%agent key`."""

_from_colab: dict[str, str] = {}
_entered: dict[str, str] = {}


def remember_key(variable: str, key: str) -> None:
    """Keeps a key for the vendor with this variable until the process ends. It is masked from now on."""
    register(key)
    _entered[variable] = key


def forget_key(variable: str) -> bool:
    """Forgets a key that was entered; False if there was none. It stays masked."""
    return _entered.pop(variable, None) is not None


def key_source(variables: Sequence[str]) -> str:
    """Where the key would be taken from, in a few words; empty if there is none."""
    found = find_key(variables)
    if found is None:
        return ""
    name = found[0]
    if name == IN_MEMORY:
        return "this kernel's memory"
    return f"variable {name}" if os.environ.get(name, "").strip() else f"Colab secret {name}"


def find_key(variables: Sequence[str]) -> tuple[str, str] | None:
    """The first variable that holds a key, and the key. A key that was entered comes first, as `IN_MEMORY`."""
    if variables and (value := _entered.get(variables[0])):
        return IN_MEMORY, value
    for name in variables:
        if value := os.environ.get(name, "").strip():
            return name, value
    for name in variables:
        if value := _colab_secret(name):
            return name, value
    return None


def _colab_secret(name: str) -> str:
    """A secret of this Colab notebook; empty when there is none or the user did not grant it."""
    if name in _from_colab:
        return _from_colab[name]
    try:
        from google.colab import userdata
    except ImportError:
        return ""
    try:
        value = str(userdata.get(name) or "").strip()
    except Exception:  # Colab raises its own classes for "no such secret", "no access" and "no answer"
        return ""
    if value:
        _from_colab[name] = value
    return value
