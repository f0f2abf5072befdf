"""Pyodide's lock file: the packages that the browser can load by name, or because a cell imports them."""

from collections.abc import Collection, Mapping
from typing import Any

from docs.scripts.site.wheels import Wheel

Lock = dict[str, Any]


def entries(
    wheels: Mapping[str, Wheel], depends: Mapping[str, list[str]], *, later: Collection[str] = ()
) -> dict[str, Any]:
    """The wheels as entries of the lock, to be served from the folder it is in.

    No other package brings those of `later` with it: they are loaded by name, or because a cell imports them.
    """
    return {
        name: {
            "name": name,
            "version": wheel.version,
            "file_name": wheel.path.name,
            "sha256": wheel.sha256,
            "imports": wheel.imports,
            "depends": [each for each in depends[name] if each not in later],
            "install_dir": "site",
            "package_type": "package",
            "unvendored_tests": False,
        }
        for name, wheel in wheels.items()
    }


def cut_down(lock: Lock, own: Mapping[str, Any]) -> Lock:
    """A lock with our packages only: none of them is fetched from elsewhere."""
    return {"info": lock["info"], "packages": dict(own)}


def extended(lock: Lock, own: Mapping[str, Any], address: str) -> Lock:
    """All of Pyodide's packages, loaded from `address` when a cell imports them. Ours come first."""
    theirs = {
        name: {**package, "file_name": f"{address}/{package['file_name']}"}
        for name, package in lock["packages"].items()
    }
    return {"info": lock["info"], "packages": {**theirs, **own}}
