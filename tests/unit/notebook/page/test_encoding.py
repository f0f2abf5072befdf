"""Values as JSON for a page: in the notebook, masked in an output, and in an exported page with its own encoder."""

import ast
import base64
import inspect
import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import PIL.Image
import pytest

from agent_nb import ConfigError
from agent_nb.notebook.page import encoding
from agent_nb.notebook.page.bindings import Bindings
from agent_nb.notebook.page.encoding import MAX_CHARACTERS, EncodingError, json_pieces
from agent_nb.notebook.page.store import PageStore
from agent_nb.notebook.page.widget import _exported

SETUP = """
import array, collections, datetime, decimal, pathlib, uuid
from dataclasses import dataclass
from enum import Enum, IntEnum
import numpy as np
import pandas as pd
import PIL.Image
import polars as pl
import pyarrow as pa
from matplotlib.figure import Figure

class Colour(Enum):
    RED = "red"
class Level(IntEnum):
    HIGH = 3
@dataclass
class Point:
    x: int
    y: object
class Broken(collections.UserDict):
    def items(self):
        raise KeyError

TABLE = {"town": ["Lyon", None], "rate": [1.5, float("nan")]}
cycle = []
cycle.append(cycle)
deep = []
for _ in range(5_000):
    deep = [deep]
"""
ROWS = [{"town": "Lyon", "rate": 1.5}, {"town": None, "rate": None}]
PNG, JPEG = "data:image/png;base64,iVBORw0KGgo", "data:image/jpeg;base64,/9j/"
VALUES = {
    "pd.DataFrame(TABLE)": ROWS,
    "pl.DataFrame(TABLE)": ROWS,
    "pa.table(TABLE)": ROWS,
    "pa.record_batch(TABLE)": ROWS,
    "pd.DataFrame({'at': pd.to_datetime(['2026-03-01', None])})": [{"at": "2026-03-01T00:00:00"}, {"at": None}],
    "pd.DataFrame({'for': pd.to_timedelta([90], unit='s')})": [{"for": 90.0}],
    "pd.DataFrame({'kind': pd.Categorical(['a'])})": [{"kind": "a"}],
    "pd.DataFrame([[1, 2]], columns=['a', 'a'])": [{"a": 1, "a_2": 2}],
    "pd.DataFrame({('a', 'b'): [pd.NaT], 3: [pd.NA]})": [{"a / b": None, "3": None}],
    "pd.DataFrame({'n': [decimal.Decimal('1.5'), [Colour.RED]]}, index=['a', 'b'])": [
        {"index": "a", "n": 1.5},
        {"index": "b", "n": ["red"]},
    ],
    "pd.DataFrame({'n': [1]}, index=pd.MultiIndex.from_tuples([('x', 1)], names=['k', None]))": [
        {"k": "x", "index": 1, "n": 1}
    ],
    "pd.Series([1, 2])": [1, 2],
    "pd.Series([1.5], index=['x'])": [{"index": "x", "values": 1.5}],
    "pd.Series([1.5], index=[2.0], name='n')": [{"index": 2.0, "n": 1.5}],
    "[pd.Index(['a']), pd.RangeIndex(2), pd.Categorical(['b'])]": [["a"], [0, 1], ["b"]],
    "[pd.Timestamp('2026-03-01'), pd.NaT, pd.NA, pd.Period('2026-03', 'M'), pd.Interval(0, 1)]": [
        "2026-03-01T00:00:00", None, None, "2026-03", "(0, 1]",
    ],
    "pl.Series([datetime.date(2026, 3, 1), None])": ["2026-03-01", None],
    "[pa.array([1, None]), pa.chunked_array([[1], [2]])]": [[1, None], [1, 2]],
    "np.arange(4).reshape(2, 2)": [[0, 1], [2, 3]],
    "[np.array(5), np.zeros((0, 2)), np.zeros((2, 0))]": [5, [], [[], []]],
    "np.array(['2026-03-01', 'NaT'], dtype='datetime64[ns]')": ["2026-03-01T00:00:00", None],
    "[np.float32('nan'), np.int64(3), np.bool_(True), np.str_('a'), np.timedelta64(90, 's')]": [
        None, 3, True, "a", 90.0,
    ],
    "[np.array([0.5, np.nan], dtype=np.longdouble), {'x': np.longdouble(1.5)}]": [[0.5, None], {"x": 1.5}],
    "array.array('d', [1.5])": [1.5],
    "{'a': (1, 2), 3: {4}, Level.HIGH: frozenset({5}), datetime.date(2026, 3, 1): collections.deque([6])}": {
        "a": [1, 2], "3": [5], "2026-03-01": [6],
    },
    "[datetime.date(2026, 3, 1), datetime.time(12), datetime.timedelta(minutes=2)]": ["2026-03-01", "12:00:00", 120.0],
    "[decimal.Decimal('1.5'), Colour.RED, Level.HIGH, Point(1, Point(2, float('inf')))]": [
        1.5, "red", 3, {"x": 1, "y": {"x": 2, "y": None}},
    ],
    "[uuid.UUID(int=1), pathlib.PurePosixPath('a/b'), range(3)]": [
        "00000000-0000-0000-0000-000000000001", "a/b", [0, 1, 2],
    ],
    "['\\ud800 <script>', float('nan'), -float('inf')]": ["\ud800 <script>", None, None],
    "{'é': '\\u2028', 1.5: 2**70, 'empty': [{}, [], '', None, True]}": {
        "é": "\u2028", "1.5": 2**70, "empty": [{}, [], "", None, True],
    },
    "Figure(figsize=(1, 1))": PNG,
    "[Figure(figsize=(1, 1)).subplots()]": [PNG],
    "Figure(figsize=(1, 1)).subfigures(2)[0].subplots()": PNG,
    "[PIL.Image.new(mode, (2, 2)) for mode in ('1', 'L', 'P', 'RGBA', 'CMYK', 'I', 'F')]": [PNG] * 7,
    "(lambda image: setattr(image, 'format', 'JPEG') or image)(PIL.Image.new('RGB', (2, 2)))": JPEG,
}  # fmt: skip
UNFIT = {
    "object()": "contains a value of type object, which",
    "int": "contains a value of type type, which",
    "np.ndarray": "contains a value of type type, which",
    "[{'a': 1j}]": "contains a value of type complex, which",
    "[np.clongdouble(1)]": "contains a value of type clongdouble, which",
    "{(1, 2): 3}": "contains a value of type tuple as a key, which",
    "{None: 3}": "contains a value of type NoneType as a key, which",
    "pl.LazyFrame(TABLE)": "contains a value of type LazyFrame, which",
    "{'a': [b'x'] * 40_000}": "contains a value of type bytes, which",
    "cycle": "is nested too deep, or contains itself.",
    "deep": "is nested too deep, or contains itself.",
    "Broken()": "cannot be read as JSON: KeyError.",
}
IN_A_FILE = """
import json, sys
sys.modules["agent_nb"] = None
from values import Values
sys.modules["pydantic_core"] = None

class Watched(Values):
    def send(self, content, buffers=None):
        sent.append(content)

sent, answers = [], {}
exec(sys.argv[1])
for source in sys.argv[2:]:
    page = Watched(value=eval(source))
    page._receive(page, {"do": "get", "view": "v", "name": "value"}, [])
    answers[source] = sent.pop()
print(json.dumps(answers))
"""


