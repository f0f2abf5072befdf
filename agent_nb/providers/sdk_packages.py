"""Whether a vendor's SDK is installed; in a browser tab it is loaded when the vendor is first asked."""

import importlib.util

from agent_nb._base.constants import IN_BROWSER
from agent_nb.errors import InstallError


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def can_load(package: str) -> bool:
    """Whether this Python runs in a page that has the package to load."""
    if not IN_BROWSER:
        return False
    import pyodide_js

    return hasattr(pyodide_js.lockfile.packages, package)


async def load_package(package: str, module: str) -> None:
    """Loads a package and what it needs into Python in a browser, if it can be loaded and is not there yet."""
    if not can_load(package) or is_installed(module):
        return
    import pyodide_js

    failures: list[str] = []
    await pyodide_js.loadPackage(package, messageCallback=lambda _: None, errorCallback=failures.append)
    if not is_installed(module):
        reason = f" ({failures[-1]})" if failures else ""
        raise InstallError(
            f"The browser could not load the {package!r} package{reason}. Check the network, then run the cell again."
        )
