"""A conversation that does not fit the model is made shorter without breaking it, and the run goes on."""

import itertools
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb import Agent, load
from agent_nb._base.wire import to_wire
from agent_nb.core.errors import ProviderError
from agent_nb.core.events import ConversationCompacted, TurnFinished, TurnRetrying
from agent_nb.core.messages import (
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    assistant,
    user,
)
from agent_nb.engine.compaction import compact, room_in
from agent_nb.engine.cost import estimate_tokens
from agent_nb.prompts import prompt_text
from agent_nb.providers.base import Request
from agent_nb.providers.scripted import ScriptedProvider, call, fail, stop, text, think, usage
from agent_nb.run import Run
from agent_nb.tools import Toolbox
from agent_nb.tools.base import Tool, ToolOutput
from agent_nb.tools.schema import tool_spec
from tests.support.scripts import called, of, run_script, write

TOOLBOX = Toolbox.default()
PAGE = "<p>bread</p>\n" * 400


NOTE = "(content of index.html, version"


def full(messages) -> float:
    return 2.0


def empty(messages) -> float:
    return 0.0


def asked(number: int, path: str = "index.html", answer: str = "") -> list[Message]:
    """A request and what was done about it."""
    return [
        user(f"Change {number}"),
        *called("create_file", "Replaced it.", {path: number}, path=path, content=PAGE),
        assistant(f"Changed {number} times.{answer}"),
    ]


def args_of(message: Message) -> dict:
    return json.loads(message.tool_calls[0].arguments)


def result_of(message: Message) -> ToolResult:
    [result] = message.parts
    assert isinstance(result, ToolResult)
    return result


def test_a_note_that_names_the_version_replaces_what_was_written():
    messages = [*asked(3), user("Now in blue")]
    compacted = compact(messages, 4, TOOLBOX, empty)
    note = "(content of index.html, version 3, left out; read it with read_file)"
    assert args_of(compacted.messages[1]) == {"path": "index.html", "content": note}
    assert compacted.messages[0] == messages[0]
    assert compacted.messages[3:] == tuple(messages[3:])
    assert (compacted.question, compacted.figures) == (4, {"rewritten": 1, "summarized": 0})


def test_a_note_names_the_tool_that_reads_this_file():
    notes = Tool(
        spec=tool_spec("read_note", "Reads a note.", {}),
        run=lambda args, context: ToolOutput(PAGE),
        title=lambda args: "read",
        reads=lambda args: ("a.txt",),
    )
    toolbox = Toolbox([notes, *Toolbox.default()])
    messages = [*asked(3), user("And"), *called("read_note", PAGE), user("Now in blue")]
    compacted = compact(messages, 7, toolbox, empty).messages
    assert "read it with read_file" in args_of(compacted[1])["content"]
    assert result_of(compacted[6]).text == "(content of a.txt left out; read it with read_note)"


def test_a_note_replaces_what_was_read():
    read = called("read_file", PAGE, {"index.html": 2}, path="index.html")
    compacted = compact([user("Look"), *read, user("Now in blue")], 3, TOOLBOX, empty)
    assert result_of(compacted.messages[2]).text.startswith("(content of index.html, version 2,")
    assert args_of(compacted.messages[1]) == {"path": "index.html"}


def test_several_files_share_a_note():
    wanted = [{"path": "a.css"}, {"path": "b.css"}]
    read = called("read_file", PAGE, {"a.css": 1, "b.css": 4}, files=wanted)
    compacted = compact([user("Look"), *read, user("Go on")], 3, TOOLBOX, empty)
    assert result_of(compacted.messages[2]).text == (
        "(contents of a.css, version 1, and b.css, version 4, left out; read them with read_file)"
    )


