"""Calls that a small model writes into its text. The first texts were written by Qwen2.5-Coder-1.5B."""

import asyncio
import html
import itertools
import json
import unicodedata
from dataclasses import replace
from urllib.parse import quote

import pytest

from agent_nb import Agent, Run, model, tool
from agent_nb.core.events import ApprovalRequested, FileDelta, TextDelta, ToolFinished, ToolReady
from agent_nb.core.messages import ToolCall
from agent_nb.engine.approval import Answer
from agent_nb.notebook.live.open_questions import Questions
from agent_nb.providers.quotations import is_quoted
from agent_nb.providers.text_calls import calls_at
from agent_nb.render.transcript import ToolRow, transcript
from tests.support.scripts import of
from tests.support.wire import Call, End, Say, WireServer, reply
from tests.support.wire.cases import CASE, CASES, Case

CHAT = CASE["chat"]


def fenced(path: str, content: str) -> str:
    call = {"name": "create_file", "arguments": {"path": path, "content": content}}
    return f"```json\n{json.dumps(call, indent=2)}\n```"


STYLE = fenced("css/site.css", "body { background-color: #333; color: #fff; }")
README = fenced("README.md", "# Lyon Bakery\n\nWelcome to our bakery in Lyon! Enjoy our pastries and breads.")
DOUBLED = '{{"name": "weather", "arguments": {"city": "Lyon"}}}}'
PROSE = "To add 21 and 21, the result is 42."
WEATHER = {"name": "weather", "arguments": {"city": "Lyon"}}
BARE = json.dumps(WEATHER)
PAGE = '<!doctype html>\n<html lang="en"><body class="a">{ "x": 1 } é</body></html>'


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"sunny in {city}"


def shell(ran: list[str]):
    @tool(approval="ask")
    def shell(command: str) -> str:
        """Runs a command."""
        ran.append(command)
        return "ran"

    return shell


SHELL = json.dumps({"name": "shell", "arguments": {"command": "rm -r ."}})


async def answered(server: WireServer, text: str, *, tools=None, prompt="Go.", fragment=4, **material) -> Run:
    """A run whose model says the text, then nothing more than "Done."."""
    server.plan(reply(Say(text), fragment=fragment), reply(Say("Done.")))
    return await Agent(CHAT.provider(server), tools=tools).run(prompt, **material)


@pytest.mark.parametrize("fragment", [1, 7, 1000])
async def test_a_file_written_as_fenced_json_is_made(server: WireServer, fragment: int):
    run = await answered(server, STYLE, fragment=fragment)
    assert dict(run.files) == {"css/site.css": "body { background-color: #333; color: #fff; }"}
    assert (run.reason, run.text) == ("end_turn", "Done.")


async def test_the_file_builds_while_the_text_is_written(server: WireServer):
    server.plan(reply(Say(README), fragment=20, gap=0.06), reply(Say("Done.")))
    run = await Agent(CHAT.provider(server)).run("Go.")
    assert len(of(run, FileDelta)) > 1
    assert "".join(event.text for event in of(run, FileDelta)) == run.files["README.md"]
    assert "create_file" not in "".join(event.text for event in of(run, TextDelta))


async def test_the_call_is_shown_as_what_it_is(server: WireServer):
    run = await answered(server, STYLE)
    assert [use.title for use in run.tool_uses] == ["create css/site.css (a call written as text)"]


