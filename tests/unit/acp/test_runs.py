"""A run of an outside agent is a run like any other: events, files, approvals, messages, saved runs, replays."""

import asyncio

import pytest

import agent_nb
from agent_nb import Agent, Limits, events, replay
from agent_nb.acp import known
from agent_nb.core.errors import ConfigError, InstallError, UnknownModelError
from agent_nb.core.messages import Usage
from agent_nb.engine.approval import Answer
from agent_nb.providers.scripted import ScriptedProvider, call, stall
from agent_nb.run.run_reader import load
from tests.support.pdf import pdf_of
from tests.support.scripts import stop_at
from tests.support.wire.cases import RED_PNG

USAGE = {"inputTokens": 10, "cachedReadTokens": 4, "outputTokens": 5, "totalTokens": 21, "thoughtTokens": 2}
PAGE = [
    {"think": "****\nA page."},
    {"say": "I write it."},
    {"edit": "index.html", "text": "<h1>Bread</h1>\n"},
    {"say": "Now the name."},
    {"edit": "index.html", "text": "<h1>Bread in Lyon</h1>\n"},
    {"say": "Done."},
    {"end": {"stopReason": "end_turn", "usage": USAGE}},
]


def types(run):
    return [event.type for event in run.events]


async def test_a_page_becomes_files_turns_and_messages(run_fake):
    run = await run_fake(PAGE)
    assert run.reason == "end_turn"
    assert run.files.versions("index.html") == ("<h1>Bread</h1>\n", "<h1>Bread in Lyon</h1>\n")
    assert run.text == "Done."
    assert run.thinking == "A page."
    assert [use.ok for use in run.tool_uses] == [True, True]
    assert [message.role for message in run.own_messages] == ["user", *["assistant", "tool"] * 2, "assistant"]
    assert run.usage == Usage(input=14, cached_read=4, output=7, reasoning=2)
    assert run.cost is None
    changes = [event.call_id for event in run.events.of(events.FileChanged)]
    assert changes == [use.call.id for use in run.tool_uses]
    assert "fake 1.2.3" in run.certificate.to_markdown()


async def test_the_question_shows_the_diff_of_a_call_that_was_never_announced(run_fake, fake):
    asked = []
    run = await run_fake(PAGE, approve=lambda call, args: asked.append(args) or True)
    assert asked[1] == {
        "path": "index.html",
        "diff": "--- a/index.html\n+++ b/index.html\n@@ -1 +1 @@\n-<h1>Bread</h1>\n+<h1>Bread in Lyon</h1>\n",
    }
    assert run.files["index.html"] == "<h1>Bread in Lyon</h1>\n"
    assert fake.noted("outcome") == [{"outcome": "selected", "optionId": "this-time"}] * 2


async def test_a_question_without_content_shows_what_the_call_had_said_before(run_fake):
    diff = {"type": "diff", "path": "a.txt", "oldText": None, "newText": "one\n"}
    call = {"toolCallId": "c1", "title": "Editing files", "kind": "edit"}
    steps = [
        {"update": "tool_call", **call, "status": "in_progress", "content": [diff]},
        {"ask": {**call, "status": "pending"}, "then": [{"disk": "a.txt", "text": "one\n"}]},
    ]
    asked = []
    run = await run_fake(steps, approve=lambda call, args: asked.append(args) or True)
    assert asked == [{"path": "a.txt", "diff": "--- a/a.txt\n+++ b/a.txt\n@@ -0,0 +1 @@\n+one\n"}]
    assert dict(run.files) == {"a.txt": "one\n"}


@pytest.mark.parametrize("approve", ["deny", "ask"])
async def test_a_denied_call_is_rejected_once_and_the_run_goes_on(run_fake, fake, approve):
    run = await run_fake(PAGE, approve=approve)  # nobody is there to ask
    assert fake.noted("outcome") == [{"outcome": "selected", "optionId": "never"}] * 2
    assert dict(run.files) == {}
    assert [event.code for event in run.events.of(events.ToolFinished)] == [None, "DENIED", "DENIED"]
    assert (run.reason, run.text) == ("end_turn", "Done.")