def test_an_edit_keeps_what_it_did_and_loses_its_texts_and_its_diff():
    edits = [{"old": "x" * 900, "new": "y"}]
    edit = called(
        "edit_file", f"Edited a.css (+1 -1).\n{'-x' * 900}", {"a.css": 2}, path="a.css", edits=edits
    )
    compacted = compact([user("Change"), *edit, user("Go on")], 3, TOOLBOX, empty)
    [changed] = args_of(compacted.messages[1])["edits"]
    assert changed["new"] == "y"
    assert changed["old"].startswith("(content of a.css, version 2,")
    assert result_of(compacted.messages[2]).text.startswith("Edited a.css (+1 -1).\n(content of a.css,")


def test_without_a_tool_to_read_with_the_note_names_none():
    box = Toolbox(tool for tool in TOOLBOX if not tool.reads)
    compacted = compact([*asked(1), user("Go on")], 4, box, empty)
    assert args_of(compacted.messages[1])["content"] == "(content of index.html, version 1, left out)"


def test_arguments_that_are_no_object_become_one():
    broken = ToolCall("a", "create_file", '{"content": "' + "x" * 900)
    failed = ToolResult(call_id="a", name="create_file", text="Not JSON.", code="INVALID_JSON")
    messages = [user("Go"), assistant(broken), Message(role="tool", parts=(failed,)), user("Go on")]
    compacted = compact(messages, 3, TOOLBOX, empty)
    assert compacted.messages[1].tool_calls[0].arguments == "{}"
    assert result_of(compacted.messages[2]) == failed


def test_results_of_other_tools_and_short_texts_stay():
    short = called("create_file", "Created.", path="a.css", content="a{}")
    other = called("generate_images", "x" * 900, prompts=["y" * 900])
    messages = [*asked(1), *short, *other, user("Go on")]
    compacted = compact(messages, 8, TOOLBOX, empty)
    assert args_of(compacted.messages[4])["content"] == "a{}"
    assert args_of(compacted.messages[6])["prompts"] == ["y" * 900]
    assert result_of(compacted.messages[7]).text == "x" * 900


def test_thinking_and_vendor_data_go_with_it():
    messages = [*asked(1), user("Go on")]
    messages[3] = Message(role="assistant", parts=(Thinking("Hm."), Text("Done.")), vendor={"x": [1]})
    compacted = compact(messages, 4, TOOLBOX, empty)
    assert compacted.messages[3] == assistant("Done.")
    assert not [
        part for message in compacted.messages for part in message.parts if isinstance(part, Thinking)
    ]


@pytest.mark.parametrize(
    ("first", "note"),
    [(asked(1, "a.css"), "(content of a.css, version 1,"), (asked(1, "a.css")[:2], "(content of a.css")],
    ids=["answered", "without a result"],
)
def test_reused_call_ids_are_not_confused(first, note):
    """`asked` uses the same id each time, as some vendors do."""
    messages = [*first, *asked(2, "a.css"), user("Go on")]
    compacted = compact(messages, len(messages) - 1, TOOLBOX, empty)
    notes = [args_of(message)["content"] for message in compacted.messages if message.tool_calls]
    assert [each.partition(" left")[0] for each in notes] == [note, "(content of a.css, version 2,"]


def test_what_this_request_has_written_stays_as_long_as_it_fits():
    messages = [*asked(1), *asked(2)[:3], *called("list_files", "index.html")]
    compacted = compact(messages, 4, TOOLBOX, empty)
    assert args_of(compacted.messages[1])["content"] != PAGE
    assert args_of(compacted.messages[5])["content"] == PAGE
    compacted = compact(messages, 4, TOOLBOX, full)
    assert args_of(compacted.messages[compacted.question + 1])["content"] != PAGE


def test_what_the_model_has_called_last_stays_in_any_case():
    read = called("read_file", PAGE, {"index.html": 1}, path="index.html")
    compacted = compact([*asked(1), user("Go on"), *read], 4, TOOLBOX, full)
    assert result_of(compacted.messages[-2]).text == PAGE
    assert compacted.messages[-1] == user(prompt_text("go_on"), requests=0)


