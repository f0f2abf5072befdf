"""The questions of an outside agent: the card shows the whole input, and "always" compares it."""

import asyncio
import json

import pytest

import agent_nb
from agent_nb import Agent, events
from agent_nb.engine.approval import Answer
from agent_nb.notebook.asking import question_text
from agent_nb.notebook.live.open_questions import Questions
from agent_nb.render import bundle


@pytest.fixture
def always(fake):
    """Runs steps, and answers each question with "always" unless that covers it; returns the run and the questions."""

    async def run(*steps):
        fake.plays([*steps])
        handle = Agent("acp:fake").start("Go.")
        questions, requests = Questions(), []

        async def ask(request):
            if questions.consent.covers(request):
                return Answer(True, by="always")
            requests.append(request)
            answer = asyncio.ensure_future(questions.ask(request))
            await asyncio.sleep(0)
            questions.answer((0, request.call_id), Answer(True), "always")
            return await answer

        handle.approve_with(ask)
        return await handle, requests

    return run


def diff(path="a.txt", new="x\n"):
    return {"type": "diff", "path": path, "oldText": "", "newText": new}


def text(words):
    return [{"type": "content", "content": {"type": "text", "text": words}}]


def shell(**given):
    return {"title": "ls", "kind": "execute", "rawInput": {"command": "ls", **given}}


def edit(**given):
    return {"title": "Edit a.txt", "kind": "edit", "content": [diff()], "rawInput": given}


INPUTS = {
    "folder": lambda mark: shell(cwd=f"/{mark}"),
    "environment": lambda mark: shell(env={"PATH": [mark]}),
    "stdin": lambda mark: shell(stdin=f"\n{mark}"),
    "permissions": lambda mark: shell(with_escalated_permissions=True, justification=mark),
    "name": lambda mark: shell(**{mark: True}),
    "no command": lambda mark: {"title": "ls", "kind": "execute", "rawInput": {"cmd": mark}},
    "beside a diff": lambda mark: edit(command=mark),
    "nested beside a diff": lambda mark: edit(hooks=[{"run": mark}]),
    "the text of a diff": lambda mark: {**edit(command=f"{mark}\n"), "content": [diff(new=f"{mark}\n")]},
    "another path": lambda mark: edit(file_path=f"/etc/{mark}"),
    "another text": lambda mark: edit(content=mark),
    "another change": lambda mark: edit(old_string="", new_string=mark),
    "another patch": lambda mark: edit(diff=f"--- a\n+++ a\n@@ -0,0 +1 @@\n+{mark}\n"),
    "a title beside a diff": lambda mark: {**edit(), "kind": "execute", "title": f"ls;{' ' * 200}{mark}"},
    "words beside a diff": lambda mark: {**edit(), "content": [diff(), *text(mark)]},
    "places beside a diff": lambda mark: {**edit(), "locations": [{"path": f"/{mark}"}]},
    "list": lambda mark: {"title": "x", "kind": "execute", "rawInput": ["sh", "-c", mark]},
    "text": lambda mark: {"title": "x", "kind": "other", "rawInput": f"run {mark}"},
    "list as command": lambda mark: {"title": "rm", "rawInput": {"command": ["rm", mark]}},
    "words of the question": lambda mark: {
        "title": "ls",
        "kind": "execute",
        "content": text(f"[in /{mark}]"),
    },
    "title": lambda mark: {"title": f"Fetch {mark}", "kind": "fetch"},
    "long title": lambda mark: {"title": f"a\n{mark}", "kind": "other", "rawInput": {"x": 1}},
    "places": lambda mark: {"title": "Delete", "kind": "delete", "locations": [{"path": mark}]},
    "no id": lambda mark: {"toolCallId": "", "title": mark},
    "names of ours": lambda mark: {**shell(details="none"), "content": text(mark)},
}


@pytest.mark.parametrize("name", INPUTS)
async def test_the_whole_input_is_shown_and_compared(always, name):
    marks = ("mark-one", "mark-two")
    steps = [
        {"ask": {"toolCallId": number, **INPUTS[name](mark)}, "then": [{"disk": f"{number}.txt", "text": ""}]}
        for number, mark in zip("12", marks, strict=True)
    ]
    run, requests = await always(*steps)
    assert len(requests) == 2
    saved = bundle(run)["text/html"]
    for request, mark in zip(requests, marks, strict=True):
        assert all(mark in shown for shown in (json.dumps(request.args), question_text(request), saved))


@pytest.mark.parametrize(("path", "asked"), [("b.txt", 1), ("../b.txt", 2), ("out/b.txt", 2)])
async def test_always_covers_edits_in_the_folder_alone(always, tmp_path, path, asked):
    def step(name):
        call = {"toolCallId": name, "title": name, "kind": "edit", "content": [diff(name)]}
        return {
            "ask": {**call, "rawInput": {"filePath": name, "content": "x\n", "replace_all": False}},
            "then": [],
        }

    _, requests = await always({"link": "out", "to": str(tmp_path)}, step("a.txt"), step(path))
    assert len(requests) == asked


@pytest.mark.parametrize(
    "given",
    [
        {"file_path": "a.txt", "content": "  b\n  c\n"},
        {"path": "a.txt", "old_string": "  a\n", "new_string": "  b\n  c\n"},
        {"filePath": "a.txt", "oldString": "a\n", "newString": "b\n  c\n"},
        {"filepath": "a.txt", "diff": "Index: a.txt\n===\n--- a.txt\n+++ a.txt\n@@ -1 +1,2 @@\n-a\n+b\n+c\n"},
    ],
)
async def test_what_the_diff_shows_is_not_shown_twice(always, given):
    block = {"type": "diff", "path": "a.txt", "oldText": "  a\n", "newText": "  b\n  c\n"}
    call = {"toolCallId": "1", "title": "Edit", "kind": "edit", "content": [block], "rawInput": given}
    _, [request] = await always({"ask": call, "then": []})
    assert {*request.args} == {"path", "diff"}


