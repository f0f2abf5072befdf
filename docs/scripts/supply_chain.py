"""`python -m docs.scripts.supply_chain`: what comes with agent_nb, known vulnerabilities, and two equal builds.

The figures go to `build/quality/supply.json`. An audit whose database cannot be reached is a line that says so.
"""

import base64
import hashlib
import importlib.metadata
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from agent_nb._base.table import Table
from agent_nb.pages.policy import INTEGRITY
from benchmarks.quality import write_figures
from tests.support import ROOT

PROJECT = "agent-nb"
IMPORTS = 3
"""Times that each package is imported in a process of its own; the fastest counts."""
_TOTAL = re.compile(r"import time:\s+\d+ \|\s+(\d+) \| +(\S+)")
_ADDRESS = re.compile(r"/npm/(.[^@]+)@([^/]+)/(.+)")
COLUMNS = ("package", "version", "licence", "KB installed", "ms to import")


def dependencies() -> tuple[list[str], list[str]]:
    """The names of the packages that we ask for, and of those that these ask for, as they are installed here."""
    direct = sorted(_required(PROJECT))
    found, waiting = set(direct), list(direct)
    while waiting:
        for name in _required(waiting.pop()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return direct, sorted(found - {*direct})


def _required(name: str) -> Iterator[str]:
    for line in importlib.metadata.requires(name) or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield re.sub(r"[-_.]+", "-", requirement.name).lower()


def facts(name: str) -> dict[str, Any]:
    """What is known of an installed package."""
    package = importlib.metadata.distribution(name)
    paths = [Path(str(path.locate())) for path in package.files or ()]
    size = sum(path.stat().st_size for path in paths if path.is_file() and "__pycache__" not in path.parts)
    return {
        "package": name,
        "version": package.version,
        "licence": licence(package.metadata),
        "KB installed": round(size / 1000),
    }


def licence(metadata: Any) -> str:
    """The licence as the package states it: its expression, else its classifier, else the first line of its text."""
    classifiers = [
        each.rpartition(" :: ")[2]
        for each in metadata.get_all("Classifier") or ()
        if each.startswith("License")
    ]
    stated = (
        metadata.get("License-Expression")
        or ", ".join(classifiers)
        or metadata.get("License")
        or "not stated"
    )
    return str(stated).strip().splitlines()[0][:60]


def import_milliseconds(name: str) -> float | None:
    """The time to import a package and all that it imports, in a process of its own; None if it cannot be imported."""
    modules = _modules().get(name)
    if not modules:
        return None
    times = []
    for _ in range(IMPORTS):
        result = subprocess.run(
            [sys.executable, "-X", "importtime", "-c", f"import {modules[0]}"],
            capture_output=True,
            text=True,
            check=False,
        )
        totals = {module: int(micro) for micro, module in _TOTAL.findall(result.stderr)}
        if result.returncode or modules[0] not in totals:
            return None
        times.append(totals[modules[0]] / 1000)
    return round(min(times), 1)


def _modules() -> Mapping[str, list[str]]:
    """The importable names of each package, the one most like its own name first."""
    names: dict[str, list[str]] = {}
    for module, packages in importlib.metadata.packages_distributions().items():
        for package in packages:
            names.setdefault(re.sub(r"[-_.]+", "-", package).lower(), []).append(module)
    special = {"google-genai": ["google.genai"], "pillow": ["PIL.Image"]}
    return {
        name: sorted(found, key=lambda each: each.startswith("_")) for name, found in names.items()
    } | special


def audit(name: str, command: list[str], folder: Path) -> dict[str, Any]:
    """The result of an audit, or why there is none."""
    try:
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=180)
        report = json.loads(result.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return {
            "audit": name,
            "result": "not available here: its database cannot be reached, or it is not installed",
        }
    if "error" in report:
        return {"audit": name, "result": "not available here: its database cannot be reached"}
    return {"audit": name, "result": f"{_vulnerabilities(report)} known vulnerabilities"}


def _vulnerabilities(report: dict[str, Any]) -> int:
    if "metadata" in report:  # npm
        return int(report["metadata"]["vulnerabilities"]["total"])
    return sum(len(each.get("vulns", ())) for each in report["dependencies"])


def stack_files() -> dict[str, str]:
    """For each file that a stack loads, whether its hash is that of the file in the package on npm."""
    with tempfile.TemporaryDirectory() as folder:
        return {address: _compared(address, digest, folder) for address, digest in INTEGRITY.items()}


def _compared(address: str, digest: str, folder: str) -> str:
    package, version, path = _ADDRESS.findall(address)[0]
    command = ["npm", "pack", "--json", "--silent", f"{package}@{version}"]
    try:
        packed = subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=180)
    except (OSError, subprocess.SubprocessError):
        return "not available here: npm cannot be reached, or is not installed"
    with tarfile.open(Path(folder, json.loads(packed.stdout)[0]["filename"])) as archive:
        file = archive.extractfile(f"package/{path}")
        found = base64.b64encode(hashlib.sha384(file.read() if file else b"").digest()).decode()
    return "equal" if digest == f"sha384-{found}" else "NOT EQUAL"


def two_builds() -> dict[str, Any]:
    """The SHA-256 of the wheel, built in two clean clones with paths of different lengths."""
    digests = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("first", "second-with-a-longer-name"):
            clone, out = Path(folder, name), Path(folder, f"{name}-out")
            _run("git", "clone", "-q", str(ROOT), str(clone))
            options = ["-q", "--no-deps", "--no-build-isolation", "-w", str(out)]
            _run(sys.executable, "-m", "pip", "wheel", *options, str(clone))
            (wheel,) = out.glob("*.whl")
            data = wheel.read_bytes()
            digests.append(hashlib.sha256(data).hexdigest())
    return {"equal": len({*digests}) == 1, "sha256": digests, "KB": round(len(data) / 1000)}


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


def main() -> None:
    direct, further = dependencies()
    rows = [{**facts(name), "ms to import": import_milliseconds(name)} for name in direct]
    others = [facts(name) for name in further]
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder, "requirements.txt")
        listed.write_text("".join(f"{row['package']}=={row['version']}\n" for row in (*rows, *others)))
        python_audit = [sys.executable, "-m", "pip_audit", "-f", "json", "--no-deps", "-r", str(listed)]
        audits = [
            audit("pip-audit", python_audit, ROOT),
            audit("npm audit", ["npm", "audit", "--omit=dev", "--json"], ROOT / "js"),
        ]
    figures = {
        "direct": rows,
        "further": others,
        "audits": audits,
        "files": stack_files(),
        "wheel": two_builds(),
    }
    write_figures("supply", figures)
    print(Table(COLUMNS, [[row.get(name) or "" for name in COLUMNS] for row in (*rows, *others)], ""))
    for each in audits:
        print(f"{each['audit']}: {each['result']}.")
    for address, result in figures["files"].items():
        print(f"{address}: {result}.")
    print(f"Two builds of the wheel are {'equal' if figures['wheel']['equal'] else 'NOT equal'}.")


if __name__ == "__main__":
    main()
