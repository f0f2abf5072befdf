"""The page looks at a page of the run for the model, in a real browser: good pages, and hostile ones."""

import io
from typing import Any

import PIL.Image
import pytest

from agent_nb.files import Files
from agent_nb.pages.element_look import ElementRequest, read_looks
from agent_nb.pages.page_check import CheckRequest, PageCheck, read_report
from tests.support.widget_stage import Stage, wrote

CANARY = "https://canary.invalid"
HEAD = '<!doctype html>\n<html lang="en"><title>t</title>\n'


def check(stage: Stage, html: str, **files: str) -> PageCheck:
    """What the kernel makes of the page's report."""
    events: list[dict[str, Any]] = []
    for name, text in files.items():
        events += wrote(f"{name}.js", text, "text/javascript")
    stage.play([*events, *wrote("index.html", html)])
    report = stage.check()
    assert stage.page.locator("body > iframe").count() == 0
    return read_report(report, CheckRequest(files={"index.html": html}, path="index.html"), "your browser")


def colours(check: PageCheck, place: tuple[int, int]) -> list[tuple[int, ...]]:
    """The colour at a place in each screenshot."""
    images = [PIL.Image.open(io.BytesIO(shot.image.data)).convert("RGB") for shot in check.screenshots]
    return [image.getpixel(place) for image in images]


def test_a_page_is_seen_whole_with_its_problems(stage: Stage):
    found = check(
        stage,
        f"""{HEAD}<style>body {{ margin: 0; background: rgb(0, 0, 200) }} .wide {{ width: 600px }}
h1 {{ margin: 30px 0 0; background: rgb(200, 0, 0); color: rgb(210, 0, 0) }} p {{ height: 1200px; margin: 0 }}
aside {{ height: 50px; background: rgb(0, 200, 0); opacity: 0 }} .seen {{ opacity: 1 }}</style>
<h1>Title</h1><img src="{CANARY}/x.png" alt="x"><img src="none.png" alt="none"><div class="wide">wide</div><p></p>
<aside></aside>
<script src="app.js"></script>
<script>
new IntersectionObserver(([entry]) => entry.isIntersecting && entry.target.classList.add("seen"))
  .observe(document.querySelector("aside"));
console.log("began", {{ a: 1 }});
setTimeout(() => {{
  later();
}}, 10);
nowhere();
</script>""",
        app="// first line\nconsole.warn('careful');\nbroken.call();",
    )
    assert [(shot.width, shot.height, shot.cut) for shot in found.screenshots] == [
        (390, found.screenshots[0].height, False),
        (1280, found.screenshots[1].height, False),
    ]
    assert colours(found, (380, 20)) == [(0, 0, 200)] * 2  # the margin of the heading
    assert colours(found, (380, 40)) == [(200, 0, 0)] * 2
    assert colours(found, (380, 700)) == [(0, 0, 200)] * 2
    bottom = found.screenshots[0].height - 20
    assert colours(found, (200, bottom))[0] == (0, 200, 0)  # it appears when it is scrolled to
    lines = {(line.level, line.text.split(": ")[-1], line.file, line.line) for line in found.console}
    assert lines == {
        ("error", "broken is not defined", "app.js", 3),
        ("error", "nowhere is not defined", "index.html", 16),
        ("error", "later is not defined", "index.html", 14),
        ("warning", "careful", "", None),
        ("info", 'began {"a":1}', "", None),
    }
    assert {(load.address, load.reason) for load in found.blocked} == {
        ("none.png", "there is no such file"),
        (f"{CANARY}/x.png", "the preview does not allow it"),
    }
    assert found.overflow is not None
    assert (found.overflow.pixels, found.overflow.selector) == (210, "div.wide")
    assert [(one.rule, one.targets) for one in found.findings] == [("color-contrast", ("h1", "div"))]
    assert found.notes == ()