PATCH = "--- {0}\n+++ {0}\n@@ -1 +1,2 @@\n-a\n+b\n+  c\n"


@pytest.mark.parametrize(
    "patch",
    [
        PATCH.format("../.bashrc"),
        f"Index: ../.bashrc\n{PATCH.format('a.txt')}",
        f"rm -rf /\n{PATCH.format('a.txt')}",
        PATCH.format("a.txt").replace("+  c", "+c"),
        PATCH.format("a.txt") + PATCH.format("b.txt"),
    ],
)
async def test_a_patch_that_differs_from_the_diff_is_shown(always, patch):
    block = {"type": "diff", "path": "a.txt", "oldText": "a\n", "newText": "b\n  c\n"}
    call = {
        "toolCallId": "1",
        "title": "Edit",
        "kind": "edit",
        "content": [block],
        "rawInput": {"diff": patch},
    }
    _, [request] = await always({"ask": call, "then": []})
    assert patch in request.args["input"]["diff"]


async def test_the_input_of_earlier_updates_is_shown(always):
    early = {"update": "tool_call", "toolCallId": "1", "kind": "execute", "rawInput": {"cwd": "/home"}}
    call = {"toolCallId": "1", "title": "ls", "kind": "execute", "rawInput": {"command": "ls"}}
    _, [request] = await always(early, {"ask": call, "then": []})
    assert request.args == {"cwd": "/home", "command": "ls"}


async def test_a_command_is_not_shortened(always, fake):
    commands = ("rm -r $FOLDER", "rm -r .")
    steps = [
        {"ask": {"toolCallId": name, "title": name, "rawInput": {"command": name}}, "then": []}
        for name in commands
    ]
    _, requests = await always({"environment": []}, *steps)
    [folder] = fake.noted("folder")
    assert [request.args for request in requests] == [{"command": f"rm -r {folder}"}, {"command": "rm -r ."}]


def _add(a: int) -> int:
    """Adds."""
    return a


OURS = {
    "claude": {"_meta": {"claudeCode": {"toolName": "mcp__agent_nb___add"}}, "kind": "other"},
    "gemini": {"toolCallId": "mcp_agent_nb__add__7", "title": "_add (agent_nb MCP Server)", "kind": "other"},
    "codex": {
        "_meta": {"is_mcp_tool_call": True},
        "rawInput": {"server": "agent_nb", "tool": "_add", "arguments": {"command": "x"}},
        "kind": "execute",
    },
}
"""A call of our tool, as each agent tells of it."""
ATTACKS = {
    "a command": lambda call: {**call, "rawInput": {**call.get("rawInput", {}), "command": "rm -r ~"}},
    "another command": lambda call: {**call, "rawInput": {**call.get("rawInput", {}), "cmd": ["rm"]}},
    "a diff": lambda call: {**call, "content": [diff("/etc/passwd")]},
    "a shell": lambda call: {"rawInput": None, **call, "kind": "execute", "_meta": {}, "title": "rm -r ~"},
    "another tool": lambda call: json.loads(json.dumps(call).replace("_add", "_addition")),
    "another server": lambda call: json.loads(json.dumps(call).replace("agent_nb", "agent_nb__add")),
    "the name": lambda call: {"name": "mcp__agent_nb___add", "title": "mcp__agent_nb___add", "kind": "other"},
    "arguments": lambda call: {"rawInput": OURS["codex"]["rawInput"], "title": "x", "kind": "other"},
}


async def outcome(fake, agent, *steps):
    """The answer to the only question of a run in which everything of the agent's own is denied."""
    fake.plays([*steps], agent=agent)
    run = await Agent(f"acp:{agent}", tools=[agent_nb.tool(_add)], approve="deny").run("Go.")
    [answer] = fake.noted("outcome")
    return answer["optionId"], len([*run.events.of(events.ApprovalRequested)])


@pytest.mark.parametrize("agent", OURS)
async def test_a_call_of_our_tool_is_approved_on_the_card_of_the_tool(fake, agent):
    call = {"toolCallId": "1", **OURS[agent]}
    assert await outcome(fake, agent, {"ask": call, "then": []}) == ("this-time", 0)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("agent", OURS)
async def test_no_other_call_passes_for_one_of_our_tools(fake, agent, attack):
    call = {"toolCallId": "1", **ATTACKS[attack](OURS[agent])}
    assert await outcome(fake, agent, {"ask": call, "then": []}) == ("never", 1)


@pytest.mark.parametrize(
    ("agent", "form"),
    [
        (agent, form)
        for agent in ("claude", "gemini", "codex", "opencode", "fake")
        for form in OURS
        if agent != form
    ],
)
async def test_an_agent_is_not_recognised_by_the_fields_of_another(fake, agent, form):
    call = {"toolCallId": "1", **OURS[form]}
    assert await outcome(fake, agent, {"ask": call, "then": []}) == ("never", 1)


@pytest.mark.parametrize("agent", OURS)
async def test_a_call_that_turns_out_to_have_a_command_is_asked_about(fake, agent):
    call = {"toolCallId": "1", **OURS[agent]}
    later = {"toolCallId": call["toolCallId"], "rawInput": {"command": "rm -r ~"}}
    assert await outcome(fake, agent, {"update": "tool_call", **call}, {"ask": later, "then": []}) == (
        "never",
        1,
    )
