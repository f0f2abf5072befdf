"""`python -m docs.scripts.matrix` runs the tests on other Pythons, kernels and versions of the dependencies.

Each row of `ROWS` gets an environment of its own below `.venv-matrix/`, made once. The results are written to
`docs/internals/compatibility.md`. A Python that is not found is left out, and the table says so. They are looked for on
the PATH, in pyenv and in `--python PATH`; `--only TEXT` runs the rows whose name has this text.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

import pytest
from packaging.requirements import Requirement

from agent_nb.providers.vendors import APIS

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = ROOT / ".venv-matrix"
TARGET = ROOT / "docs" / "internals" / "compatibility.md"
TESTS = (
    "tests/kernel/test_cells.py",
    "tests/kernel/test_loop.py",
    "tests/unit/providers/test_contract.py",
    "tests/unit/images",
    "tests/unit/tools",
    "tests/unit/test_agent.py",
)
OLDER_TESTS = ("tests/kernel/test_older_sdks.py", "tests/unit/cassette", "tests/unit/tools/mcp")
"""What works without any vendor."""
INTRODUCTION = (
    "# Compatibility",
    "",
    "`make test-matrix` runs the tests of cells in a real kernel, of the providers' contract, of images and of tools",
    "in each of these environments, and writes this page. `make test` runs every test in one environment.",
)
SHOWN = (
    "ipython",
    "ipywidgets",
    "anywidget",
    "openai",
    "anthropic",
    "google-genai",
    "httpx2",
    "pillow",
    "mcp",
)
COLAB_PINS = (
    "ipython==7.34.0",
    "ipywidgets==7.7.1",
    "anywidget==0.9.21",
    "jupyter-client==7.4.9",
    "pyzmq==26.2.1",
    "tornado==6.5.7",
    "traitlets==5.7.1",
    "numpy==2.1.3",
    "pandas==2.2.3",
    "matplotlib==3.10.0",
    "pillow==11.3.0",
)
"""What Colab's image has of the packages that a kernel with our magic loads, by its public list of August 2026
(https://github.com/googlecolab/backend-info)."""
SDKS = {api.package: api.lowest for api in APIS.values() if api.package}
"""The lowest major version of each vendor's SDK."""


@dataclass(frozen=True, slots=True)
class Row:
    python: str
    ipykernel: str
    versions: Literal["newest", "lowest", "older SDKs", "Colab"] = "newest"
    """Of our dependencies: the newest, the lowest that are allowed, SDKs that fit no vendor, or what Colab has."""

    @property
    def name(self) -> str:
        return f"{self.python}-{self.versions.replace(' ', '-')}-ipykernel-{self.ipykernel}"

    @property
    def folder(self) -> Path:
        return ENVIRONMENTS / self.name


COLAB = Row("3.13", "6.17.1", "Colab")
ROWS = (
    Row("3.11", "6.31.0", "lowest"),
    Row("3.11", "6.31.0", "older SDKs"),
    Row("3.11", "7.2.0"),
    Row("3.12", "7.4.0"),
    Row("3.13", "7.4.0"),
    Row("3.14", "7.4.0"),
    Row("3.14", "6.31.0"),
    COLAB,
)


@dataclass(frozen=True, slots=True)
class Result:
    python: str
    versions: dict[str, str]
    passed: int
    skipped: int
    failed: int


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--python", action="append", default=[], help="a Python to use, besides those found")
    options.add_argument("--only", default="", help="run the rows whose name has this text")
    given = options.parse_args()
    results: dict[Row, Result] = {}
    for row in ROWS:
        if given.only in row.name and (python := find_python(row.python, given.python)):
            print(f"\n{row.name}", flush=True)
            make_environment(row, python)
            run_tests(row)
        if (saved := row.folder / "result.json").exists():
            results[row] = Result(**json.loads(saved.read_text(encoding="utf-8")))
    TARGET.write_text(page(results), encoding="utf-8")
    print(f"\nWrote {TARGET.relative_to(ROOT)}")
    return 1 if any(result.failed for result in results.values()) else 0


def find_python(version: str, given: Iterable[str]) -> str | None:
    for path in candidates(version, given):
        answer = subprocess.run(
            [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        if answer.stdout.strip() == version:
            return path
    return None


def candidates(version: str, given: Iterable[str]) -> Iterator[str]:
    yield from given
    if path := shutil.which(f"python{version}"):
        yield path
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(pyenv.glob(f"versions/{version}.*/bin/python"), reverse=True))


def make_environment(row: Row, python: str) -> None:
    done = row.folder / "installed"
    if done.exists():
        return
    subprocess.run([python, "-m", "venv", "--clear", "--without-pip", row.folder], check=True)
    constraints = row.folder / "constraints.txt"
    constraints.write_text("\n".join(pins(row)), encoding="utf-8")
    installer = [sys.executable, "-m", "pip", "--python", row.folder / "bin" / "python", "install", "--quiet"]
    wanted = ["--editable", ".", "--group", "matrix", f"ipykernel=={row.ipykernel}"]
    subprocess.run(
        [*installer, *wanted, "--constraint", constraints],
        cwd=ROOT,
        env={**os.environ, "AGENT_NB_SKIP_BUILD": "1"},
        check=True,
    )
    done.touch()


def pins(row: Row) -> Iterable[str]:
    """The constraints of a row."""
    match row.versions:
        case "newest":
            return ()
        case "lowest":
            return lowest_versions()
        case "older SDKs":
            return ["mcp<2", *(f"{package}<{lowest}" for package, lowest in SDKS.items())]
        case "Colab":
            return COLAB_PINS


def lowest_versions() -> list[str]:
    """The lower bounds of our dependencies, as constraints."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    requirements = map(Requirement, (*project["dependencies"], *project["optional-dependencies"]["mcp"]))
    here = [each for each in requirements if each.marker is None or each.marker.evaluate()]
    bounds = [(each.name, bound) for each in here for bound in each.specifier if bound.operator == ">="]
    exact = [
        f"{name}=={bound.version}" for name, bound in bounds if name != "pydantic"
    ]  # google-genai needs a newer
    return [*exact, *(f"{package}=={lowest}" for package, lowest in SDKS.items())]


def run_tests(row: Row) -> None:
    report = row.folder / "report.xml"
    report.unlink(missing_ok=True)
    python = row.folder / "bin" / "python"
    tests = OLDER_TESTS if row.versions == "older SDKs" else TESTS
    command = [python, "-m", "pytest", "-q", f"--junitxml={report}", *tests]
    ended = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    if ended.returncode not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise SystemExit(f"pytest ran no tests in {row.name}: see above.")
    counts = {"tests": 0, "skipped": 0, "failures": 0, "errors": 0}
    for suite in ElementTree.parse(report).iter("testsuite"):
        counts = {name: count + int(suite.get(name, 0)) for name, count in counts.items()}
    failed = counts["failures"] + counts["errors"]
    result = Result(
        python=python_version(python),
        versions=installed_versions(python),
        passed=counts["tests"] - counts["skipped"] - failed,
        skipped=counts["skipped"],
        failed=failed,
    )
    (row.folder / "result.json").write_text(json.dumps(asdict(result)), encoding="utf-8")


def python_version(python: Path) -> str:
    return subprocess.run([python, "-V"], capture_output=True, text=True, check=True).stdout.split()[1]


def installed_versions(python: Path) -> dict[str, str]:
    script = "import sys, importlib.metadata as m; print(*(m.version(name) for name in sys.argv[1:]))"
    command = [python, "-c", script, *SHOWN]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(zip(SHOWN, answer.stdout.split(), strict=True))


def page(results: dict[Row, Result]) -> str:
    lines = [*INTRODUCTION, "", "| Python | ipykernel | dependencies | tests |", "|---|---|---|---|"]
    lines += [table_line(row, results.get(row)) for row in ROWS]
    lines += [
        "",
        "The lowest versions are the lower bounds in `pyproject.toml` and, of the vendors' SDKs, the first that fit.",
        "With older SDKs, only tests without a vendor are run. Colab's are those of its image. Installed were:",
        "",
    ]
    lines += ["| | " + " | ".join(SHOWN) + " |", "|---" * (len(SHOWN) + 1) + "|"]
    for row, result in results.items():
        title = f"Python {row.python}, ipykernel {row.ipykernel}, {row.versions}"
        lines.append(f"| {title} | " + " | ".join(result.versions[name] for name in SHOWN) + " |")
    return "\n".join(lines) + "\n"


def table_line(row: Row, result: Result | None) -> str:
    if result is None:
        return f"| {row.python} | {row.ipykernel} | {row.versions} | not run |"
    outcome = f"{result.passed} passed"
    outcome += f", {result.skipped} skipped" if result.skipped else ""
    outcome += f", **{result.failed} failed**" if result.failed else ""
    return f"| {result.python} | {row.ipykernel} | {row.versions} | {outcome} |"


if __name__ == "__main__":
    sys.exit(main())
