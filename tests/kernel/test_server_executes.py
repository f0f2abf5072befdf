"""A server that executes cells for its pages allows no input, as nbclient does; a page tells that it is there."""

import pytest

from tests.support.kernels import PATIENCE, start_kernel
from tests.support.live_page import Page
from tests.support.wire import Call, Hold, Say, reply

CELL = "%%agent hero -m openai:gpt-6.1-sol"


@pytest.fixture(scope="module")
def page(tmp_path_factory, vendor):
    """A page that has closed the comm with which the kernel asks whether it is there, as Jupyter's pages do."""
    environment = {**vendor, "JPY_SESSION_NAME": "demo.ipynb"}
    with start_kernel(tmp_path_factory.mktemp("kernel"), load=False, **environment) as kernel:
        page = Page(kernel)
        (question,) = kernel.run("%load_ext agent_nb").comms
        assert question["target_name"] == "agent_nb.page"
        page.comm = question["comm_id"]
        page.close()
        yield page


@pytest.fixture(autouse=True)
def nothing_planned(server):
    server.forget()


def test_a_page_that_answers_gets_the_live_view_and_stop(page, server):
    server.plan(reply(Call("create_file", '{"path": "index.html", "content": "<h1>Bre'), Hold()))
    cell = page.start(f"{CELL}\nA page", stdin=False)
    page.pump(lambda: page.of("file_delta"))
    assert "data-anb-id" in page.displays[0]["text/html"]
    assert page.command("hello", client="page-2")["ok"]
    assert page.command("stop", client="page-2")["ok"]
    page.finish(cell)
    assert page.kernel.value("(hero.reason, hero.html)") == "('stopped', '<h1>Bre')"


def test_the_result_takes_the_place_of_all_that_was_shown(page, server):
    """jupyter-server-documents appends what should update a display."""
    server.plan(
        reply(Call("create_file", {"path": "index.html", "content": "<h1>Bread"})), reply(Say("Done."))
    )
    cell = page.kernel.run(f"{CELL} --save site\nA page")
    assert not cell.updates
    assert cell.cleared == 1
    assert cell.stdout == "Files saved in site.\n" * 2
    assert "data-anb-outcome" in cell.displays[-1]["text/html"]


def test_a_page_that_does_not_trust_the_notebook_sees_the_run_and_what_to_do(page, server):
    """Its sanitised outputs have nothing that the widget finds, so it never asks for the run."""
    page.kernel.run(
        "import agent_nb.notebook.views.light_view as form; form.FIRST_HELLO = form.INTERVAL = 0.1"
    )
    server.plan(reply(Say("The page is **nearly** done."), Hold()))
    cell = page.start(f"{CELL}\nA page", stdin=False)
    page.pump(lambda: any("nearly" in shown["text/html"] for shown in page.displays))
    assert all("Trust the notebook to watch; interrupt to stop." in d["text/html"] for d in page.displays)
    assert not page.updates
    page.kernel.interrupt()
    page.finish(cell)
    assert page.kernel.value("hero.reason") == "'interrupted'"


def test_the_doctor_knows_that_a_page_answers(page):
    assert (
        "Comm                  a page answers" in page.kernel.run("%agent doctor").displays[0]["text/plain"]
    )


def asks(page, server, patience: float) -> str:
    """Starts a run that asks, and gives pages so many seconds to say hello."""
    page.kernel.run(
        f"import agent_nb.notebook.live.live_run as live; live.FIRST_HELLO = live.PATIENCE = {patience}"
    )
    server.plan(reply(Call("run_python", {"code": "1 + 1"})), reply(Say("Done.")))
    return page.start(f"{CELL} -t kernel\nCompute", stdin=False)


def test_the_page_that_shows_the_run_is_asked(page, server):
    cell = asks(page, server, PATIENCE)
    request = page.question("page-2")
    assert page.command("approve", client="page-2", call_id=request["call_id"])["ok"]
    page.finish(cell)
    assert page.kernel.value("hero.tool_uses[0].result.ok") == "True"


def test_a_page_that_does_not_show_the_run_is_nobody_to_ask(page, server):
    page.finish(asks(page, server, 0.1))
    assert page.kernel.value("hero.tool_uses[0].result.code") == "'DENIED'"
    assert "trust the notebook to be asked" in page.kernel.value("hero.tool_uses[0].summary")


def test_however_many_questions_leave_one_comm_until_a_page_answers(tmp_path, vendor):
    environment = {**vendor, "JPY_SESSION_NAME": "demo.ipynb"}
    with start_kernel(tmp_path, **environment) as kernel:
        for _ in range(5):
            cell = kernel.run("%%agent hero -m demo: --dry-run\nA page")
        opened = [message["comm_id"] for message in cell.comms if "target_name" in message]
        comms = "list(__import__('comm').get_comm_manager().comms)"
        assert kernel.value(comms) == repr(opened)
        page = Page(kernel)
        [page.comm] = opened
        page.close()
        assert kernel.value(comms) == "[]"
        assert kernel.run("%%agent hero -m demo: --dry-run\nA page").comms == []
