"""`-i`, `--stack` and `--system` on a real kernel: what arrives, what is shown, what is refused in one line."""

import re

import pytest

from tests.support.kernels import start_kernel
from tests.support.waiting import PATIENCE

SETUP = """
from pathlib import Path
import PIL.Image
from matplotlib.figure import Figure
red = PIL.Image.new("RGB", (320, 200), "red")
red.save("red.png")
figure = Figure(figsize=(2, 1), dpi=50)
shots = [red, figure]
house = "Only serif type."
Path("design").mkdir()
_ = Path("design/brand.md").write_text("Only one colour: teal.")
_ = Path("film.mp4").write_bytes(b"0000ftypmp42")
_ = Path("drawing.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
_ = Path("text.png").write_text("no picture")
huge = PIL.Image.new("1", (10_000, 10_000))
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    with start_kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        assert kernel.run(SETUP).status == "ok"
        yield kernel


def test_several_images_reach_the_run(kernel):
    cell = kernel.run("%%agent seen -m demo: --pace 0 -i red.png -i shots\nA landing page for a bakery")
    assert cell.status == "ok"
    assert kernel.value("[(p.name, p.width) for p in seen.events[0].images]") == str(
        [("red.png", 320), ("shots[0]", 320), ("shots[1]", 100)]
    )
    assert kernel.value("'About the images' in seen.messages[0].text") == "True"
    assert len(re.findall(r'<img alt="[^"]+"', cell.displays[0]["text/html"])) == 3


def test_a_stack_reaches_the_model_and_stays(kernel):
    kernel.run("%%agent app -m demo: --pace 0 --stack react\nA form")
    assert kernel.value("app.settings['stack'], 'React 18' in app.system") == "('react', True)"
    kernel.run("%%agent app -c -m demo:\nMake it blue")
    assert kernel.value("app.settings['stack']") == "'react'"


def test_a_configured_stack_is_a_default(kernel):
    kernel.run("%config AgentMagics.stack = 'vue'")
    kernel.run("%%agent first -m demo:\nA form")
    kernel.run("%%agent second -m demo: --stack bootstrap\nA form")
    kernel.run("%config AgentMagics.stack = ''")
    assert kernel.value("first.settings['stack'], second.settings['stack']") == "('vue', 'bootstrap')"


@pytest.mark.parametrize(
    ("source", "text"),
    [("brand", "Only one colour: teal."), ("house", "Only serif type."), ("'Be brief.'", "Be brief.")],
)
def test_a_design_system_by_name(kernel, source, text):
    kernel.run(f"%%agent styled -m demo: --system {source}\nA form")
    assert kernel.value(f"styled.system.endswith({text!r})") == "True"


def test_a_dry_run_shows_all_of_it(kernel):
    printed = kernel.run("%%agent x -m demo: --dry-run --stack vue --system brand -i red.png\nA form").stdout
    assert "Stack: vue" in printed
    assert "Only one colour: teal." in printed
    assert "About the images" in printed
    assert "(image red.png, " in printed


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--stack svelte", "There is no stack 'svelte'. Use html, tailwind"),
        ("--system brnd", "Did you mean `--system brand`?"),
        ("--system other.md", "There is no file 'other.md'"),
        ("--system red", "`red` is of type Image, not text"),
        ("-i film.mp4", "'film.mp4' is not an image that can be read"),
        ("-i drawing.svg", "give a PNG, JPEG, WebP or GIF"),
        ("-i text.png", "not an image that can be read"),
        ("-i huge", "too many pixels (10000 x 10000)"),
        ("-i https://10.0.0.1/a.png", "private address"),
        ("-i house", "cannot be read: No such file"),
        ("-i castle", "There is no variable or file 'castle'."),
        ("-i house.png", "The image 'house.png' cannot be read: No such file or directory."),
        ("-i .", "The image '.' cannot be read: Is a directory."),
        ('-i ""', "-i needs a value. Image to send"),
    ],
)
def test_a_wrong_source_is_an_error_of_one_line(kernel, options, says):
    cell = kernel.run(f"%%agent x -m demo: {options}\nA form")
    assert cell.status == "error"
    assert says in cell.errors
    assert "Traceback" not in cell.errors


def test_names_complete_with_tab(kernel):
    def offered(code: str) -> set[str]:
        kernel.client.complete(code, len(code))
        return set(kernel.client.get_shell_msg(timeout=PATIENCE)["content"]["matches"])

    assert "tailwind" in offered("%%agent hero --stack ")
    assert {"house", "brand"} <= offered("%%agent hero --system ")
    assert {"red", "red.png"} <= offered("%%agent hero -i ")


def test_the_help_names_the_design_folder(kernel):
    shown = kernel.run("%agent help").stdout
    assert "design/NAME.md" in " ".join(shown.split())
    assert "tailwind" in shown
