"""The code of a run as plain cells: what stays, what goes, and that it needs no agent_nb."""

import json
import subprocess
import sys

import nbformat
import pytest

from agent_nb import Agent, Answer, kernel_tools
from agent_nb._base.constants import NAMES_TYPE
from agent_nb._base.secrets import register
from agent_nb.core.errors import ConfigError
from agent_nb.core.events import ToolFinished
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.run import Run, load
from agent_nb.run.cells import PART
from tests.support.shells import quick_run


@pytest.fixture
def ran(shell):
    """Runs these pieces of code, each in a turn of its own with some words, and returns the run."""

    async def run(*codes: str, approve="auto", last: str = "Done.") -> Run:
        turns = [
            [text(f"Step {number}."), call("run_python", {"code": code})]
            for number, code in enumerate(codes, 1)
        ]
        with ScriptedProvider([*turns, [text(last)]]) as provider:
            return await Agent(provider, tools=[*kernel_tools(shell.ipython)], approve=approve).run("Compute")

    return run


def sources(run: Run) -> list[tuple[str, str]]:
    return [(cell.kind, cell.source) for cell in run.to_cells()]


async def test_the_cells_have_the_outputs_of_the_run(ran):
    shown = "from IPython.display import HTML, display\nprint('a')\ndisplay(HTML('<b>b</b>'))\n3"
    run = await ran(shown, "y = 1\nprint(y)\n1 / 0", "y")
    outputs = [cell.outputs for cell in run.to_cells() if cell.kind == "code"]
    assert outputs[0][0] == {"output_type": "stream", "name": "stdout", "text": "a\n"}
    assert [output["data"].get("text/html") for output in outputs[0][1:]] == ["<b>b</b>", None]
    assert outputs[1:] == [
        (),
        ({"output_type": "display_data", "data": {"text/plain": "1"}, "metadata": {}},),
    ]
    notebook = nbformat.reads(run.to_cells().to_notebook().decode(), 4)
    nbformat.validate(notebook)
    assert notebook.cells[1].outputs[0].text == "a\n"


async def test_code_and_words_in_order(ran):
    run = await ran("a = 1\n", "a + 1")
    assert sources(run) == [
        ("markdown", "Step 1."),
        ("code", "a = 1"),
        ("markdown", "Step 2."),
        ("code", "a + 1"),
        ("markdown", "Done."),
    ]
    assert repr(run.to_cells()).startswith("# %%\n# Step 1.\n\n# %%\na = 1\n")
    assert "```python\na = 1\n```" in run.to_cells()._repr_markdown_()


async def test_failed_attempts_are_left_out_with_their_words(ran):
    run = await ran("a = 1 / 0", "a = 1", "a +", "a + 2")
    assert run.to_cells().code == ("a = 1", "a + 2")
    assert ("markdown", "Step 1.") not in sources(run)


async def test_what_a_failed_attempt_had_set_stays_if_later_code_reads_it(ran):
    run = await ran(
        "import math, json\nunused = 2\n\n@staticmethod\ndef half(x):\n    return x / two\ntwo = 2\ntwo = 1 / 0",
        "a = math.pi + half.__func__(4)",
    )
    assert [use.ok for use in run.tool_uses] == [False, True]
    kept = f"{PART}\nimport math, json\n@staticmethod\ndef half(x):\n    return x / two\ntwo = 2"
    assert run.to_cells().code == (kept, "a = math.pi + half.__func__(4)")


async def test_a_repeated_attempt_is_left_out_unless_it_does_something_again(ran, shell):
    shell.names.update(x=1, rows=[1])
    look = "total = sum(rows)\ntotal"
    run = await ran(look, look, "x += 1", "x += 1", "rows.append(2)", "rows.append(2)", look, "rows", "rows")
    assert run.to_cells().code == (look, "x += 1", "x += 1", "rows.append(2)", "rows.append(2)", look, "rows")


async def test_code_is_as_it_was_executed(ran):
    run = await ran("a = 1", approve=lambda call, args: Answer(True, args={"code": "a = 2  # mine"}))
    assert run.to_cells().code == ("a = 2  # mine",)


async def test_what_was_denied_is_left_out(ran):
    run = await ran("a = 1", approve=lambda call, args: Answer(False))
    assert len(run.to_cells()) == 0
    with pytest.raises(ConfigError, match="has executed no code"):
        run.to_notebook("never.ipynb")


