"""What a saved notebook says: the order of its cells, its checks, and keys that it should not have."""

import json

import pytest

from agent_nb.classroom.submit import AGAIN, is_check, read_notebook
from agent_nb.core.errors import ConfigError
from tests.support.notebooks import notebook

CHECK = "%%agent hero --check '<form' in html\nA form"
KEY = "sk-ant-api03-" + "a1B2" * 8


def remarks(*cells) -> list[str]:
    return list(read_notebook(notebook(*cells)).remarks())


def test_a_notebook_that_ran_from_top_to_bottom():
    reading = read_notebook(notebook("%load_ext agent_nb", CHECK, "", ("%agent submit", None)))
    assert [cell.source for cell in reading.cells] == ["%load_ext agent_nb", CHECK]
    assert not list(reading.remarks())


@pytest.mark.parametrize(
    ("cells", "remark"),
    [
        ((("a = 1", 1), ("b = 'Übung 三'", None)), "Cell 2 (`b = 'Übung 三'`) did not run."),
        ((("a", 2), ("b", 1), ("c", 3)), f"Cell 2 (`b`) ran before the cell above. {AGAIN}"),
        ((("a", 1), ("b", 1)), f"Cell 2 (`b`) ran before the cell above. {AGAIN}"),
        (
            (("a", 1), ("b", 2), ("c", 7)),
            f"Some cells ran more than once: 3 cells have numbers up to 7. {AGAIN}",
        ),
        (
            (("a", 1), (CHECK, 2, "CheckFailed")),
            "The check of cell 2 (`%%agent hero --check '<form' in html`) failed.",
        ),
    ],
)
def test_what_is_wrong_names_the_cell(cells, remark):
    assert remarks(*cells) == [remark]


def test_cells_that_submit_may_stand_anywhere():
    assert not remarks(("a", 1), ("%agent submit", 2), ("b", 3), ("%robot submit 'Übung 三.ipynb'", None))


def test_many_cells_are_not_all_named():
    (remark,) = remarks(*((f"x{number}", None) for number in range(8)))
    assert remark.count("`x") == 5
    assert remark.endswith("and 3 more did not run.")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (CHECK, True),
        (f"# first\n%%time\n{CHECK}", True),
        ("%%robot hero --check=files\nA form", True),
        ("%%agent hero\nWrite about --check now", False),
        ("print('%%agent --check x')", False),
        ("%%agent hero --checked\nx", False),
    ],
)
def test_check_cells(source, expected):
    (cell,) = read_notebook(notebook(source)).cells
    assert is_check(cell) is expected


def test_a_cell_cannot_choose_its_number():
    content = json.loads(notebook("a = 1", ("b = 2", None)))
    content["cells"][1]["number"] = 1
    (remark,) = read_notebook(json.dumps(content).encode()).remarks()
    assert remark == "Cell 2 (`b = 2`) did not run."


def test_keys_are_found_across_the_pieces_of_a_source_and_of_an_output():
    content = json.loads(notebook("a = 1", "b = 2", "c = 3"))
    content["cells"][0]["source"] = ["key = '", KEY[:20], KEY[20:] + "'"]
    content["cells"][1]["outputs"] = [
        {"output_type": "stream", "text": part} for part in (KEY[:9], [KEY[9:]])
    ]
    assert read_notebook(json.dumps(content).encode()).secrets == ("cell 1", "cell 2")


@pytest.mark.parametrize(
    "value", [KEY, [{"deep": KEY}], {"api_key": "hunter2-hunter3"}, {"token": ["xk42-9q-zz-17"]}]
)
def test_keys_are_found_in_metadata(value):
    content = json.loads(notebook("a = 1", "b = 2"))
    content["metadata"]["papermill"] = {"parameters": value}
    content["cells"][1]["metadata"] = {"note": value}
    assert read_notebook(json.dumps(content).encode()).secrets == ("cell 2", "metadata")


def test_ordinary_metadata_holds_no_key():
    content = json.loads(notebook("a = 1"))
    content["metadata"] = {"kernelspec": {"name": "python3"}, "token": "none", "sort_key": "title-and-date-2"}
    content["cells"][0]["metadata"] = {"tags": ["exercise"], "api_key": None}
    assert read_notebook(json.dumps(content).encode()).secrets == ()


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{", b"[]", b"{}", b'{"cells": 3}', b"\xff\xfe", b"[" * 100_000, b'{"cells": null}'),
        b'{"cells": [], "metadata": ' + b'{"a":' * 900 + b"1" + b"}" * 901,
    ],
)
def test_what_is_no_notebook(data):
    with pytest.raises(ConfigError, match="The notebook is damaged"):
        read_notebook(data)


@pytest.mark.parametrize(
    "cell",
    [
        3,
        {"cell_type": "code"},
        {"cell_type": "code", "source": 3, "outputs": 3},
        {"cell_type": "code", "source": [3, "a"], "execution_count": "1", "outputs": [3]},
        {"cell_type": "code", "source": "a", "execution_count": True},
    ],
)
def test_odd_cells(cell):
    reading = read_notebook(json.dumps({"cells": [cell]}).encode())
    assert all(each.count is None for each in reading.cells)
