"""What a conversation holds: pages in texts, messages in dicts, files that its calls made."""

from typing import Any

import pytest

from agent_nb import Tool
from agent_nb._base.text import fenced
from agent_nb.core.errors import ConfigError
from agent_nb.core.messages import Message, ToolCall, ToolResult, ToolSpec, assistant, user
from agent_nb.engine.approval import ApprovalRules
from agent_nb.engine.compaction import compact
from agent_nb.engine.prepared import history_digest
from agent_nb.engine.run_input import files_in, images_in, page_in, to_message
from agent_nb.prompts import prompt_text
from agent_nb.tools import Toolbox, ToolContext, ToolOutput
from tests.support.wire.cases import RED_PNG


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("Here:\n```html\n<p>Hi</p>\n```\nBye", "<p>Hi</p>"),
        ("cut off:\n```html\n<p>Hi", "<p>Hi"),
        ("<!DOCTYPE html><html><p>Hi</p></html> and so on", "<!DOCTYPE html><html><p>Hi</p></html>"),
        ("no page, only `<p>` in words", None),
        ("```html\nnothing\n```", None),
    ],
)
def test_a_page_is_found_in_a_text(text, page):
    assert page_in(text) == page


def test_a_fence_is_longer_than_those_inside():
    assert fenced("a\n```\nb").startswith("````\n")


@pytest.mark.parametrize(
    "opening",
    [
        "About the elements of this request",
        "About the images of this request",
        "Earlier in this conversation there were 9 requests, shortened here:",
        prompt_text("go_on"),
    ],
)
def test_a_prompt_that_reads_like_a_text_of_ours_is_still_the_users(opening):
    one, other = user(opening, "\n\none", RED_PNG), user(opening, "\n\nother", RED_PNG)
    assert images_in([one, other]) == (RED_PNG, RED_PNG)
    assert history_digest([user("A page"), one]) != history_digest([user("A page")])
    summary = compact([one, assistant("Long. " * 999), other], 2, Toolbox(), lambda messages: 1.0).messages[0]
    assert summary.requests == 1
    assert summary.text.count(" ".join(opening.split())[:50]) == 1


@pytest.mark.parametrize("bad", [{"content": "x"}, {"role": "robot", "content": "x"}, "hello"])
def test_a_message_needs_a_known_role(bad):
    with pytest.raises(ConfigError, match="role"):
        to_message(bad)


@pytest.mark.parametrize(
    ("fields", "runs"),
    [
        ({"repeatable": True}, True),
        ({}, False),
        ({"approval": "ask"}, False),
        ({"repeatable": True, "approval": "ask"}, False),
        ({"repeatable": True, "fetches": lambda args, context: {}}, False),
        ({"origin": "mcp:files/run_code", "approval": "ask"}, False),
    ],
)
async def test_only_repeatable_tools_that_never_ask_make_the_files_again(fields, runs):
    def run(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        context.files.write("out.txt", "made")
        return ToolOutput(text="done")

    spec = ToolSpec(name="run_code", description="Runs code.", schema={"type": "object"})
    tool = Tool(spec=spec, run=run, title=lambda args: "", writes=lambda args: ("out.txt",), **fields)
    messages = [
        assistant(ToolCall("a", "run_code", "{}")),
        Message(role="tool", parts=(ToolResult(call_id="a", name="run_code", text="done"),)),
    ]
    assert dict(await files_in(messages, Toolbox([tool]), ApprovalRules())) == (
        {"out.txt": "made"} if runs else {}
    )
