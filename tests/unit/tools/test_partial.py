import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_nb._base.text import whole_text
from agent_nb.core.errors import FileError
from agent_nb.files import MAX_TEXT_BYTES, Files, safe_path
from agent_nb.tools.base import FileArguments

NAMES = ("path", "content")
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
ESCAPES = ["\\ud83d", "\\uD83D", "\\ude00", "\\u0041", "\\n", "\\\\", '\\"', "\\/"]
TOKENS = [*ESCAPES, *"aé😀{],:u"]
RAW_STRINGS = st.lists(st.sampled_from(TOKENS), max_size=12).map(lambda tokens: f'"{"".join(tokens)}"')
SPACES = st.sampled_from(["", " ", "\n\t", "\r\n  "])


@st.composite
def json_objects(draw: st.DrawFn) -> str:
    """The text of an object: any spacing, any escapes, names that come twice."""
    values = RAW_STRINGS | st.builds(json.dumps, ANY_TEXT, ensure_ascii=st.booleans())
    pairs = [
        f'{draw(SPACES)}"{name}"{draw(SPACES)}:{draw(SPACES)}{draw(values)}{draw(SPACES)}'
        for name in draw(st.lists(st.sampled_from(NAMES), max_size=5))
    ]
    return f"{draw(SPACES)}{{{','.join(pairs) or draw(SPACES)}}}{draw(SPACES)}"


@st.composite
def fragmented(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> list[str]:
    text = draw(texts)
    if draw(st.booleans()):
        return list(text)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def read_files(fragments: list[str]) -> dict[str, str]:
    stream, texts = FileArguments(), {}
    for fragment in fragments:
        for path, offset, text in stream.feed(fragment):
            so_far = texts.get(path, "")
            assert offset in (0, len(so_far))
            texts[path] = so_far[:offset] + text
    return texts


@given(fragmented(json_objects()))
@example(['{"content": "", "path": "a.txt"}'])
def test_file_pieces_equal_the_file(fragments: list[str]) -> None:
    texts = read_files(fragments)
    pairs: list[tuple[str, Any]] = json.loads("".join(fragments), object_pairs_hook=list)
    path, content = dict(pairs).get("path"), dict(pairs).get("content")
    if [name for name, _ in pairs].count("path") > 1:
        return
    if path is None or content is None:
        return
    try:
        path = safe_path(path)
    except FileError:
        return
    assert texts[path] == Files({path: content})[path]


@given(fragmented(st.text('{}[]":,\\u0123dpathcontent \n')))
def test_broken_json_ends_quietly(fragments: list[str]) -> None:
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
        r'{"content": "first", "content": ""}',
    ],
)
def test_each_character_alone_reads_same(text: str) -> None:
    content = whole_text(json.loads(text)["content"])
    assert read_files(list(text)) == read_files([text]) == {"": content}


def test_pieces_come_as_they_arrive() -> None:
    stream = FileArguments()
    assert stream.feed('{"content": "ab') == [("", 0, "ab")]
    assert stream.feed("cd") == [("", 2, "cd")]
    assert stream.feed("\\") == []
    assert stream.feed("n\\u00") == [("", 4, "\n")]
    assert stream.feed('e9"') == [("", 5, "é")]


@pytest.mark.parametrize("broken", ["\\q and then more text", '", "other": {"path": ' + " " * 200])
def test_a_bad_escape_or_another_argument_ends_the_reading(broken: str) -> None:
    stream = FileArguments()
    assert stream.feed('{"content": "ok') == [("", 0, "ok")]
    assert stream.feed(broken) == []
    for _ in range(3):
        assert stream.feed(', "content": "nothing any more') == []


def test_content_before_its_path_streams_without_one() -> None:
    stream = FileArguments()
    assert stream.feed('{"content": "a') == [("", 0, "a")]
    assert stream.feed("b") == [("", 1, "b")]
    assert stream.feed('c", "path": "./a') == [("", 2, "c")]
    assert stream.feed(".html") == []
    assert stream.feed('"') == [("a.html", 0, "abc")]


def test_second_path_gets_what_comes_after_it() -> None:
    stream = FileArguments()
    assert stream.feed('{"path": "a", "content": "xyz", "path": "b"') == [("a", 0, "xyz")]
    assert stream.feed(', "content": "new"}') == [("b", 0, "new")]


@pytest.mark.parametrize("path", ["../a", "/a", "", "a\\u0000"])
def test_unsafe_path_tells_nothing(path: str) -> None:
    assert read_files([f'{{"path": "{path}", "content": "abc"}}']) == {}


def test_oversized_content_stops_being_told() -> None:
    stream = FileArguments()
    stream.feed('{"path": "a", "content": "')
    assert stream.feed("x" * MAX_TEXT_BYTES) != []
    assert stream.feed("y") == []
