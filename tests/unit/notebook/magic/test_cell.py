"""One `%%agent` cell in a plain shell: what it binds, saves and raises."""

import asyncio

import pandas as pd
import pytest

from agent_nb import Agent, Run, load, model
from agent_nb.core.errors import ConfigError
from agent_nb.engine.draft import CellStart
from agent_nb.engine.loop import RunHandle
from agent_nb.notebook.magic.decisions import keep_decisions, pick
from agent_nb.notebook.magic.names import set_variables
from agent_nb.notebook.notebook_tools.proposals import with_decisions
from agent_nb.render import bundle
from agent_nb.run.compare import failure_of, scope_of
from agent_nb.run.store import RunStore
from tests.support.shells import quick_run
from tests.support.wire import Call, Say, problem, reply

DEMO = "-m demo: --pace 0"
MODEL = "-m anthropic:claude-opus-5-5"


def one_line(cell) -> str:
    """The last line of a failed cell, which has no traceback."""
    assert not cell.ok
    (line,) = (cell.stdout + cell.stderr).strip().splitlines()[-1:]
    assert "Traceback" not in cell.stdout
    return line


def test_a_cell_binds_the_run_and_its_files(shell):
    assert shell.run(f"%%agent hero {DEMO}\nA form").ok
    hero = shell.names["hero"]
    assert isinstance(hero, Run)
    assert (hero.name, hero.reason, shell.names["files"]) == ("hero", "end_turn", hero.files)
    assert shell.names["Out"] == {}


def test_files_that_the_user_took_from_a_run_are_replaced(shell):
    shell.run(f"%%agent hero {DEMO} -n 2\nA form")
    shell.run("hero = hero.pick(2); files = hero.files")
    shell.run(f"%%agent other {DEMO}\nA form")
    assert shell.names["files"] is shell.names["other"].files


def test_a_cell_ends_with_an_answer_of_a_type(shell):
    shell.run("from dataclasses import dataclass\n@dataclass\nclass Fit:\n    slope: float\nslopes = [1]")
    assert shell.run(f'%%agent fits {DEMO} --as "list[Fit]" -n 2\nFit a line').ok
    fits, fit = shell.names["fits"], shell.names["Fit"]
    assert [variant.answer for variant in fits.variants] == [[fit(1.0)], [fit(1.07)]]
    assert "`fits.answer`" in bundle(fits)["text/html"].replace("<code>", "`").replace("</code>", "`")
    for text, why in (("slopes", "`slopes` is of type list, not a type"), ("x: slopes[0]", "is not a type")):
        assert one_line(shell.run(f'%%agent fits {DEMO} --as "{text}"\nFit a line')).startswith(
            "UsageError: "
        )
        assert why in shell.run(f'%%agent fits {DEMO} --as "{text}"\nFit a line').stderr


def test_a_tool_without_annotations_is_an_error_of_one_line(shell):
    shell.run("def roll(sides):\n    return 4")
    cell = shell.run(f"%%agent hero {DEMO} -t roll\nA form")
    assert one_line(cell).startswith("UsageError: The parameter 'sides' of 'roll' has no annotation")
    assert cell.stderr.count("\n") == 1


def test_a_failed_run_is_bound_and_ends_the_cell_in_one_line_without_no_raise(shell, server):
    server.plan(*[problem(404, "model: claude-nope")] * 2)
    line = one_line(shell.run("%%agent hero -m anthropic:claude-nope\nA page"))
    assert line.startswith("AgentFailed: ")
    assert "claude-nope" in line
    assert "sk-ant-test-key" not in line
    assert shell.names["hero"].reason == "failed"
    assert shell.run("%%agent other -m anthropic:claude-nope --no-raise\nA page").ok
    assert shell.names["other"].reason == "failed"


def test_a_refused_cell_leaves_the_name_alone(shell, server):
    shell.names["hero"] = "before"
    assert one_line(shell.run(f"%%agent hero {MODEL} --steps 0\nA page")).startswith("UsageError: ")
    assert shell.names["hero"] == "before"
    assert not server.requests


def test_masked_names_are_shown(shell):
    shell.names.update(config={"password": "hush-hush"}, api_key="hush-hush", sort_key="price")
    cell = shell.run(f"%%agent hero {DEMO} -w config -w api_key\nBy {{{{sort_key}}}}, as {{{{config}}}} says")
    sentence = "Masked as secrets, so the model does not see them: `password` in `config`, `api_key`."
    assert sentence in cell.stdout.splitlines()
    assert "By price, as" in shell.names["hero"].prompt
    assert "hush" not in shell.names["hero"].prompt
    assert "Masked" not in shell.run(f"%%agent hero {DEMO}\nBy {{{{sort_key}}}}").stdout


