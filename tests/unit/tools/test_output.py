"""What becomes of a tool's result, for the model and for the user."""

import base64
import io
import sys
from typing import Any

import matplotlib
import pandas
import PIL.Image
import pytest

from agent_nb.core.errors import ConfigError
from agent_nb.core.messages import Image
from agent_nb.tools import ToolOutput
from agent_nb.tools.function import MAX_REPR, to_output
from tests.unit.tools.test_function import Place, Unit

matplotlib.use("Agg")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        (None, "done"),
        (3, "3"),
        (True, "true"),
        ({"a": [1, "é"]}, '{"a": [1, "é"]}'),
        ((1, 2), "[1, 2]"),
        ({1}, "[1]"),
        (Place("Lyon"), '{"name": "Lyon", "size": 1.0, "tags": []}'),
        ({"unit": Unit.CELSIUS}, '{"unit": "<Unit.CELSIUS: \'c\'>"}'),
        ({(1, 2): 3}, "{(1, 2): 3}"),
        (b"ab", "b'ab'"),
        (Place, repr(Place)),
    ],
)
def test_plain_results_become_text(value: Any, text: str) -> None:
    assert to_output(value).text == text


def test_output_passes_unchanged() -> None:
    output = ToolOutput(text="a", summary="b")
    assert to_output(output) is output


def test_unserialisable_results_never_fail() -> None:
    class Rude:
        def __repr__(self) -> str:
            raise RuntimeError

    circle: list[Any] = []
    circle.append(circle)
    assert to_output(circle).text == "[[...]]"
    assert to_output(Rude()).text == "<Rude whose repr fails>"
    assert to_output([Rude()]).text == '["<Rude whose repr fails>"]'
    assert len(to_output(bytes(10 * MAX_REPR)).text) < MAX_REPR + 100


def test_pictures_reach_model_and_person() -> None:
    output = to_output(PIL.Image.new("CMYK", (4, 3)))
    (image,) = output.images
    assert PIL.Image.open(io.BytesIO(image.data)).size == (4, 3)
    assert output.outputs == ({image.media_type: base64.b64encode(image.data).decode()},)


def test_figures_and_axes_become_images() -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1, 1))
    axes = figure.subplots()
    assert len(to_output([figure, axes, "two plots"]).images) == 2
    assert to_output([figure, "a plot"]).text.endswith("\na plot")


def test_image_that_is_not_one() -> None:
    with pytest.raises(ConfigError, match="not an image"):
        to_output(Image(b"hello"))


def test_data_frames_are_told_briefly() -> None:
    frame = pandas.DataFrame({"n": range(1000)})
    output = to_output(frame)
    assert output.text.startswith("1000 rows x 1 columns\n")
    assert output.text.count("\n") < 100
    assert output.summary == "DataFrame"
    assert "<table" in output.outputs[0]["text/html"]
    assert to_output(pandas.Series([1])).text.startswith("0    1")


def test_rich_object_that_fails_is_text() -> None:
    class Broken:
        def _repr_html_(self) -> str:
            raise RuntimeError

        def __repr__(self) -> str:
            return "broken"

    output = to_output(Broken())
    assert (output.text, output.outputs) == ("broken", ())


def test_output_imports_nothing_heavy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in ("PIL", "pandas", "matplotlib")]:
        monkeypatch.delitem(sys.modules, name)
    to_output({"a": [object()]})
    assert not {"PIL", "pandas", "matplotlib"} & sys.modules.keys()
