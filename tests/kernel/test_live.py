"""The hub on a real kernel: a page that speaks the protocol over a real comm, while a run or its variants go on."""

import itertools
import re

import pytest

from tests.support.kernels import ASKING, PATIENCE
from tests.support.wire import Call, Hold, Say, reply

NAME = "openai:gpt-6.1-sol"
MODEL = f"-m {NAME}"
THREE = "%%agent hero -m demo: -n 3 --pace 0\nA landing page for a bakery"


def test_batches_are_contiguous_to_the_end(page):
    cell = page.start("%%agent hero -m demo: --pace 0.05\nA landing page for a bakery")
    page.finish(cell)
    live = [batch for batch in page.batches if not (batch["first"] == 1 and batch is not page.batches[0])]
    assert live[0]["first"] == 1
    for before, after in itertools.pairwise(live):
        assert after["first"] == before["last"] + 1
    assert page.events()[-1]["type"] == "run_finished"
    assert live[0]["meta"]["name"] == "hero"
    assert not live[0]["meta"]["network"]


def test_the_first_frame_is_replaced_by_the_frozen_result(page):
    assert "trust the notebook to watch, stop and answer it" in page.displays[0]["text/html"]
    assert 'data-anb-run="hero-' in page.displays[-1]["text/html"]
    assert 'data-anb-run="hero-' in page.updates[-1]["text/html"]
    assert "data-anb-id" not in page.updates[-1]["text/html"]
    load = "In a new kernel, <code>%agent load hero</code> loads it from <code>.agent_nb</code>."
    assert load in page.updates[-1]["text/html"]
    ready = [message for message in page.messages if message["kind"] == "ready"]
    assert "hero" in ready[-1]["line"]
    (path,) = ready[-1]["paths"]
    assert path.startswith(".agent_nb/runs/")


def test_the_frozen_result_is_known_by_its_digest(page):
    ready = [message for message in page.messages if message["kind"] == "ready"][-1]
    assert f'data-anb-outcome="{ready["digest"]}"' in page.updates[-1]["text/html"]
    assert page.command("hello", key=page.batches[0]["meta"]["key"])["meta"]["digest"] == ready["digest"]


def test_the_page_can_ask_for_the_result_and_hears_of_the_end_after_it(page):
    answer = page.command("result")
    assert answer["data"] == page.updates[-1]
    assert page.updated_after < len(page.messages)
    assert "ready" in [message["kind"] for message in page.messages[page.updated_after :]]


@pytest.mark.parametrize("command", ["hello", "resync"])
def test_a_late_page_or_one_with_a_gap_gets_everything_again(page, command):
    before = len(page.batches)
    assert page.command(command)["ok"]
    page.pump(lambda: len(page.batches) > before)
    again = page.batches[-1]
    assert (again["first"], again["last"]) == (1, page.command("hello")["last"])
    assert again["events"][0]["type"] == "run_started"
    assert again["events"][-1]["type"] == "run_finished"


def test_a_cell_leaves_all_its_variants(page):
    cell = page.kernel.run(THREE)
    assert cell.status == "ok", cell.errors
    assert page.kernel.value("len({v.html for v in hero.variants})") == "3"
    assert page.kernel.value("hero.html == hero.variants[0].html, files is hero.files") == "(True, True)"
    (shown,) = cell.displays
    assert re.findall(r"<summary>Variant (\d)<", shown["text/html"]) == ["1", "2", "3"]
    assert "Variant 1 of 3, the first to succeed" in shown["text/html"]
    assert page.kernel.run(THREE).displays == cell.displays


def test_stop_ends_one_variant_or_all(page, server):
    server.plan(*[reply(Say("I begin."), Hold())] * 3)
    cell = page.start(f"%%agent held {MODEL} -n 3\nA form")
    page.pump(lambda: len(page.of("text_delta")) >= 3)
    page.command("hello")
    assert page.command("pick", variant=0)["error"].startswith("Variant 1 is still running.")
    assert page.command("stop", variant=1)["ok"]
    page.pump(lambda: page.of("run_finished"))
    assert [(event["variant"], event["reason"]) for event in page.of("run_finished")] == [(1, "stopped")]
    assert page.command("stop")["ok"]
    page.finish(cell)
    assert page.kernel.value("[v.reason for v in held.variants]") == "['stopped', 'stopped', 'stopped']"
    server.forget()


