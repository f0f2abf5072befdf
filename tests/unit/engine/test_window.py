"""Runs whose conversation does not fit the model are compacted, and go on."""

import itertools
import json
from dataclasses import replace

import pytest

from agent_nb import Agent, load
from agent_nb._base.wire import to_wire
from agent_nb.core.errors import ProviderError
from agent_nb.core.events import ConversationCompacted, TurnFinished, TurnRetrying
from agent_nb.core.messages import ToolResult, Usage, user
from agent_nb.engine.compaction import room_in
from agent_nb.engine.cost import estimate_tokens
from agent_nb.prompts import prompt_text
from agent_nb.providers.base import Request
from agent_nb.providers.scripted import ScriptedProvider, call, fail, stop, text, think, usage
from agent_nb.run import Run
from tests.support.scripts import of, write

NOTE = "(content of index.html, version"


def page(number: int, size: int = 40_000) -> str:
    line = f"<p>Loaf {number}</p>\n"
    return "<!doctype html>\n" + line * (size // len(line))


def tokens(request: Request) -> int:
    return estimate_tokens(request.messages, request.system, request.tools)


class SmallModel(ScriptedProvider):
    """Refuses what its window cannot hold, and counts the tokens of the rest."""

    holds = 60_000

    def stream(self, request):
        if tokens(request) > self.holds:
            raise ProviderError("The request is too long.", too_long=True)
        self._turns[len(self.requests)] += (Usage(input=tokens(request), output=50),)
        return super().stream(request)


async def made(*pages: int, window: int | None = None, base: Run | None = None) -> Run:
    """A run that writes a page for each number, one per turn."""
    turns = [[think("Hm."), write(content=page(number))] for number in pages]
    with ScriptedProvider([*turns, [text("Done.")]], window=window) as provider:
        return await Agent(provider).run("A page", base=base)


async def test_a_conversation_goes_on_40_times_over_a_page_of_40_kb():
    run: Run | None = None
    sent: list[tuple[Request, bool]] = []
    for number in range(1, 41):
        turns = [[write(content=page(number))], [text(f"Done {number}.")]]
        with SmallModel(turns, window=SmallModel.holds) as provider:
            run = await Agent(provider).run(f"Loaf {number}, please", base=run)
        assert (run.reason, run.error) == ("end_turn", None)
        assert not of(run, TurnRetrying)
        sent += zip(provider.requests, compactions_by_turn(run), strict=True)
    assert run is not None
    assert run.html == page(40)
    assert run.files.version("index.html") == 40
    assert max(tokens(request) for request, _ in sent) <= (room_in(SmallModel.holds) or 0)
    assert 5 < sum(compacted for _, compacted in sent) < 20
    for (before, _), (after, compacted) in itertools.pairwise(sent):
        assert bytes_of(before) == bytes_of(after)[: len(bytes_of(before))] or compacted
    assert "Loaf 1, please" in run.messages[0].text
    assert sum(message.requests for message in run.messages if message.role == "user") == 40


def compactions_by_turn(run: Run) -> list[bool]:
    """Whether the conversation was compacted in each turn."""
    turns = [False]
    for event in run.events:
        if isinstance(event, ConversationCompacted):
            turns[-1] = True
        elif isinstance(event, TurnFinished):
            turns.append(False)
    return turns[:-1]


def bytes_of(request: Request) -> str:
    """What a cache sees: system text, tools and messages in order."""
    head = [request.system, to_wire(request.tools)]
    return json.dumps(head) + "".join(json.dumps(to_wire(message)) for message in request.messages)


async def test_a_conversation_that_would_not_fit_is_compacted_before_it_is_sent():
    base = await made(1)
    with ScriptedProvider([[text("Blue.")]], window=10_000) as provider:
        run = await Agent(provider).run("Now in blue", base=base)
    [event] = of(run, ConversationCompacted)
    assert (event.why, event.limit, event.rewritten, event.summarized) == ("full", 6_667, 1, 0)
    assert event.after < 3_000
    assert event.before > 10_000
    [request] = provider.requests
    assert (
        request.messages[1].tool_calls[0].arguments.count(f"{NOTE} 1, left out; read it with read_file)") == 1
    )
    assert run.messages[:-1] == request.messages
    assert run.messages[run.history] == user("Now in blue")
    assert run.own_messages == run.messages[run.history :]


async def test_a_conversation_that_fits_is_sent_as_it_is():
    base = await made(1)
    with ScriptedProvider([[text("Blue.")]], window=100_000) as provider:
        run = await Agent(provider).run("Now in blue", base=base)
    assert not of(run, ConversationCompacted)
    assert provider.requests[0].messages[:-1] == base.messages


async def test_the_vendors_count_tells_how_many_tokens_a_conversation_really_has():
    """Code has more tokens than the estimate says; the count of the base run is known before the first turn."""
    base = await made(1)
    last = base.events.index(of(base, TurnFinished)[-1])
    counted = replace(base.events[last], usage=Usage(input=40_000))
    base = replace(base, events=(*base.events[:last], counted, *base.events[last + 1 :]))
    with ScriptedProvider([[text("Blue.")]], window=50_000) as provider:
        run = await Agent(provider).run("Now in blue", base=base)
    [event] = of(run, ConversationCompacted)
    assert 39_000 < event.before < 43_000


async def test_the_model_reads_the_file_again():
    base = await made(1)
    turns = [[call("read_file", {"path": "index.html"})], [text("I see.")]]
    with ScriptedProvider(turns, window=40_000) as provider:
        run = await Agent(provider).compacting().run("What does it say?", base=base)
    result = provider.requests[1].messages[-1].parts[0]
    assert isinstance(result, ToolResult)
    assert (result.text, result.versions) == (page(1), {"index.html": 1})
    assert len(of(run, ConversationCompacted)) == 1


async def test_a_long_run_is_compacted_between_its_turns():
    run = await made(1, 2, 3, window=30_000)
    assert (run.reason, run.html) == ("end_turn", page(3))
    assert prompt_text("go_on") in [message.text for message in run.messages]
    assert NOTE in run.messages[1].tool_calls[0].arguments
    # What the person gets of the run is what the model wrote.
    assert [json.loads(use.call.arguments)["content"] for use in run.tool_uses] == [page(1), page(2), page(3)]
    assert run.thinking == "Hm.\n\nHm.\n\nHm."
    for event in of(run, ConversationCompacted):
        assert event.before > (event.limit or 0) >= event.after


async def test_each_turn_of_a_compacted_run_tells_what_it_sent(tmp_path):
    turns = [*([write(content=page(number))] for number in (1, 2, 3)), [text("Done.")]]
    with ScriptedProvider(turns, window=30_000) as provider:
        run = await Agent(provider).run("A page", base=await made(0))
    assert len(of(run, ConversationCompacted)) > 1
    again = load(run.save(tmp_path / "hero.run.json"))
    assert again == run
    for step, (request, compacted) in enumerate(
        zip(provider.requests, compactions_by_turn(run), strict=True), start=1
    ):
        told = again.request(step)
        assert [message["role"] for message in told["messages"]] == [each.role for each in request.messages]
        assert arguments_in(told) == [one.arguments for each in request.messages for one in each.tool_calls]
        assert ("compacted" in told) == compacted


def arguments_in(request: dict) -> list[str]:
    return [
        part["arguments"] for each in request["messages"] for part in each["parts"] if "arguments" in part
    ]


async def test_a_refused_request_is_compacted_and_sent_again_once():
    refusal = ProviderError("Too long for it.", too_long=True)
    with ScriptedProvider([[text("Half"), fail(refusal)], [text("Blue.")]]) as provider:
        run = await Agent(provider).run("Now in blue", base=await made(1))
    assert (run.reason, run.text) == ("end_turn", "Blue.")
    assert [type(event) for event in of(run, TurnRetrying, ConversationCompacted)] == [
        TurnRetrying,
        ConversationCompacted,
    ]
    [event] = of(run, ConversationCompacted)
    assert (event.why, event.limit) == ("refused", event.before)
    assert NOTE in provider.requests[1].messages[1].tool_calls[0].arguments


async def test_a_second_refusal_ends_the_run_and_names_the_remedy():
    refusal = ProviderError("Too long for it. Start a new conversation.", too_long=True)
    with ScriptedProvider([[fail(refusal)], [fail(refusal)]]) as provider:
        run = await Agent(provider).run("Now in blue", base=await made(1))
    assert run.reason == "failed"
    assert run.error == (
        "Too long for it. Start a new conversation. Earlier parts of it have been left out already."
    )
    assert NOTE in run.messages[1].tool_calls[0].arguments


async def test_a_refused_prompt_with_nothing_before_it_ends_the_run():
    with ScriptedProvider([[fail(ProviderError("Too long for it.", too_long=True))]]) as provider:
        run = await Agent(provider).run("word " * 9_000)
    assert (run.reason, run.error) == ("failed", "Too long for it.")


async def test_the_vendor_may_say_how_much_its_window_holds():
    base = await made(1)
    for number in range(2, 9):
        base = await made(number, base=base)
    refusal = ProviderError("Too long.", too_long=True, window=3_000)
    with ScriptedProvider([[fail(refusal)], [text("Blue.")]]) as provider:
        run = await Agent(provider).run("Now in blue", base=base)
    [event] = of(run, ConversationCompacted)
    assert event.limit == 2_000
    assert event.summarized > 0
    assert tokens(provider.requests[1]) < 2_000
    assert run.messages[run.history] == user("Now in blue")


async def test_a_person_may_ask_for_it():
    base = await made(1)
    with ScriptedProvider([[text("Blue.")]]) as provider:
        run = await Agent(provider).compacting().run("Now in blue", base=base)
    [event] = of(run, ConversationCompacted)
    assert (event.why, event.limit) == ("asked", None)
    assert NOTE in provider.requests[0].messages[1].tool_calls[0].arguments
    assert base.messages[1].tool_calls[0].arguments.count(NOTE) == 0


async def test_where_nothing_can_be_left_out_nothing_is_said():
    with ScriptedProvider([[text("Hi.")]]) as provider:
        run = await Agent(provider).compacting().run("Hi")
    assert not of(run, ConversationCompacted)


async def test_an_unfinished_answer_is_continued_before_it_is_compacted():
    turns = [[text("word " * 9_000), stop("go_on")], [text("Done."), usage(input=1)]]
    with ScriptedProvider(turns, window=9_000) as provider:
        run = await Agent(provider).run("Write", base=await made(1, window=None))
    assert provider.requests[1].messages[-1].role == "assistant"
    assert run.reason == "end_turn"


async def test_notes_are_not_taken_for_the_content_of_files():
    base = await made(1)
    with ScriptedProvider([[text("Blue.")]]) as provider:
        run = await Agent(provider).compacting().run("Now in blue", base=base)
    with ScriptedProvider([[text("Go on.")]]) as provider:
        again = await Agent(provider).run("Go on", messages=run.messages)
    assert "index.html" not in again.files


@pytest.mark.parametrize(
    ("window", "room"), [(400_000, 272_000), (1_050_000, 922_000), (30_000, 20_000), (None, None)]
)
def test_room_is_left_for_the_answer(window, room):
    assert room_in(window) == room
