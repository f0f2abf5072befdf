import asyncio
import io
import sys
from typing import Any

import PIL.Image
import pytest

from agent_nb._base.secrets import mask
from agent_nb.tools import Toolbox
from agent_nb.tools.file_tools import FILE_TOOLS, nearest_lines
from tests.support.tool_desk import Desk

PAGE = "<main>\n  <h1>Bakery</h1>\n  <p>Bread</p>\n  <p>Cake</p>\n</main>\n"


class FileDesk(Desk):
    """The file tools over a workspace. A name stands for a path: `a_html` for `a.html`."""

    def __init__(self, **contents: str | bytes) -> None:
        super().__init__({path.replace("_", "."): content for path, content in contents.items()})


async def test_create_tells_size_and_lines() -> None:
    desk = FileDesk()
    output = await desk.call("create_file", path="./index.html", content=PAGE)
    assert desk.files == {"index.html": PAGE}
    assert (output.text, output.summary) == ("Created index.html (62 bytes, 5 lines).", "62 bytes, 5 lines")
    assert (desk.changes[0].call_id, desk.changes[0].action) == ("c1", "created")


async def test_create_again_replaces_the_file() -> None:
    desk = FileDesk(a_html=PAGE)
    output = await desk.call("create_file", path="a.html", content=PAGE.replace("Bread", "Buns"))
    assert output.summary == "+1 -1"
    assert output.text.startswith("Replaced a.html")
    again = await desk.call("create_file", path="a.html", content=PAGE.replace("Bread", "Buns"))
    assert again.summary == "no change"
    assert desk.files.versions("a.html") == (PAGE, PAGE.replace("Bread", "Buns"))


async def test_create_replaces_binary_by_text() -> None:
    desk = FileDesk(a_png=b"\0")
    assert (await desk.call("create_file", path="a.png", content="")).text.startswith("Replaced")


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "C:\\x", "a\0b", "css/", ""])
async def test_unsafe_paths_are_told_to_model(path: str) -> None:
    desk = FileDesk()
    for name, more in [("create_file", {"content": ""}), ("read_file", {}), ("delete_file", {})]:
        error = await desk.fail(name, path=path, **more)
        assert error.code == "FAILED"
        assert "FileError" not in str(error)


async def test_edit_returns_diff_and_line() -> None:
    desk = FileDesk(a_html=PAGE)
    output = await desk.call("edit_file", path="a.html", old="Bread", new="Buns")
    assert desk.files["a.html"] == PAGE.replace("Bread", "Buns")
    assert output.summary == "+1 -1"
    assert output.text.startswith("Edited a.html (+1 -1), first changed line 3.\n--- a/a.html\n")
    assert "-  <p>Bread</p>\n+  <p>Buns</p>\n" in output.text
    assert output.outputs == ({"text/x-diff": desk.files.diff("a.html")},)


async def test_several_edits_build_on_each_other() -> None:
    desk = FileDesk(a_html=PAGE)
    edits = [
        {"old": "Bread", "new": "Rolls"},
        {"old": "Rolls", "new": "Buns"},
        {"old": "<p>", "new": "<li>", "count": -1},
    ]
    await desk.call("edit_file", path="a.html", edits=edits)
    assert desk.files["a.html"] == PAGE.replace("Bread", "Buns").replace("<p>", "<li>")
    assert len(desk.changes) == 1


async def test_edits_are_all_or_none() -> None:
    desk = FileDesk(a_html=PAGE)
    error = await desk.fail(
        "edit_file", path="a.html", edits=[{"old": "Bread", "new": "x"}, {"old": "Tarts", "new": "y"}]
    )
    assert error.message == "a.html, edit 2 of 2: the text to replace was not found; nothing was changed."
    assert desk.changes == []


async def test_ambiguous_edit_counts_the_places() -> None:
    error = await FileDesk(a_html=PAGE).fail("edit_file", path="a.html", old="<p>", new="<li>")
    assert "was found 2 times" in error.message
    assert "`count` (-1 for all)" in error.hint


@pytest.mark.parametrize(
    ("text", "written", "changes"),
    [
        ("<b><h1>Bakery<h1><p>Open</p>", "<h1>Bakery</h1>", True),
        ("Open on teh weekend.", "Open on the weekend.", True),
        ("x = 10; x = 11", "x = 12", False),
        ("<h1>Bakery<h1>\n<h1>Bakery<h1>", "<h1>Bakery</h1>", False),
        ("Open on the weekend.", "Closed on Monday.", False),
    ],
)
async def test_a_text_that_is_corrected_in_old_as_well_replaces_the_one_that_it_resembles(
    text, written, changes
):
    desk = FileDesk(a_html=f"a\n{text}\n")
    call = desk.call if changes else desk.fail
    await call("edit_file", path="a.html", old=written, new=written)
    assert (written in desk.files["a.html"]) == changes