async def test_the_cells_write_the_same_files_without_agent_nb(ran, tmp_path):
    run = await ran(
        "to_file('a/data.json', {'x': {1}})\nto_file('sales.js', [1])",
        "to_file('t.txt', agent_files['a/data.json'][::-1])",
    )
    code = "\n\n".join(["import sys\nsys.modules['agent_nb'] = None", *run.to_cells().code])
    folder = tmp_path / "plain"
    folder.mkdir()
    subprocess.run(  # noqa: ASYNC221
        [sys.executable, "-c", code], cwd=folder, check=True, timeout=60
    )
    written = {path: (folder / path).read_text() for path in run.files}
    assert written == dict(run.files.items())
    assert len(written) == 3


async def test_a_to_file_of_the_user_stays_theirs(ran, shell):
    shell.names["to_file"] = "mine"
    run = await ran("_to_file('a.txt', to_file)")
    assert "use `_to_file` instead" in run.tool_uses[0].result.text
    assert (run.files["a.txt"], shell.names["to_file"], "_to_file" in shell.names) == ("mine", "mine", False)
    helper, code = run.to_cells().code
    assert helper.endswith("_to_file = to_file") is True
    assert code == "_to_file('a.txt', to_file)"


async def test_the_page_inserts_code_that_has_its_to_file(ran, shell, tmp_path):
    run = await ran("to_file('a.txt', 'text')", "b = 1")
    first, second = [
        bundle[NAMES_TYPE]["code"]
        for end in run.events.of(ToolFinished)
        for bundle in end.outputs
        if NAMES_TYPE in bundle
    ]
    assert shell.run(first).ok
    assert (tmp_path / "a.txt").read_text() == "text"
    assert second == "b = 1"


async def test_a_notebook_is_valid_and_replaces_a_link(ran, tmp_path):
    run = await ran("a = '\u2028'\na", last="Unsafe: <img src=x> ![x](http://example.org/x.png)")
    kept, target = tmp_path / "kept.ipynb", tmp_path / "cells.ipynb"
    kept.write_text("mine")
    target.symlink_to(kept)
    assert run.to_notebook(target, overwrite=True) == target
    assert kept.read_text() == "mine"
    notebook = nbformat.read(target, as_version=4)
    nbformat.validate(notebook)
    assert json.loads(target.read_text())["nbformat_minor"] == 5
    assert [cell.source for cell in notebook.cells if cell.cell_type == "code"] == ["a = '\u2028'\na"]
    assert notebook.cells[-1].source == "Unsafe: &lt;img src=x&gt; \\![x](http://example.org/x.png)"


async def test_secrets_are_masked_in_every_form(ran, tmp_path):
    register(secret := "my-Own-secret-9931")
    run = await ran(f"key = '{secret}'", last=f"It is {secret}.")
    cells = run.to_cells()
    assert cells.is_masked
    run.to_notebook(tmp_path / "x.ipynb")
    for shown in (repr(cells), cells._repr_markdown_(), (tmp_path / "x.ipynb").read_text()):
        assert secret not in shown


def test_a_run_without_code_has_no_cells(shell):
    run = quick_run()
    assert (len(run.to_cells()), repr(run.to_cells())) == (0, "No code.")
    shell.names["hero"] = run
    assert "`hero` has executed no code." in shell.run("%agent cells hero").stderr


async def test_the_command_shows_the_cells_and_what_they_need(ran, shell):
    shell.names["rows"] = [1]
    shell.names["best"] = await ran("top = max(rows)")
    cell = shell.run("%agent cells best")
    assert "top = max(rows)" in cell.displays[0]["text/markdown"]
    assert "The cells need these names: rows." in cell.stdout
    assert '`best.to_notebook("best.ipynb")`' in cell.stdout


async def test_code_that_did_not_run_here_is_not_run_unless_somebody_approves(
    ran, shell, tmp_path, monkeypatch
):
    run = await ran("a = 41")
    saved = run.save(tmp_path / "run.json")
    saved.write_text(saved.read_text().replace("a = 41", "a = 42; open('ran', 'w')"))
    shell.names["other"] = load(saved)
    asked = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "n")
    assert "Nothing was run" in shell.run("%agent cells other --verify").stderr
    assert "a = 42; open('ran', 'w')" in asked[0]

    def nobody(question):
        raise EOFError

    monkeypatch.setattr("builtins.input", nobody)
    assert "nobody approved" in shell.run("%agent cells other --verify").stderr
    assert not (tmp_path / "ran").exists()


async def test_masked_code_is_not_run(ran, shell):
    register(secret := "my-Own-secret-9932")
    shell.names["keyed"] = await ran(f"key = '{secret}'")
    assert "masked (•••)" in shell.run("%agent cells keyed --verify").stderr


async def test_verifying_without_nbclient_says_what_to_install(shell, ran, monkeypatch):
    shell.ipython.user_ns["mine"] = await ran("a = 1")
    monkeypatch.setitem(sys.modules, "nbclient", None)
    assert 'pip install "agent-nb[verify]"' in shell.run("%agent cells mine --verify").stderr