async def test_an_agent_that_only_offers_for_ever_is_not_allowed(run_fake, fake):
    options = [{"optionId": "for-ever", "kind": "allow_always"}]
    call = {"toolCallId": "c1", "title": "Write", "kind": "edit"}
    run = await run_fake([{"ask": call, "then": [{"disk": "a.txt", "text": ""}], "options": options}])
    assert fake.noted("outcome") == [{"outcome": "cancelled"}]
    assert not run.files


async def test_a_note_to_a_denied_call_is_the_next_prompt(fake):
    fake.plays(PAGE[:3], [{"say": "I understand."}])
    run = await Agent("acp:fake", approve=lambda call, args: Answer(False, "use Markdown")).run("Go.")
    [first, second] = fake.received("session/prompt")
    assert "Go." in first["prompt"][0]["text"]
    assert second["prompt"] == [
        {"type": "text", "text": "I said no to “Writing to index.html”: use Markdown"}
    ]
    assert run.text == "I understand."


async def test_files_of_commands_are_found_and_links_are_not_followed(run_fake, tmp_path):
    (tmp_path / "secret.txt").write_text("private")
    command = {"toolCallId": "c1", "title": "make all", "kind": "execute"}
    steps = [
        {"disk": "css/a.css", "text": "p {}"},
        {"disk": ".env", "text": "hidden"},
        {"disk": "node_modules/x.js", "text": "x"},
        {"link": "stolen.txt", "to": str(tmp_path / "secret.txt")},
        {"link": "folder", "to": str(tmp_path)},
    ]
    run = await run_fake([{"ask": command, "then": steps}, {"disk": "last.txt", "text": "unannounced"}])
    assert dict(run.files) == {"css/a.css": "p {}", "last.txt": "unannounced"}
    [ready] = run.events.of(events.ToolReady)
    assert ready.args == {"command": "make all"}


async def test_a_run_that_continues_has_its_files_and_the_conversation_as_text(fake):
    fake.plays(PAGE)
    first = await Agent("acp:fake", approve="auto").run("A bakery.")
    fake.plays([{"edit": "index.html", "text": "new"}, {"delete": "old.txt"}, {"say": "Changed."}])
    base = first.with_files({"old.txt": "old"})
    second = await Agent("acp:fake", approve="auto").run("Shorter.", base=base)
    assert second.files["index.html"] == "new"
    assert "old.txt" not in second.files
    [prompt] = fake.received("session/prompt")
    assert "User: A bakery." in prompt["prompt"][0]["text"]
    assert "You: Done." in prompt["prompt"][0]["text"]
    start = next(second.events.of(events.ToolFinished))
    assert start.summary == "fake 1.2.3; the earlier conversation was sent as text"


async def test_a_run_that_continues_a_stopped_one_has_the_end_of_its_file(fake):
    cut = call("create_file", '{"path": "index.html", "content": "<h1>Bre', fragment=4)
    first = await stop_at(Agent(ScriptedProvider([[cut, stall()]])).start("A bakery."), events.FileDelta)
    fake.plays([{"say": "OK."}])
    second = await Agent("acp:fake", approve="auto").run("Go on.", base=first)
    [prompt] = fake.received("session/prompt")
    assert f"```html\n{first.html}\n```\n(cut here)" in prompt["prompt"][0]["text"]
    assert [*second.files.unfinished] == ["index.html"]


async def test_system_text_stack_and_images_go_with_the_prompt(fake):
    fake.plays([{"say": "Seen."}])
    agent = Agent("acp:fake", system="Speak French.").with_stack("vue")
    await agent.run("Like this.", images=[RED_PNG])
    [prompt] = fake.received("session/prompt")
    text, image = prompt["prompt"]
    assert text["text"].index("Vue") < text["text"].index("Speak French.") < text["text"].index("Like this.")
    assert (image["type"], image["mimeType"]) == ("image", "image/png")


async def test_an_agent_gets_the_text_of_a_pdf(fake):
    pytest.importorskip("pypdf")
    fake.plays([{"say": "Read."}])
    await Agent("acp:fake").run("Sum it up.", images=[pdf_of("The mean is 42")])
    [prompt] = fake.received("session/prompt")
    assert "The text of `document.pdf`:\n```\nThe mean is 42\n```" in prompt["prompt"][0]["text"]


async def test_an_agent_that_takes_no_images_says_so(fake):
    fake.plays([{"say": "Hm."}], initialize={"protocolVersion": 1})
    run = await Agent("acp:fake").run("Like this.", images=[RED_PNG])
    assert run.error == "fake does not accept images. Leave them out."


