"""What a user accepts is what runs or is written: cards show all of it, except secrets known before the run."""

from dataclasses import replace

import pytest

from agent_nb import Agent, kernel_tools
from agent_nb._base import secrets
from agent_nb._base.constants import CHANGE_TYPE
from agent_nb.notebook.asking import confirm
from agent_nb.notebook.failures import FailedCell
from agent_nb.notebook.magic.magics import secret_source
from agent_nb.notebook.notebook_tools.open_notebook import open_notebook
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.run.replay_file import replay_html
from tests.unit.notebook.live.conftest import asked, questions
from tests.unit.notebook.notebook_tools.conftest import OpenPage, code

SHAPES = (
    "sk-proj-import_os_system_rm_rf_1",
    "eyJpbXBvcnQ_b3M.c3lzdGVtKCdy.bSAtcmYgficp",
    "Bearer os.system.rm-rf-0/home",
    "sk_live_removeEverything0001",
    "AIzaRemoveEverythingThatTheUserHas_0001",
    "Basic aW1wb3J0IG9zOnN5c3RlbSgncm0nKQ==",
)
"""Texts that only look like keys."""
EVIL = "__import__('os').system('rm -rf ~')"
KEY = "My-0wn-service-key"


def sent(desk, kind):
    """The last event of that type that the page got."""
    events = [event for message in desk.sent for event in message.get("events", ())]
    return [event for event in events if event["type"] == kind][-1]


@pytest.fixture(autouse=True)
def key(monkeypatch):
    """A registered key of the user's."""
    monkeypatch.setattr(secrets, "registered", set(secrets.registered))
    monkeypatch.setattr(secrets, "_cores", set(secrets._cores))
    monkeypatch.setenv("MY_API_KEY", "")
    secrets.register(KEY, "`SERVICE_KEY`")
    return KEY


@pytest.fixture
def asks(desk, shell):
    """Runs codes in the session until the last of them asks; returns the card of that question."""

    async def asks(*codes):
        turns = [[call("run_python", {"code": code}, id=f"c{n}")] for n, code in enumerate(codes)]
        handle, shown, _ = await desk.ask(*turns, tools=kernel_tools())
        for number in range(len(codes) - 1):
            desk.command("approve", key="hero-1", call_id=f"c{number}")
            await asked(handle, f"c{number + 1}")
            await questions(shown, 1)
        shown.stream.flush()
        card = sent(desk, "approval_requested")
        desk.command("deny", key="hero-1", call_id=card["call_id"])
        run = await handle
        shown.stream.flush()
        return card, run

    return asks


@pytest.mark.parametrize("shape", SHAPES)
async def test_what_looks_like_a_key_is_shown_where_it_is_accepted_and_nowhere_else(desk, asks, shape, key):
    source = f"run = '{shape}'\neval(run)"
    card, run = await asks(source)
    assert (card["args"], card["secrets"]) == ({"code": source}, [])
    shown = shape.rpartition(" ")[2]
    others = [event for message in desk.sent for event in message.get("events", ()) if event != card]
    assert shown not in repr(others) + run.to_html() + replay_html(run)


async def test_a_variable_that_the_code_of_the_run_set_hides_nothing(asks):
    card, _ = await asks(f"password = {EVIL!r}", f"x = 1\neval({EVIL!r})")
    assert EVIL in secrets.own_values()
    assert card["args"]["code"].endswith(f"eval({EVIL!r})")


@pytest.mark.parametrize("how", ["os.environ['MY_API_KEY'] = {!r}", "config = {{'token': {!r}}}"])
async def test_nor_do_the_environment_and_containers_that_it_set(asks, how):
    card, _ = await asks(f"import os\n{how.format(EVIL)}", f"eval({EVIL!r})")
    assert card["args"]["code"] == f"eval({EVIL!r})"


async def test_nor_does_one_that_the_code_of_an_earlier_run_set(asks, shell):
    await asks(f"token = {EVIL!r}", "del token")
    card, _ = await asks(f"eval({EVIL!r})")
    assert card["args"]["code"] == f"eval({EVIL!r})"


