"""How a cell ends whose run was stopped, and whether the cells after it run."""

import pytest

from tests.support.wire import Call, Hold, Say, reply

MODEL = "-m openai:gpt-6.1-sol"
CUT = reply(Call("create_file", '{"path": "index.html", "content": "<h1>Bre'), Hold())
WATCH = """\
ends = []
def note(result):
    run = globals().get("cut")
    if "%%agent" in result.info.raw_cell:
        saved = getattr(run, "id", "?") in "".join(map(str, __import__("pathlib").Path().glob(".agent_nb/runs/*")))
        ends.append((type(result.error_in_exec).__name__, getattr(run, "reason", None), saved))
get_ipython().events.register("post_run_cell", note)"""


@pytest.fixture(scope="module", autouse=True)
def _watch(kernel):
    """Notes at the end of each cell its error, and what of the run there is by then."""
    assert kernel.run(WATCH).status == "ok"


@pytest.fixture
def end_of(page, server):
    """Runs a cell with another one in the queue, and returns how it ended and whether the other ran."""

    def run(options, stop, *answers, until="file_delta", count=1):
        server.forget()
        server.plan(*(answers or [CUT]))
        page.kernel.run("cut = later = None; ends.clear()")
        cells = [page.start(f"%%agent cut {MODEL} {options}\nA page"), page.kernel.start("later = True")]
        page.pump(lambda: len(page.of(until)) >= count)
        stop(page)
        for cell in cells:
            page.finish(cell)
        return (*eval(page.kernel.value("ends[0]")), page.kernel.value("later") == "True")

    return run


def stop(page):
    assert page.command("stop")["ok"]


STOPS = {"stop": stop, "interrupt": lambda page: page.kernel.interrupt()}
REASONS = {"stop": "stopped", "interrupt": "interrupted"}


@pytest.mark.parametrize("how", STOPS)
def test_it_ends_the_queue_and_leaves_the_run_set_and_saved(end_of, page, how):
    assert end_of("", STOPS[how]) == ("RunStopped", REASONS[how], True, False)
    assert page.kernel.value("(cut.html, list(files))") == "('<h1>Bre', ['index.html'])"
    assert "<!-- cut: stopped -->" in page.updates[-1]["text/html"]


@pytest.mark.parametrize("how", STOPS)
def test_no_raise_ends_the_cell_normally(end_of, how):
    assert end_of("--no-raise", STOPS[how]) == ("NoneType", REASONS[how], True, True)


def test_its_error_is_one_line_and_its_check_is_not_made(kernel, server):
    server.plan(CUT)
    cell = kernel.start(f"%%agent cut {MODEL} --check html==1\nA page", stdin=True)
    kernel.until(cell, lambda cell: "file_delta" in str(cell.comms))
    kernel.interrupt()
    assert kernel.finish(cell).error["traceback"] == ["RunStopped: `cut` contains the results so far."]


def stop_each(page):
    for variant in (0, 1):
        assert page.command("stop", variant=variant)["ok"]


def pick_the_first(page):
    page.pump(lambda: page.of("run_finished"))
    assert page.command("pick", variant=page.of("run_finished")[0].get("variant", 0))["ok"]


def stop_the_rest(page):
    page.pump(lambda: page.of("run_finished"))
    stop(page)


DONE = reply(Say("Done."))
ENDS = {
    "one-by-one": (stop_each, [CUT, CUT], ("NoneType", "stopped", True, True)),
    "pick": (pick_the_first, [DONE, CUT], ("NoneType", "end_turn", True, True)),
    "the-rest": (stop_the_rest, [DONE, CUT], ("RunStopped", True, False)),
}


@pytest.mark.parametrize("how", ENDS)
def test_of_variants_only_a_stop_of_all_ends_the_queue(end_of, how):
    act, answers, expected = ENDS[how]
    ended = end_of("-n 2", act, *answers, until="turn_started", count=2)
    assert (ended if len(expected) == 4 else (ended[0], *ended[2:])) == expected


def test_a_limit_and_a_run_in_the_background_do_not_end_the_queue(end_of):
    assert end_of("--seconds 1", lambda page: None) == ("NoneType", "max_seconds", True, True)
    assert end_of("--background", stop)[0] == "NoneType"