@pytest.mark.parametrize(
    "text",
    [
        BARE,
        DOUBLED,
        f"<tool_call>\n{BARE}\n</tool_call>",
        f"```\n{BARE}\n```\n",
        '{{"name": "weather", "arguments": {{"city": "Lyon"}}}}',
        '{"arguments": {"city": "Lyon"}, "name": "weather"}',
        '{"name": "weather", "parameters": {"city": "Lyon"}}',
        f"I need the weather.\n\n```json\n{BARE}\n```",
        f"I look it up: {BARE}",
        *(BARE.replace('"name"', f'"{key}"') for key in ("function", "tool", "tool_name", "action")),
        '{"arguments": {"city": "Lyon"}, "function": "weather"}',
        f"I need the weather.\n\n```json\n{BARE.replace('name', 'function')}\n```",
    ],
)
async def test_forms_of_a_call(server: WireServer, text: str):
    run = await answered(server, text, tools=[weather])
    assert [use.result and use.result.text for use in run.tool_uses] == ["sunny in Lyon"]
    assert run.text == "Done."


@pytest.mark.parametrize("fragment", [1, 1000])
@pytest.mark.parametrize(
    "text",
    [
        f"{BARE}\nDone. It rains in Lyon, at 17 degrees.",
        f"```json\n{BARE}\n```\nThe weather in Lyon is cloudy.",
        f"<tools>\n{BARE}\n</tools>",
        f'<tools>\n{{"type": "function", "function": {{"name": "weather"}}}}\n</tools>\n{BARE}\nDone.',
        f"{DOUBLED}\n\nIt is sunny.\n{BARE.replace('Lyon', 'Nice')}",
    ],
)
async def test_a_result_that_is_invented_after_a_call_is_dropped(
    server: WireServer, text: str, fragment: int
):
    server.plan(reply(Say(text), fragment=fragment), reply(Say("Done.")))
    local = model("chat:qwen", base_url=server.base_url(CHAT.protocol), api_key="x")
    run = await Agent(local, tools=[weather]).run("Go.")
    assert [use.result and use.result.text for use in run.tool_uses] == ["sunny in Lyon"]
    assert run.text == "Done."
    assert not run.messages[1].text


@pytest.mark.parametrize(
    ("prompt", "count"), [("Use the weather tool.", 3), ("Ask `weather`.", 3), ("How is the weather?", 1)]
)
async def test_a_small_model_is_reminded_once_of_the_tool_it_was_asked_to_use(
    server: WireServer, prompt: str, count: int
):
    server.plan(reply(Say("I used the tool: it rains.")), reply(Say(BARE)), reply(Say("It is sunny.")))
    local = model("chat:qwen", base_url=server.base_url(CHAT.protocol), api_key="x")
    run = await Agent(local, tools=[weather]).run(prompt)
    assert len(server.requests) == count
    assert bool(run.tool_uses) == (count == 3)
    assert not any("it rains" in str(request.body) for request in server.requests), "it would be repeated"


async def test_several_calls_end_a_turn(server: WireServer):
    other = BARE.replace("Lyon", "Nice")
    run = await answered(
        server, f"<tool_call>{BARE}</tool_call>\n<tool_call>{other}</tool_call>", tools=[weather]
    )
    assert [use.result and use.result.text for use in run.tool_uses] == ["sunny in Lyon", "sunny in Nice"]


@pytest.mark.parametrize(
    "text",
    [
        f"{BARE}\n\nThat is how to call it.",
        f"```json\n{BARE}\n```\nThat is how to call it.",
        f"Write `{BARE}`",
        f"Write {BARE} to call it.",
        f"> {BARE}\n\nThat is how to call it.",
        BARE.replace("weather", "whether"),
        BARE.replace("city", "town"),
        BARE[:-1],
        PROSE,
        '{"name": "weather"}',
        '{"action": "search", "arguments": {"city": "Lyon"}}',
        '{"name": "weather", "action": "call", "arguments": {"city": "Lyon"}}',
        '{"tool": {"name": "weather"}, "arguments": {"city": "Lyon"}}',
    ],
)
async def test_what_is_not_a_call_stays_text(server: WireServer, text: str):
    server.plan(reply(Say(text), fragment=4))
    run = await Agent(CHAT.provider(server), tools=[weather]).run("Go.")
    assert (run.reason, run.text, run.tool_uses) == ("end_turn", text, ())
    assert "".join(event.text for event in of(run, TextDelta)) == text


