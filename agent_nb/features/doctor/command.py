"""The looks of `%agent doctor`. All run at once and end in time; none sends a key or shows a value."""

import asyncio
import inspect
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import httpx2

from agent_nb._base.constants import DEMO_MODEL, VERSION
from agent_nb._base.table import Table
from agent_nb._base.text import listed
from agent_nb._base.threads import in_thread, off_loop
from agent_nb.plugins import ConfigError, Host, Vendor
from agent_nb.plugins.engine import VENDORS, ChromiumViewer, Settings, key_source, make_client, outdated

SECONDS, ANSWER_SECONDS = 2.0, 1.5
"""Timeouts of all looks, and of the answer of a server."""
LEAST_DISK = 0.5
"""In GB."""
PACKAGES = ("IPython", "ipykernel", "ipywidgets", "anywidget")
OPTIONAL = ("azure-identity", "boto3", "mcp", "pillow", "playwright", "pypdf", "rembg")
EXTENSIONS = ("agent-nb", "anywidget", "@jupyter-widgets/jupyterlab-manager")
IN_NOTEBOOKS = ("Front end", "JupyterLab extension", "Branches")


class Line(NamedTuple):
    name: str
    ok: bool
    state: str
    remedy: str = ""


async def doctor(host: Host, arguments: str) -> Table | str:
    return await _report(host, arguments.split())


def in_terminal(terminal: Host, words: Sequence[str]) -> Table | str:
    return asyncio.run(_report(None, words))


async def _report(host: Host | None, words: Sequence[str]) -> Table | str:
    if unknown := [word for word in words if word != "--json"]:
        raise ConfigError(f"`doctor` takes `--json` alone, not {unknown[0]!r}.")
    looks = {name: look for name, look in LOOKS.items() if host or name not in IN_NOTEBOOKS}
    parts = await asyncio.gather(*(_lines(name, look, host) for name, look in looks.items()))
    lines = [line for part in parts for line in part]
    if words:
        return json.dumps([line._asdict() for line in lines], indent=2)
    rows = [("✓" if ok else "–", name, state, remedy) for name, ok, state, remedy in lines]
    return Table(("", "what", "state", "what to do"), rows, "")


async def _lines(name: str, look: Callable[[Any], Any], host: Host | None) -> list[Line]:
    waits = inspect.iscoroutinefunction(look)
    try:
        async with asyncio.timeout(SECONDS):
            lines = await (look(host) if waits else in_thread(lambda: look(host)))
    except TimeoutError:
        lines = [
            Line(name, False, f"no result within {SECONDS:g} s", "Run it again: what it looks at hangs.")
        ]
    except Exception as error:  # of one look, which must not hide the others
        lines = [Line(name, False, f"unknown ({type(error).__name__}: {error})", "Report this, please.")]
    return [line._replace(remedy="") if line.ok else line for line in lines]


def _versions(host: Host | None) -> list[Line]:
    installed = {name: _version(name) for name in PACKAGES}
    missing = [name for name, number in installed.items() if not number]
    python = f"agent-nb {VERSION}, Python {sys.version.partition(' ')[0]} on {sys.platform}"
    state = ", ".join([python, *(f"{name} {number}" for name, number in installed.items() if number)])
    lines = [
        Line("Versions", not missing, state, f"pip install {' '.join(missing)}, then restart the kernel.")
    ]
    for api in {vendor.api.package: vendor.api for vendor in VENDORS.values() if vendor.api.package}.values():
        number, too_old = _version(api.package), outdated(api)
        state = f"{number} is too old" if too_old else number or "not installed"
        remedy = f'pip install -U "{api.package}>={api.lowest}", then restart the kernel.'
        lines.append(Line(api.package, bool(number and not too_old), state, remedy))
    optional = {name: _version(name) for name in OPTIONAL}
    state = ", ".join(f"{name} {number or 'not installed'}" for name, number in optional.items())
    return [*lines, Line("Optional packages", True, state)]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


async def _front_end(host: Host) -> list[Line]:
    name, answers = await host.front_end()
    remedy = "Reload the page and run this again. Until a page answers, runs are shown without buttons."
    comm = Line("Comm", bool(answers), "a page answers" if answers else "no page has answered", remedy)
    return [Line("Front end", True, name), *([] if answers is None else [comm])]


