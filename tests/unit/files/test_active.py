"""Files that act by themselves once they are on disk."""

import sys
from pathlib import Path

import pytest

from agent_nb.files.active import acting_files, acts_by_itself


@pytest.mark.parametrize(
    ("path", "act"),
    [
        ("lab.toml", "sets the rules"),
        ("week3/Lab.TOML", "sets the rules"),
        ("lab.toml.", "sets the rules"),
        ("lab\u200b.toml", "sets the rules"),
        ("lab-log.jsonl", "is the log"),
        ("cassettes/hero.jsonl", "is replayed"),
        ("__marimo__/agent_nb/hero-1.jsonl", "is replayed"),
        ("sitecustomize.py", "runs when Python starts"),
        ("usercustomize.py", "runs when Python starts"),
        ("lib/extra.pth", "runs when Python starts"),
        ("__pycache__/helper.cpython-313.pyc", "runs in place of a module"),
        ("conftest.py", "runs with the tests"),
        ("pyproject.toml", "configures Python's tools"),
        ("ipython_kernel_config.py", "configures Jupyter"),
        ("jupyter_server_config.json", "configures Jupyter"),
        ("desktop.ini", "configures Windows"),
        ("json.py", "as the module `json`"),
        ("JSON.PY", "as the module `json`"),
        ("json.py.", "as the module `json`"),
        ("json/__init__.py", "as the module `json`"),
        (f"random{'.pyd' if sys.platform == 'win32' else '.abi3.so'}", "as the module `random`"),
        ("IPython/__init__.py", "as the module `ipython`"),
        ("pytest.py", "as the module `pytest`"),
        ("agent_nb.py", "as the module `agent_nb`"),
        ("google.py", "as the module `google`"),
        ("google/genai.py", "as the module `google.genai`"),
        ("google/genai/__init__.py", "as the module `google.genai`"),
        ("app.py", "as the module `app`"),
        ("app/__init__.py", "as the module `app`"),
    ],
)
def test_files_that_act_by_themselves(tmp_path: Path, path: str, act: str) -> None:
    assert act in acts_by_itself(tmp_path / path, tmp_path)


@pytest.mark.parametrize(
    "path",
    [
        *(
            "index.html",
            "app/main.py",
            "my-json.py",
            "data/cassettes.jsonl",
            "data.jsonl",
            "json.js",
            "json/data.json",
        ),
        *("site/lab.md", "package.json", "site/json.py", "README.md", "laboratory.toml"),
    ],
)
def test_most_files_do_not(tmp_path: Path, path: str) -> None:
    assert acts_by_itself(tmp_path / path, tmp_path) == ""


def test_a_module_counts_where_python_looks_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    assert not acts_by_itself(tmp_path / "lib" / "json.py", home)
    monkeypatch.syspath_prepend(tmp_path / "lib")
    assert acts_by_itself(tmp_path / "lib" / "json.py", home)


def test_what_is_there_already_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_text("[lab]")
    lab, project, page = (tmp_path / name for name in ("lab.toml", "pyproject.toml", "index.html"))
    targets = {lab: b"[lab]", project: b"[project]", page: b""}
    assert list(acting_files(targets, tmp_path)) == [project]
    assert list(acting_files(targets | {lab: b"[lab]\n"}, tmp_path)) == [lab, project]
