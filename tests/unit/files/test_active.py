"""Files that act by themselves once they are on disk."""

from pathlib import Path

import pytest

from agent_nb.files.active import acting_files, effect_of

TESTS, JUPYTER, AGENTS = "runs with the tests", "configures Jupyter", "instructs coding agents"
PACKAGES, PROGRAMS, CODE = "lists packages", "configures other programs", "is code that other code may import"


@pytest.mark.parametrize(
    ("effect", "paths"),
    [
        ("sets the rules", ("lab.toml", "week3/Lab.TOML", "lab.toml.", "lab\u200b.toml")),
        ("is the log", ("lab-log.jsonl",)),
        ("is replayed", ("cassettes/hero.jsonl", "__marimo__/agent_nb/hero-1.jsonl")),
        ("runs when Python starts", ("sitecustomize.py", "usercustomize.py", "lib/extra.pth")),
        ("runs in place of a module", ("__pycache__/helper.cpython-313.pyc",)),
        (TESTS, ("conftest.py", "site/form.test.js", "form.spec.mjs")),
        (TESTS, ("test.js", "test-form.mjs", "Test_notes.TXT", "site/test.html", "form-test.js", "form_test.mjs")),
        (JUPYTER, ("ipython_kernel_config.py", "jupyter_server_config.json", "Voila.json", "python3/kernel.json")),
        (AGENTS, ("CLAUDE.md", "site/agents.MD", "GEMINI.md", "AGENTS.override.md", "OPENCODE.json")),
        (AGENTS, ("crush.json", "Codebuff.JSON", "knowledge.md", "mcp.json", "site/gemini-extension.json")),
        (PACKAGES, ("requirements.txt", "dev-requirements.txt", "requirements/base.txt", "package.json")),
        ("registers plugins", ("evil.dist-info/entry_points.txt", "Evil.EGG-INFO/entry_points.txt")),
        (PROGRAMS, ("tailwind.config.js", "vite.config.mjs", "eslintrc.json", "tsconfig.json", "karma.conf.js")),
        (CODE, ("json.py", "JSON.PY", "json.py.", "json.py\u200b", "json/__init__.py", "assets/plot.py")),
        (CODE, ("my-script.py", "node_modules/react/index.js", "site/__tests__/deep/form.js")),
        ("may be read or run", ("matplotlibrc", "pylintrc", "mypy.ini", "pytest.toml", "uv.toml", "pyproject.toml")),
        ("may be read or run", ("random.abi3.so", "lib.pyd", "Makefile", "run.sh", "data.pkl", "desktop.ini")),
        ("may be read or run", ("a.html.exe", "page.html.lnk", "notes.ipynb", "matplotlibrc.", "style.css\u200b.ini")),
    ],
)  # fmt: skip
def test_files_that_act_by_themselves(tmp_path: Path, effect: str, paths: tuple[str, ...]) -> None:
    assert {path: effect in effect_of(tmp_path / path) for path in paths} == dict.fromkeys(paths, True)


@pytest.mark.parametrize(
    "path",
    [
        *("index.html", "Index.HTM", "css/site.css", "js/app.js", "app.mjs", "json/data.json", "config.json"),
        *("img/logo.svg", "photo.JPG", "icon.ico", "data.csv", "README.md", "notes.txt", "fonts/a.woff2"),
        *("site/lab.md", "manifest.json", "agents/index.html", "robots.txt", "contest.html"),
    ],
)
def test_what_a_page_is_made_of_does_not(tmp_path: Path, path: str) -> None:
    assert effect_of(tmp_path / path) == ""


def test_what_is_there_already_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_text("[lab]")
    lab, project, page = (tmp_path / name for name in ("lab.toml", "pyproject.toml", "index.html"))
    targets = {lab: b"[lab]", project: b"[project]", page: b""}
    assert list(acting_files(targets, tmp_path)) == [project]
    assert list(acting_files(targets | {lab: b"[lab]\n"}, tmp_path)) == [lab, project]


def test_folders_of_tests_count_below_the_notebook_alone(tmp_path: Path) -> None:
    home = tmp_path / "tests" / "week 3"
    targets = {home / path: b"" for path in ("js/app.js", "test/app.js", "site/Tests/deep/app.js")}
    assert [*acting_files(targets, home)] == [*targets][1:]
    assert not acting_files({tmp_path / "test" / "app.js": b""}, home)