def test_a_summary_has_requests_files_and_last_words():
    messages = [*asked(1), *asked(2), user("Go on")]
    compacted = compact(messages, 8, TOOLBOX, full)
    assert compacted.messages[0].text == (
        "Earlier in this conversation there were 2 requests, shortened here:\n\n"
        "- Request: Change 1\n  Files written: index.html (version 1)\n  Your answer: Changed 1 times.\n\n"
        "- Request: Change 2\n  Files written: index.html (version 2)\n  Your answer: Changed 2 times."
    )
    assert compacted.messages[1:] == (user("Go on"),)
    assert (compacted.question, compacted.figures["summarized"]) == (1, 8)


def test_a_second_summary_continues_the_first():
    first = compact([*asked(1), *asked(2), user("Change 3")], 8, TOOLBOX, full)
    more = [*first.messages, *asked(3)[1:], *asked(4), user("Go on")]
    second = compact(more, len(more) - 1, TOOLBOX, full)
    assert [line for line in second.messages[0].text.splitlines() if "Request" in line] == [
        f"- Request: Change {number}" for number in (1, 2, 3, 4)
    ]
    assert second.messages[0].requests == 4


def test_the_oldest_requests_go_first():
    messages = [*asked(1, answer=" Bread." * 200), *asked(2), user("Go on")]
    compacted = compact(messages, 8, TOOLBOX, lambda shorter: len(shorter) / 8)
    assert "Change 1" in compacted.messages[0].text
    assert compacted.messages[1] == user("Change 2")
    assert compacted.question == 5


def test_a_summary_keeps_the_images_of_the_person():
    image, elements = Image(b"png"), (Text("About the elements", "elements"), Image(b"seen"))
    messages = [user("Like this", image, *elements), *asked(1)[1:], user("Go on")]
    compacted = compact(messages, 4, TOOLBOX, full)
    assert [part for part in compacted.messages[0].parts if isinstance(part, Image)] == [image]


def test_a_short_conversation_stays_as_it_is():
    messages = [user("Hi"), assistant(Thinking("Hm."), "Hello."), user("Go on")]
    messages[1] = Message(role="assistant", parts=(Text("Hello."),), vendor={"x": 1})
    compacted = compact(messages, 2, TOOLBOX, full)
    assert compacted.messages == tuple(messages)
    assert compacted.figures == {}


# Any conversation

texts = st.text(max_size=30) | st.integers(0, 300).map("word ".__mul__)
ids = st.sampled_from(["call_0", "call_1", "b"])
arguments = st.one_of(
    st.builds(lambda path, text: json.dumps({"path": path, "content": text}), st.sampled_from("ab"), texts),
    st.builds(
        lambda path, text: json.dumps({"path": path, "old": text, "new": text}), st.sampled_from("ab"), texts
    ),
    texts,
)
calls = st.builds(
    ToolCall, ids, st.sampled_from(["create_file", "edit_file", "read_file", "list_files", "mine"]), arguments
)


@st.composite
def turns(draw) -> list[Message]:
    """An answer, with the results of its calls in one message or in one each."""
    made = draw(st.lists(calls, max_size=3, unique_by=lambda call: call.id))
    thinking = [Thinking(draw(texts))] if draw(st.booleans()) else []
    answer = Message(role="assistant", parts=(*thinking, Text(draw(texts)), *made), vendor={"x": draw(texts)})
    results = [
        ToolResult(
            call_id=call.id,
            name=call.name,
            text=draw(texts),
            code=draw(st.sampled_from([None, "FAILED"])),
            versions=draw(st.dictionaries(st.sampled_from("ab"), st.integers(1, 9), max_size=1)),
        )
        for call in made
    ]
    if not results:
        return [answer]
    if draw(st.booleans()):
        return [answer, Message(role="tool", parts=tuple(results))]
    return [answer, *(Message(role="tool", parts=(result,)) for result in results)]