@pytest.mark.parametrize(
    ("amount", "told"), [(0.25, 0.25), (float("inf"), None), (float("nan"), None), (-1, None)]
)
async def test_cost_is_what_the_agent_tells(run_fake, amount, told):
    cost = {"amount": amount, "currency": "USD"}
    run = await run_fake([{"say": "Hi."}, {"update": "usage_update", "used": 5, "size": 9, "cost": cost}])
    assert run.cost == told


async def test_stop_cancels_the_prompt_and_keeps_the_files(fake):
    fake.plays([{"edit": "index.html", "text": "<p>"}, {"say": "More to come"}, {"hold": True}])
    run = await stop_at(Agent("acp:fake", approve="auto").start("Go."), events.TextDelta)
    assert run.reason == "stopped"
    assert dict(run.files) == {"index.html": "<p>"}
    assert run.text == "More to come"
    assert fake.received("session/cancel") == [{"sessionId": "s1"}]


async def test_after_stop_no_tool_of_ours_runs(fake):
    calls = []

    @agent_nb.tool
    def note(text: str) -> None:
        """Notes a text."""
        calls.append(text)

    fake.plays([{"say": "Wait"}, {"hold": True, "then": [{"tool": "note", "args": {"text": "late"}}]}])
    run = await stop_at(Agent("acp:fake", approve="auto", tools=[note]).start("Go."), events.TextDelta)
    assert run.reason == "stopped"
    [answer] = fake.noted("tool")
    assert (calls, [*answer]) == ([], ["refused"])


async def test_what_a_cancelled_agent_closes_is_closed(fake):
    call = {"toolCallId": "c1", "title": "sleep 9", "kind": "execute"}
    end = {"update": "tool_call_update", "toolCallId": "c1", "status": "failed"}
    late = {"ask": {**call, "toolCallId": "c2"}, "then": []}
    fake.plays(
        [{"update": "tool_call", **call, "status": "in_progress"}, {"hold": True, "then": [end, late]}]
    )
    handle = Agent("acp:fake", approve="auto").start("Go.")
    async for event in handle:
        if isinstance(event, events.ToolRunning) and event.call_id == "c1":
            handle.stop()
    run = await handle
    assert run.reason == "stopped"
    assert [event.code for event in run.events.of(events.ToolFinished)] == [None, "FAILED", "STOPPED"]
    assert fake.noted("outcome") == [{"outcome": "cancelled"}]


async def test_stop_answers_an_open_question(fake):
    fake.plays(PAGE)
    handle = Agent("acp:fake").start("Go.")
    asking = asyncio.Event()

    async def ask(request):
        asking.set()
        await asyncio.Event().wait()

    handle.approve_with(ask)
    await asking.wait()
    handle.stop()
    run = await handle
    assert run.reason == "stopped"
    assert fake.noted("outcome") == [{"outcome": "cancelled"}]
    [resolved] = run.events.of(events.ApprovalResolved)
    assert (resolved.approved, resolved.by) == (False, "stopped")


async def test_the_limit_of_seconds_holds_for_an_agent_that_ignores_cancel(fake, monkeypatch):
    monkeypatch.setattr("agent_nb.acp.turns.CANCEL_LIMIT", 0.2)
    fake.plays([{"say": "Wait"}, {"hold": True}], ignores_cancel=True)
    run = await Agent("acp:fake", limits=Limits(seconds=1)).run("Go.")
    assert run.reason == "max_seconds"


async def test_variants_have_folders_of_their_own(fake):
    fake.plays([{"environment": []}, {"edit": "index.html", "text": "<p>"}, {"say": "Done."}])
    models = ["acp:fake", agent_nb.model("demo:", pace=0), "acp:fake"]
    run = await Agent("acp:fake", approve="auto").start_variants("Go.", models=models)
    assert [variant.model for variant in run.variants] == ["acp:fake", "demo:", "acp:fake"]
    assert len(set(fake.noted("folder"))) == 2


