"""The built JavaScript files of the front end."""

from pathlib import Path


def bundle(name: str) -> Path:
    """Return the path of a bundle of `js/build.mjs`; it does not exist before `make build`."""
    return Path(__file__).parents[1] / "static" / f"{name}.js"
