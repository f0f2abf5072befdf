"""Middleware: objects whose methods see and change requests, tool calls and events."""

import asyncio
from dataclasses import replace

import pytest

from agent_nb import Agent, AgentError, ConfigError, tool
from agent_nb.core.events import RunFinished
from agent_nb.core.messages import Message, Text, ToolCall, ToolResult, assistant
from agent_nb.engine.middleware import ModelRequest
from agent_nb.providers.scripted import ScriptedProvider, call, text
from tests.support.cassettes import PROMPT, facts, play
from tests.support.scripts import write


@tool
def greet(who: str) -> str:
    """Greets."""
    return f"Hello, {who}"


class Everything:
    """Writes down what it sees, under a name."""

    def __init__(self, name: str, seen: list) -> None:
        self.name, self.seen = name, seen

    def on_request(self, request: ModelRequest) -> None:
        self.seen.append((self.name, "on_request", len(request.messages)))

    async def before_tool(self, asked: ToolCall) -> ToolCall:
        self.seen.append((self.name, "before_tool", asked.arguments))
        return replace(asked, arguments=asked.arguments.replace("Ada", "Bob"))

    def after_tool(self, asked: ToolCall, result: ToolResult) -> ToolResult:
        self.seen.append((self.name, "after_tool", result.text))
        return replace(result, text=f"{result.text}, says {self.name}")

    async def on_event(self, event) -> None:
        await asyncio.sleep(0)
        if isinstance(event, RunFinished):
            self.seen.append((self.name, "on_event", event.reason))


async def test_all_four_run_in_the_order_of_the_list():
    seen: list = []
    turns = [[call("greet", {"who": "Ada"})], [text("Done.")]]
    with ScriptedProvider(turns) as provider:
        agent = Agent(provider, tools=[greet], middleware=[Everything("a", seen), Everything("b", seen)])
        agent.before_tool(lambda asked: seen.append(("function", "before_tool", asked.arguments)))
        run = await agent.run("go")
    assert seen == [
        ("a", "on_request", 1),
        ("b", "on_request", 1),
        ("a", "before_tool", '{"who": "Ada"}'),
        ("b", "before_tool", '{"who": "Bob"}'),
        ("function", "before_tool", '{"who": "Bob"}'),
        ("a", "after_tool", "Hello, Bob"),
        ("b", "after_tool", "Hello, Bob, says a"),
        ("a", "on_request", 3),
        ("b", "on_request", 3),
        ("a", "on_event", "end_turn"),
        ("b", "on_event", "end_turn"),
    ], "the run waits for an async on_event"
    assert run.tool_uses[0].result.text == "Hello, Bob, says a, says b"


class Redaction:
    def on_request(self, request: ModelRequest) -> ModelRequest:
        return request.with_texts(lambda text: text.replace("Ada", "X1"))


async def test_what_is_sent_can_be_changed_and_the_run_stays_as_it_is():
    turns = [[text("Hm, Ada?"), call("greet", {"who": "Ada"})], [text("Done.")]]
    with ScriptedProvider(turns) as provider:
        agent = Agent(provider, tools=[greet], system="For Ada.", middleware=[Redaction()])
        run = await agent.run("Greet Ada")
    first, second = provider.requests
    assert "Ada" not in f"{first.system} {first.messages} {second.messages}"
    assert "For X1." in first.system
    assert [part.text for part in second.messages[2].parts] == ["Hello, X1"]
    assert [call.arguments for call in second.messages[1].tool_calls] == ['{"who": "X1"}']
    assert run.prompt == "Greet Ada"
    assert "Greet Ada" in run.messages[0].text
    assert run.tool_uses[0].result.text == "Hello, Ada"
    assert run.request(2)["messages"][-1]["parts"][0]["text"] == "Hello, Ada"


def test_vendor_data_goes_with_the_texts_that_it_repeats():
    kept = replace(assistant("Bob"), vendor={"anthropic": [1]})
    changed = replace(assistant("Ada"), vendor={"anthropic": [2]})
    broken = assistant(ToolCall("c", "greet", '{"who": "Ada'))
    request = ModelRequest(system="", messages=(kept, changed, broken), tools=(), model="m", settings={})
    one, two, three = Redaction().on_request(request).messages
    assert one is kept
    assert (two.text, two.vendor) == ("X1", {})
    assert three.tool_calls[0].arguments == '{"who": "X1'


def fails(request: ModelRequest) -> None:
    raise ZeroDivisionError("by zero")


def refuses(request: ModelRequest) -> None:
    raise AgentError("No more requests today.")


def leaves(request: ModelRequest) -> None:
    raise SystemExit(1)


def interrupts(request: ModelRequest) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("hook", "reason", "error"),
    [
        (fails, "failed", "`fails` failed: ZeroDivisionError: by zero"),
        (refuses, "failed", "No more requests today."),
        (leaves, "failed", "`leaves` tried to exit with 1."),
        (interrupts, "interrupted", None),
        (lambda request: "yes", "failed", "returned a str, not a request or None, so nothing was sent."),
        (lambda request: replace(request, system=None), "failed", "whose `system` is not text"),
        (
            lambda request: replace(request, messages=["hi"]),
            "failed",
            "whose `messages` are not of type Message",
        ),
    ],
)
async def test_a_request_that_cannot_be_made_ends_the_run_and_is_not_sent(hook, reason, error):
    provider = ScriptedProvider([[text("Never.")]])
    holder = type("Holder", (), {"on_request": staticmethod(hook)})()
    run = await Agent(provider, middleware=[holder]).run("go")
    assert run.reason == reason
    assert provider.requests == []
    assert run.error is None if error is None else error in run.error


async def test_a_replay_runs_no_middleware_and_the_cassette_is_for_the_request_as_written(tmp_path):
    seen: list = []
    path = tmp_path / "tape.jsonl"
    agent = Agent(
        ScriptedProvider([[write()], [text("Done.")]]), middleware=[Redaction(), Everything("a", seen)]
    )
    run = await agent.recording(path).run(PROMPT)
    assert seen
    seen.clear()
    again = await play(path, middleware=[Redaction(), Everything("a", seen)])
    assert seen == []
    assert facts(again) == facts(run)
    assert (await play(path)).html == run.html


@pytest.mark.parametrize(
    ("middleware", "message"),
    [
        ([Redaction], r"write `Redaction\(\)`, not `Redaction`"),
        (
            [3],
            "Middleware has one of the methods on_request, before_tool, after_tool, on_event; a int has none.",
        ),
        (Redaction(), "`middleware` is a list of objects."),
    ],
)
def test_what_is_no_middleware_is_refused(middleware, message):
    with pytest.raises(ConfigError, match=message):
        Agent(ScriptedProvider([]), middleware=middleware)


async def test_a_failing_async_on_event_does_not_end_the_run(caplog):
    class Breaks:
        async def on_event(self, event) -> None:
            raise SystemExit

    run = await Agent(ScriptedProvider([[text("Done.")]]), middleware=[Breaks()]).run("go")
    assert run.reason == "end_turn"
    assert "on_event failed; the run continues" in caplog.text


async def test_tools_and_messages_can_be_left_out():
    class Short:
        def on_request(self, request: ModelRequest) -> ModelRequest:
            note = Message(role="user", parts=(Text("Be brief."),))
            return replace(request, tools=request.tools[:1], messages=[*request.messages, note])

    with ScriptedProvider([[text("Done.")]]) as provider:
        await Agent(provider, middleware=[Short()]).run("go")
    (sent,) = provider.requests
    assert (len(sent.tools), sent.messages[-1].text) == (1, "Be brief.")
