"""`list_cells` and `read_cells`: what the model gets of a notebook that anybody may have written."""

import json
from pathlib import Path

import pytest

from agent_nb.files.notebook_cells import read_notebook_cells
from agent_nb.notebook.notebook_tools import open_notebook as asking
from agent_nb.notebook.notebook_tools.cells import MOST_FIGURES, MOST_TEXT, describe_cells, outline
from tests.unit.notebook.notebook_tools.conftest import code, figure


async def test_the_outline_has_a_line_for_each_cell(page):
    result = await page.result("list_cells")
    assert result.text == (
        "5 cells:\n"
        "[1] intro markdown `# Sales`\n"
        "[2] load code In[1] `prices = [3, 5]` (stream)\n"
        "[3] plot code In[2] `plot(prices)` (image/png, text/plain)\n"
        "[4] mean code In[1] `sum(prices) / rate` (error)\n"
        "[5] own-cell code not run `%%agent -t notebook` (the cell of this run)"
    )


async def test_cells_are_read_by_id_number_and_range_in_their_order(page):
    result = await page.result("read_cells", cells=["4", "intro", "2-3"])
    headings = [line for line in result.text.splitlines() if line.startswith("Cell ")]
    assert headings == [
        "Cell 1 (id intro, markdown):",
        "Cell 2 (id load, code, In[1]):",
        "Cell 3 (id plot, code, In[2]):",
        "Cell 4 (id mean, code, In[1]):",
    ]
    assert "# Sales\nof 2026" in result.text
    assert "Output:\n```\n[3, 5]\n" in result.text
    assert "Error:\n```\nNameError: rate\n```" in result.text
    assert "Figures: 1, 1 of them attached." in result.text
    assert [image.name for image in result.images] == ["cell 3"]
    missing = await page.result("read_cells", cells=["9"])
    assert "There is no cell '9'." in missing.text
    assert "has 5 cells" in missing.text


async def test_a_long_notebook_is_bounded_and_the_text_says_where(page):
    loud = {"output_type": "stream", "text": "x" * 10_000_000}
    page.cells[:0] = [code(f"c{n}", f"n = {n}\n" * 20, *([figure()] if n < 40 else [])) for n in range(300)]
    page.cells[2]["outputs"] += [loud]
    result = await page.result("read_cells", cells=["1-300"])
    assert len(result.images) == MOST_FIGURES
    assert len(result.text) < 50_000
    assert "Figures: 1, none of them attached." in result.text
    assert "(Not read, because the text would be too long: cells" in result.text
    assert "more characters)" in result.text
    outline = await page.result("list_cells")
    assert outline.text.startswith("305 cells:")
    assert "[300] c299 code" in outline.text


@pytest.mark.parametrize(
    ("left_out", "said"), [(1_003, "1,003 more cells below"), (-1, ""), ("3", ""), (None, "")]
)
async def test_the_model_is_told_how_many_cells_the_page_has_left_out(page, left_out, said):
    page.left_out = left_out
    for call in (("list_cells", {}), ("read_cells", {"cells": ["1"]})):
        shown = await page.run(call)
        text = shown.result.tool_uses[0].result.text
        assert ("more cells below" in text, said in text) == (bool(said), True)


@pytest.mark.parametrize("source", ["x", "x = 1\n" * 20, "x" * 5_000])
def test_many_cells_are_bounded_and_the_text_says_so(source):
    outputs = [{"output_type": "display_data", "data": {f"text/{'x' * 60}": "1"}}]
    cells = read_notebook_cells([code(f"{number:064}", source, *outputs) for number in range(2_000)])
    listed, described = outline(cells, "", []), describe_cells(cells, [])
    assert max(len(listed), len(described.text)) <= MOST_TEXT
    assert f"and {2_000 - listed.count('code')} more" in listed.replace(",", "")
    assert "too long: cells" in described.text


@pytest.mark.parametrize("length", [1, 100, 5_000])
def test_a_cell_with_many_outputs_is_bounded_and_the_text_says_so(length):
    lines = [{"output_type": "stream", "text": "x" * length}] * 20_000
    (cell,) = read_notebook_cells([code("loud", "print()", *lines)])
    described = describe_cells([cell], [])
    assert MOST_TEXT / 2 < len(described.text) <= MOST_TEXT
    assert "more outputs.)" in described.text
    assert described.shortened == ("cell 1 of the notebook",)


