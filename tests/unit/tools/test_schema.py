from pathlib import Path
from typing import Any

import pytest

from agent_nb.core.errors import ToolError
from agent_nb.tools import schema as schema_module
from agent_nb.tools.schema import compile_schema, object_schema, problems, without_nulls

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "maxLength": 5},
        "mode": {"enum": ["a", "b"]},
        "edits": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"old": {"type": ["string", "null"]}},
                "required": ["old"],
            },
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}


def test_a_pattern_that_python_cannot_read_is_not_checked() -> None:
    letters: Any = {"type": "string", "pattern": "^\\p{L}+$"}
    labels = {"patternProperties": {"\\p{Lu}": {}}, "additionalProperties": False}
    check = compile_schema({"properties": {"q": letters, "labels": labels, "pattern": {"type": "string"}}})
    check({"q": "1", "labels": {"A": 1}, "pattern": "x"})
    with pytest.raises(ToolError, match="`q` must be string"):
        check({"q": 1})
    with pytest.raises(ToolError, match="`pattern` must be string"):
        check({"pattern": 1})


@pytest.mark.parametrize(
    ("args", "message", "hint"),
    [
        ({}, "The arguments lack `path`.", "Known: `path`, `mode`, `edits`."),
        ({"path": 1}, "`path` must be string, not an integer.", ""),
        ({"path": None}, "`path` must be string, not null.", ""),
        (
            {"path": "", "x": 1, "y": 2},
            "The arguments must not have `x`, `y`.",
            "Known: `path`, `mode`, `edits`.",
        ),
        ({"path": "", "mode": "c"}, "`mode` must be one of 'a', 'b', not 'c'.", ""),
        ({"path": "123456"}, "`path` must be shorter than or equal to 5 characters, not '123456'.", ""),
        ({"path": "", "edits": [{"old": ""}, {}]}, "`edits[1]` lacks `old`.", "Known: `old`."),
        ({"path": "", "edits": [{"old": 1}]}, "`edits[0].old` must be string or null, not an integer.", ""),
    ],
)
def test_schema_errors_name_the_field(args: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(ToolError) as caught:
        compile_schema(SCHEMA)(args)
    assert (caught.value.code, caught.value.message, caught.value.hint) == ("SCHEMA", message, hint)


def test_valid_arguments_stay_unchanged() -> None:
    args = {"path": "a"}
    compile_schema({**SCHEMA, "properties": {**SCHEMA["properties"], "n": {"default": 1}}})(args)  # type: ignore[dict-item]
    assert args == {"path": "a"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"$ref": "https://example.org/s.json"},
        {"$ref": "file:///etc/hostname"},
        {"type": 3},
    ],
)
def test_broken_schema_fails_the_call(schema: dict[str, Any]) -> None:
    with pytest.raises(ToolError, match="schema is invalid"):
        compile_schema(schema)({})


def test_a_schema_opens_no_file(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"type": "object", "required": ["secret"]}')
    with pytest.raises(ToolError, match="which is not fetched"):
        compile_schema({"$ref": other.as_uri()})


def test_nulls_of_optional_arguments_go() -> None:
    args = {"path": None, "mode": None, "edits": [{"old": None, "extra": None}], "other": None}
    assert without_nulls(SCHEMA, args) == {
        "path": None,
        "edits": [{"old": None, "extra": None}],
        "other": None,
    }


def test_problems_are_told_by_field():
    size = {
        "type": "object",
        "properties": {"width": {"type": "integer", "minimum": 1}},
        "required": ["width"],
    }
    schema = object_schema(
        {"code": {"type": "string"}, "size": {"$ref": "#/$defs/size"}, "box": size}, ["code"]
    )
    schema["$defs"] = {"size": size}
    assert problems(schema, {"code": "x", "size": {"width": 2}}) == {}
    assert problems(schema, {"size": {"width": "2"}, "box": {}, "more": 1}) == {
        "code": "It is required.",
        "size/width": "It must be integer, not a string.",
        "box/width": "It is required.",
        "more": "There is no such argument.",
    }
    assert problems(schema, {"code": "x", "box": {"width": 0}}) == {
        "box/width": "It must be bigger than or equal to 1, not 0."
    }
    assert problems({"type": "object", "minProperties": 1}, {}) == {
        "": "It must contain at least 1 properties, not {}."
    }


def test_equal_schemas_are_compiled():
    schema = {"type": "object", "properties": {"only in this test": {"type": "string"}}}
    before = schema_module._compiled.cache_info().misses
    for _ in range(3):
        compile_schema(dict(schema))
    assert schema_module._compiled.cache_info().misses == before + 1