def test_a_cell_and_the_page_of_the_demo_say_how_much_of_a_table_is_sent(shell):
    shell.names["sales"] = pd.DataFrame({"sold": range(24)})
    shell.names["towns"] = pd.DataFrame({"town": [f"T{n}" for n in range(2_000)], "sold": range(2_000)})
    shown = shell.run(f"%%agent page {DEMO}\nA dashboard of {{{{sales}}}}")
    assert "The model sees `sales` (24 of 24 rows)." in shown.stdout
    assert "All rows:" in shell.names["page"].prompt
    shell.run(f"%%agent page {DEMO}\nA dashboard of {{{{towns}}}}")
    assert "From the numbers you gave: 5 of 2,000 rows." in shell.names["page"].html


@pytest.mark.parametrize("folder", ["site", "~/site"])
def test_the_files_are_saved_where_asked(shell, tmp_path, monkeypatch, folder):
    monkeypatch.setenv("HOME", str(tmp_path))
    cell = shell.run(f"%%agent hero {DEMO} --save {folder}\nA form")
    assert "Files saved in " in cell.stdout
    assert (tmp_path / "site" / "index.html").read_text() == shell.names["hero"].html


def test_a_hidden_file_is_not_saved(shell, server, tmp_path):
    (tmp_path / ".git").mkdir()
    server.plan(reply(Call("create_file", {"path": ".git/config", "content": "[core]"})), reply(Say("Done.")))
    line = one_line(shell.run(f"%%agent hero {MODEL} --save .\nA page"))
    assert line.startswith("SaveFailed: '.git/config' is hidden")
    assert line.endswith("leave it out with `files.delete('.git/config')`, or write it yourself.")
    assert list((tmp_path / ".git").iterdir()) == []


ACTING = {
    "index.html": "<p>",
    "sitecustomize.py": "import os",
    "lab.toml": "[lab]",
    "matplotlibrc": "backend: x",
}


@pytest.fixture
def acting(shell, server, monkeypatch):
    """Runs a cell whose model writes files that act by themselves, and answers the question."""

    def run(answer: str, line: str = "--save .", *, attended: bool = True, files=ACTING):
        calls = [Call("create_file", {"path": path, "content": text}) for path, text in files.items()]
        server.plan(reply(*calls), reply(Say("Done.")))
        asked: list[str] = []
        monkeypatch.setattr("agent_nb.notebook.magic.show_cell.is_attended", lambda shell: attended)
        monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or answer)
        return shell.run(f"%%agent hero {MODEL} {line}\nA page"), asked

    return run


def test_files_that_act_by_themselves_are_asked_about(acting, tmp_path):
    cell, asked = acting("y")
    assert cell.ok
    assert asked == [
        "Saving to '.' would add files that run automatically:\n  sitecustomize.py runs when Python starts\n"
        "  lab.toml sets the rules of `%%agent` cells\n  matplotlibrc may be read or run by other programs\n"
        "Save all files? [y/N] "
    ]
    assert {path: (tmp_path / path).read_text() for path in ACTING} == ACTING
    assert acting("n")[1] == []  # they are there already


SITE = {
    "index.html": "<link href='css/a.css'><script type=module src=js/a.js></script><a href='two.html'>Two</a>",
    "css/a.css": "@import 'b.css'; body { background: url(../img/a.svg) }",
    "js/a.js": "import './b.mjs'; fetch('data.csv')",
    **dict.fromkeys(("css/b.css", "img/a.svg", "js/b.mjs", "data.csv", "two.html"), "x"),
}


@pytest.mark.parametrize("there", [True, False])
def test_what_a_page_uses_and_what_is_in_a_new_folder_is_saved_unasked(acting, tmp_path, there):
    for folder in ("css", "js", "img")[: 3 * there]:
        (tmp_path / folder).mkdir()
    files = SITE | {"notes/deep/about.md": "", "notes/crust.json": "{}"}
    cell, asked = acting("n", files=files)
    assert cell.ok, cell.stderr
    assert not asked
    assert all((tmp_path / path).exists() for path in files)
    assert acting("n", files=files | {"notes/crust.json": "[]"})[1] == []  # a run wrote it


@pytest.mark.parametrize("path", ["README.md", "js/data.json", "test_notes.txt", "crush.json", "new/test.js"])
def test_all_other_files_are_asked_about_in_one_question(acting, tmp_path, path):
    (tmp_path / "js").mkdir()
    cell, asked = acting("n", files=SITE | {path: ">>> 1", "notes.txt": "x"})
    assert "Nothing was saved in '.'" in one_line(cell)
    (question,) = asked
    assert "add files that no page uses" in question
    assert all(f"\n  {name} " in question for name in (path, "notes.txt"))
    assert not (tmp_path / "index.html").exists()