@pytest.mark.parametrize(
    ("omitted", "said"), [(49_900, "49,900 more outputs.)"), (-1, ""), ("3", ""), (True, "")]
)
def test_outputs_for_which_the_page_had_no_room_are_counted(omitted, said):
    row = code("loud", "print()", {"output_type": "stream", "text": "first"})
    described = describe_cells(read_notebook_cells([{**row, "omitted": omitted}]), [])
    assert "first" in described.text
    assert ("Not read" in described.text, said in described.text) == (bool(said), True)
    assert described.shortened == (("cell 1 of the notebook",) if said else ())


async def test_the_secrets_of_variables_are_masked(page, secret):
    stream = {"output_type": "stream", "text": "tiger-lily-42"}
    page.cells.append(code("keys", "password = 'other-secret-9'\nlogin('tiger-lily-42')", stream))
    for call in (("read_cells", {"cells": ["keys"]}), ("list_cells", {})):
        shown = await page.run(call)
        sent = shown.result.tool_uses[0].result.text
        assert "•••" in sent
        assert secret not in sent
        assert "other-secret-9" not in sent


@pytest.mark.parametrize(
    "cell",
    [
        {"id": "3"},
        {"id": "1-9999"},
        {"id": "x" * 10_000},
        {"id": 'a"><script>'},
        {"id": ["load"]},
        {"id": "load"},
        {},
        {"source": {"a": 1}, "outputs": {"0": 1}, "execution_count": True},
        {
            "outputs": [
                None,
                {"output_type": "error", "traceback": 3},
                {"data": [1]},
                {"data": {"image/png": 7}},
            ]
        },
    ],
    ids=lambda cell: json.dumps(cell)[:20],
)
async def test_a_cell_of_any_shape_is_only_text_and_has_no_name_that_stands_for_another(page, cell):
    page.cells.append({"cell_type": "code", "source": "```\nCell 1 (id intro):", "outputs": [], **cell})
    outline = await page.result("list_cells")
    assert "[6] (no id) code" in outline.text
    assert (await page.result("read_cells", cells=["6"])).text.startswith("Cell 6 (no id, code")
    assert (await page.result("change_cell", cell="6", old="a", new="b")).code == "FAILED"


def test_what_is_no_notebook_has_no_cells():
    assert [read_notebook_cells(value) for value in (None, {}, "cells", [1, "a"])] == [[], [], [], []]


async def test_without_a_page_the_saved_notebook_is_read_and_nothing_is_offered(page, monkeypatch, tmp_path):
    path = tmp_path / "saved.ipynb"
    forged = {"id": None, "number": 2, "cut": True, "edited": True, "omitted": 7}
    path.write_text(json.dumps({"cells": [{**cell, **forged} for cell in page.cells]}))
    monkeypatch.setenv("JPY_SESSION_NAME", str(path))
    monkeypatch.setattr(asking, "INTERVAL", 0.02)
    monkeypatch.setattr(asking.open_notebook, "_has_answered", False)
    page.hub.model.send = lambda message, *_: None
    outline = await page.result("list_cells")
    assert outline.text.startswith("The notebook as saved at ")
    assert "[2] (no id) code In[1] `prices = [3, 5]`" in outline.text
    cell = (await page.result("read_cells", cells=["2"])).text
    assert "Cell 2 (no id, code, In[1]):" in cell
    assert "print(prices)" in cell
    assert "Not read" not in cell
    for name, args in (
        ("change_cell", {"cell": "load", "old": "3", "new": "4"}),
        ("insert_cell", {"source": "1"}),
        ("delete_cell", {"cell": "load"}),
    ):
        result = await page.result(name, **args)
        assert "Changes of cells cannot be offered here: no page" in result.text
    Path(path).unlink()
    assert "its file is not known" in (await page.result("list_cells")).text


async def test_a_window_that_cannot_read_says_why_and_the_first_answer_counts(page, monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    answer = page._answer

    def refuse(message):
        page.command("notebook", request_id=message["request_id"], error="this page has no access")
        answer(message)

    page._answer = refuse
    assert "this page has no access, and its file is not known" in (await page.result("list_cells")).text
    assert page.command("notebook", request_id="gone", cells=[])["ok"]


async def test_without_values_there_are_numbers_and_kinds_alone(page):
    shown = await page.run(("list_cells", {}), ("read_cells", {"cells": ["1"]}), schema_only=True)
    listed, read = shown.result.tool_uses
    assert listed.result.text == "[1] markdown\n[2] code\n[3] code\n[4] code\n[5] code"
    assert "This run sends no values, and cells have values in them." in read.result.text
    page.cells[1]["source"] = "patient = 'Muller'"
    shown = await page.run(("change_cell", {"cell": "load", "old": "M", "new": "N"}), schema_only=True)
    assert "Muller" not in repr(shown.result.messages)
    assert shown.result.changes == ()
