import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_nb.errors import FileError
from agent_nb.files import MAX_TEXT_BYTES, Files
from agent_nb.files.file_paths import safe_path
from agent_nb.tools.partial import FileArguments, StringFields

NAMES = ("path", "content")
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
TOKENS = [
    "\\ud83d",
    "\\uD83D",
    "\\ude00",
    "\\u0041",
    "\\n",
    "\\\\",
    '\\"',
    "\\/",
    "a",
    "é",
    "😀",
    "{",
    "]",
    ",",
    ":",
    "u",
]
RAW_STRINGS = st.lists(st.sampled_from(TOKENS), max_size=12).map(lambda tokens: f'"{"".join(tokens)}"')
KEYS = st.sampled_from(
    ['"path"', '"content"', '"\\u0063ontent"', '"p\\u0061th"', '"other"', '"content "', '""']
)
SPACES = st.sampled_from(["", " ", "\n\t", "\r\n  "])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES) | ANY_TEXT, inner, max_size=3)
    ),
    max_leaves=8,
)


@st.composite
def json_values(draw: st.DrawFn) -> str:
    if draw(st.booleans()):
        return draw(RAW_STRINGS)
    return json.dumps(draw(VALUES), ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])))


@st.composite
def json_objects(draw: st.DrawFn) -> str:
    """The text of an object: any spacing, any escapes, names that come twice."""
    pairs = [
        f"{draw(SPACES)}{draw(KEYS)}{draw(SPACES)}:{draw(SPACES)}{draw(json_values())}{draw(SPACES)}"
        for _ in range(draw(st.integers(0, 5)))
    ]
    return f"{draw(SPACES)}{{{','.join(pairs) or draw(SPACES)}}}{draw(SPACES)}"


@st.composite
def fragmented(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> list[str]:
    text = draw(texts)
    if draw(st.booleans()):
        return list(text)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def read(fragments: list[str]) -> dict[str, str]:
    fields, texts = StringFields(NAMES), {}
    for fragment in fragments:
        for name, offset, text in fields.feed(fragment):
            so_far = texts.get(name, "")
            assert offset in (0, len(so_far))
            texts[name] = so_far[:offset] + text
    return texts


def read_files(fragments: list[str]) -> dict[str, str]:
    stream, texts = FileArguments(), {}
    for fragment in fragments:
        for path, offset, text in stream.feed(fragment):
            so_far = texts.get(path, "")
            assert offset in (0, len(so_far))
            texts[path] = so_far[:offset] + text
    return texts


@given(fragmented(json_objects()))
def test_pieces_equal_what_json_gives(fragments: list[str]) -> None:
    texts = read(fragments)
    parsed: dict[str, Any] = json.loads("".join(fragments))
    for name in NAMES:
        if isinstance(parsed.get(name), str):
            assert texts[name] == parsed[name]
        if name not in parsed:
            assert name not in texts


@given(fragmented(json_objects()))
@example(['{"content": "", "path": "a.txt"}'])
def test_file_pieces_equal_the_file(fragments: list[str]) -> None:
    texts = read_files(fragments)
    pairs: list[tuple[str, Any]] = json.loads("".join(fragments), object_pairs_hook=list)
    path, content = dict(pairs).get("path"), dict(pairs).get("content")
    if [name for name, _ in pairs].count("path") > 1:
        return
    if not isinstance(path, str) or not isinstance(content, str):
        return
    try:
        path = safe_path(path)
    except FileError:
        return
    assert texts[path] == Files({path: content})[path]


@given(fragmented(st.text('{}[]":,\\u0123dpathcontent \n')))
def test_broken_json_ends_quietly(fragments: list[str]) -> None:
    read(fragments)
    read_files(fragments)


@pytest.mark.parametrize(
    "text",
    [
        r'{"content": "\ud83d\ude00"}',
        r'{"content": "\ud83d"}',
        r'{"content": "\ude00\ud83d"}',
        r'{"content": "\ud83d\ud83d\ude00"}',
        r'{"content": "\ud83d\n\ude00"}',
        r'{"content": "\\ud83d\\"}',
        r'{"x": {"content": "no", "y": ["}", "\""]}, "content": "yes"}',
        r'{"x": "\"content\": \\", "content": ""}',
        r'{"content": "first", "content": ""}',
        r'{"content": "a", "n": -1.5e3, "t": true, "z": null}',
        r'{"\u0063ontent": "escaped name"}',
    ],
)
def test_each_character_alone_reads_same(text: str) -> None:
    assert read(list(text)) == read([text]) == {"content": json.loads(text)["content"]}


def test_pieces_come_as_they_arrive() -> None:
    fields = StringFields(["content"])
    assert fields.feed('{"content": "ab') == [("content", 0, "ab")]
    assert fields.feed("cd") == [("content", 2, "cd")]
    assert fields.feed("\\") == []
    assert fields.feed("n\\u00") == [("content", 4, "\n")]
    assert fields.feed('e9"') == [("content", 5, "é")]
    assert fields.feed(', "other": "x"}') == []


def test_bad_escape_stops_the_reading() -> None:
    fields = StringFields(["content"])
    assert fields.feed('{"content": "ok') == [("content", 0, "ok")]
    assert fields.feed("\\q and then more text") == []
    for _ in range(3):
        assert fields.feed("nothing any more") == []


def test_content_before_its_path_streams_without_one() -> None:
    stream = FileArguments()
    assert stream.feed('{"content": "a') == [("", 0, "a")]
    assert stream.feed("b") == [("", 1, "b")]
    assert stream.feed('c", "path": "./a') == [("", 2, "c")]
    assert stream.feed(".html") == []
    assert stream.feed('"') == [("a.html", 0, "abc")]


def test_path_first_streams_at_once() -> None:
    stream = FileArguments()
    assert stream.feed('{"path": "a.html", "content": "') == []
    assert stream.feed("<p>") == [("a.html", 0, "<p>")]
    assert stream.feed("hi") == [("a.html", 3, "hi")]


def test_second_path_gets_what_comes_after_it() -> None:
    stream = FileArguments()
    assert stream.feed('{"path": "a", "content": "xyz", "path": "b"') == [("a", 0, "xyz")]
    assert stream.feed(', "content": "new"}') == [("b", 0, "new")]


def test_empty_file_is_told() -> None:
    assert read_files(['{"path": "a", "content": ""}']) == {"a": ""}


@pytest.mark.parametrize("path", ["../a", "/a", "", "a\\u0000"])
def test_unsafe_path_tells_nothing(path: str) -> None:
    assert read_files([f'{{"path": "{path}", "content": "abc"}}']) == {}


def test_oversized_content_stops_being_told() -> None:
    stream = FileArguments()
    stream.feed('{"path": "a", "content": "')
    assert stream.feed("x" * MAX_TEXT_BYTES) != []
    assert stream.feed("y") == []