def _extension(host: Host) -> list[Line]:
    try:
        from jupyter_core.paths import jupyter_path
    except ImportError:  # as in JupyterLite, whose site has the extension
        return []
    folders = [Path(folder) for folder in jupyter_path("labextensions")]
    missing = [name for name in EXTENSIONS if not any((folder / name).exists() for folder in folders)]
    state = f"{listed(missing)} missing in this environment" if missing else "installed"
    remedy = "If JupyterLab runs in another environment, pip install agent-nb there, then reload the page."
    return [Line("JupyterLab extension", not missing, state, remedy)]


def _keys(host: Host | None) -> list[Line]:
    sources = {vendor.title: key_source(vendor.keys) for vendor in VENDORS.values()}
    state = ", ".join(f"{title} ({source})" for title, source in sources.items() if source)
    command = host.command("key VENDOR") if host else "%agent key VENDOR"
    remedy = f"`{command}`, or set the vendor's variable. Without a key, `-m {DEMO_MODEL}` answers offline."
    return [Line("Keys", bool(state), state or "none", remedy)]


async def _servers(host: Host | None) -> list[Line]:
    local = [vendor for vendor in VENDORS.values() if vendor.local]
    async with await off_loop(make_client) as client:
        lines = await asyncio.gather(*(_server(client, vendor) for vendor in local))
    silent = f"none answers ({', '.join(vendor.title for vendor in local if vendor.base_url)})"
    remedy = "Only for models on your machine: start the server, or set its address."
    return [*filter(None, lines)] or [Line("Local servers", False, silent, remedy)]


async def _server(client: httpx2.AsyncClient, vendor: Vendor) -> Line | None:
    """None if it does not answer as a server of models, and the user has not set its address."""
    own = os.environ.get(vendor.base_url_variable, "").rstrip("/")
    if not (url := own or vendor.base_url):
        return None
    try:
        async with asyncio.timeout(ANSWER_SECONDS), client.stream("GET", f"{url}/models") as response:
            needs_key = response.status_code in (401, 403)
            ok = response.is_success or needs_key
            state = "asks for its key" if needs_key else f"answers with status {response.status_code}"
    except Exception:  # of the network, an address or a browser's fetch
        ok, state = False, "does not answer"
    address = Settings(vendor=vendor, model="", base_url=url).server
    remedy = f"Start the server, or correct `{vendor.base_url_variable}`."
    return Line(vendor.title, ok, f"{state} at {address}", remedy) if ok or own else None


def _branches(host: Host) -> list[Line]:
    maker = next(tool.branches for tool in host.tools(["kernel"]) if tool.branches)
    try:
        if not maker.are_safe():
            maker.check("Branches may fail here.", "work in the session")
    except ConfigError as error:
        return [Line("Branches", False, "the kernel cannot be copied safely", str(error))]
    return [Line("Branches", True, "the kernel can be copied")]


def _chromium(host: Host | None) -> list[Line]:
    try:
        ChromiumViewer()
    except ConfigError as error:
        return [Line("Chromium", False, "not used", str(error))]
    return [Line("Chromium", True, "shows the pages of unattended runs")]


def _folder(host: Host | None) -> list[Line]:
    folder = host.home if host else Path.cwd()
    remedy = "Start Jupyter in a folder that you may write: runs and files are saved there."
    try:
        tempfile.TemporaryFile(dir=folder).close()
        free = shutil.disk_usage(folder).free / 1e9
    except OSError as error:
        return [Line("Working folder", False, f"cannot be written ({error.strerror})", remedy)]
    disk = Line("Disk", free >= LEAST_DISK, f"{free:.1f} GB free", "Make room: runs could not be saved.")
    return [Line("Working folder", True, "can be written"), disk]


LOOKS: dict[str, Callable[[Any], Any]] = {
    "Versions": _versions,
    "Front end": _front_end,
    "JupyterLab extension": _extension,
    "Keys": _keys,
    "Local servers": _servers,
    "Branches": _branches,
    "Chromium": _chromium,
    "Working folder": _folder,
}