async def test_a_saved_run_and_a_cassette_need_no_agent(fake, tmp_path):
    fake.plays(PAGE)
    recorded = await Agent("acp:fake", approve="auto").recording(tmp_path / "c.run.jsonl").run("Make a page.")
    recorded.save(tmp_path / "saved.run.jsonl")
    known.set_own({})
    played = await Agent(replay(tmp_path / "c.run.jsonl")).run("Make a page.")
    for run in (load(tmp_path / "saved.run.jsonl"), played):
        assert dict(run.files) == dict(recorded.files)
        assert types(run) == types(recorded)
        assert run.text == "Done."


async def test_the_environment_has_no_keys_of_other_vendors(fake, monkeypatch):
    for name in ("GEMINI_API_KEY", "OPENAI_API_KEY", "OTHER"):
        monkeypatch.setenv(name, f"value-of-{name}")
    script = [{"environment": ["GEMINI_API_KEY", "OPENAI_API_KEY", "OTHER", "GEMINI_CLI_TRUST_WORKSPACE"]}]
    fake.plays(script, agent="gemini")
    await Agent("acp:gemini").run("Go.")
    [seen] = fake.noted("environment")
    assert seen == {
        "GEMINI_API_KEY": "value-of-GEMINI_API_KEY",
        "OPENAI_API_KEY": None,
        "OTHER": "value-of-OTHER",
        "GEMINI_CLI_TRUST_WORKSPACE": None,
    }


@pytest.mark.parametrize("name", ["claude", "gemini", "codex"])
def test_an_agent_gets_no_keys_of_other_agents(monkeypatch, name):
    owners = {"CLAUDE_CODE_OAUTH_TOKEN": "claude", "CODEX_API_KEY": "codex", "GEMINI_API_KEY": "gemini"}
    for key in owners:
        monkeypatch.setenv(key, f"value-of-{key}")
    environment = known.find(name).environment(with_tools=True)
    assert [owner for key, owner in owners.items() if key in environment] == [name]


async def test_an_agent_without_the_mode_that_asks_is_not_prompted(fake):
    new = {"sessionId": "s1", "modes": {"availableModes": [{"id": "yolo"}]}}
    fake.plays([{"say": "Free!"}], agent="gemini", new=new)
    run = await Agent("acp:gemini").run("Go.")
    assert run.reason == "failed"
    assert "Gemini CLI has no mode 'default', in which it asks before it acts." in run.error
    assert fake.received("session/prompt") == []


@pytest.mark.parametrize(("approve", "mode"), [("ask", "read-only"), ("auto", "agent")])
async def test_codex_is_put_in_the_mode_that_asks(fake, approve, mode):
    modes = {"availableModes": [{"id": "read-only"}, {"id": "agent"}], "currentModeId": "other"}
    update = {"update": "usage_update", "used": 5, "size": 9}
    fake.plays([update, {"say": "Done."}], agent="codex", new={"sessionId": "s1", "modes": modes})
    run = await Agent("acp:codex", approve=approve).run("Go.")
    assert run.reason == "end_turn"
    assert fake.received("session/set_mode") == [{"sessionId": "s1", "modeId": mode}]


async def test_effort_is_a_config_option(fake):
    option = {"id": "effort", "category": "thought_level", "options": [{"value": "low"}, {"value": "high"}]}
    for effort, error in (("high", None), ("max", "fake has no effort 'max'. It has low, high.")):
        fake.plays([{"say": "Done."}], new={"sessionId": "s1", "configOptions": [option]})
        run = await Agent(agent_nb.model("acp:fake", effort=effort)).run("Go.")
        assert run.error == error
    fake.plays([{"say": "Done."}])
    run = await Agent(agent_nb.model("acp:fake", effort="high")).run("Go.")
    assert run.error == "fake has no effort 'high'."


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda: Agent("acp:fake", limits=Limits(steps=3)), "cannot be enforced"),
        (lambda: Agent("acp:fake", limits=Limits(usd=1)), "no budget can be enforced"),
        (lambda: Agent("acp:fake").with_data("schema"), "reads files on this machine on its own"),
        (lambda: Agent("acp:fake", answer="slope: float"), "a type of the answer .* cannot be enforced"),
    ],
)
async def test_what_an_agent_cannot_keep_is_refused(fake, change, why):
    fake.plays([])
    with pytest.raises(ConfigError, match=why):
        change().prepare("Go.")


def test_gemini_has_no_effort(fake):
    fake.plays([], agent="gemini")
    with pytest.raises(ConfigError, match="does not support `effort`"):
        Agent(agent_nb.model("acp:gemini", effort="high")).prepare("Go.")


