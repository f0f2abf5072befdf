"""What is shipped: an sdist and a wheel with the page, the extension, the prompts and the demo's pages."""

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import agent_nb
from tests.support import ROOT


@pytest.fixture(scope="module")
def sdist(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE)
    (path,) = folder.glob("*.tar.gz")
    return path


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory) -> Path:
    """A wheel that is built from the sdist, without Node."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ["-q", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(sdist)], check=True, env={"PATH": ""})
    (path,) = folder.glob("*.whl")
    return path


def test_the_sdist_and_its_wheel_hold_the_page_the_extension_and_the_texts(sdist, wheel):
    static = ROOT / "agent_nb" / "static"
    built = {path.relative_to(static).as_posix() for path in static.rglob("*.js*")}
    assert {"widget.js", "headless.js", "replay.js", "lab/static/extension.js", "lab/package.json"} < built
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"agent_nb/static/{name}" for name in built} <= packed
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"agent_nb/static/{name}" for name in built if not name.startswith("lab/")} <= set(names)
    extension = [name for name in names if ".data/data/share/jupyter/labextensions/agent-nb/" in name]
    assert {name.partition("labextensions/agent-nb/")[2] for name in extension} == {
        *("package.json", "install.json", "static/extension.js"),
        "schemas/agent-nb/cells.json",
    }
    assert "agent_nb/prompts/system.md" in names
    assert "agent_nb/py.typed" in names
    assert any(name.startswith("agent_nb/demo/pages/") for name in names)
    assert not [name for name in names if name.startswith(("tests/", "js/", "notebooks/"))]


def test_the_installed_wheel_runs_the_demo(wheel, tmp_path):
    """Unpacked beside the packages of this environment, but found before the source tree."""
    target = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(target)
    script = (
        "import agent_nb, pathlib, sys\n"
        "assert pathlib.Path(agent_nb.__file__).is_relative_to(sys.path[0]), agent_nb.__file__\n"
        "from agent_nb.notebook.live.hub import BUNDLE\n"
        "assert BUNDLE.stat().st_size > 10_000\n"
        "run = agent_nb.Agent(agent_nb.model('demo:', pace=0)).run_sync('A form')\n"
        "print(run.reason, list(run.files))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(target)!r})\n{script}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.stdout.strip() == "end_turn ['index.html']", done.stderr


def test_the_version_is_the_same_everywhere(wheel):
    extension = json.loads((ROOT / "js/lab/package.json").read_text())
    citation = re.search("^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert {wheel.name.split("-")[1], extension["version"], citation[1]} == {agent_nb.__version__}


@pytest.mark.parametrize(
    ("sources", "missing", "skip", "sentence"),
    [
        (True, "widget.js", "", "Node 20+ needed"),
        (True, "lab/static/extension.js", "", "Node 20+ needed"),
        (True, "lab/static/extension.js", "1", "agent_nb/static lacks lab/static/extension.js. Run `npm"),
        (False, "lab/package.json", "", "agent_nb/static lacks lab/package.json. Run `npm"),
        (True, None, "", ""),
    ],
)
def test_a_build_without_one_of_its_files_stops_with_the_remedy(tmp_path, sources, missing, skip, sentence):
    script = (
        "import sys, pathlib; sys.path.insert(0, 'js')\n"
        "from hatch_build import BUILT, BundleHook\n"
        f"root = pathlib.Path({str(tmp_path)!r})\n"
        "for path in (root / 'agent_nb' / 'static' / name for name in BUILT):\n"
        "    path.parent.mkdir(parents=True, exist_ok=True)\n"
        "    path.touch()\n"
        f"{missing!r} and (root / 'agent_nb' / 'static' / {missing!r}).unlink()\n"
        "hook = BundleHook.__new__(BundleHook)\n"
        "hook._BuildHookInterface__root = str(root)\n"
        "hook.initialize('standard', {})\n"
    )
    (tmp_path / "js" / "src").mkdir(parents=True)
    if sources:
        (tmp_path / "js" / "package.json").write_text("{}")
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={"PATH": "", "AGENT_NB_SKIP_BUILD": skip},
    )
    assert done.returncode == bool(sentence), done.stderr
    assert sentence in done.stderr
