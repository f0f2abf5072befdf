"""Where keys come from: the argument, the environment, then Colab's `userdata`."""

import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import Any

_from_colab: dict[str, str] = {}


def find_key(variables: Sequence[str]) -> tuple[str, str] | None:
    """The first variable that holds a key, and the key."""
    for name in variables:
        if value := os.environ.get(name, "").strip():
            return name, value
    for name in variables:
        if value := _colab_secret(name):
            return name, value
    return None


def _colab_secret(name: str) -> str:
    """A secret of this Colab notebook; empty when there is none or the person did not grant it."""
    if name in _from_colab:
        return _from_colab[name]
    userdata = _colab_userdata()
    if userdata is None:
        return ""
    try:
        value = str(userdata.get(name) or "").strip()
    except Exception:  # Colab raises its own classes for "no such secret", "no access" and "no answer"
        return ""
    if value:
        _from_colab[name] = value
    return value


def _colab_userdata() -> Any:
    if "google.colab" not in sys.modules:
        try:
            if importlib.util.find_spec("google.colab") is None:
                return None
        except (ImportError, ValueError):
            return None
    try:
        from google.colab import userdata
    except ImportError:
        return None
    return userdata