@st.composite
def conversations(draw) -> tuple[list[Message], int]:
    messages: list[Message] = []
    for _ in range(draw(st.integers(0, 3))):
        messages.append(user(draw(texts)))
        for turn in draw(st.lists(turns(), max_size=3)):
            messages += turn
    question = len(messages)
    messages.append(user(draw(texts)))
    for turn in draw(st.lists(turns(), max_size=3)):
        messages += turn
    return messages, question


def shape(messages) -> list[list[tuple]]:
    """The calls and results of each turn."""
    found: list[list[tuple]] = []
    for message in messages:
        if message.role != "tool":
            found.append([])
        for part in message.parts:
            if isinstance(part, ToolCall):
                found[-1].append(("call", part.id, part.name))
            elif isinstance(part, ToolResult):
                found[-1].append(("result", part.call_id, part.name, part.code))
    return [turn for turn in found if turn]


@given(conversations(), st.integers(1, 3000))
def test_any_conversation_stays_whole_and_never_grows(conversation, most):
    messages, question = conversation

    def share(shorter) -> float:
        return estimate_tokens(shorter) / most

    compacted = compact(messages, question, TOOLBOX, share)
    before, after = shape(messages), shape(compacted.messages)
    assert after == before[len(before) - len(after) :]
    assert estimate_tokens(compacted.messages) <= estimate_tokens(messages)
    assert compacted.messages[compacted.question] == messages[question]
    assert len(compacted.messages) - compacted.question - (len(messages) - question) in (0, 1)
    again = compact(compacted.messages, compacted.question, TOOLBOX, share)
    assert estimate_tokens(again.messages) <= estimate_tokens(compacted.messages)


def page(number: int) -> str:
    line = f"<p>Loaf {number}</p>\n"
    return "<!doctype html>\n" + line * (40_000 // len(line))


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
    return await run_script(*turns, [text("Done.")], prompt="A page", window=window, base=base)


async def test_a_conversation_goes_on_20_times_over_a_page_of_40_kb():
    run: Run | None = None
    sent: list[tuple[Request, bool]] = []
    for number in range(1, 21):
        turns = [[write(content=page(number))], [text(f"Done {number}.")]]
        with SmallModel(turns, window=SmallModel.holds) as provider:
            run = await Agent(provider).run(f"Loaf {number}, please", base=run)
        assert (run.reason, run.error) == ("end_turn", None)
        assert not of(run, TurnRetrying)
        sent += zip(provider.requests, compactions_by_turn(run), strict=True)
    assert run is not None
    assert run.html == page(20)
    assert run.files.version("index.html") == 20
    assert max(tokens(request) for request, _ in sent) <= (room_in(SmallModel.holds) or 0)
    assert 3 < sum(compacted for _, compacted in sent) < 10
    for (before, _), (after, compacted) in itertools.pairwise(sent):
        assert bytes_of(before) == bytes_of(after)[: len(bytes_of(before))] or compacted
    assert "Loaf 1, please" in run.messages[0].text
    assert sum(message.requests for message in run.messages if message.role == "user") == 20


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
    run = await run_script([text("Blue.")], prompt="Now in blue", window=50_000, base=base)
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
    # What the user gets of the run is what the model wrote.
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
    run = await run_script([fail(refusal)], [fail(refusal)], prompt="Now in blue", base=await made(1))
    assert run.reason == "failed"
    assert run.error == (
        "Too long for it. Start a new conversation. Earlier parts of it have been left out already."
    )
    assert NOTE in run.messages[1].tool_calls[0].arguments


async def test_a_refused_prompt_with_nothing_before_it_ends_the_run():
    run = await run_script([fail(ProviderError("Too long for it.", too_long=True))], prompt="word " * 9_000)
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
    again = await run_script([text("Go on.")], prompt="Go on", messages=run.messages)
    assert "index.html" not in again.files


@pytest.mark.parametrize(
    ("window", "room"), [(400_000, 272_000), (1_050_000, 922_000), (30_000, 20_000), (None, None)]
)
def test_room_is_left_for_the_answer(window, room):
    assert room_in(window) == room
