"""The loop turn by turn: any arguments in any fragments, its limits, and when a failed turn is tried again."""

import asyncio
import contextlib
import itertools
import json
import logging
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb import Agent, Limits
from agent_nb._base.wire import from_wire, to_wire
from agent_nb.core.errors import ConfigError, ProviderError, RateLimitError
from agent_nb.core.events import (
    Event,
    FileChanged,
    FileDelta,
    RunFinished,
    RunStarted,
    TextDelta,
    ThinkingDelta,
    ToolArgsDelta,
    ToolFinished,
    ToolReady,
    ToolRunning,
    ToolStarted,
    UsageUpdated,
)
from agent_nb.core.messages import ToolCall, ToolResult, Usage
from agent_nb.engine.turns import LIMIT_SECONDS, RETRIES, Retries
from agent_nb.providers.base import RealClock, VirtualClock
from agent_nb.providers.scripted import ScriptedProvider, call, fail, stall, text, think, usage, wait
from tests.support.scripts import PAGE, of, run_script, write

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=40)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
arguments = st.one_of(
    anything.map(json.dumps),
    st.text(max_size=60),
    st.fixed_dictionaries(
        {"path": st.sampled_from(["a.txt", "../x", ""]), "content": st.text(max_size=200)}
    ).map(json.dumps),
    st.fixed_dictionaries(
        {"content": st.text(max_size=200), "path": st.just("b.html"), "more": anything}
    ).map(lambda value: json.dumps(value, ensure_ascii=False)),
)


CUT = ProviderError("cut", retryable=True)


async def test_a_run_leaves_files_text_and_events():
    run = await run_script([think("Bread."), write()], [text("Done."), usage(input=10, output=5)])
    assert run.files["index.html"] == run.html == PAGE
    assert (run.text, run.thinking, run.reason) == ("Done.", "Bread.", "end_turn")
    assert isinstance(run.events[0], RunStarted)
    assert [event for event in run.events if isinstance(event, RunFinished)] == [run.events[-1]]
    assert run.usage == Usage(input=10, output=5)


async def test_the_tool_starts_before_its_arguments_arrive():
    """screenshot-to-code: an early start of the tool, then code while it is written, then the result."""
    run = await run_script([write(fragment=4)], [text("Done.")])
    order = [
        type(event)
        for event in of(run, ToolStarted, FileDelta, ToolReady, ToolRunning, FileChanged, ToolFinished)
    ]
    deltas = order.count(FileDelta)
    assert order == [ToolStarted, *[FileDelta] * deltas, ToolReady, ToolRunning, FileChanged, ToolFinished]
    assert deltas > 3
    assert "".join(event.text for event in of(run, FileDelta)) == PAGE
    assert PAGE not in "".join(event.text for event in of(run, ToolArgsDelta)), "it is sent once"


@pytest.mark.parametrize("pace", [0, 0.1])
async def test_fragments_are_joined_by_the_clock_of_the_run(pace):
    thoughts = [think("B"), think("re"), wait(0.03), think("ad"), wait(0.5), think("."), think("!")]
    script = [[*thoughts, text("So"), text(": "), wait(0.02), write()], [text("Do"), text("ne"), text(".")]]
    with ScriptedProvider(script, clock=VirtualClock(pace)) as provider:
        run = await Agent(provider).run("A page")
    assert [(event.text, event.at) for event in of(run, ThinkingDelta)] == [
        ("B", 0.0),
        ("read", 0.0),
        (".", 0.53),
        ("!", 0.53),
    ]
    assert [event.text for event in of(run, TextDelta)] == ["So", ": ", "Do", "ne."]
    assert [event.seq for event in run.events] == [*range(1, len(run.events) + 1)]


@pytest.mark.parametrize("ending", [stall(), fail(ProviderError("gone"))])
async def test_joined_fragments_arrive_without_a_next_one_and_survive_the_end(ending):
    parts = [text(word) for word in ("Bread ", "and ", "but", "ter")]
    with ScriptedProvider([[*parts, ending]], clock=RealClock()) as provider:
        handle = Agent(provider).start("A page")
        handle.subscribe(lambda event: handle.stop() if getattr(event, "text", "") == "and butter" else None)
        run = await handle
    assert [event.text for event in of(run, TextDelta)] == ["Bread ", "and butter"]
    assert run.text == "Bread and butter"


async def test_calls_are_gathered_by_their_own_index():
    """The tutorial loop: fragments of several calls are kept apart and run in call order."""
    run = await run_script(
        [write("a.txt", "A" * 30, fragment=5), write("b.txt", "B" * 30, fragment=5)], [text("ok")]
    )
    assert dict(run.files) == {"a.txt": "A" * 30, "b.txt": "B" * 30}
    results = [part for message in run.messages for part in message.parts if isinstance(part, ToolResult)]
    calls = [part for message in run.messages for part in message.parts if isinstance(part, ToolCall)]
    assert [result.call_id for result in results] == [one.id for one in calls]


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (call("make_file", {"path": "x"}), "UNKNOWN_TOOL"),
        (call("create_file", '{"path": "x", '), "INVALID_JSON"),
        (call("create_file", {"path": "x"}), "SCHEMA"),
        (call("create_file", {"path": "../x", "content": ""}), "FAILED"),
    ],
    ids=["unknown", "not-json", "schema", "unsafe-path"],
)
async def test_a_bad_call_is_told_to_the_model(bad, code):
    """Assista X: unknown tools and failed validation become error results, and the loop goes on."""
    run = await run_script([bad], [text("I see.")])
    (use,) = run.tool_uses
    assert run.reason == "end_turn"
    assert use.result is not None
    assert use.result.code == code
    assert json.loads(use.result.text)["code"] == code
    assert not of(run, ToolFinished)[0].ok


