"""Spans of runs: what they are called, what they say, whose children they are."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agent_nb import Agent, tool, tracing
from agent_nb.core.errors import ProviderError
from agent_nb.core.events import ToolRunning
from agent_nb.providers.scripted import ScriptedProvider, call, fail, stall, text, think, usage
from tests.support.scripts import run_script, stop_at
from tests.support.wire import Say, reply
from tests.support.wire.cases import CASES

SECRET = "sk-ant-api03-" + "Zk9x" * 20


class Spans:
    """The spans that have ended."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self._exporter.get_finished_spans() if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        [span] = self.named(name)
        return span

    def of_turns(self) -> list[ReadableSpan]:
        finished = self._exporter.get_finished_spans()
        return [span for span in finished if (span.attributes or {}).get("gen_ai.operation.name") == "chat"]

    def texts(self) -> str:
        return "".join(span.to_json() for span in self._exporter.get_finished_spans())


@pytest.fixture
def spans() -> Iterator[Spans]:
    found = Spans()
    tracing.enable(tracer_provider=found.provider)
    yield found
    tracing.disable()


def is_child(span: ReadableSpan, parent: ReadableSpan) -> bool:
    return span.parent is not None and span.parent.span_id == parent.context.span_id


@tool
def weigh(item: str) -> str:
    """Weighs something."""
    return f"{item}: 3 kg"


async def test_a_run_its_turns_and_its_calls_are_spans_with_usage(spans):
    counted = usage(input=100, output=20, cached_read=60, cached_write=5, reasoning=7)
    turns = [
        [think("Hm."), call("weigh", {"item": "bread"}, id="c1"), counted],
        [text("3 kg."), usage(input=130, output=5)],
    ]
    run = await Agent(ScriptedProvider(turns, name="gemini:gemini-4-argon"), tools=[weigh]).run("How heavy?")
    root, (first, second), called = (
        spans.one("invoke_agent"),
        spans.named("chat gemini-4-argon"),
        spans.one("execute_tool weigh"),
    )
    assert all(is_child(span, root) for span in (first, second, called))
    assert first.end_time <= called.start_time
    assert called.end_time <= second.start_time
    assert first.kind is trace.SpanKind.CLIENT
    assert dict(first.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": "gemini-4-argon",
        "gen_ai.response.model": "gemini-4-argon",
        "gen_ai.response.finish_reasons": ("tool_use",),
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.cache_read.input_tokens": 60,
        "gen_ai.usage.cache_creation.input_tokens": 5,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.reasoning.output_tokens": 7,
        "agent_nb.turn": 1,
        "agent_nb.cost_usd": first.attributes["agent_nb.cost_usd"],
    }
    assert dict(called.attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "weigh",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.type": "function",
    }
    assert root.attributes["gen_ai.usage.input_tokens"] == 230
    assert root.attributes["agent_nb.cost_usd"] == run.cost
    costs = [span.attributes["agent_nb.cost_usd"] for span in (first, second)]
    assert sum(costs) == pytest.approx(run.cost)
    assert root.attributes["agent_nb.reason"] == "end_turn"
    assert root.status.is_ok or root.status.is_unset


async def test_contents_are_recorded_only_if_asked_and_masked(spans):
    turns = [[call("weigh", {"item": SECRET})], [text("Three kilograms.")]]
    await run_script(*turns, tools=[weigh])
    for word in ("bakery", "3 kg", "Three", "sk-ant"):
        assert word not in spans.texts()
    tracing.enable(contents=True, tracer_provider=spans.provider)
    await run_script(*turns, tools=[weigh])
    called, root = spans.named("execute_tool weigh")[-1], spans.named("invoke_agent")[-1]
    assert json.loads(called.attributes["gen_ai.tool.call.arguments"]) == {"item": "•••"}
    assert called.attributes["gen_ai.tool.call.result"] == "•••: 3 kg"
    [question] = json.loads(root.attributes["gen_ai.input.messages"])
    assert question == {"role": "user", "parts": [{"type": "text", "content": "A page for a bakery"}]}
    [answer] = json.loads(spans.named("chat test")[-1].attributes["gen_ai.output.messages"])
    assert answer == {"role": "assistant", "parts": [{"type": "text", "content": "Three kilograms."}]}
    assert root.attributes["gen_ai.output.messages"] == json.dumps([answer])
    sent = json.loads(spans.named("chat test")[-1].attributes["gen_ai.input.messages"])
    assert [message["role"] for message in sent] == ["user", "assistant", "tool"]
    assert sent[0] == question
    assert sent[2]["parts"][0]["response"] == "•••: 3 kg"
    assert SECRET not in spans.texts()


