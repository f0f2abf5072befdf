"""The parts of `run_python` that need no kernel: files, output, what code is called."""

import pytest

from agent_nb._base.constants import INTERACTIVE_TYPE
from agent_nb.core.errors import ConfigError
from agent_nb.files.contents import content_of
from agent_nb.notebook.kernel_tools import capture as capturing
from agent_nb.notebook.kernel_tools.capture import Capture, bounded
from agent_nb.notebook.kernel_tools.name_changes import UndoStore, changes_between
from agent_nb.notebook.kernel_tools.python import mentions


def test_the_oldest_calls_can_no_longer_be_undone():
    store = UndoStore()
    tokens = [store.add(changes_between({}, {"a": 1}, {})) for _ in range(30)]
    with pytest.raises(ConfigError, match="no longer"):
        store.undo(tokens[0])
    assert "Put back: a." in store.undo(tokens[-1])[0]


@pytest.mark.parametrize(
    ("path", "value", "content"),
    [
        ("a.json", {"x": {1}}, '{\n "x": [\n  1\n ]\n}'),
        ("a.txt", "text", "text"),
        ("js/sales.js", [1], "window.sales = [\n 1\n];\n"),
        ("my-data.js", [], "window.data = [];\n"),
        ("a.bin", bytearray(b"12"), b"12"),
    ],
)
def test_values_become_files(path, value, content):
    assert content_of(path, value) == content


def test_tables_and_figures_become_files():
    pandas = pytest.importorskip("pandas")
    figures = pytest.importorskip("matplotlib.figure")
    table = pandas.DataFrame({"a": [1, 2]}, index=["x", "y"])
    assert content_of("t.json", table) == '[{"index":"x","a":1},{"index":"y","a":2}]'
    assert content_of("t.csv", table.reset_index(drop=True)) == "a\n1\n2\n"
    assert content_of("f.png", figures.Figure())[:4] == b"\x89PNG"
    assert "<svg" in content_of("f.svg", figures.Figure())


def test_what_cannot_be_written_says_so():
    with pytest.raises(TypeError, match="a object cannot be written as JSON"):
        content_of("a.json", [object()])


def test_printed_text_is_bounded_while_it_grows():
    live = []
    capture = Capture(live.append)
    for number in range(20_000):
        capture.write(f"line {number}\n")
    text = "".join(bundle["text/plain"] for bundle in capture.bundles())
    assert text.startswith("line 0\n")
    assert text.endswith("line 19999\n")
    assert "characters omitted" in text
    assert len(text) < capturing.HEAD + 2 * capturing.TAIL
    assert sum(len(bundle["text/plain"]) for bundle in live) <= capturing.MAX_LIVE
    assert len(live) <= capturing.MAX_LIVE_LINES + 200


def test_displays_and_text_keep_their_order_and_updates_replace():
    capture = Capture(lambda bundle: None)
    capture.write("10%\r50%\r\x1b[31m100%\x1b[0m\n")
    capture.display({"text/plain": "old", "application/json": {}}, {"display_id": "d"}, update=False)
    capture.write("after")
    assert capture.display({"text/plain": "new"}, {"display_id": "d"}, update=True)
    assert not capture.display({"text/plain": "new"}, {"display_id": "other"}, update=True)
    assert [bundle["text/plain"] for bundle in capture.bundles()] == ["100%\n", "new", "after"]


def test_two_hundred_figures_are_bounded_and_the_rest_is_counted():
    live = []
    capture = Capture(live.append)
    for number in range(200):
        capture.display({"text/plain": f"<Figure {number}>", "image/png": b"png"}, None, update=False)
    *shown, note = capture.bundles()
    assert [bundle["text/plain"] for bundle in shown] == [
        f"<Figure {n}>" for n in range(capturing.MAX_OUTPUTS)
    ]
    assert note == {"text/plain": "[160 more outputs omitted]\n"}
    assert len(live) == capturing.MAX_OUTPUTS


def test_cleared_outputs_are_not_counted_as_omitted():
    capture = Capture(lambda bundle: None)
    for number in range(capturing.MAX_OUTPUTS + 1):
        capture.display({"text/plain": f"<Figure {number}>"}, None, update=False)
    capture.clear()
    capture.write("done\n")
    assert capture.bundles() == ({"text/plain": "done\n"},)


def test_a_secret_is_masked_across_two_prints():
    live = []
    capture = Capture(live.append)
    for piece in ("key sk-ant-api03-AbCdEfGhIj", "KlMnOpQrStUvWxYz0123456789\n", "end\n"):
        capture.write(piece)
    assert "AbCd" not in str(live)
    assert "end" in str(live)


def test_a_bundle_is_bounded():
    bundle = bounded({"text/plain": "x" * 50_000, "text/html": "y" * 600_000, "image/png": b"png"})
    assert sorted(bundle) == ["image/png", "text/plain"]
    assert bundle["image/png"] == "cG5n"
    assert len(bundle["text/plain"]) < 21_000


def test_a_formula_is_markdown_and_the_name_of_its_class_is_left_out():
    formula = {"text/plain": "<IPython.core.display.Latex object>", "text/latex": "$$x^2$$"}
    assert bounded(formula) == {"text/markdown": "$$x^2$$"}
    assert bounded({"text/plain": "x**2", "text/latex": "$x^2$"})["text/plain"] == "x**2"


@pytest.mark.parametrize(
    "kind",
    [
        "application/vnd.plotly.v1+json",
        "application/vnd.vegalite.v6+json",
        "application/vnd.jupyter.widget-view+json",
    ],
)
def test_the_output_of_an_interactive_library_is_its_text_and_says_so(kind):
    assert bounded({kind: {}, "text/html": "<script></script>", "text/plain": "Figure()"}) == {
        INTERACTIVE_TYPE: True,
        "text/plain": "Figure()",
    }


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("x = 1", []),
        ("!ls -l", ["runs a shell command: ls -l"]),
        ("files = !ls", ["runs a shell command: ls"]),
        ("%pip install x", ["runs a shell command: pip install x"]),
        ("%%bash\necho 1", ["runs a shell command: bash echo 1"]),
        ("%timeit 1", ["uses %timeit"]),
        ("import os\nos.system('rm x')", ["runs a shell command: rm x"]),
        ("subprocess.run(['ls'])", ["runs a shell command: ['ls']"]),
        ("def f(:", []),
    ],
)
def test_what_is_not_python_is_named(shell, code, found):
    assert mentions(code, shell.ipython) == found