async def test_usage_is_estimated_while_a_long_turn_streams():
    run = await run_script([text("word " * 2_000, fragment=50), usage(input=7, output=2_500)])
    estimates = [event for event in of(run, UsageUpdated) if event.estimated]
    assert len(estimates) == 5
    assert run.usage == Usage(input=7, output=2_500)


async def test_each_turn_is_logged_once(caplog):
    with caplog.at_level(logging.INFO, logger="agent_nb"):
        await run_script([write()], [text("ok")])
    assert len([record for record in caplog.records if record.levelno == logging.INFO]) == 2


@given(
    st.lists(st.tuples(arguments, st.integers(1, 9)), min_size=1, max_size=3),
    st.sampled_from(["create_file", "edit_file", "nope"]),
)
def test_any_arguments_in_any_fragments_end_well(calls, name):
    async def scenario():
        turn = [call(name, raw, fragment=size) for raw, size in calls]
        return await run_script(turn, [text("ok")], prompt="go")

    run = asyncio.run(scenario())
    assert run.reason == "end_turn"
    assert [event.seq for event in run.events] == list(range(1, len(run.events) + 1))
    assert isinstance(run.events[-1], RunFinished)
    if name != "create_file":
        shown = "".join(event.text for event in run.events if isinstance(event, ToolArgsDelta))
        assert shown == "".join(raw for raw, _ in calls)
    started = [event.call_id for event in run.events if isinstance(event, ToolStarted)]
    for call_id, use in zip(started, run.tool_uses, strict=True):
        if use.ok and name == "create_file":
            streamed = ""
            for event in run.events:
                if isinstance(event, FileDelta) and event.call_id == call_id:
                    streamed = streamed[: event.offset] + event.text
            assert streamed == json.loads(use.call.arguments)["content"]
    for event in run.events:
        assert from_wire(Event, to_wire(event)) == event


@pytest.mark.parametrize(
    "limits",
    [
        {"steps": 0},
        {"steps": 2.5},
        {"steps": True},
        {"steps": "many"},
        {"seconds": -1},
        {"seconds": math.nan},
        {"usd": 0},
    ],
    ids=str,
)
def test_a_limit_is_a_number_above_zero(limits):
    (name,) = limits
    with pytest.raises(ConfigError, match=f"The limit '{name}' must be .* above 0, not "):
        Limits(**limits)


def test_limits_may_be_left_open():
    assert Limits(seconds=0.5, usd=1) == Limits(steps=20, seconds=0.5, usd=1.0)
    assert (Limits().seconds, Limits().usd) == (None, None)


async def test_a_run_tells_its_settings():
    run = await run_script([text("ok")], prompt="go", tools=[], limits=Limits(steps=3), approve="deny")
    settings = {name: run.settings[name] for name in ("steps", "seconds", "usd", "tools", "approve")}
    assert settings == {"steps": 3, "seconds": None, "usd": None, "tools": [], "approve": "deny"}


def limit(asked: float | None = None) -> RateLimitError:
    return RateLimitError("slow down", retryable=True, retry_after=asked)


def waits_until_it_ends(retries: Retries, error: ProviderError) -> list[float]:
    waits: list[float] = []
    with contextlib.suppress(ProviderError):
        while len(waits) < 1000:
            waits.append(retries.wait_after(error))
    assert len(waits) < 1000
    return waits


def test_waits_grow_and_end():
    waits = waits_until_it_ends(Retries(), CUT)
    assert len(waits) == RETRIES
    assert all(later > earlier for earlier, later in itertools.pairwise(waits))
    with pytest.raises(ProviderError, match="final"):
        Retries().wait_after(ProviderError("final"))


@pytest.mark.parametrize("kind", [ProviderError, RateLimitError])
def test_a_wait_the_vendor_asks_for_is_kept_with_jitter(kind):
    waits = {Retries().wait_after(kind("slow", retryable=True, retry_after=8)) for _ in range(20)}
    assert min(waits) >= 8
    assert max(waits) <= 10
    assert len(waits) > 1


@pytest.mark.parametrize("asked", [None, 0, 1, 26])
def test_rate_limits_are_waited_for_two_minutes_in_all(asked):
    retries = Retries()
    waits = waits_until_it_ends(retries, limit(asked))
    assert LIMIT_SECONDS - (asked or 0.01) <= sum(waits) <= LIMIT_SECONDS + 0.01
    retries.begin_turn()
    with pytest.raises(ProviderError, match="slow down"):
        retries.wait_after(limit(LIMIT_SECONDS))


def test_rate_limits_and_faults_are_counted_apart():
    retries = Retries()
    for _ in range(RETRIES + 2):
        retries.wait_after(limit(1))
    assert len(waits_until_it_ends(retries, CUT)) == RETRIES
    assert retries.wait_after(limit(1)) >= 1


def test_each_turn_has_its_own_faults():
    retries = Retries()
    waits_until_it_ends(retries, CUT)
    retries.begin_turn()
    assert len(waits_until_it_ends(retries, CUT)) == RETRIES


def test_a_rate_limit_is_not_waited_for_past_the_end_of_the_run():
    with pytest.raises(ProviderError, match="asks to wait 30 s, and this run can wait 20 s more"):
        Retries().wait_after(limit(30), left=20)
    assert Retries().wait_after(limit(19.9), left=20) <= 20
