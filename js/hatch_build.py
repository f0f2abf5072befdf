"""Builds the page bundle before a wheel, an sdist or an editable install is made."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BundleHook(BuildHookInterface):
    """Installs and builds in `js/`, unless the bundle is newer than its sources.

    `npm install` and not `npm ci`: the latter refuses a lock file made where a registry lacks the optional
    packages of other platforms.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        sources, bundle = root / "js", root / "agent_nb" / "static" / "widget.js"
        if not (sources / "package.json").exists() or os.environ.get("AGENT_NB_SKIP_BUILD"):
            return
        if bundle.exists() and not any(_stale(sources / part, bundle) for part in ("src", "lab")):
            return
        npm = shutil.which("npm")
        if npm is None or _node_major() < 20:
            raise RuntimeError(
                "Node 20+ needed to build the widget's page (found none, or an older one). "
                "Install Node.js 20 or later and try again."
            )
        subprocess.run([npm, "install", "--no-save", "--no-audit", "--no-fund"], cwd=sources, check=True)
        subprocess.run([npm, "run", "build"], cwd=sources, check=True)


def _stale(sources: Path, bundle: Path) -> bool:
    built = bundle.stat().st_mtime
    return any(path.stat().st_mtime > built for path in sources.rglob("*") if path.is_file())


def _node_major() -> int:
    try:
        answer = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
        return int(answer.strip().lstrip("v").split(".")[0])
    except (OSError, subprocess.CalledProcessError, ValueError):
        return 0