def pieces(value):
    return "".join(json_pieces("value", value))


def masked(value):
    return PageStore(Bindings(())).masked_text("value", value, MAX_CHARACTERS)


def in_this_process(encode):
    names, answers = {"__name__": __name__}, {}
    exec(SETUP, names)
    for source in (*VALUES, *UNFIT):
        try:
            answers[source] = {"text": encode(eval(source, names))}
        except (EncodingError, ConfigError) as error:
            answers[source] = {"error": str(error)}
    return answers


def in_a_file(folder):
    (folder / "values.py").write_text(
        _exported("Values", {"value": "value"}, "<p>Values</p>"), encoding="utf-8"
    )
    command = [sys.executable, "-c", IN_A_FILE, SETUP, *VALUES, *UNFIT]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module", params=[pieces, masked, None], ids=["notebook", "saved", "exported"])
def answers(request, tmp_path_factory):
    return in_this_process(request.param) if request.param else in_a_file(tmp_path_factory.mktemp("page"))


def without_data(value):
    """The value with only the start of each data URL."""
    if isinstance(value, list):
        return [without_data(item) for item in value]
    starts = [start for start in (PNG, JPEG) if isinstance(value, str) and value.startswith(start)]
    return starts[0] if starts else value


@pytest.mark.parametrize("source", VALUES)
def test_a_value_arrives_as_json(answers, source):
    assert without_data(json.loads(answers[source]["text"])) == VALUES[source]


@pytest.mark.parametrize("source", UNFIT)
def test_what_json_cannot_hold_is_an_error_that_names_it(answers, source):
    assert answers[source]["error"].startswith(f"`value` {UNFIT[source]}")


def test_the_encoder_imports_only_the_standard_library():
    nodes = ast.walk(ast.parse(inspect.getsource(encoding)))
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = [getattr(node, "module", None) or node.names[0].name for node in imports]
    assert {module.partition(".")[0] for module in modules} <= sys.stdlib_module_names


def test_a_photo_is_upright_and_not_too_large():
    photo = PIL.Image.new("RGB", (6000, 3000))
    photo.getexif()[274] = 6  # turned by 90 degrees
    text = "".join(json_pieces("value", photo))
    shown = PIL.Image.open(io.BytesIO(base64.b64decode(json.loads(text).partition(",")[2])))
    assert shown.size == (2048, 4096)


def test_a_value_of_more_than_the_limit_is_refused():
    for value in (pd.DataFrame({"n": range(10_000_000)}), range(10**15)):
        with pytest.raises(EncodingError, match=r"`value` has more than 1 MB as JSON.*Bind fewer rows"):
            list(json_pieces("value", value, limit=1_000_000))


LARGE = {
    "rows": [{"n": number} for number in range(30_000)],
    "text": "x" * 1_000_000,
    "texts": ["x" * 1_000] * 2_000,
    "flat": [1] * 30_000,
}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (LARGE, LARGE),
        (np.zeros((2, 300, 300)), [[[0] * 300] * 300] * 2),
        (pd.DataFrame({"a": ["x" * 1_000] * 3_000}), [{"a": "x" * 1_000}] * 3_000),
    ],
    ids=["containers", "array", "table"],
)
def test_large_values_come_in_small_pieces(value, expected):
    pieces = list(json_pieces("value", value))
    assert max(map(len, pieces)) <= 200_000
    assert json.loads("".join(pieces)) == expected