def test_an_agent_that_is_not_there_names_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InstallError, match="npm install -g @google/gemini-cli"):
        Agent("acp:gemini").prepare("Go.")
    with pytest.raises(UnknownModelError, match=r"no outside agent .*Name one of `acp:claude`"):
        Agent("acp:nobody")
    with pytest.raises(ConfigError, match="Name one of `acp:claude`"):
        Agent("acp:")


async def test_our_tools_reach_the_agent_and_ask_with_our_card(fake):
    @agent_nb.tool(approval="ask")
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    steps = [{"say": "I ask."}, {"tool": "add", "args": {"a": 40, "b": 2}}, {"say": "It is 42."}]
    fake.plays(steps, agent="gemini")
    asked = []
    agent = Agent(
        "acp:gemini", tools=[add], approve=lambda call, args: asked.append((call.name, args)) or True
    )
    run = await agent.run("How much?")
    assert asked == [("add", {"a": 40, "b": 2})]
    assert fake.noted("outcome") == [{"outcome": "selected", "optionId": "this-time"}]
    [answer] = fake.noted("tool")
    assert answer["result"] == {"content": [{"type": "text", "text": "Result: 42"}], "isError": False}
    assert [(use.call.name, use.ok) for use in run.tool_uses] == [("add", True)]
    assert [event.name for event in run.events.of(events.ToolStarted)] == ["gemini_start", "add"]


async def test_a_tool_of_ours_sees_and_writes_the_files_of_the_folder(fake):
    @agent_nb.tool
    def upper(context: agent_nb.tools.ToolContext) -> str:
        """Makes a second file."""
        text = context.files.files["a.txt"]
        context.files.write("b.txt", str(text).upper(), context.call_id)
        return "done"

    before, after = {"disk": "a.txt", "text": "abc"}, {"disk": "c.txt", "text": "x"}
    fake.plays([before, {"tool": "upper", "args": {}}, after, {"say": "Ok."}])
    run = await Agent("acp:fake", tools=[upper]).run("Go.")
    assert dict(run.files) == {"a.txt": "abc", "b.txt": "ABC", "c.txt": "x"}


async def test_the_kernel_tools_work_in_the_branch_of_the_run(fake, shell):
    shell.names["rows"] = [1]
    code = "rows.append(2); print(rows, agent_files['a.txt']); to_file('b.txt', 'B')"
    fake.plays(
        [{"disk": "a.txt", "text": "abc"}, {"tool": "run_python", "args": {"code": code}}, {"say": "Ok."}]
    )
    run = await Agent("acp:fake", tools=agent_nb.kernel_tools(), approve="auto", branch=True).run("Go.")
    (text,) = (use.result.text for use in run.tool_uses if use.call.name == "run_python")
    assert "[1, 2] abc" in text
    assert (shell.names["rows"], dict(run.files)) == ([1], {"a.txt": "abc", "b.txt": "B"})


async def test_what_an_agent_writes_while_a_tool_of_ours_runs_stays(fake, cache):
    @agent_nb.tool
    def wait() -> str:
        """Stands for an agent that goes on meanwhile."""
        [folder] = cache.iterdir()
        (folder / "a.txt").write_text("newer")
        return "done"

    fake.plays([{"disk": "a.txt", "text": "old"}, {"tool": "wait", "args": {}}, {"say": "Ok."}])
    run = await Agent("acp:fake", tools=[wait]).run("Go.")
    assert dict(run.files) == {"a.txt": "newer"}


def _add(a: int) -> int:
    """Adds."""
    return a


@pytest.mark.parametrize("tools", [(), (_add,)])
async def test_an_agent_that_takes_no_tools(fake, tools):
    fake.plays([{"say": "Hi."}], initialize={"protocolVersion": 1})
    run = await Agent("acp:fake", tools=[agent_nb.tool(tool) for tool in tools]).run("Go.")
    assert run.error == ("fake accepts no tools from the notebook. Leave out `-t`." if tools else None)


def test_agents_are_refused_where_they_cannot_be_started(fake, monkeypatch):
    fake.plays([])
    monkeypatch.setattr("agent_nb.acp.known.IN_BROWSER", True)
    with pytest.raises(ConfigError, match="runs only on macOS and Linux"):
        Agent("acp:fake").prepare("Go.")