async def test_count_replaces_that_many() -> None:
    desk = FileDesk(a_txt="x x x")
    await desk.call("edit_file", path="a.txt", old="x", new="y", count=2)
    assert desk.files["a.txt"] == "y y x"
    await desk.call("edit_file", path="a.txt", old="y", new="z", count=9)
    assert desk.files["a.txt"] == "z z x"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, "lack `old` and `new`, or `edits`"),
        ({"old": "Bread"}, "lack `old` and `new`"),
        ({"old": "a", "new": "b", "edits": [{"old": "a", "new": "b"}]}, "either `old` and `new`, or `edits`"),
        ({"old": "", "new": "b"}, "nothing to replace"),
        ({"old": "Bread", "new": "b", "count": 0}, "nothing to replace"),
        ({"old": "Bread", "new": "b", "count": -2}, "must be bigger than or equal to -1"),
        ({"edits": []}, "must contain at least 1 items"),
        ({"old": "Bread", "new": "Bread"}, "do not change a.html"),
    ],
)
async def test_unclear_edits_are_refused(args: dict[str, Any], message: str) -> None:
    assert message in str(await FileDesk(a_html=PAGE).fail("edit_file", path="a.html", **args))


async def test_edit_keeps_windows_line_ends() -> None:
    desk = FileDesk(a_txt="one\r\ntwo\r\nthree\r\n")
    await desk.call("edit_file", path="a.txt", old="one\ntwo", new="1\n2")
    assert desk.files["a.txt"] == "1\r\n2\r\nthree\r\n"


async def test_edit_of_missing_or_binary_file() -> None:
    desk = FileDesk(index_html="", a_png=b"\0")
    missing = await desk.fail("edit_file", path="indx.html", old="a", new="b")
    assert str(missing) == "There is no file indx.html. Files: index.html, a.png."
    assert "binary file (image/png)" in str(await desk.fail("edit_file", path="a.png", old="a", new="b"))


async def test_large_diff_is_shortened_for_model() -> None:
    text = "".join(f"line {number}\n" for number in range(2000))
    desk = FileDesk(a_txt=text)
    output = await desk.call("edit_file", path="a.txt", old="line", new="row", count=-1)
    assert output.text.endswith("[diff truncated]")
    assert len(output.text) < 9_000
    assert output.outputs[0]["text/x-diff"].count("\n") == 4003


async def test_two_edits_of_one_file_both_hold() -> None:
    desk = FileDesk(a_html=PAGE)
    await asyncio.gather(
        desk.call("edit_file", path="a.html", old="Bread", new="Buns"),
        desk.call("edit_file", path="a.html", old="Cake", new="Tart"),
    )
    assert desk.files["a.html"] == PAGE.replace("Bread", "Buns").replace("Cake", "Tart")
    assert [change.version for change in desk.changes] == [2, 3]


def test_writes_name_the_normal_path() -> None:
    box = Toolbox.default()
    for name in ("create_file", "edit_file", "delete_file"):
        found = box.get(name)
        assert found is not None
        assert found.writes({"path": "./a//b.css"}) == ("a/b.css",)
        assert found.writes({"path": "../x"}) == ()
    for name in ("read_file", "list_files"):
        found = box.get(name)
        assert found is not None
        assert found.writes({"path": "a"}) == ()


@pytest.mark.parametrize(
    ("line", "wanted"),
    [("w " + "a" * 198, "w " + "a" * 197 + "b"), ("a b c d e f g " * 10, "a b c d x" * 20)],
    ids=["one letter", "few words"],
)
def test_the_search_for_nearest_lines_is_bounded(line: str, wanted: str) -> None:
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "c_call"

    lines = [f"{line} {number}" for number in range(1000)]
    sys.setprofile(count)
    try:
        nearest_lines("\n".join(lines), "\n".join([wanted * 100, *[wanted] * 11]))
    finally:
        sys.setprofile(None)
    assert calls < 400_000


async def test_miss_shows_the_nearest_lines() -> None:
    error = await FileDesk(a_html=PAGE).fail("edit_file", path="a.html", old="<h1>The Bakery</h1>", new="x")
    lines = "The closest lines:\n1  <main>\n2    <h1>Bakery</h1>\n3    <p>Bread</p>\n"
    assert error.hint == lines + "Or write the whole file again with create_file."


def test_lines_that_differ_in_spaces_are_found() -> None:
    hint = nearest_lines(PAGE, "<h1>Bakery</h1>\n<p>Bread</p>")
    assert hint.startswith("The closest lines:\n1  <main>\n2    <h1>Bakery</h1>\n")


def test_nothing_alike_is_said() -> None:
    assert nearest_lines(PAGE, "zzz") == "The file has nothing like it: read the file first."
    assert nearest_lines("", "zzz") == "The file has nothing like it: read the file first."
    assert nearest_lines("a\n\n\nb", "  \n") == "The file has nothing like it: read the file first."


