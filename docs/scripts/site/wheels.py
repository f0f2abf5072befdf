"""The wheels that the browser's Python needs: those of agent_nb and of JupyterLite's kernel.

pip decides about environment markers by the Python that runs it, which is not the one in the browser. So what it
downloads is walked again with the browser's markers: what is missing is downloaded too, what is needless left out.
"""

import sys
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from packaging.metadata import Metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from docs.scripts.site.command import run
from docs.scripts.site.locked import Locked, file_hash


@dataclass(frozen=True)
class Platform:
    """The browser's Python, as Pyodide's lock file describes it."""

    python: str
    abi: str
    emscripten: str

    @classmethod
    def of(cls, lock: Mapping) -> "Platform":
        info = lock["info"]
        return cls(info["python"], info["abi_version"], info["platform"].removeprefix("emscripten_"))

    @property
    def version(self) -> str:
        return ".".join(self.python.split(".")[:2])

    @property
    def tag(self) -> str:
        return f"pyemscripten_{self.abi}_wasm32"

    @property
    def markers(self) -> dict[str, str]:
        return {
            "implementation_name": "cpython",
            "implementation_version": self.python,
            "os_name": "posix",
            "platform_machine": "wasm32",
            "platform_python_implementation": "CPython",
            "platform_release": self.emscripten.replace("_", "."),
            "platform_system": "Emscripten",
            "platform_version": "#1",
            "python_full_version": self.python,
            "python_version": self.version,
            "sys_platform": "emscripten",
        }


@dataclass(frozen=True)
class Wheel:
    """A wheel on disk."""

    path: Path

    @cached_property
    def metadata(self) -> Metadata:
        with zipfile.ZipFile(self.path) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            return Metadata.from_email(archive.read(name), validate=False)

    @property
    def name(self) -> str:
        return canonicalize_name(parse_wheel_filename(self.path.name)[0])

    @property
    def version(self) -> str:
        return str(parse_wheel_filename(self.path.name)[1])

    @property
    def sha256(self) -> str:
        return file_hash(self.path)

    @property
    def locked(self) -> Locked:
        return Locked(self.name, self.version, self.sha256)

    @property
    def imports(self) -> list[str]:
        """The names that a program imports it by."""
        with zipfile.ZipFile(self.path) as archive:
            files = [PurePosixPath(name) for name in archive.namelist() if name.endswith((".py", ".pyc"))]
        top = {file.parts[0].partition(".")[0] for file in files}
        return sorted(name for name in top if name.isidentifier())

    def requirements(self, platform: Platform, extras: Iterable[str] = ()) -> list[Requirement]:
        """What it needs on this platform."""
        found = self.metadata.requires_dist or []
        return [
            requirement
            for requirement in found
            if requirement.marker is None
            or any(
                requirement.marker.evaluate({**platform.markers, "extra": extra}) for extra in ("", *extras)
            )
        ]


def wheels_in(*folders: Path) -> dict[str, Wheel]:
    """The wheels of these folders by name. Where two have the same name, the first folder's is taken."""
    found: dict[str, Wheel] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.whl"), reverse=True):
            wheel = Wheel(path)
            found.setdefault(wheel.name, wheel)
    return found


def needed(
    roots: Iterable[str], wheels: Mapping[str, Wheel], platform: Platform
) -> tuple[dict[str, list[str]], list[Requirement]]:
    """What these packages need on the platform, each with its own requirements, and what there is no wheel for."""
    depends: dict[str, set[str]] = {}
    missing: dict[str, Requirement] = {}
    queue = [Requirement(root) for root in roots]
    seen = set()
    while queue:
        requirement = queue.pop()
        name = canonicalize_name(requirement.name)
        asked = (name, frozenset(requirement.extras))
        if asked in seen:
            continue
        seen.add(asked)
        if name not in wheels:
            missing[name] = requirement
            continue
        found = wheels[name].requirements(platform, requirement.extras)
        depends.setdefault(name, set()).update(canonicalize_name(each.name) for each in found)
        queue += found
    return {name: sorted(names) for name, names in sorted(depends.items())}, list(missing.values())


def _pip_download(folder: Path, platform: Platform, *what: str) -> None:
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--only-binary=:all:",
        "--dest",
        str(folder),
    ]
    command += ["--python-version", platform.version, "--platform", platform.tag, "--platform", "any"]
    run([*command, *what], folder)


def download_locked(rows: Iterable[Locked], folder: Path, platform: Platform) -> None:
    """Downloads exactly these wheels."""
    _pip_download(folder, platform, "--no-deps", *(f"{row.name}=={row.version}" for row in rows))


def download(requirements: Iterable[Requirement], folder: Path, platform: Platform) -> None:
    """Downloads the newest wheels for the platform, with their requirements."""
    specs = [f"{each.name}{_extras(each)}{each.specifier}" for each in requirements]
    try:
        _pip_download(folder, platform, *specs)
    except SystemExit as failure:
        raise SystemExit(
            f"{failure}\nA package that has no wheel for the browser needs the marker "
            "`sys_platform != 'emscripten'` in pyproject.toml."
        ) from None


def _extras(requirement: Requirement) -> str:
    return f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""


def collect(
    roots: Iterable[str], given: Iterable[Path], folder: Path, platform: Platform
) -> tuple[dict[str, Wheel], dict[str, list[str]]]:
    """The wheels of these packages and of all they need, with the requirements of each.

    The `given` folders are looked at first; what they lack is downloaded to `folder`, in its newest release.
    """
    roots, given = list(roots), list(given)
    while True:
        wheels = wheels_in(*given, folder)
        depends, missing = needed(roots, wheels, platform)
        if not missing:
            return {name: wheels[name] for name in depends}, depends
        download(missing, folder, platform)