@pytest.mark.parametrize("attended", [True, False])
def test_without_a_yes_none_of_the_files_is_saved(acting, tmp_path, attended):
    cell, asked = acting("n" if attended else "y", attended=attended)
    line = one_line(cell)
    assert line.startswith("SaveFailed: Nothing was saved in '.': 'sitecustomize.py' runs when Python starts")
    assert len(asked) == attended
    assert not [path for path in ACTING if (tmp_path / path).exists()]


def test_a_background_run_does_not_ask(acting, shell, tmp_path):
    _, asked = acting("y", "--save . --background")
    shell.names["finishing"] = shell.session.finishing
    assert "Nothing was saved in '.'" in shell.run("import asyncio\nawait asyncio.gather(*finishing)").stdout
    assert not asked


def test_a_replay_asks_as_well(acting, shell, tmp_path):
    assert acting("y", "--record")[0].ok
    assert "Nothing was saved in '.'" in one_line(acting("n", "--replay --save .")[0])


def test_files_that_cannot_be_saved_end_the_cell(shell, tmp_path):
    (tmp_path / "site").write_text("a file is in the way")
    cell = shell.run(f"%%agent hero {DEMO} --save site\nA form")
    line = one_line(cell)
    assert line.startswith("SaveFailed: ")
    assert "`hero.files.save(folder)`" in line
    assert "hero and files are ready" in cell.stdout
    assert shell.names["hero"].reason == "end_turn"
    assert (tmp_path / "site").read_text() == "a file is in the way"


def test_files_that_cannot_be_saved_are_named_before_a_failed_check(shell, tmp_path):
    (tmp_path / "site").write_text("a file is in the way")
    cell = shell.run(f"%%agent hero {DEMO} --save site --check len(files) > 1\nA form")
    assert one_line(cell).startswith("SaveFailed: ")
    assert [run.failed_check for run in saved_runs(tmp_path)] == ["len(files) > 1: len(files) is 1"]


def saved_runs(tmp_path) -> list[Run]:
    return [load(path) for path in sorted((tmp_path / ".agent_nb" / "runs").glob("*.run.jsonl"))]


def test_a_run_is_saved_by_default(shell, tmp_path):
    shell.run(f"%%agent hero {DEMO}\nA form")
    assert saved_runs(tmp_path) == [shell.names["hero"]]
    shell.run(f"%%agent hero {DEMO} --no-save\nA form")
    shell.magics.save_runs = False
    shell.run(f"%%agent hero {DEMO}\nA form")
    assert len(saved_runs(tmp_path)) == 1


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("len(text) < 10_000 and run.files[[path for path in files][0]] == html", ""),
        ("len(files) == 7", "len(files) is 1"),
        ("html.count('<h1') > limit", "html.count('<h1') is 1 and limit is 3"),
        ("'<table>' in html", "html is "),
        ("run.reason == 'failed'", 'run.reason is "end_turn"'),
        ("files == {}", "files is 1 item and {} is empty"),
        ("next(numbers) == 3", "it is False"),
        ("not files", "files is 1 item"),
        ("nothing", "NameError: name 'nothing' is not defined"),
        ("html[", "SyntaxError: "),
        ("files['none.css']", "KeyError: "),
    ],
)
def test_a_failed_check_says_what_was_seen(expression, says):
    scope = {**scope_of(quick_run("A form")), "limit": 3, "numbers": iter((1, 2))}
    failure = failure_of(expression, scope)
    assert failure.startswith(f"{expression}: {says}" if says else "")
    assert bool(failure) is bool(says)
    assert "<Run" not in failure


def test_a_check_changes_no_variable(shell):
    assert shell.run(f"%%agent hero {DEMO} --check (html := 'x')\nA form").ok
    assert "html" not in shell.names


def test_a_failed_check_leaves_the_run_and_is_in_its_header(shell, tmp_path):
    cell = shell.run(f"%%agent hero {DEMO} --check len(files) > 1\nA form")
    assert one_line(cell) == "CheckFailed: len(files) > 1: len(files) is 1"
    hero = shell.names["hero"]
    assert hero.reason == "end_turn"
    assert load(hero.save(tmp_path / "hero.json")).failed_check == hero.failed_check
    for form in bundle(hero).values():
        assert "done" in form
        assert "check failed" in form
        assert "len(files) is 1" in form
    assert '<span class="anb-err">done' in bundle(hero)["text/html"]
    assert "failed" not in bundle(hero.with_files({"a.css": ""}))["text/plain"]


async def in_background(shell, line: str) -> RunHandle:
    await shell.magics.run_cell(f"hero {DEMO} --background {line}", "A form")
    handle = shell.names["hero"]
    assert isinstance(handle, RunHandle)
    assert list(shell.session.background) == [handle.id]
    return handle


