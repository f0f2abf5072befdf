"""What is shipped: a wheel that holds the page, the prompts and the demo's pages."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import agent_nb
from tests.support import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    options = ["-q", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(ROOT)], check=True)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_the_page_and_the_texts(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    built = {path.name for path in (ROOT / "agent_nb" / "static").glob("*.js")}
    assert {"widget.js", "headless.js", "replay.js"} < built
    assert {f"agent_nb/static/{name}" for name in built} <= set(names)
    extension = [name for name in names if ".data/data/share/jupyter/labextensions/agent-nb/" in name]
    assert {Path(name).name for name in extension} == {"package.json", "extension.js"}
    assert "agent_nb/prompts/system.md" in names
    assert "agent_nb/py.typed" in names
    assert any(name.startswith("agent_nb/demo/pages/") for name in names)
    assert not [name for name in names if name.startswith(("tests/", "js/", "notebooks/"))]


def test_the_installed_wheel_runs_the_demo(wheel, tmp_path):
    """Installed beside the packages of this environment, but found before the source tree."""
    target = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(target), str(wheel)],
        check=True,
    )
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


def test_the_wheel_has_the_version_of_the_package(wheel):
    assert wheel.name.split("-")[1] == agent_nb.__version__


def test_the_build_says_that_node_is_needed(tmp_path):
    """With no bundle and no Node, the hook stops with the remedy."""
    script = (
        "import sys, shutil; sys.path.insert(0, 'js')\n"
        "from hatch_build import BundleHook\n"
        "hook = BundleHook.__new__(BundleHook)\n"
        f"hook._BuildHookInterface__root = {str(tmp_path)!r}\n"
        "hook.initialize('standard', {})\n"
    )
    (tmp_path / "js" / "src").mkdir(parents=True)
    (tmp_path / "js" / "package.json").write_text("{}")
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={"PATH": ""},
    )
    assert done.returncode == 1
    assert "Node 20+ needed" in done.stderr