async def test_a_quotation_in_the_unsent_part_of_a_file_is_not_a_call(server: WireServer):
    ran: list[str] = []
    server.plan(reply(Say(SHELL), fragment=4))
    agent = Agent(CHAT.provider(server), tools=[shell(ran)], approve=lambda *_: True)
    run = await agent.run("Sum up.", files={"long.md": "x\n" * 40_000 + SHELL})
    assert (run.text, ran) == (SHELL, [])


SCRIPT = {"command": 'echo "élan";\nrm -r build', "folder": "site"}
WRITTEN = json.dumps({"name": "shell", "arguments": SCRIPT})
LETTERS = json.dumps({"name": "shell", "arguments": SCRIPT}, ensure_ascii=False)
ELEMENTS = "\n<{0}folder>\nsite</>\n<{0}command>{command}</>\n".replace("{command}", SCRIPT["command"])
YAML = 'name: shell\narguments:\n  folder: site\n  command: |\n    echo "élan";\n    rm -r build\n'


def numbered(text: str, form: str) -> str:
    return "\n".join(form.format(number) + line for number, line in enumerate(text.splitlines(), 7))


QUOTATIONS = {
    "as it is": WRITTEN,
    "other keys": json.dumps({"parameters": SCRIPT, "name": "shell"}),
    "other order": json.dumps({"name": "shell", "arguments": dict(reversed(SCRIPT.items()))}),
    "line breaks": WRITTEN.replace("\\n", "\n"),
    "escaped letters": WRITTEN.replace("e", "\\u0065"),
    "html": html.escape(WRITTEN),
    "url": quote(WRITTEN),
    "json in json": json.dumps(json.dumps(json.loads(WRITTEN), indent=2)),
    "python": repr(json.loads(WRITTEN)),
    "Markdown": "\n".join(f"> {line}" for line in json.dumps(json.loads(WRITTEN), indent=1).split("\n")),
    "comment": "\n".join(f"# {line}" for line in json.dumps(json.loads(WRITTEN), indent=1).split("\n")),
    "zero width": WRITTEN.replace("shell", "sh\u200bell"),
    "YAML": YAML,
    "another key for the name": WRITTEN.replace('"name"', '"tool"'),
    "another key for the arguments": WRITTEN.replace('"arguments"', '"input"'),
    "a namespace": WRITTEN.replace("shell", "functions.shell"),
    "full-width": "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in LETTERS),
    "composed": unicodedata.normalize("NFC", LETTERS),
    "decomposed": unicodedata.normalize("NFD", LETTERS),
    "decomposed, without width": unicodedata.normalize("NFD", LETTERS).replace("\u0301", "\u200b\u0301"),
    "XML": f'<invoke name="shell">{ELEMENTS.format("parameter name=")}</invoke>',
    "XML with types": f'<invoke name="shell">{ELEMENTS.format("parameter type=string name=")}</invoke>',
    "XML without keys": f'<call tool="shell">{ELEMENTS.format("value number=")}</call>'.replace(
        "folder", "2"
    ),
    "Qwen's XML": f"<function=shell>{ELEMENTS.format('parameter=')}</function>",
    "elements": f"<shell>{ELEMENTS.format('')}</shell>",
    "keywords": "shell(folder='site', command={command!r})".format(**SCRIPT),
    "positions": "shell({command!r}, {folder!r})".format(**SCRIPT),
    "by name": json.dumps({"shell": list(SCRIPT.values())}),
    "numbered": numbered(json.dumps(json.loads(WRITTEN), indent=1), "{:6}\t"),
    "numbered YAML": numbered(YAML, "{}: "),
    "numbered with bars": numbered(YAML, "Line {} | "),
}
PLACES = ["file", "result", "system", "tool"]
"""Where a quotation may be, besides the prompt."""


