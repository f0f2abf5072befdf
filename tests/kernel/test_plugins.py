"""Plugins as packages: one that is installed, what only lies beside a notebook, and life without the classroom."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.kernels import start_kernel

EXAMPLE = ROOT / "docs/examples/agent-nb-weather"
DEMO = "%%agent hero -m demo: --pace 0\nA form"
PLANTED = """
from pathlib import Path
Path("ran").touch()
from agent_nb.plugins import Plugin
plugin = Plugin()
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> Path:
    """A fresh environment with the example installed. It borrows what agent_nb needs from this one."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder)
    (site,) = folder.glob("lib/python*/site-packages")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", site, EXAMPLE], check=True)
    (site / "borrowed.pth").write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    return folder / "bin" / "python"


@pytest.mark.skipif(os.name == "nt", reason="the layout of an environment differs")
def test_the_example_is_installed_and_used_and_no_module_beside_the_notebook_in_its_place(
    environment, tmp_path
):
    (tmp_path / "agent_nb_weather.py").write_text(PLANTED)
    with start_kernel(tmp_path, python=str(environment)) as kernel:
        kernel.run("import sys\nsys.path.insert(0, '')\n%reload_ext agent_nb")
        assert "agent-nb-weather" in repr(kernel.run("%agent plugins").displays)
        assert "In Lyon: sunny" in kernel.run("%agent forecast Lyon").stdout
        cell = kernel.run(DEMO.replace("hero", "hero -t weather"))
        assert cell.status == "ok", cell.errors
        assert kernel.run("'forecast' in hero.settings['tools']").result["text/plain"] == "True"
        refused = kernel.run(DEMO.replace("hero", "hero -i shot.png"), tags=["weather"])
        assert "Weather notebooks take no images" in refused.errors
        assert "breeze" in repr(kernel.run("%agent models").displays)
    assert not (tmp_path / "ran").exists()


def test_a_package_beside_the_notebook_is_not_run(tmp_path):
    info = tmp_path / "evil-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[agent_nb]\nevil = evil:plugin\n[agent_nb.rules]\nevil = evil:plugin\n"
    )
    (tmp_path / "evil.py").write_text(PLANTED)
    with start_kernel(tmp_path) as kernel:
        kernel.run("import sys, importlib.metadata\nsys.path.insert(0, '')\n%reload_ext agent_nb")
        found = kernel.run("[p.name for p in importlib.metadata.entry_points(group='agent_nb')]")
        assert "evil" in found.result["text/plain"], "the test plants nothing"
        assert kernel.run(DEMO).status == "ok"
        assert "evil" not in repr(kernel.run("%agent plugins").displays)
    assert not (tmp_path / "ran").exists()


SHADOWED = (
    "filelock",
    "markdown_it",
    "fastjsonschema",
    "httpx2",
    "google",
    "anthropic",
    "genai_prices",
    "zipapp",
)


def test_a_module_beside_the_notebook_does_not_stand_in_for_our_dependencies(tmp_path):
    for name in SHADOWED:
        (tmp_path / f"{name}.py").write_text(f"import pathlib\npathlib.Path('ran-{name}').touch()\nmine = 1")
    (tmp_path / "google").mkdir()
    (tmp_path / "google" / "genai.py").write_text("import pathlib\npathlib.Path('ran-genai').touch()")
    keys = dict.fromkeys(("ANTHROPIC_API_KEY", "GEMINI_API_KEY"), "test-key")
    with start_kernel(tmp_path, load=False, **keys) as kernel:
        kernel.run("import sys\nsys.path.insert(0, '')")
        assert kernel.run("%load_ext agent_nb").status == "ok"
        lines = (
            "%agent models",
            "%agent runs",
            "%%agent a -m anthropic: --dry-run\nx",
            "%agent certify hero",
        )
        for cell in (DEMO, DEMO.replace("hero", "rec --record"), *lines):
            kernel.run(cell)
        kernel.run("import importlib\nimportlib.invalidate_caches()\nsys.path.append('more')")
        cell = "import agent_nb\nagent_nb.model('gemini:').preload()\nsys.modules['google.genai'].__file__"
        loaded = kernel.run(cell)
        assert loaded.result, loaded.errors
        assert "site-packages" in loaded.result["text/plain"]
        assert not list(tmp_path.glob("ran-*"))
        assert kernel.run("import zipapp; zipapp.mine").result["text/plain"] == "1"  # the user's own import


def test_the_product_works_without_the_classroom(tmp_path):
    """The package without the folder `classroom` and its entry point: nothing else misses it."""
    package = tmp_path / "package"
    shutil.copytree(ROOT / "agent_nb", package / "agent_nb", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(package / "agent_nb" / "classroom")
    (package / "sitecustomize.py").write_text(
        "import agent_nb._base.installed as installed\ninstalled.entry_points = lambda *groups: iter(())\n"
    )
    home = tmp_path / "home"
    home.mkdir()
    (home / "lab.toml").write_text('[lab]\nmode = "off"')
    with start_kernel(home, PYTHONPATH=str(package)) as kernel:
        assert str(package) in kernel.run("import agent_nb; agent_nb.__file__").result["text/plain"]
        for cell in (
            DEMO,
            "%%agent hero_2 -m demo: --pace 0 --from hero -n 2\nMake it green.",
            "%%agent rec -m demo: --pace 0 --record\nA form",
            "%%agent rec --replay --pace 0\nA form",
            "%agent runs",
            "%agent models",
            "%agent plugins",
        ):
            ran = kernel.run(cell)
            assert ran.status == "ok", (cell, ran.errors)
        assert "There is no command 'lab'" in kernel.run("%agent lab").errors
