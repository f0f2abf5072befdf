"""From a cell and its options to a run: the model, the prompt, and what is refused before anything is sent."""

import os
import re
from dataclasses import replace

import pytest

from agent_nb import Agent, tool
from agent_nb.core.errors import ConfigError
from agent_nb.engine.cost import estimate_tokens
from agent_nb.notebook.cell_runs import providers
from agent_nb.notebook.magic.cell_rules import CellRules
from agent_nb.notebook.magic.model_choice import ModelChoice
from agent_nb.notebook.magic.plan import make_plan
from agent_nb.providers.scripted import ScriptedProvider, stall
from tests.support.shells import quick_run

DEMO = "-m demo: "


async def plan(shell, line: str = DEMO, cell: str = "A form"):
    return await make_plan(shell.session, shell.options(line), cell, watched=False)


async def run_input(shell, line: str):
    return (await plan(shell, line)).prepared[0].run_input


def test_the_first_vendor_with_a_key_is_asked(shell, monkeypatch):
    def choose(*named):
        return ModelChoice.of(shell.session, named, CellRules())

    assert choose("ollama:qwen3").names == ("ollama:qwen3",)
    assert choose("ollama:qwen3").note(shell.session) == ""
    assert choose().names == ("demo:",)
    assert "No API key found" in choose().note(shell.session)
    assert choose().note(shell.session) == ""
    monkeypatch.setenv("GEMINI_API_KEY", "test")
    assert choose().names[0].startswith("gemini:")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    assert choose().names[0].startswith("openai:")
    assert choose().note(shell.session) == ""


def test_options_that_a_model_object_cannot_take_are_refused():
    provider = ScriptedProvider([])
    assert providers([provider], 0, effort=None) == [provider]
    with pytest.raises(
        ConfigError, match="is a model object already: pass effort and silence when you make it"
    ):
        providers(["demo:", provider], 0, effort="low", silence=5.0)


@pytest.mark.parametrize("cell", ["", "  \n\t\n"])
async def test_an_empty_cell_is_refused(shell, cell):
    with pytest.raises(ConfigError, match="Write the prompt below the %%agent line"):
        await plan(shell, cell=cell)


@pytest.mark.parametrize(
    "stub",
    [
        "# YOUR CODE HERE\nraise NotImplementedError()",
        "    # YOUR CODE HERE\n    raise NotImplementedError()\n",
        "YOUR ANSWER HERE",
        "...",
        "# BEGIN SOLUTION\n...\n# END SOLUTION",
        "### BEGIN SOLUTION\n\n### END SOLUTION",
        "<!-- BEGIN QUESTION -->\n_Type your answer here, replacing this text._",
        "# SOLUTION NO PROMPT\n...",
        "# Beschreibe die Seite hier",
        "Deine Antwort\n... steht hier",
    ],
)
async def test_an_untouched_exercise_is_refused(shell, stub):
    course = shell.session.home
    (course / "nbgrader_config.py").write_text(
        "c = get_config()\nc.ClearSolutions.code_stub = {'python': '# Beschreibe die Seite hier', 'R': 1}\n"
        "c.ClearSolutions.text_stub = 'Deine Antwort\\n... steht hier'\nraise SystemExit('it is not run')\n"
    )
    shell.session.home = course / "autograded" / "ann" / "week3"
    with pytest.raises(ConfigError, match="placeholder of an exercise and no prompt, so nothing was sent"):
        await plan(shell, cell=stub)


@pytest.mark.parametrize("config", ["c.ClearSolutions.code_stub = stubs()", "def broken(", "\0", None])
async def test_a_prompt_beside_a_stub_is_sent(shell, config):
    if config is None:
        os.mkfifo(shell.session.home / "nbgrader_config.py")
    else:
        (shell.session.home / "nbgrader_config.py").write_text(config)
    prompt = "# YOUR CODE HERE\nA form with a solution"
    assert (await plan(shell, cell=prompt)).prepared[0].run_input.prompt == prompt


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (f"{DEMO} x --from nothing", "`nothing` is not defined. Run its cell first."),
        (f"{DEMO} x -c", "`x` is not defined"),
        (f"{DEMO} x --from number", "`number` is of type int, not a Run"),
        (f"{DEMO} x --from hero -c", "either --from NAME or -c, not both"),
        (f"{DEMO} x --compact", "add -c or --from NAME to continue one"),
        (f"{DEMO} x -w nothing", "`nothing` is not defined"),
        (f"{DEMO} x -t number", "`number` is of type int, not a tool"),
        (f"{DEMO} x -t nothing", "`nothing` is not defined"),
        ("x --budget 1 -m ollama:qwen3", "known price"),
        ("x -i no.png", "no.png"),
        ("x --pace 0 -m ollama:qwen3", "--pace works only for a demo or a replay, not for 'ollama:qwen3'."),
        ("x -n 9", "variant"),
        ("x -m opnai:gpt-6", "openai:"),
        ("x -m openai:gpt-6-sol", "OPENAI_API_KEY"),
    ],
)
async def test_what_is_missing_or_impossible_is_refused_before_sending(shell, line, says):
    shell.names.update(number=3, hero=quick_run())
    with pytest.raises(ConfigError) as caught:
        (await plan(shell, line)).start()
    assert says in str(caught.value)


