"""Builds the page bundle before a wheel, an sdist or an editable install is made."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILT = (
    *("widget.js", "check.js", "replay.js", "page.js", "headless.js", "notebook.js"),
    *("lab/static/extension.js", "lab/package.json", "lab/install.json", "lab/schemas/agent-nb/cells.json"),
)
"""The files that `build.mjs` writes to `agent_nb/static`."""


class BundleHook(BuildHookInterface):
    """Installs and builds in `js/`, unless every built file exists and is newer than the sources.

    `npm install` and not `npm ci`: the latter refuses a lock file made where a registry lacks the optional
    packages of other platforms.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sources, static = Path(self.root, "js"), Path(self.root, "agent_nb", "static")
        is_skipped = bool(os.environ.get("AGENT_NB_SKIP_BUILD"))
        if not is_skipped and (sources / "package.json").exists() and not _is_fresh(static, sources):
            _build(sources)
        missing = [name for name in BUILT if not (static / name).is_file()]
        if missing and not (is_skipped and version == "editable"):
            raise RuntimeError(
                f"agent_nb/static lacks {', '.join(missing)}. Run `npm install` and `npm run build` in js/ "
                "and try again, with AGENT_NB_SKIP_BUILD unset."
            )


def _is_fresh(static: Path, sources: Path) -> bool:
    if not all((static / name).is_file() for name in BUILT):
        return False
    built = min((static / name).stat().st_mtime for name in BUILT)
    paths = (path for part in ("src", "lab") for path in (sources / part).rglob("*"))
    return all(path.stat().st_mtime <= built for path in paths if path.is_file())


def _build(sources: Path) -> None:
    npm = shutil.which("npm")
    if npm is None or _node_major() < 20:
        raise RuntimeError(
            "Node 20+ needed to build the widget's page (found none, or an older one). "
            "Install Node.js 20 or later and try again."
        )
    subprocess.run([npm, "install", "--no-save", "--no-audit", "--no-fund"], cwd=sources, check=True)
    subprocess.run([npm, "run", "build"], cwd=sources, check=True)


def _node_major() -> int:
    try:
        answer = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
        return int(answer.strip().lstrip("v").split(".")[0])
    except (OSError, subprocess.CalledProcessError, ValueError):
        return 0
