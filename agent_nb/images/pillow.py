"""Pillow, which reads, scales and draws images. A browser may not have it."""

import importlib.util

from agent_nb.errors import InstallError


def require_pillow() -> None:
    """Raises `InstallError` with one sentence where images cannot be read."""
    if importlib.util.find_spec("PIL") is None:
        raise InstallError("Images need the `pillow` package: `%pip install pillow`.")
