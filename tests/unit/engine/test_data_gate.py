"""What a run that sends no values sends: in each part of a message, and when the user shows an output."""

import json
from dataclasses import replace

import PIL.Image
import pytest

import agent_nb.notebook.kernel_tools.python  # noqa: F401 - what it says of outputs may be sent
from agent_nb import Agent, Answer, ConfigError, tool
from agent_nb.core.messages import Image, ToolResult
from agent_nb.engine.data_gate import HELD
from agent_nb.images.convert import to_image
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.tools import ToolOutput
from tests.support.scripts import write

VALUE = "asthma17zq"
PNG = to_image(PIL.Image.new("RGB", (4, 4)))


@tool(approval="ask")
def look(place: str) -> str:
    """Looks."""
    return VALUE


def gives(args: object, context: object) -> ToolOutput:
    return ToolOutput(text=VALUE, images=(PNG,), schema=("There are 3.",))


LOOK = replace(look, run=gives)


def agent(*turns, tools=(LOOK,), approve="auto"):
    return Agent(ScriptedProvider([*turns, [text("Done.")]]), tools=tools, approve=approve).with_data(
        "schema"
    )


def results(run) -> list[ToolResult]:
    return [use.result for use in run.tool_uses]


async def test_only_tools_of_this_package_give_a_schema():
    run = await agent([call("look", {"place": "here"})]).run("go")
    assert [(each.text, each.images) for each in results(run)] == [(f"Done. {HELD}", ())]


async def test_a_shown_output_goes_with_the_next_result_and_no_other():
    packaged = replace(LOOK, packaged=True)
    turns = [[call("look", {"place": str(number)}, id=f"call_{number}")] for number in range(3)]
    handle = agent(*turns, tools=[packaged], approve="ask").start("go")
    asked = []

    async def answer(request):
        asked.append(request.call_id)
        if len(asked) == 2:
            handle.show_output(0, asked[0])
        return Answer(True)

    handle.approve_with(answer)
    run = await handle
    shown = ["There are 3.", f"There are 3.\n\nThe user shows you what `look` gave:\n{VALUE}", "There are 3."]
    assert [each.text for each in results(run)] == shown
    assert [len(each.images) for each in results(run)] == [0, 1, 0]
    with pytest.raises(ConfigError, match="The run has ended"):
        handle.show_output(0, asked[0])


async def test_what_the_user_says_to_a_call_is_sent():
    async def change(asked, args):
        return Answer(True, "Only the north.", {"place": "there"})

    run = await agent([call("look", {"place": "here"})], approve={"look": change}).run("go")
    assert results(run)[0].text.startswith(f"Done. {HELD}\n\nAn approval function changed `place`")
    assert "Only the north." in results(run)[0].text
    no = {"look": lambda *_: Answer(False, "Later.")}
    denied = await agent([call("look", {"place": "here"})], approve=no).run("go")
    assert results(denied)[0].text == "It was not approved. Later."


@pytest.mark.parametrize("message", [f"no {VALUE}", f"no\n{VALUE}", "no ünknöwn wörds", "no 🙂 → €"])
async def test_words_and_symbols_of_an_error_are_replaced(message):
    @tool
    def fail() -> str:
        """Fails."""
        raise ValueError(message)

    run = await agent([call("fail")], tools=[fail]).run("go")
    told = json.loads(results(run)[0].text)["error"]
    assert VALUE not in told
    assert set(told) <= set("ValueError: no …")


async def test_parts_that_nobody_has_cleared_are_replaced():
    seen = []

    class Spy(ScriptedProvider):
        async def stream(self, request):
            seen.append(request.messages)
            async for piece in super().stream(request):
                yield piece

    await (
        Agent(Spy([[text("Done.")]]), tools=[])
        .with_data("schema")
        .run("go", files={"data.csv": VALUE}, images=[PNG])
    )
    assert VALUE not in repr(seen)
    assert [part for message in seen[0] for part in message.parts if isinstance(part, Image)] == []


async def test_what_is_prepared_is_what_is_sent_and_edits_are_named_without_contents():
    base = await agent([write()], tools=None).run("go")
    base = base.with_files({"index.html": VALUE, f"{VALUE}.txt": "x"})
    with ScriptedProvider([[text("Done.")]]) as provider:
        prepared = Agent(provider, tools=[]).prepare("Go on", base=base, files={"data.csv": VALUE})
        await prepared.start()
    assert VALUE not in repr(prepared.messages)
    assert prepared.messages == provider.requests[0].messages
    edits = "does not send their contents:\n- added `(name held back)`\n- changed `index.html`"
    assert prepared.messages[-1].parts[1].text.endswith(edits)


async def test_middleware_that_changes_requests_is_refused():
    class Adds:
        def on_request(self, request):
            return request

    with pytest.raises(ConfigError, match="may add values"):
        await Agent(ScriptedProvider([]), middleware=[Adds()]).with_data("schema").run("go")


async def test_messages_of_elsewhere_cannot_be_continued():
    with pytest.raises(ConfigError, match="may contain values"):
        await agent().run("go", messages=[{"role": "user", "content": VALUE}])
