"""Detects files that take effect next to a notebook without being opened."""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path, PurePosixPath

from agent_nb._base.atomic import read_file

_HARMLESS = frozenset(
    (
        *(".html", ".htm", ".css", ".js", ".mjs", ".json", ".md", ".txt", ".csv", ".tsv"),
        *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp", ".ico", ".svg"),
        *(".woff", ".woff2", ".ttf", ".otf"),
    )
)
"""Suffixes of files that do nothing until somebody opens them, unless a program knows their names."""

AGENT_FILES: Mapping[str, tuple[str, ...]] = {
    "claude": ("claude.md", "claude.local.md", "agents.md", "agents.local.md"),
    "gemini": ("gemini.md",),
    "codex": ("agents.md", "agents.override.md"),
    "opencode": ("agents.md", "claude.md", "context.md", "opencode.json", "opencode.jsonc", "tui.json", "tui.jsonc"),
    "other": (
        *("agent.md", "qwen.md", "crush.md", "warp.md", "skill.md", "*.instructions.md", "copilot-instructions.md"),
        *("knowledge.md", "iflow.md", "replit.md", "crush.json", "codebuff.json", "kilo.json", "firebender.json"),
        *("gemini-extension.json", "*mcp*.json"),
    ),
}  # fmt: skip
"""Lowercase patterns of the files that coding agents read as instructions or settings, by the NAME of `acp:NAME`."""
_TESTS = "runs with the tests of this folder"
_EFFECTS = {
    "sets the rules of `%%agent` cells": ("lab.toml",),
    "is the log of a lab": ("lab-log.jsonl",),
    "is replayed instead of asking a model": ("cassettes/*.jsonl", "__marimo__/agent_nb/*.jsonl"),
    "runs when Python starts": ("sitecustomize.py", "usercustomize.py", "*.pth"),
    "runs in place of a module": ("*.pyc",),
    _TESTS: ("conftest.py", "*.test.*", "*.spec.*", "test*", "*[-_]test.*"),
    "configures Jupyter": (
        *("ipython*_config.*", "jupyter*_config.*", "jupyter*_config.d/*", "voila.json", "kernel.json"),
        *("overrides.json", "jupyter-lite.json", "custom/custom.js", "custom/custom.css"),
    ),
    "instructs coding agents": tuple(chain(*AGENT_FILES.values())),
    "lists packages to install": (
        *("*requirements*.txt", "requirements/*.txt", "*constraints*.txt", "apt.txt", "runtime.txt"),
        *("package.json", "package-lock.json", "npm-shrinkwrap.json", "composer.json", "bower.json"),
    ),
    "registers plugins of Python packages": ("*.dist-info/*", "*.egg-info/*"),
    "configures other programs": (
        *(
            "?*config.json",
            "*rc.json",
            "*.config.*",
            "*.conf.*",
            "gulpfile.*",
            "gruntfile.*",
            "cmakelists.txt",
        ),
        *("deno.json", "biome.json", "nodemon.json", "angular.json", "lerna.json", "nx.json", "turbo.json"),
        *("app.json", "vercel.json", "firebase.json", "renovate.json", "devcontainer.json"),
    ),
    "is code that other code may import": ("*.py",),
}
"""Effects of files, and lowercase patterns of their paths. Hidden files are never saved."""
_CODE_FOLDERS = {"node_modules", "__tests__"}


def acting_files(targets: Mapping[Path, bytes], home: Path) -> dict[Path, str]:
    """Return, by path, the effects of new files that may act without being opened, in the notebook's folder `home`."""
    effects = {target: effect_of(target) or _test_effect(target, home) for target in targets}
    return {
        target: effect
        for target, effect in effects.items()
        if effect and not _is_there(target, targets[target])
    }


def effect_of(target: Path) -> str:
    """Return the effect of a file at this path, such as "runs when Python starts"; empty if it has none."""
    path = PurePosixPath(*map(_as_found, target.parts))
    for effect, patterns in _EFFECTS.items():
        if any(map(path.match, patterns)):
            return effect
    if _CODE_FOLDERS.intersection(path.parts):
        return "is code that other code may import"
    return "" if path.suffix in _HARMLESS else "may be read or run by other programs"


def _test_effect(target: Path, home: Path) -> str:
    """The effect of a file in a folder of tests below the notebook. A folder above it is the user's own."""
    folders = target.relative_to(home).parts[:-1] if target.is_relative_to(home) else ()
    return _TESTS if any(_as_found(name).startswith("test") for name in folders) else ""


def instructs_agents(path: str) -> bool:
    """Whether coding agents read the file as instructions or settings: it is hidden, or has a name that they know."""
    place = PurePosixPath(*map(_as_found, path.split("/")))
    is_hidden = any(name.startswith(".") for name in place.parts)
    return is_hidden or any(map(place.match, chain(*AGENT_FILES.values())))


def _as_found(name: str) -> str:
    """Normalise a name: some file systems ignore case, trailing dots and invisible characters."""
    return "".join(filter(str.isprintable, name)).rstrip(". ").casefold()


def _is_there(target: Path, data: bytes) -> bool:
    try:
        return read_file(target, len(data)) == data
    except OSError:
        return False