async def test_secrets_that_were_known_before_are_dots_and_named(asks, shell, key):
    shell.run("password = 'hunter2-and-more'\nconfig = {'token': 'tiger-lily-42'}")
    card, _ = await asks(f"login('hunter2-and-more', 'tiger-lily-42', '{key}')")
    assert card["args"]["code"] == "login('•••', '•••', '•••')"
    assert sorted(card["secrets"]) == ["`SERVICE_KEY`", "`password`", "`token` in `config`"]


async def test_the_card_of_apply_shows_what_runs(desk, shell, key):
    shell.run("password = 'hunter2-and-more'")
    codes = [f"a = '{SHAPES[0]}'", f"secret = {EVIL!r}", f"b = [{EVIL!r}, 'hunter2-and-more', '{key}']"]
    turns = [[call("run_python", {"code": one}, id=f"c{n}")] for n, one in enumerate(codes)]
    agent = Agent(
        ScriptedProvider([*turns, [text("Done.")]]), tools=kernel_tools(), approve="auto", branch=True
    )
    handle = agent.start("go")
    shown = desk.show(handle, "look")
    shown.announce_ready(replace(await handle, name="look"), None)
    card = desk.command("apply", key="look")
    for one in codes[:2]:
        assert one in card["code"]
    assert f"b = [{EVIL!r}, '•••', '•••']" in card["code"]
    assert sorted(card["secrets"]) == ["`SERVICE_KEY`", "`password`"]


WIPE = "import shutil; shutil.rmtree('/')"
CELL = 'password = ""# a\nprint(1)\n# b\n'
TRIPLE = f'password = """"\n{WIPE}\n"""\n'


@pytest.fixture
async def page():
    yield OpenPage([code("keys", CELL), code("login", "login('hunter2-and-more')\nprint(1)")])
    open_notebook.send = None


def offered(page):
    bundles = sent(page, "tool_finished")["outputs"]
    return next(bundle[CHANGE_TYPE] for bundle in bundles if CHANGE_TYPE in bundle)


async def test_a_proposal_shows_what_accept_writes(page):
    steps = [("print(1)", WIPE), ("# a", '"# a'), ("# b", '# b"""')]
    shown = await page.run(*(("change_cell", {"cell": "keys", "old": old, "new": new}) for old, new in steps))
    assert all(use.ok for use in shown.result.tool_uses)
    shown.stream.flush()
    card, (change,) = offered(page), shown.result.changes
    assert WIPE not in change.after, "the event of the run is masked as before"
    written = page.decide("accepted", change)["changes"][0]
    assert WIPE in written["after"]
    assert (card["before"], card["after"]) == (written["before"], written["after"])


async def test_a_proposal_names_the_secrets_that_its_cell_has(page, shell, monkeypatch):
    shell.run("password = 'hunter2-and-more'")
    monkeypatch.setattr(secrets, "SECRET_SOURCES", [secret_source(shell.ipython)])
    edit = ("change_cell", {"cell": "login", "old": "print(1)", "new": "print(2)"})
    shown = await page.run(edit)
    shown.stream.flush()
    card = offered(page)
    assert (card["after"], card["secrets"]) == ("login('•••')\nprint(2)", ["`password`"])
    assert "hunter2" in page.decide("accepted", *shown.result.changes)["changes"][0]["after"]


async def test_the_offer_of_a_fix_shows_what_accept_writes(page):
    source = f"{TRIPLE}print(totl)"
    failure = FailedCell(number=1, source=source, cell_id="keys", error="", message="", line=2)
    await page.run(answer="```python\nprint(total)\n```", failure=failure)
    assert page.sent[-1]["fix"]["before"] == source


def test_a_question_of_yes_or_no_names_known_secrets(monkeypatch, key):
    asked: list[str] = []
    monkeypatch.setattr("builtins.input", lambda prompt: asked.append(prompt) or "y")
    assert confirm(f"Start it with {key} and {SHAPES[0]}?")
    assert asked == [
        f"Start it with ••• and {SHAPES[0]}? (••• stands for the value of `SERVICE_KEY`.) [y/N] "
    ]