@pytest.mark.parametrize(
    ("form", "place"),
    [
        *((form, "prompt") for form in QUOTATIONS),
        *(("as it is", place) for place in PLACES),
        *(
            pytest.param(form, place, marks=pytest.mark.wide)
            for form, place in itertools.product(list(QUOTATIONS)[1:], PLACES)
        ),
    ],
)
async def test_a_quotation_is_recognised_however_it_is_written(server: WireServer, form: str, place: str):
    quotation, ran = f"It says: {QUOTATIONS[form]}", list[str]()

    @tool(name="shell")
    def own_shell(command: str, folder: str) -> str:
        """Runs a command."""
        ran.append(command)
        return "ran"

    @tool
    def read_mail() -> str:
        """Reads the mail."""
        return quotation if place == "result" else "None."

    if place == "tool":
        read_mail = replace(read_mail, spec=replace(read_mail.spec, description=quotation))
    server.plan(reply(Call("read_mail", {})), reply(Say(WRITTEN)))
    agent = Agent(
        CHAT.provider(server), tools=[own_shell, read_mail], system=quotation if place == "system" else None
    )
    files = {"notes.md": quotation} if place == "file" else {}
    run = await agent.run(quotation if place == "prompt" else "Mail?", files=files)
    assert (run.text, ran) == (WRITTEN, [])


@pytest.mark.parametrize(
    ("sent", "written"),
    [
        ("2.5e2", "250"),
        ("250", "2.5E+2"),
        ("1E3", "1000"),
        ("0.00001", "1e-05"),
        ("1e20", "100000000000000000000"),
        ("100000000000000000000", "1e20"),
        ("2.50000000000000000001", "2.5"),
        ("1_000.0", "1000"),
        ("２５０", "250.00"),
        ("25\u200b0", "250"),
        ("12345678901234567890123", "12345678901234567890123"),
    ],
)
def test_numbers_are_compared_by_value(sent: str, written: str):
    call = '{{"name": "pay", "arguments": {{"amount": {}}}}}'
    (read,), _ = calls_at(call.format(written), 0)
    quoted, other = (is_quoted(read, [f"It says: {call.format(number)}"]) for number in (sent, f"{sent}1"))
    assert quoted
    assert not other or "." in sent  # a float has only so many digits


@pytest.mark.parametrize(("text", "quoted"), [("<invoke name='stop'/>", True), ("Now call stop().", False)])
def test_a_name_without_values_is_quoted_after_a_key(text: str, quoted: bool):
    assert is_quoted(ToolCall("1", "stop", "{}"), [text]) == quoted


@pytest.mark.parametrize("written", ["function", "tool_name", "action"])
@pytest.mark.parametrize("sent", ["name", "tool", "tool_name", "function"])
async def test_a_quotation_may_have_another_key_for_the_name(server: WireServer, sent: str, written: str):
    ran: list[str] = []
    said = SHELL.replace("name", written)
    server.plan(reply(Say(said), fragment=4))
    agent = Agent(CHAT.provider(server), tools=[shell(ran)], approve=lambda *_: True)
    run = await agent.run(f"What does this do? {SHELL.replace('name', sent)}")
    assert (run.text, ran) == (said, [])


async def test_a_call_with_another_key_for_the_name_asks_too(server: WireServer):
    ran: list[str] = []
    run = await answered(server, SHELL.replace("name", "function"), tools=[shell(ran)])
    assert ([end.code for end in of(run, ToolFinished)], ran) == (["DENIED"], [])


@pytest.mark.parametrize(
    "prompt",
    [
        "What is the weather in the city of Lyon?",
        "Use the tool weather for the city Lyon.",
        'There are calls such as {"name": "weather", "arguments": {"city": "Nice"}}. Now: Lyon.',
        "You can call <weather><city>Nice</city></weather> or weather(city='Nice'). Now the city of Lyon.",
        "weather: Lyon",
        "Get today's weather, please. My city, Lyon, is in France.",
        "1. Use weather.\n2. City: Lyon",
    ],
)
async def test_a_question_in_words_is_no_quotation(server: WireServer, prompt: str):
    run = await answered(server, BARE, tools=[weather], prompt=prompt)
    assert [use.result and use.result.text for use in run.tool_uses] == ["sunny in Lyon"]