def test_minified_line_is_shown_around_word() -> None:
    line = "a{b:c}" * 5000 + "headline{color:red}" + "d{e:f}" * 5000
    hint = nearest_lines(line, "headline{color:blue}")
    assert "headline{color:red}" in hint
    assert len(hint) < 300


@pytest.mark.parametrize("width", range(60, 240, 7))
def test_a_shown_part_of_a_line_has_no_half_of_a_key(width: int) -> None:
    key = "sk-ant-api03-" + "k3y" * 12
    line = f"{'a{b:c}' * 40}'{key}'{'d' * width}headline{{color:red}};'{key}'{'e{f:g}' * 40}"
    hint = nearest_lines(line, "headline{color:blue}")
    assert "headline" in hint
    assert "k3yk3y" not in mask(hint)


async def test_read_gives_the_exact_text() -> None:
    output = await FileDesk(a_html=PAGE).call("read_file", path="a.html")
    assert (output.text, output.summary) == (PAGE, "5 lines")


async def test_read_takes_ranges_and_numbers() -> None:
    desk = FileDesk(a_html=PAGE)
    output = await desk.call("read_file", path="a.html", start=2, end=3, numbered=True)
    assert (output.text, output.summary) == ("2    <h1>Bakery</h1>\n3    <p>Bread</p>", "lines 2-3 of 5")
    assert (await desk.call("read_file", path="a.html", start=5, end=99)).text == "</main>"
    assert "has no lines 9 to 12: it has 5 lines" in str(
        await desk.fail("read_file", path="a.html", start=9, end=12)
    )
    assert "has no lines 4 to 2" in str(await desk.fail("read_file", path="a.html", start=4, end=2))


async def test_read_of_empty_file_is_empty() -> None:
    assert (await FileDesk(a_txt="").call("read_file", path="a.txt")).text == ""


async def test_read_several_keeps_the_found() -> None:
    desk = FileDesk(a_html=PAGE, b_css="p {}\n")
    output = await desk.call(
        "read_file", files=[{"path": "a.html", "end": 1}, {"path": "b.css"}, {"path": "../c"}]
    )
    assert output.text == (
        "=== a.html (lines 1-1 of 5) ===\n<main>\n\n=== b.css (1 line) ===\np {}\n\n\n"
        "=== ../c (not read) ===\nThe path '../c' is outside the project: use a path without '..'."
    )
    assert output.summary.startswith("3 files")


async def test_read_needs_exactly_one_form() -> None:
    desk = FileDesk(a_txt="x")
    for args in ({}, {"path": "a.txt", "files": [{"path": "a.txt"}]}):
        error = await desk.fail("read_file", **args)
        assert (error.code, error.message) == ("SCHEMA", "Give either `path` or `files`.")


async def test_pictures_are_shown_to_model() -> None:
    buffer = io.BytesIO()
    PIL.Image.new("RGB", (2, 2)).save(buffer, "PNG")
    output = await FileDesk(a_png=buffer.getvalue()).call("read_file", path="a.png")
    assert output.images[0].data == buffer.getvalue()
    assert output.text.startswith("a.png is a binary file (image/png, ")
    desk = FileDesk(a_png=buffer.getvalue(), b_png=b"not one")
    assert (await desk.call("read_file", path="b.png")).images == ()
    assert len((await desk.call("read_file", files=[{"path": "./a.png"}, {"path": "b.png"}])).images) == 1


async def test_list_tells_every_file() -> None:
    desk = FileDesk(index_html=PAGE, a_png=b"\0\1")
    output = await desk.call("list_files")
    assert output.text == "index.html  text/html  62 bytes  5 lines\na.png  image/png  2 bytes"
    assert output.summary == "2 files"
    assert (await FileDesk().call("list_files")).text == "There are no files yet."


async def test_delete_removes_and_remembers() -> None:
    desk = FileDesk(a_txt="x")
    assert (await desk.call("delete_file", path="a.txt")).summary == "deleted"
    assert dict(desk.files) == {}
    assert desk.files.versions("a.txt") == ("x", None)
    assert "There are no files yet: create one." in str(await desk.fail("delete_file", path="a.txt"))


def test_titles_are_a_few_words() -> None:
    titles = {tool.name: (tool.title({}), tool.title({"path": "x.html"})) for tool in FILE_TOOLS}
    assert titles == {
        "create_file": ("create file", "create x.html"),
        "edit_file": ("edit file", "edit x.html"),
        "read_file": ("read file", "read x.html"),
        "list_files": ("list files", "list files"),
        "delete_file": ("delete file", "delete x.html"),
    }
    read = Toolbox.default().get("read_file")
    assert read is not None
    assert read.title({"files": [{"path": "a"}, {"path": "b"}]}) == "read 2 files"


def test_schemas_are_closed_and_described() -> None:
    for spec in Toolbox.default().specs:
        assert spec.description.endswith(".")
        assert spec.schema["additionalProperties"] is False
        assert all("description" in one for one in spec.schema["properties"].values())