def test_the_page_gets_the_files_of_each_variant(page):
    page.finish(page.start(THREE))
    pages = [page.command("file", path="index.html", variant=number)["text"] for number in range(3)]
    assert repr(pages) == page.kernel.value("[v.html for v in hero.variants]")


def test_a_dry_run_names_all_models(page):
    cell = page.kernel.run(f"%%agent x -m demo: {MODEL} -n 2 --dry-run\nA form")
    assert f"Dry run, nothing sent. Models: demo (2), {NAME} (2)" in cell.stdout
    assert "for the first turn of all 4." in cell.stdout


def be_impatient(page):
    """Pages of the runs from now on have a tenth of a second to say hello."""
    page.kernel.run("import agent_nb.notebook.live.live_run as live; live.FIRST_HELLO = live.PATIENCE = 0.1")
    page.kernel.run(
        "import agent_nb.notebook.views.light_view as form; form.FIRST_HELLO = form.INTERVAL = 0.1"
    )


def test_a_question_that_no_page_sees_is_asked_with_input(page, server):
    be_impatient(page)
    page.kernel.run(ASKING)
    server.plan(reply(Call("run_shell", {"command": "ls"})), reply(Say("Done.")))
    cell = page.start(f"%%agent unseen {MODEL} -t run_shell\nList")
    question = page.kernel.client.get_stdin_msg(timeout=PATIENCE)["content"]["prompt"]
    assert question.startswith("Approve?")
    page.pump(lambda: "Approval needed" in str(page.updates[-1:]))
    assert "(run_shell): answer below." in page.updates[-1]["text/html"]
    page.kernel.client.input("yes, once")
    page.finish(cell)
    assert page.kernel.value("unseen.tool_uses[0].result.text").startswith("'ran ls")
    assert "says: once" in page.kernel.value("unseen.tool_uses[0].result.text")


def test_a_front_end_that_refuses_the_widget_is_asked_at_once_and_offered_it_again(page, server):
    page.kernel.run("live.PATIENCE = 3600")
    server.plan(reply(Call("run_shell", {"command": "ls"})), reply(Say("Done.")))
    cell = page.start(f"%%agent refused {MODEL} -t run_shell\nList")
    page.pump(lambda: page.batches)
    before = page.comm
    page.close()
    page.kernel.client.get_stdin_msg(timeout=PATIENCE)
    page.kernel.client.input("no")
    page.finish(cell)
    page.kernel.run("live.PATIENCE = 0.1")
    page.finish(page.start("%%agent offered -m demo: --pace 0\nA page"))
    assert page.comm != before
    assert page.command("hello")["ok"]


def test_an_interrupt_at_the_question_denies_it_and_ends_the_run(page, server):
    server.plan(reply(Call("run_shell", {"command": "ls"})))
    cell = page.start(f"%%agent cut {MODEL} -t run_shell\nList")
    page.kernel.client.get_stdin_msg(timeout=PATIENCE)
    page.kernel.interrupt()
    page.finish(cell)
    assert page.kernel.value("cut.reason") == "'interrupted'"
    (resolved,) = page.of("approval_resolved")
    assert (resolved["approved"], resolved["by"]) == (False, "stopped")


def test_a_question_of_a_background_run_that_no_page_sees_is_denied(page, server):
    """The cell has ended, so that nobody could answer `input()`."""
    server.plan(reply(Call("run_shell", {"command": "ls"})), reply(Say("Done.")))
    page.finish(page.start(f"%%agent unseen {MODEL} -t run_shell --background\nList"))
    page.finish(page.start("await unseen;"))
    assert "nobody is there to ask" in page.kernel.value("unseen.tool_uses[0].summary")


def test_a_background_run_is_displayed_live(page):
    page.finish(page.start("%%agent later -m demo: --background --pace 1\nA form"))
    shown = page.kernel.run("later").result
    assert f'data-anb-run="{page.kernel.value("later.key")[1:-1]}"' in shown["text/html"]
    assert "later" in page.kernel.run("later.stop(); await later").result["text/html"]


