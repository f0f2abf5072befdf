"""`describe_variable`: what `{{name}}` puts in, and images of figures."""

import base64
import io

import PIL.Image
import pytest

from agent_nb import ToolError
from agent_nb.notebook.kernel_tools import variables
from agent_nb.notebook.kernel_tools.variables import describe_variable
from agent_nb.notebook.values.describe_values import TEXT_LIMIT, expand
from agent_nb.tools import ToolOutput
from tests.support import awkward

KEY = f"sk-proj-{'Ab1' * 16}"
SALES = (
    "import pandas as pd\nsales = pd.DataFrame({'region': ['north', 'south', 'north'], 'units': [3, 4, 5]})"
)


def described(shell, name: str) -> ToolOutput:
    return describe_variable(shell.ipython).run({"name": name}, None)


@pytest.mark.parametrize(
    "expression",
    [
        "pd.DataFrame({'region': ['north', None], 'units': [3, 4], 'api_key': ['abc', 'xyz']})",
        "pd.Series([1, 2], name='n')",
        "{'a': 1, 'password': 'abc'}",
        "['x', 2]",
        "'some text'",
        "__import__('numpy').arange(6).reshape(2, 3)",
        "None",
    ],
)
def test_it_contains_what_the_braces_put_in(shell, expression):
    shell.run(f"import pandas as pd\nvalue = {expression}")
    output = described(shell, "value")
    assert expand("{{value}}", shell.names).text in output.text
    assert "abc" not in output.text


@pytest.mark.parametrize("path", ["sales.units", 'data["sales"]', "data['deep'][0]"])
def test_a_path_leads_into_a_variable(shell, path):
    shell.run(f"{SALES}\ndata = {{'sales': sales, 'deep': [sales]}}")
    assert described(shell, path).text.startswith(f"`{path}`: pandas.")


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("sale", "`sale` is not defined. Did you mean `sales`?"),
        ("In", "`In` is not defined"),
        ("_secret", "`_secret` is not defined"),
        ("os.environ", "`os` is not defined"),
        ("sales.__class__", "`sales.__class__` is private"),
        ("sales.nothing", "`sales.nothing` cannot be read: AttributeError"),
        ("sales.sum()", "is not a variable"),
        ("", "is not a variable"),
    ],
)
def test_what_is_not_a_variable_of_the_user_is_refused(shell, path, sentence):
    shell.run(f"{SALES}\nimport os\n_secret = 'abc'")
    with pytest.raises(ToolError) as error:
        described(shell, path)
    assert sentence in str(error.value)


def test_a_field_that_raises_or_hangs_is_refused(shell, monkeypatch):
    shell.run(awkward.CLASSES + "shape = RaisingShape()\nhostile = Hostile()")
    with pytest.raises(ToolError, match="cannot be read: KeyError"):
        described(shell, "shape.shape")
    monkeypatch.setattr(variables, "DESCRIBE_SECONDS", 0.05)
    shell.run("class Slow:\n    @property\n    def field(self):\n        while True: pass\nslow = Slow()")
    with pytest.raises(ToolError, match="takes longer than"):
        described(shell, "slow.field")


def test_what_cannot_be_described_is_reported(shell, monkeypatch):
    shell.run(awkward.CLASSES + "bad, endless = RaisingRepr(), EndlessRepr()")
    assert (
        described(shell, "bad").text == "`bad`: RaisingRepr\n(`bad` cannot be described: ValueError: no repr)"
    )
    monkeypatch.setattr(variables, "DESCRIBE_SECONDS", 0.3)
    output = described(shell, "endless")
    assert output.text.endswith("(describing it takes longer than 0.3 seconds)")
    assert output.summary.endswith("(not readable)")


def test_a_key_at_the_cut_is_masked_as_a_whole(shell):
    shell.names["text"] = " " * (TEXT_LIMIT - 12) + KEY + "x" * 1_000
    assert "Ab1" not in described(shell, "text").text


def test_secrets_are_masked_and_named(shell):
    shell.run(
        "import pandas as pd\npassword = 'abc'\nframe = pd.DataFrame({'token': ['abc', 'abc'], 'n': [1, 2]})"
    )
    assert described(shell, "password").text == "`password`: str, 3 characters\n•••\nMasked: `password`."
    text = described(shell, "frame").text
    assert "abc" not in text
    assert "token: str, 0 nulls, 1 distinct; most common: ••• (2)" in text
    assert text.endswith("Masked: `token` in `frame`.")


@pytest.mark.parametrize("name", ["figure", "one", "axes", "photo"])
def test_a_figure_is_an_image_for_the_model_and_the_person(shell, name):
    shell.run(
        "import matplotlib\nmatplotlib.use('agg')\nimport matplotlib.pyplot as plt, PIL.Image\n"
        "figure, axes = plt.subplots(1, 2, figsize=(2, 1), dpi=50)\none = axes[0]\n"
        "photo = PIL.Image.new('RGB', (100, 50))"
    )
    output = described(shell, name)
    assert [PIL.Image.open(io.BytesIO(image.data)).size for image in output.images] == [(100, 50)]
    assert base64.b64decode(output.outputs[0]["image/png"]) == output.images[0].data
