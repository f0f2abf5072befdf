import datetime
import logging
import sys
from dataclasses import replace
from typing import Any

import pytest

from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError, ToolError
from agent_nb.core.messages import ToolCall, ToolSpec
from agent_nb.tools import Tool, Toolbox, ToolContext, ToolOutput, tool
from agent_nb.tools.toolbox import FAMILIES, MAX_TEXT
from tests.support.tool_desk import run


def test_default_holds_every_family() -> None:
    box = Toolbox.default()
    built_in = [tool for family in FAMILIES.values() for tool in family]
    assert list(box) == built_in
    assert [spec.name for spec in box.specs] == [tool.name for tool in built_in]
    assert len(box) == len(built_in)
    assert "create_file" in box
    assert box.get("nope") is None


def test_own_tools_are_those_that_are_not_built_in() -> None:
    def roll(sides: int) -> int:
        return sides

    (create, *_) = Toolbox.default()
    replaced = replace(create, timeout=1.0)
    assert [tool.name for tool in Toolbox.default([roll]).own] == ["roll"]
    assert Toolbox([create]).own == ()
    assert Toolbox([replaced]).own == (replaced,)


def test_built_in_tools_are_one_choice() -> None:
    """So that a batch saved before a release with another tool is still resumed after it."""

    def roll(sides: int) -> int:
        return sides

    assert Toolbox.default().chosen == ["built-in"]
    assert Toolbox.default([roll]).chosen == ["built-in", "roll"]
    assert Toolbox([*FAMILIES["variants"], roll]).chosen == ["retrieve_option", "roll"]


def test_names_must_be_usable_and_single() -> None:
    def twice(a: int) -> None: ...

    with pytest.raises(ConfigError, match=r"Two tools are named 'twice': rename one with `@tool\(name="):
        Toolbox([twice, tool(twice)])
    with pytest.raises(ConfigError, match="'<lambda>' is not a valid tool name"):
        Toolbox([lambda: None])


def prepare_error(name: str, arguments: str) -> ToolError:
    with pytest.raises(ToolError) as caught:
        Toolbox.default().prepare(ToolCall("1", name, arguments))
    return caught.value


def test_unknown_tool_names_the_nearest() -> None:
    error = prepare_error("createFile", "{}")
    assert error.code == "UNKNOWN_TOOL"
    assert error.hint.startswith("Tools: create_file, edit_file")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ('{"path": "a', 'Unterminated string starting at at character 9, near \'{"path": "a\''),
        ("", "Expecting value"),
        ("[1]", "they are [1], not an object"),
        ('"text"', "not an object"),
        ('{"a": NaN}', "NaN is not a JSON value"),
        ('{"a": 1} {"b": 2}', "Extra data at character 9"),
        ("[" * 100_000, "they are nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "4300 digits"),
    ],
)
def test_broken_json_says_where(arguments: str, message: str) -> None:
    error = prepare_error("create_file", arguments)
    assert error.code == "INVALID_JSON"
    assert message in error.message
    assert len(error.message) < 300


def test_optional_null_counts_as_absent() -> None:
    _, args = Toolbox.default().prepare(
        ToolCall("1", "edit_file", '{"path": "a", "old": "b", "new": "c", "count": null}')
    )
    assert args == {"path": "a", "old": "b", "new": "c"}


async def test_raising_tool_tells_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    def breaks() -> None:
        raise TypeError("wrong kind")

    with caplog.at_level(logging.DEBUG, "agent_nb"), pytest.raises(ToolError) as caught:
        await run(breaks)
    assert (caught.value.code, str(caught.value)) == ("FAILED", "TypeError: wrong kind")
    assert "Traceback" in caplog.text


@pytest.mark.parametrize(
    "error", [StopIteration(1), KeyError("x"), SystemExit(2), KeyboardInterrupt(), TimeoutError()]
)
async def test_any_exception_becomes_failed(error: BaseException) -> None:
    def breaks() -> None:
        raise error

    with pytest.raises(ToolError) as caught:
        await run(breaks)
    assert caught.value.code == "FAILED"


async def test_async_exit_does_not_end_loop() -> None:
    async def leaves() -> None:
        sys.exit(3)

    with pytest.raises(ToolError, match="tried to exit with 3"):
        await run(leaves)


async def test_exception_without_words_is_named() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def breaks() -> None:
        raise MuteError

    with pytest.raises(ToolError, match=r"^MuteError$"):
        await run(breaks)


async def test_wrong_return_type_is_told() -> None:
    spec = ToolSpec(name="raw", description="", schema={"type": "object"})
    with pytest.raises(ToolError, match="returned a int instead of a ToolOutput"):
        await run(Tool(spec=spec, run=lambda args, context: 3, title=lambda args: ""))  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        ({"text": 3}, "`odd` returned a int as `text`"),
        ({"text": "t", "summary": None}, "`odd` returned a NoneType as `summary`"),
        ({"text": "t", "images": (b"png",)}, "`odd` returned a bytes in `images`"),
        ({"text": "t", "images": 7}, "TypeError"),
        ({"text": "t", "outputs": {"text/html": "<p>"}}, "`outputs` that are not all dicts"),
        ({"text": "t", "outputs": ({("a", "b"): 1},)}, "TypeError"),
    ],
    ids=str,
)
async def test_an_odd_output_is_told(odd: dict[str, Any], message: str) -> None:
    def run_odd(args: Json, context: ToolContext) -> ToolOutput:
        return ToolOutput(**odd)

    spec = ToolSpec(name="odd", description="", schema={"type": "object"})
    with pytest.raises(ToolError) as raised:
        await run(Tool(spec=spec, run=run_odd, title=lambda args: "odd"))
    assert raised.value.code == "FAILED"
    assert message in raised.value.message


async def test_values_for_the_person_become_json() -> None:
    @tool
    def chart() -> Any:
        """Draws."""
        day = {"day": datetime.date(2026, 1, 2), "height": float("nan"), "points": (1, 2)}
        return ToolOutput(text="t", outputs=({"application/json": day, "image/png": b"png"},))

    (bundle,) = (await run(chart)).outputs
    day = {"day": "datetime.date(2026, 1, 2)", "height": "NaN", "points": [1, 2]}
    assert bundle == {"application/json": day, "image/png": "cG5n"}


async def test_half_characters_do_not_pass() -> None:
    def talks() -> str:
        return "a\ud83db"

    assert (await run(talks)).text == "a\ufffdb"


async def test_long_text_is_cut_and_counted() -> None:
    def talks() -> str:
        return "x" * (MAX_TEXT + 1234)

    text = (await run(talks)).text
    assert text.endswith(f"\n[1,234 of {MAX_TEXT + 1234:,} characters omitted]")
    assert text.startswith("x" * MAX_TEXT + "\n")


@pytest.mark.parametrize("long", ["message", "hint"])
async def test_a_long_error_is_cut_as_a_result_is(long: str) -> None:
    def talks() -> str:
        raise ToolError(**{"message": "no", long: "\ud83d" + "x" * (MAX_TEXT + 1233)})

    with pytest.raises(ToolError) as caught:
        await run(talks)
    text = getattr(caught.value, long)
    assert text.startswith("\ufffdx")
    assert text.endswith(f"\n[1,234 of {MAX_TEXT + 1234:,} characters omitted]")
