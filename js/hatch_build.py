"""Builds the page bundle before a wheel, an sdist or an editable install is made."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PARTS = "annotations check form headless inspect morph outputs reminder replay request scrubber widget zip"
BUNDLE = tuple(f"{name}.js" for name in PARTS.split())


class BundleHook(BuildHookInterface):
    """Installs and builds in `js/`, unless the bundle is newer than its sources.

    `npm install` and not `npm ci`: the latter refuses a lock file made where a registry lacks the optional
    packages of other platforms.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        sources, static = root / "js", root / "agent_nb" / "static"
        built = [static / name for name in BUNDLE]
        if not (sources / "package.json").exists() or os.environ.get("AGENT_NB_SKIP_BUILD"):
            return
        if all(path.exists() for path in built) and not _stale(sources / "src", built):
            return
        npm = shutil.which("npm")
        if npm is None or _node_major() < 20:
            raise RuntimeError(
                "Node 20+ needed to build the widget's page (found none, or an older one). "
                "Install Node.js 20 or later and try again."
            )
        subprocess.run([npm, "install", "--no-save", "--no-audit", "--no-fund"], cwd=sources, check=True)
        subprocess.run([npm, "run", "build"], cwd=sources, check=True)


def _stale(sources: Path, built: list[Path]) -> bool:
    oldest = min(path.stat().st_mtime for path in built)
    return any(path.stat().st_mtime > oldest for path in sources.rglob("*") if path.is_file())


def _node_major() -> int:
    try:
        answer = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
        return int(answer.strip().lstrip("v").split(".")[0])
    except (OSError, subprocess.CalledProcessError, ValueError):
        return 0