async def test_a_saved_run_is_offered_but_not_loaded(shell):
    shell.run(f"%%agent hero {DEMO} --pace 0\nA form")
    del shell.names["hero"]
    with pytest.raises(ConfigError) as caught:
        await plan(shell, DEMO + "x --from hero")
    call = str(caught.value).split("`")[3]
    assert call == "%agent load hero"
    assert "hero" not in shell.names
    assert shell.run(call).ok
    assert (await run_input(shell, DEMO + "x --from hero")).base_id == shell.names["hero"].id


async def test_continuing_takes_the_current_value(shell):
    shell.names.update(hero=quick_run(), other=quick_run("A game"))
    assert (await run_input(shell, DEMO + "hero -c")).base_id == shell.names["hero"].id
    assert (await run_input(shell, DEMO + "hero --from other")).base_id == shell.names["other"].id
    assert (await run_input(shell, DEMO + "hero")).base is None


async def test_continuing_from_an_earlier_moment(shell):
    shell.names["hero"] = hero = quick_run()
    assert (await run_input(shell, DEMO + "x --from hero.at(0)")).files == {}
    assert (await run_input(shell, DEMO + "x --from hero.at(1)")).files == hero.at(1).files
    shell.names["hero"] = replace(hero, variants=(quick_run("A game"), hero))
    assert (await run_input(shell, DEMO + "x --from hero.2.at(1)")).files == hero.at(1).files
    for line, says in [
        ("hero.at(99)", "no moment 99"),
        ("hero.7", "no variant 7"),
        (
            "hero.at(x)",
            "--from takes a run such as `hero`, its variant `hero.2`, or `hero.at(3)`, not 'hero.at(x)'.",
        ),
        ("hero.pick(2)", "its variant `hero.2`"),
    ]:
        with pytest.raises(ConfigError, match=re.escape(says)):
            await plan(shell, DEMO + f"x --from {line}")


async def test_a_variant_is_named_by_its_number_or_the_cell_says_which_is_continued(shell):
    game, hero = quick_run("A game"), quick_run()
    shell.names["trio"] = replace(game, variants=(game, hero))
    named = await plan(shell, DEMO + "x --from trio.2 -w trio.2.html", "Like {{trio.1.html}}")
    assert (named.prepared[0].run_input.files, named.note) == (hero.files, "")
    assert named.prepared[0].run_input.prompt.startswith(
        f"Like {game.html}\n\nVariable `trio.2.html`:\n{hero.html}"
    )
    for line in ("x --from trio", "trio -c", "x --from trio.at(1)"):
        note = "This continues variant 1 of 2 of `trio`; `--from trio.2` continues another."
        assert (await plan(shell, DEMO + line)).note == note
    with pytest.raises(
        ConfigError, match=r"`trio.3.html` cannot be read: There is no variant 3; this run has 1 to 2."
    ):
        await plan(shell, DEMO + "x", "Like {{trio.3.html}}")


async def test_options_win_over_configured_defaults(shell):
    shell.magics.steps, shell.magics.seconds, shell.magics.approve = 7, 9.0, "deny"
    shell.magics.instructions, shell.magics.stack = "Speak Dutch.", "vue"
    made = (await plan(shell)).prepared[0]
    limits = made.settings.limits
    assert (limits.steps, limits.seconds, made.rules.default) == (7, 9.0, "deny")
    assert (made.settings.instructions, made.settings.stack) == ("Speak Dutch.", "vue")
    made = (await plan(shell, DEMO + "--steps 3 --approve auto --system 'Be brief.' --stack react")).prepared[
        0
    ]
    limits = made.settings.limits
    assert (limits.steps, limits.seconds, made.rules.default) == (3, 9.0, "auto")
    assert (made.settings.instructions, made.settings.stack) == ("Speak Dutch.\n\nBe brief.", "react")