@pytest.mark.wide
def test_a_page_with_too_much_of_everything_is_cut(stage: Stage):
    found = check(
        stage,
        f"""{HEAD}<h1>Page</h1><canvas id="drawing" width="300" height="200"></canvas>
<style>@font-face {{ font-family: F; src: url({CANARY}/f.woff2) }} h1 {{ font-family: F }}</style>
<div style="height: 40000px"></div><script>
const pen = drawing.getContext("2d");
pen.fillStyle = "rgb(200, 0, 0)";
pen.fillRect(0, 0, 300, 200);
for (let i = 0; i < 1000; i++) console.log(i);
for (let i = 0; i < 100; i++) setTimeout(() => {{ throw new Error("number " + i) }});
</script>""",
    )
    assert [shot.cut for shot in found.screenshots] == [True, True]
    assert all(shot.height > 40_000 for shot in found.screenshots)
    assert colours(found, (100, 150)) == [(200, 0, 0)] * 2
    assert {line.level for line in found.console} == {"error"}
    assert {line.line for line in found.console} == {10}
    assert [load.address for load in found.blocked] == [f"{CANARY}/f.woff2"]
    assert "40 more entries of `console` are left out." in found.notes


ENDLESS = "console.log('before'); setTimeout(() => { for (;;); }, 10)"
RESTLESS = "setInterval(() => { document.title = Math.random() }, 10)"
GONE = f"setTimeout(() => {{ location = '{CANARY}' }}, 10)"
MANY = "document.body.innerHTML = '<p><b>x</b> text</p>'.repeat(4000)"
BROKEN_REALM = """
window.setTimeout = Promise.prototype.then = Array.prototype.map = document.querySelectorAll = null;
MessagePort.prototype.postMessage = () => {};"""
GRABBING = "setInterval(() => document.querySelector('input').focus(), 10)"
MEDIA = """const gl = scene.getContext('webgl'); gl.clearColor(0, 1, 0, 1); gl.clear(gl.COLOR_BUFFER_BIT);"""


@pytest.mark.wide
@pytest.mark.parametrize(
    ("script", "screenshots", "note"),
    [
        (ENDLESS, 0, "a script runs without end"),
        (RESTLESS, 2, "The page had not settled after 3 s."),
        (GONE, 0, "tried to go to another address"),
        (MANY, 0, "elements"),
        (BROKEN_REALM, 0, "failed"),
        (GRABBING, 2, ""),
        (MEDIA, None, ""),
        ("document.body.append('x'.repeat(5000000))", None, ""),
        ("document.open(); document.write('<h1>Again</h1>'); document.close()", 2, ""),
    ],
)
def test_a_hostile_page_ends_with_what_there_is(
    stage: Stage, script: str, screenshots: int | None, note: str
):
    found = check(
        stage,
        f"""{HEAD}<h1>Page</h1><input><canvas id="scene"></canvas><video src="data:video/mp4;base64,AAAA" controls>
</video><script>{script}</script>""",
    )
    assert screenshots is None or len(found.screenshots) == screenshots
    assert note in " ".join(found.notes)
    assert stage.page.evaluate("1 + 1") == 2


def test_elements_of_any_page_are_seen(stage: Stage):
    html = f"""{HEAD}<style>body {{ margin: 0; background: rgb(0, 0, 200) }} main {{ padding: 10px }}
h1 {{ margin: 0; height: 50px; width: 800px; font: 700 32px/40px serif; border-left: 400px solid rgb(0, 200, 0) }}
p {{ display: none }}</style><p>gone</p><main><h1>Title</h1></main><script>document.body.dataset.x = 1</script>"""
    selectors = ("h1", "h2", "p", "main")
    request = ElementRequest(files=Files({"index.html": html}), path="index.html", selectors=selectors)
    stage.play(wrote("index.html", "<h1>Another page</h1>"))
    report = stage.check(html=html, selectors=selectors, widths=[request.width])
    heading, missing, hidden, main = read_looks(report, request)

    assert report["screenshots"] == []
    assert stage.page.locator("body > iframe").count() == 0
    assert heading is not None
    assert heading.box == (10, 10, 1200, 50)
    assert heading.style["font-size"] == "32px"
    assert "margin" not in heading.style
    assert heading.image is not None
    image = PIL.Image.open(io.BytesIO(heading.image.data)).convert("RGB")
    assert image.width == 400
    assert image.getpixel((50, 8)) == (0, 200, 0)
    assert image.getpixel((390, 2)) == (0, 0, 200)  # the page behind the element
    assert missing is None
    assert hidden is not None
    assert (hidden.box[2:], hidden.style["display"], hidden.image) == ((0, 0), "none", None)
    assert main is not None
    assert main.style["padding"] == "10px"
