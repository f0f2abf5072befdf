"""The ten small tasks of `make try TASKS=1`: a check passes for what was asked, and for nothing less."""

import json

import pytest

from docs.scripts.try_tasks import BROKEN, PAGE, TASKS, try_tasks
from tests.support.wire import Call, Say, WireServer, reply
from tests.support.wire.cases import CASE

GREEN = '<link rel="stylesheet" href="style.css"><h1>Menu</h1>'
ANSWERS = {
    "a tiny page": [Say("```html\n<h1>Hello Lyon</h1><p>A city.</p>\n```")],
    "the weather, by a tool": [Call("weather", {"city": "Lyon"}), "17 degrees and rain."],
    "a sum, by a tool": [Call("add", {"a": 21, "b": 21}), "It is 42."],
    "a style sheet": [
        Call("create_file", {"path": "style.css", "content": "body { background: #111; }"}),
        "Done.",
    ],
    "two lines of text": [
        Call("create_file", {"path": "README.md", "content": "A bakery\nin Lyon"}),
        "Done.",
    ],
    "another colour": [Call("edit_file", {"path": "index.html", "old": "red", "new": "blue"}), "Done."],
    "two files": [
        Call("create_file", {"path": "index.html", "content": GREEN}, id="a"),
        Call("create_file", {"path": "style.css", "content": "h1 { color: green; }"}, id="b"),
        "Done.",
    ],
    "a tool with two arguments": [Call("convert", {"amount": 50, "currency": "CHF"}), "25.00 CHF."],
    "a mean, by a tool": [Call("mean", {"column": "cakes"}), "The mean is 21."],
    "a broken tag": [
        Call("edit_file", {"path": "index.html", "old": "<h1>Bakery<h1>", "new": "<h1>Bakery</h1>"}),
        ".",
    ],
}


@pytest.fixture
async def server():
    async with WireServer() as server:
        yield server


async def test_done_tasks_are_counted(server: WireServer, capsys: pytest.CaptureFixture[str]):
    for task in TASKS:
        *steps, last = ANSWERS[task.name]
        server.plan(*([reply(*steps), reply(Say(last))] if steps else [reply(last)]))
    assert await try_tasks(CASE["chat"].provider(server)) == len(TASKS) == 10
    assert "| a broken tag | yes |" in capsys.readouterr().out


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
async def test_an_answer_in_words_is_not_enough(server: WireServer, task):
    server.plan(
        reply(Say("17, 42, 25, 21: done. Lyon, blue, green, </h1>. " + json.dumps([PAGE, BROKEN])[:20]))
    )
    assert await try_tasks(CASE["chat"].provider(server), [task]) == 0