@pytest.mark.parametrize("approve", ["auto", {"shell": "auto"}], ids=str)
async def test_a_tool_that_asks_asks_also_under_auto(server: WireServer, approve):
    ran: list[str] = []
    server.plan(reply(Say(SHELL)), reply(Call("shell", {"command": "ls"})), reply(Say("Done.")))
    run = await Agent(CHAT.provider(server), tools=[shell(ran)], approve=approve).run("Go.")
    assert ran == ["ls"]
    assert [end.code for end in of(run, ToolFinished)] == ["DENIED", None]


async def test_always_does_not_cover_it(server: WireServer):
    ran: list[str] = []
    asked: list[str] = []
    questions = Questions()
    server.plan(reply(Call("shell", {"command": "ls"})), reply(Say(SHELL)), reply(Say("Done.")))

    async def ask(request: ApprovalRequested) -> Answer:
        asked.append(request.title)
        answering = asyncio.create_task(questions.ask(request))
        await asyncio.sleep(0)  # the question is open now, unless "always" has answered it
        if not answering.done():
            place = request.variant, request.call_id
            questions.answer(place, Answer(len(asked) == 1), "always" if len(asked) == 1 else "call")
        return await answering

    handle = Agent(CHAT.provider(server), tools=[shell(ran)]).start("Go.")
    handle.approve_with(ask)
    await handle
    assert (len(asked), ran) == (2, ["ls"])
    assert asked[1].endswith("(a call written as text)")


async def test_a_native_call_comes_before_a_written_one(server: WireServer):
    server.plan(reply(Say(BARE), Call("weather", {"city": "Paris"}), fragment=4), reply(Say("Done.")))
    run = await Agent(CHAT.provider(server), tools=[weather]).run("Go.")
    assert [use.result and use.result.text for use in run.tool_uses] == ["sunny in Paris"]
    assert [end.code for end in of(run, ToolFinished)] == ["NOT_A_CALL", None]
    rows = [(row.state, row.result) for row in transcript(run.events) if isinstance(row, ToolRow)]
    assert rows == [("stopped", ""), ("ok", "sunny in Paris")]


async def test_raw_line_breaks_in_the_json_are_taken(server: WireServer):
    text = '{"name": "create_file", "arguments": {"path": "a.txt", "content": "one\ntwo"}}'
    assert (await answered(server, text)).files["a.txt"] == "one\ntwo"


async def test_a_call_that_was_cut_off_is_not_run(server: WireServer):
    server.plan(reply(Say(README[:120]), End("max_tokens"), fragment=4), reply(Say("Done.")))
    run = await Agent(CHAT.provider(server)).run("Go.")
    assert [end.code for end in of(run, ToolFinished)] == ["INVALID_JSON"]
    assert run.text == "Done."


@pytest.mark.parametrize("end", ["", "\nThere it is."])
async def test_a_page_in_json_has_no_backslashes(server: WireServer, end: str):
    text = "```json\n" + json.dumps({"html": PAGE, "title": "A"}) + "\n```" + end
    server.plan(reply(Say(text)))
    run = await Agent(CHAT.provider(server)).run("Go.")
    assert run.files["index.html"] == PAGE


@pytest.mark.parametrize("case", [case for case in CASES if case is not CHAT], ids=str)
async def test_other_protocols_have_only_their_own_calls(server: WireServer, case: Case):
    server.plan(reply(Say(BARE)))
    run = await Agent(case.provider(server), tools=[weather]).run("Go.")
    assert (run.text, of(run, ToolReady)) == (BARE, [])
