"""Which view each front end gets, and what each view displays."""

import pytest
from IPython.core.displaypub import DisplayPublisher
from IPython.utils.capture import capture_output

from agent_nb import Agent
from agent_nb.core.options import Options
from agent_nb.notebook.front_end import is_attended
from agent_nb.notebook.views.views import FrozenView, LiveView, PlainView, TerminalView, show_run, view_for
from agent_nb.providers.scripted import ScriptedProvider, stall, text
from agent_nb.render import TEXT, bundle
from tests.support.scripts import run_script, write
from tests.support.shells import in_kernel, start_shell

NOTE = "No API key found."


class StoredDisplays(DisplayPublisher):
    """Stores displays, as the shell of ploomber-engine does while it captures what is printed."""

    def publish(self, data, metadata=None, **options):
        self.shell.user_ns.setdefault("stored", []).append(data)


@pytest.fixture
async def run():
    return await run_script([write()], [text("Done.")])


@pytest.fixture
async def handle():
    handle = Agent(ScriptedProvider([[text("Once"), stall()]])).start("go")
    yield handle
    handle.stop()
    await handle


@pytest.mark.parametrize(
    ("front_end", "plain", "attended", "view"),
    [
        (None, False, True, TerminalView),
        (None, True, True, PlainView),
        (in_kernel(allow_stdin=True), False, True, LiveView),
        (in_kernel(allow_stdin=False), False, False, FrozenView),
        (in_kernel(allow_stdin=True), True, True, PlainView),
    ],
    ids=["terminal", "plain-terminal", "lab", "nbclient", "plain-lab"],
)
async def test_each_front_end_gets_its_view(handle, front_end, plain, attended, view):
    assert type(view_for(front_end, handle, Options(plain=plain), watched=attended)) is view


async def test_the_plain_view_prints_only_text_and_the_frozen_one_displays_once(shell, run, handle):
    plain = (PlainView, f"{NOTE}\n{TEXT.render(run)}\n", [])
    for kind, printed, displayed in (plain, (FrozenView, f"{NOTE}\n\n", [bundle(run)])):
        with capture_output() as seen:
            view = kind(handle)
            view.start(NOTE)
            view.finish(run, "files", [])
        assert seen.stdout == printed
        assert [output.data for output in seen.outputs] == displayed


def test_a_shell_that_stores_displays_gets_the_frozen_view_and_no_questions(tmp_path, capsys):
    with start_shell(tmp_path, display_pub_class=StoredDisplays) as shell:
        assert shell.ipython.run_cell("%%agent hero -m demo: --pace 0\nA form").success
        assert shell.names["stored"] == [bundle(shell.names["hero"])]
        assert not is_attended(shell.ipython)
    assert capsys.readouterr().out == ""


async def test_a_displayed_run_shows_its_bundle(shell, run):
    shell.names["hero"] = run
    (shown,) = shell.run("display(hero)").displays
    assert shown == show_run(run) == bundle(run)
    handle = Agent(ScriptedProvider([[text("Done.")]])).start("go")
    finished = await handle
    assert show_run(handle) == bundle(finished)
    race = Agent(ScriptedProvider([[text("Done.")]])).start_variants("go", variants=2)
    finished = await race
    shell.names["race"] = race
    (shown,) = shell.run("display(race)").displays
    assert shown == bundle(finished)


async def test_a_running_run_without_a_page_shows_its_repr(shell, handle):
    shell.names["slow"] = handle
    (shown,) = shell.run("display(slow)").displays
    assert set(shown) == {"text/plain"}
    assert "running" in shown["text/plain"]