async def test_a_turn_is_one_chat_span_whatever_the_sdk_records(spans, server, monkeypatch):
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", spans.provider)  # where the SDKs look for one
    server.plan(*[reply(Say("Done."))] * len(CASES))
    for case in CASES:
        await Agent(case.provider(server)).run("Go")
    assert len(spans.of_turns()) == len(CASES)


async def test_failures_and_retries_are_recorded(spans):
    cut = fail(ProviderError("The connection was cut.", retryable=True, retry_after=0))
    broken = [[cut], [call("weigh", "{bad")], [fail(ProviderError(f"The key {SECRET} is wrong."))]]
    await run_script(*broken, tools=[weigh])
    first, second = spans.named("chat test")
    assert [event.name for event in first.events] == ["agent_nb.retry"]
    assert first.attributes["gen_ai.response.finish_reasons"] == ("tool_use",)
    assert spans.one("execute_tool weigh").attributes["error.type"] == "INVALID_JSON"
    for span in (second, spans.one("invoke_agent")):
        assert (span.status.status_code, span.attributes["error.type"]) == (trace.StatusCode.ERROR, "failed")
        assert span.status.description == "The key ••• is wrong."


async def test_a_stopped_run_ends_its_spans(spans):
    @tool
    async def forever() -> str:
        """Never ends."""
        await asyncio.Event().wait()
        return ""

    await stop_at(Agent(ScriptedProvider([[call("forever")]]), tools=[forever]).start("go"), ToolRunning)
    assert spans.one("execute_tool forever").attributes["error.type"] == "STOPPED"
    assert spans.one("invoke_agent").attributes["agent_nb.reason"] == "stopped"
    handle = Agent(ScriptedProvider([[text("Hm."), stall()]])).start("go")
    handle.stop()
    await handle


async def test_parents_are_right_for_variants_and_for_spans_of_the_callers_own_code(spans):
    tracer = spans.provider.get_tracer("test")

    @tool
    async def slow(item: str) -> str:
        """Works for a while."""
        with tracer.start_as_current_span(f"inside {item}"):
            await asyncio.sleep(0)
        return item

    @tool
    def threaded(item: str) -> str:
        """Works in a thread."""
        with tracer.start_as_current_span("in a thread"):
            return item

    class Provider(ScriptedProvider):
        async def _play(self, number, request):
            async for piece in super()._play(number, request):
                with tracer.start_as_current_span("http"):
                    yield piece

    turns = [[call("slow", {"item": "a"}), call("slow", {"item": "b"}), call("threaded", {"item": "c"})]]
    agents = [Provider([*turns, [text("ok")]], name=f"scripted:{name}") for name in ("one", "two")]
    with tracer.start_as_current_span("request") as request:
        await Agent(agents[0], tools=[slow, threaded]).start_variants("go", models=agents)
        assert trace.get_current_span() is request
    outer = spans.one("request")
    roots = spans.named("invoke_agent")
    assert [is_child(root, outer) for root in roots] == [True, True]
    assert {root.attributes["agent_nb.variant"] for root in roots} == {0, 1}
    for root in roots:
        called = [span for span in spans.named("execute_tool slow") if is_child(span, root)]
        assert len(called) == 2
        inner = [span for name in ("inside a", "inside b") for span in spans.named(name)]
        assert [sum(is_child(span, parent) for span in inner) for parent in called] == [1, 1]
    [first, second] = spans.named("in a thread")
    parents = spans.named("execute_tool threaded")
    assert {first.parent.span_id, second.parent.span_id} == {span.context.span_id for span in parents}
    chats = {span.context.span_id for name in ("one", "two") for span in spans.named(f"chat {name}")}
    assert {span.parent.span_id for span in spans.named("http")} == chats


def test_nothing_is_imported_and_nothing_recorded_without_enable():
    script = (
        "import asyncio, sys; from agent_nb import Agent; from agent_nb.demo.provider import DemoProvider; "
        "from agent_nb.engine.journal import OBSERVERS; "
        "asyncio.run(Agent(DemoProvider(pace=0)).run('A page')); "
        "print([name for name in sys.modules if name.startswith(('opentelemetry', 'agent_nb.tracing'))], OBSERVERS)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] []"