async def test_rules_for_tools_are_read_from_the_line(shell):
    line = DEMO + "--approve auto --approve create_file=ask --approve mcp:*=deny"
    rules = (await plan(shell, line)).prepared[0].rules
    assert (rules.default, rules.by_name) == ("auto", {"create_file": "ask", "mcp:*": "deny"})
    for wrong, says in [
        ("maybe", "such as `--approve NAME=ask`, not 'maybe'."),
        ("=ask", "not '=ask'."),
        (
            "create_fil=ask",
            "`approve` names 'create_fil', which matches no tool of this agent. Its tools: create_file,",
        ),
    ]:
        with pytest.raises(ConfigError, match=re.escape(says)):
            await plan(shell, DEMO + f"--approve {wrong}")


async def test_the_configured_silence_reaches_every_model(shell, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k3y-0f-the-tests-7f3a9c")
    shell.magics.silence = 42.0
    made = await plan(shell, "-m openai:gpt-6.1-sol -m demo:")
    assert made.prepared[0].provider.silence == 42.0
    assert made.prepared[1].provider.name.startswith("demo:")


async def test_the_users_tools_are_added_to_the_file_tools(shell):
    @tool
    def roll(sides: int) -> str:
        """Rolls."""
        return str(sides)

    shell.names["roll"] = roll
    names = {each.name for each in (await plan(shell, DEMO + "-t roll")).prepared[0].toolbox}
    assert {"create_file", "roll"} <= names
    assert "roll" not in {each.name for each in (await plan(shell)).prepared[0].toolbox}


async def test_the_key_identifies_the_request(shell):
    first, again = await plan(shell, DEMO + "hero"), await plan(shell, DEMO + "hero")
    assert first.key == again.key
    assert first.key.startswith("hero-")
    others = [
        await plan(shell, DEMO + "hero", "A game"),
        await plan(shell, DEMO + "villain"),
        await plan(shell, DEMO + "hero --system 'Be brief.'"),
        await plan(shell, DEMO + "hero -n 2"),
    ]
    assert len({first.key, *(other.key for other in others)}) == 5


@pytest.mark.parametrize(("line", "cell"), [("", "Improve {{page}}"), ("-w page", "Improve the page")])
async def test_the_cell_says_that_a_value_is_shortened(shell, line, cell):
    shell.names["page"] = "x" * 45_000
    made = await plan(shell, DEMO + line, cell)
    assert (
        made.note
        == "Too long for the prompt, so the model sees part of it: `page` (20,000 of 45,000 characters)."
    )


async def test_the_cell_says_that_a_file_is_shortened(shell):
    shell.names["hero"] = quick_run().with_files({"data.csv": "1,2\n" * 20_000})
    made = await plan(shell, DEMO + "x --from hero", "Draw it")
    assert (
        made.note
        == "Too long for the prompt, so the model sees the first lines and can read the rest: `data.csv`."
    )


async def test_compacting_is_part_of_the_request(shell):
    shell.names["hero"] = quick_run()
    whole, compacted = await plan(shell, DEMO + "hero -c"), await plan(shell, DEMO + "hero -c --compact")
    assert (whole.prepared[0].settings.compact, compacted.prepared[0].settings.compact) == (False, True)
    assert whole.key != compacted.key
    before, after = [estimate_tokens(each.prepared[0].messages) for each in (whole, compacted)]
    assert after < before


async def test_a_run_in_the_background_can_be_continued_when_it_has_ended(shell):
    handle = Agent(ScriptedProvider([[stall()]])).start("go")
    shell.names["hero"] = handle
    try:
        with pytest.raises(ConfigError, match=r"`hero` is still running. `await hero` waits for it."):
            await plan(shell, f"x --from hero {DEMO}")
    finally:
        handle.stop()
        ended = await handle
    assert (await run_input(shell, f"x --from hero {DEMO}")).base_id == ended.id


async def test_with_the_network_the_model_is_not_told_that_nothing_loads(shell):
    closed, opened = [(await plan(shell, f"x {DEMO}{option}")).prepared[0] for option in ("", "--network")]
    assert "no network" in closed.system
    assert "no network" not in opened.system
    assert "any https address" in opened.system
    assert closed.fingerprint() == opened.fingerprint(), "a cassette plays with and without it"


async def test_the_elements_of_a_prompt_are_to_be_looked_at(shell):
    shell.names["hero"] = quick_run()
    cell = '{{hero.element("h1")}} and {{hero.element("h1", "index.html")}}: larger'
    made = await plan(shell, "two -m demo: --from hero", cell)
    assert [element.path for element in made.prepared[0].given["elements"]] == ["h1", "h1"]
    made = await plan(shell, "two -m demo: -w hero.element('h1')", "Larger")
    assert [element.path for element in made.prepared[0].given["elements"]] == ["h1"]