async def test_a_background_run_is_bound_at_its_end(shell, tmp_path):
    handle = await in_background(shell, "--save site")
    await asyncio.gather(*shell.session.finishing)
    assert shell.names["hero"] is handle.result
    assert shell.names["files"] is handle.result.files
    assert (tmp_path / "site" / "index.html").exists()
    assert not shell.session.background


async def test_a_name_rebound_during_a_background_run_is_kept(shell):
    await in_background(shell, "")
    shell.names["hero"] = "mine"
    await asyncio.gather(*shell.session.finishing)
    assert (shell.names["hero"], "files" in shell.names) == ("mine", False)


async def test_a_background_run_reports_a_failed_save(shell, tmp_path, capsys):
    (tmp_path / "site").write_text("in the way")
    handle = await in_background(shell, "--save site")
    await asyncio.gather(*shell.session.finishing)
    assert "`hero.files.save(folder)`" in capsys.readouterr().out
    assert shell.names["hero"] is handle.result


async def race_of(shell):
    """Three finished variants, bound to `hero`."""
    race = Agent(model("demo:", pace=0)).start_variants("A form", variants=3)
    race.label("hero", "hero")
    await race
    set_variables(shell.session, race.result)
    return race


async def test_notes_of_any_variant_stay_when_another_is_picked(shell):
    race = await race_of(shell)
    pick(shell.session, race, 3)
    shell.names["hero"] = shell.names["hero"].annotate("end", "Of the third")
    picked, _ = pick(shell.session, race, 1)
    assert [(note.variant, note.text) for note in picked.annotations] == [(2, "Of the third")]


async def test_one_run_has_nothing_to_pick(shell):
    handle = Agent(model("demo:", pace=0)).start("A form")
    with pytest.raises(ConfigError, match="this run has no variants"):
        pick(shell.session, handle, 1)
    await handle


async def test_picking_never_replaces_the_users_own_value(shell):
    race = await race_of(shell)
    shell.names["hero"] = edited = race.result.with_files({"index.html": "mine"})
    with pytest.raises(ConfigError, match="has your own edits"):
        pick(shell.session, race, 2)
    assert shell.names["hero"] is edited
    shell.names["hero"] = 3
    with pytest.raises(ConfigError, match="no longer refers to this run"):
        pick(shell.session, race, 2)
    assert shell.names["hero"] == 3


async def test_decisions_about_changes_are_in_the_variable_and_in_the_only_saved_file(shell):
    race = await race_of(shell)
    shell.names["hero"] = edited = race.result.with_files({"index.html": "mine"})
    store = RunStore(shell.session.home)
    start = CellStart(handle=race, host=shell.session, given={}, warn=print, keep=store.save)
    store.save(race.result)
    path = keep_decisions(shell.session, start, with_decisions(race.result, {"a": "accepted", "b": "open"}))
    (saved,) = (shell.session.home / ".agent_nb" / "runs").glob("*.run.jsonl")
    assert (shell.session.home / path, shell.names["hero"].files) == (saved, edited.files)
    for run in (shell.names["hero"], shell.names["hero"].pick(2), load(saved)):
        assert run.decided == {"a": "accepted"}


@pytest.mark.parametrize("attended", [True, False])
def test_a_file_that_no_run_wrote_is_not_replaced_unasked(acting, tmp_path, attended):
    (tmp_path / "site").mkdir()
    mine = tmp_path / "site" / "index.html"
    mine.write_text("my own page")
    line = "--save site"
    cell, asked = acting("n" if attended else "y", line, attended=attended)
    assert len(asked) == attended
    summary = "Saving to 'site' would replace files and add files that run automatically:"
    assert all(question.startswith(summary) for question in asked)
    refusal = one_line(cell)
    assert "Nothing was saved in 'site': 'index.html' replaces content not written by a run" in refusal
    assert "`hero.files.save('site', overwrite=True)`" in refusal
    assert mine.read_text() == "my own page"
    assert not (tmp_path / "site" / "lab.toml").exists()


def test_what_a_run_wrote_is_replaced_in_the_next_kernel_and_edits_are_not(
    acting, shell, tmp_path, monkeypatch
):
    for _ in range(2):
        assert shell.run(f"%%agent hero {DEMO} --save site\nA form").ok
        monkeypatch.setattr("agent_nb._base.atomic._written", set())  # another kernel
    page = tmp_path / "site" / "index.html"
    (question,) = acting("y", "--save site")[1]
    assert question.startswith("Saving to 'site' would add files that run automatically:")
    assert "sitecustomize.py runs" in question
    assert "index.html" not in question
    page.write_text("edited")
    monkeypatch.setattr("builtins.input", lambda question: "n")
    assert not shell.run(f"%%agent hero {DEMO} --save site\nA form").ok
    assert page.read_text() == "edited"