def test_the_page_knows_the_magic_which_run_is_the_newest_and_whether_older_ones_fold(page):
    metas = []
    for name, folds in (("robot", True), ("agent", False)):
        settings = {"magic_name": name, "fold_runs": folds}
        for trait, value in settings.items():
            page.finish(page.start(f"%config AgentMagics.{trait} = {value!r}"))
        page.finish(page.start(f"%%{name} named -m demo: --pace 0\nA page"))
        metas.append(next(batch["meta"] for batch in page.batches if "meta" in batch))
    assert [(meta["magic"], meta["folds"]) for meta in metas] == [("robot", True), ("agent", False)]
    assert metas[0]["number"] < metas[1]["number"]


def test_a_binary_file_is_fetched_when_needed(page, server):
    page.kernel.run(
        "from agent_nb import tool\nfrom agent_nb.tools import ToolContext\n@tool\n"
        "def draw(context: ToolContext) -> str:\n    'Draws.'\n"
        "    context.files.write('a.png', b'old')\n"
        "    context.files.write('a.png', b'\\x89PNG')\n    return 'ok'"
    )
    server.plan(reply(Call("draw", {})), reply(Say("Done.")))
    page.finish(page.start(f"%%agent drawn {MODEL} -t draw\nDraw"))
    assert page.command("file", path="a.png")["base64"] == "iVBORw=="
    versions = [page.command("file", path="a.png", version=number).get("base64") for number in (1, 2, 3)]
    assert versions == ["b2xk", "iVBORw==", None]
    assert "no file" in page.command("file", path="b.png")["error"]


def test_what_the_page_reports_can_be_read(page):
    entries = [{"level": "error", "text": "boom is not defined", "line": 12}, "nonsense"]
    assert page.command("preview_report", entries=entries)["ok"]
    printed = page.kernel.run("%agent console drawn").displays[0]["text/plain"]
    assert "boom is not defined" in printed
    assert "12" in printed
    assert "boom is not defined" in page.kernel.run("print(drawn.console[1])").stdout
    assert "No page of `nobody` has been previewed" in page.kernel.run("%agent console nobody").errors


def test_an_older_run_of_the_same_request_shows_itself(page):
    cell = "%%agent twin -m demo: --pace 0.05\nA form"
    page.finish(page.start(cell))
    page.kernel.run("older = twin")
    page.finish(page.start(cell))
    key = page.kernel.value("twin.key")[1:-1]
    assert page.kernel.value("older.key")[1:-1] == key
    assert f'data-anb-run="{key}"' in page.kernel.run("twin").result["text/html"]
    assert f'data-anb-run="{key}.2"' in page.kernel.run("older").result["text/html"]
    ids = [page.command("hello", key=one)["run_id"] for one in (key, f"{key}.2")]
    assert ids == [page.kernel.value(f"{name}.id")[1:-1] for name in ("twin", "older")]


def test_a_run_changed_by_hand_is_shown_frozen(page):
    shown = page.kernel.run("twin.with_files({'index.html': '<h1>Mine</h1>'})").result["text/html"]
    assert 'data-anb-run=""' in shown
    assert "Mine" in shown


def test_the_page_is_told_of_an_open_network_and_neither_the_saved_form_nor_a_replay_has_it(page):
    cell = "%%agent taped --network --pace 0 {}\nA landing page for a bakery"
    for options, network in (("-m demo: --record", True), ("", False)):
        page.finish(page.start(cell.format(options)))
        assert {batch["meta"]["network"] for batch in page.batches if "meta" in batch} == {network}
        policy = page.updates[-1]["text/html"].partition("Content-Security-Policy")[2].partition(">")[0]
        assert "default-src" in policy
        assert "https:" not in policy
    assert "taped.run.jsonl" in page.kernel.run("taped.settings['replayed']").result["text/plain"]


def values(page):
    messages = [message["message"] for message in page.messages if message["kind"] == "bound"]
    return [message["text"] for message in messages if message["do"] == "value"]
