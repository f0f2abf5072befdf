"""The preview in a real browser: it streams, morphs, joins files, and feeds itself again."""

import pytest
from playwright.sync_api import expect

from agent_nb.files.contents import content_of
from tests.support.waiting import wait_until
from tests.support.widget_stage import Stage, edited, ended, event, wrote


def test_errors_of_the_page_lead_to_their_lines(stage: Stage):
    html = "<!doctype html>\n<h1>x</h1>\n<script>\nnowhere();\n</script>\n<script src='js/app.js'></script>\n"
    html += "<script>Promise.reject(new Error('late'))</script>"
    code = "\n" * 200 + "elsewhere();\n"
    stage.play([*wrote("js/app.js", code, "text/javascript"), *wrote("index.html", html)])
    reports = stage.wait_for_report("late")
    assert "nowhere is not defined" in reports
    stage.widget.get_by_role("tab", name="Console").click()
    stage.widget.get_by_role("button", name="index.html line 4").wait_for()
    stage.widget.get_by_role("button", name="js/app.js line 201").click()
    mark = stage.widget.locator(".anb-lines .anb-at")
    mark.wait_for()
    line = stage.widget.locator(".anb-lines").get_by_text("elsewhere()")
    assert line.is_visible()
    assert stage.widget.locator(".anb-lines").evaluate(
        """node => {
            const [mark, room] = [node.querySelector('.anb-at'), node].map((one) => one.getBoundingClientRect());
            const range = document.createRange();
            const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) if (walker.currentNode.data.includes('elsewhere')) break;
            range.selectNode(walker.currentNode);
            const { top, bottom } = range.getBoundingClientRect();
            const middle = (top + bottom) / 2;
            return mark.top < middle && middle < mark.bottom && room.top < mark.top && mark.bottom < room.bottom;
        }"""
    )


def test_page_streams_as_it_is_written(stage: Stage):
    start = event("tool_started", call_id="c", name="any", title="create")
    first = "<!doctype html><h1>Begun</h1><script>window.runs=(window.runs||0)+1</script><p>half a se"
    piece = event("file_delta", call_id="c", path="index.html", offset=0, text=first)
    stage.play([start, piece])
    stage.preview.get_by_text("half a se").wait_for()
    rest = event("file_delta", call_id="c", path="index.html", offset=len(first), text="ntence</p>")
    size = len(first) + 10
    change = {"version": 1, "action": "created", "size": size, "first_line": 1, "added": 1, "removed": 0}
    end = event("file_changed", path="index.html", media_type="text/html", call_id="c", patch=None, **change)
    stage.more(rest, end)
    stage.preview.get_by_text("half a sentence").wait_for()
    body = stage.preview.locator("body")
    assert body.evaluate("() => [window.runs, document.compatMode]") == [1, "CSS1Compat"]


def test_a_page_gets_data_from_python_as_a_script(stage: Stage):
    script = content_of("data/sales.js", [{"month": "May</script>", "sold": 3}])
    html = "<!doctype html><p id=p></p><script src='data/sales.js'></script>"
    html += "<script>p.textContent = `${sales[0].month} sold ${window.sales[0].sold}`</script>"
    stage.play([*wrote("data/sales.js", script, "text/javascript"), *wrote("index.html", html)])
    stage.preview.get_by_text("May</script> sold 3").wait_for()


def test_edit_keeps_scroll_and_typed_text(stage: Stage):
    html = "<!doctype html>\n<h1>Old</h1>\n<input id=name>\n<div style='height:3000px'></div>\n<p>end</p>"
    stage.play(wrote("index.html", html))
    stage.preview.locator("#name").click()
    stage.page.keyboard.type("Ada")
    stage.preview.locator("body").evaluate("() => { window.kept = true; scrollTo(0, 900) }")
    stage.more(edited("index.html", 2, [[1, 1, "<h1>New</h1>"]]))
    stage.preview.get_by_text("New").wait_for(state="attached")
    state = stage.preview.locator("body").evaluate(
        "() => [scrollY, document.querySelector('#name').value, window.kept]"
    )
    assert state == [900, "Ada", True]


@pytest.mark.wide
def test_a_page_used_by_keyboard_keeps_its_frame_out_of_sight(stage: Stage):
    stage.play(wrote("index.html", "<h1>Form</h1><input id=name>"))
    field = stage.preview.locator("#name")
    field.wait_for()
    full = stage.widget.get_by_role("button", name="Full screen")
    full.focus()
    for _ in range(60):
        stage.page.keyboard.press("Tab")
        if field.evaluate("field => field.matches(':focus')"):
            break
    stage.page.keyboard.type("Ada")
    full.focus()
    stage.page.evaluate("() => { document.body.style.paddingBottom = '9000px'; scrollTo(0, 8000) }")
    stage.page.wait_for_timeout(500)
    stage.page.evaluate("() => scrollTo(0, 0)")
    stage.preview.locator("#name").wait_for()
    assert stage.preview.locator("#name").input_value() == "Ada"


ESCAPE = """<!doctype html><input id=name><dialog><p>Sure?</p></dialog><script>
const dialog = document.querySelector('dialog');
let open = true;
window.heard = [];
addEventListener('keydown', (event) => {
    heard.push(event.key);
    if (event.key !== 'Escape' || dialog.open || !open) return;
    open = false;
    event.preventDefault();
});
</script>"""
HEARD = (
    "() => { window.keys = []; addEventListener('keydown', ({ key, ctrlKey }) => keys.push([key, ctrlKey])) }"
)


def test_escape_and_save_leave_the_page_once_it_has_used_escape_itself(stage: Stage):
    stage.play(wrote("index.html", ESCAPE))
    stage.preview.locator("#name").click()
    stage.page.evaluate(HEARD)
    stage.preview.locator("body").evaluate("() => dialog.showModal()")
    for key in ("Escape", "Escape", "Control+s"):
        stage.page.keyboard.press(key)
    expect(stage.widget.locator(".anb-toast")).to_have_text("Not saved: press Ctrl+S outside of the page")
    assert stage.preview.locator("body").evaluate("() => [dialog.open, open]") == [False, False]
    stage.page.keyboard.press("Escape")
    stage.page.wait_for_function("() => document.activeElement === document.body")
    assert stage.page.evaluate("() => keys") == []
    assert stage.preview.locator("body").evaluate("() => heard.includes('s')") is False


NOTE_ANIMATED = """
const { animate } = Element.prototype;
window.animated = [];
Element.prototype.animate = function (...args) { animated.push(this); return animate.apply(this, args); };
"""


def shown_at(stage: Stage, text: str) -> list[object]:
    """Whether an element is in sight, how often it was animated, and the document after that."""
    element = stage.preview.get_by_text(text)
    wait_until(stage.page, lambda: element.evaluate("node => animated.includes(node)"))
    state: list[object] = element.evaluate(
        """async node => {
            await Promise.all(node.getAnimations().map((one) => one.finished));
            const { top, bottom } = node.getBoundingClientRect();
            const times = animated.filter((one) => one === node).length;
            return [top >= 0 && bottom <= innerHeight, times, document.body.innerHTML];
        }"""
    )
    return state


# A page that changes itself is loaded into a new frame. There it has to note the animations itself: a script that
# Playwright runs before pages may come later than the glow.
@pytest.mark.wide
@pytest.mark.parametrize("script", ["", f"<script>document.body.dataset.on = 1{NOTE_ANIMATED}</script>"])
def test_edit_is_scrolled_to_and_glows_once(stage: Stage, script: str):
    stage.page.emulate_media(reduced_motion="reduce")
    html = f"<!doctype html>\n<h1>Top</h1>\n<div style='height:3000px'></div>\n<p>Old</p>\n{script}"
    stage.play(wrote("index.html", html))
    stage.preview.get_by_text("Old").wait_for()
    if not script:
        stage.preview.locator("body").evaluate(f"() => {{{NOTE_ANIMATED}}}")
    stage.more(edited("index.html", 2, [[3, 1, "<p>New</p>"]]))
    assert shown_at(stage, "New") == [
        True,
        1,
        html.split("html>\n")[1].replace("Old", "New").replace("'", '"'),
    ]
    if script:
        return
    stage.preview.locator("body").hover()
    stage.page.mouse.wheel(0, -9000)
    heading = stage.preview.get_by_text("Top")
    wait_until(stage.page, lambda: heading.evaluate("() => scrollY === 0"))
    heading.evaluate("() => { animated.length = 0 }")
    stage.more(edited("index.html", 3, [[3, 1, "<p>Last</p>"]]))
    assert shown_at(stage, "Last")[:2] == [False, 1]


def test_page_changed_by_its_script_loads_anew(stage: Stage):
    script = "<script>document.querySelector('ul').innerHTML='<li>made'</script>"
    html = f"<!doctype html>\n<h1>Old</h1>\n<ul></ul>\n{script}"
    stage.play(wrote("index.html", html))
    stage.preview.get_by_text("made").wait_for()
    stage.more(edited("index.html", 2, [[1, 1, "<h1>New</h1>"]]))
    stage.preview.get_by_text("New").wait_for()
    assert stage.preview.get_by_text("made").count() == 1


def test_several_files_make_one_page(stage: Stage):
    html = '<!doctype html>\n<link rel="stylesheet" href="css/a.css">\n<h1>x</h1>\n<script src="./app.js"></script>'
    style = "h1 { color: rgb(10, 20, 30) }"
    stage.play(
        [
            *wrote("index.html", html),
            *wrote("css/a.css", style, "text/css"),
            *wrote("app.js", "document.querySelector('h1').textContent = 'from app'", "text/javascript"),
        ]
    )
    heading = stage.preview.get_by_role("heading", name="from app")
    heading.wait_for()
    assert heading.evaluate("node => getComputedStyle(node).color") == "rgb(10, 20, 30)"
    stage.more(edited("css/a.css", 2, [[0, 1, "h1 { color: rgb(40, 50, 60) }"]], "text/css"))
    expect(heading).to_have_css("color", "rgb(40, 50, 60)")
    assert [path for path in stage.server.asked if "a.css" in path or "app.js" in path] == []


def test_reattached_output_feeds_itself_again(stage: Stage):
    stage.play(wrote("index.html", "<!doctype html><h1>Still here</h1>"))
    stage.preview.get_by_text("Still here").wait_for()
    stage.page.evaluate(
        """() => {
            const output = document.querySelector('[data-anb-run]');
            const place = output.parentNode;
            output.remove();
            setTimeout(() => place.append(output), 50);
        }"""
    )
    stage.page.wait_for_timeout(200)
    stage.preview.get_by_text("Still here").wait_for()
    assert stage.widget.locator(".anb-page iframe").count() == 1


@pytest.mark.wide
def test_page_of_five_megabytes_keeps_the_widget_alive(stage: Stage):
    rows = "".join(f"<tr><td>{number}</td><td>{'x' * 60}</td></tr>\n" for number in range(52_000))
    html = f"<!doctype html><table>{rows}</table><p id=end>The end</p>"
    assert len(html) > 4_500_000
    stage.play(wrote("index.html", html))
    stage.widget.get_by_role("tab", name="Files").click()
    stage.widget.locator(".anb-files").get_by_text("MB").wait_for()
    stage.preview.locator("#end").wait_for(state="attached")


def test_link_to_another_page_shows_it(stage: Stage):
    stage.play(
        [
            *wrote(
                "index.html",
                '<!doctype html><a href="about.html">About</a><a href="https://example.org/">Away</a>',
            ),
            *wrote("about.html", "<!doctype html><h1>About us</h1>"),
        ]
    )
    stage.preview.get_by_text("Away").click()
    assert "was not followed" in stage.wait_for_report("example.org")
    stage.preview.get_by_text("About").click()
    stage.preview.get_by_role("heading", name="About us").wait_for()


def test_links_of_every_kind_stay_in_the_page(stage: Stage):
    html = """<!doctype html>
<p><a href="about.html" onclick="event.preventDefault(); this.textContent = 'Routed'">Route</a>
<p><a href="#%">Odd</a><p><svg width=200 height=30><a href="#end"><text y=20>Drawn</text></a>
<a xlink:href="#end"><text x=80 y=20>Old</text></a></svg>
<p id=end>End</p><script>document.querySelector('svg').onclick = () => console.log('drawing pressed')</script>"""
    stage.play([*wrote("index.html", html), *wrote("about.html", "<h1>Elsewhere</h1>")])
    for name in ("Route", "Odd", "Old", "Drawn"):
        stage.preview.get_by_text(name).click()
    said = stage.wait_for_report("drawing pressed")
    expect(stage.preview.get_by_text("Routed")).to_be_visible()
    assert "malformed" not in said
    assert not stage.widget.get_by_text("Preview stopped").first.is_visible()


def _is_inside(box: dict[str, float], room: dict[str, float]) -> bool:
    return room["y"] <= box["y"] and box["y"] + box["height"] <= room["y"] + room["height"]


@pytest.mark.wide
def test_a_long_question_keeps_its_answers_in_sight(stage: Stage):
    args = {"command": "echo hello; " * 400, "options": {"text": "b" * 3000}}
    ask = event("approval_requested", call_id="c", name="sh", title="sh", args=args)
    stage.play([event("turn_started", step=1), ask])
    pane = stage.widget.locator(".anb-scroll")
    for part in (
        stage.widget.get_by_role("heading"),
        stage.widget.get_by_role("button", name="Approve", exact=True),
    ):
        part.wait_for()
        wait_until(stage.page, lambda part=part: _is_inside(part.bounding_box(), pane.bounding_box()))
    assert stage.widget.get_by_text("command", exact=True).bounding_box()["y"] >= pane.bounding_box()["y"]


def test_page_that_was_stopped_early_says_so(stage: Stage):
    start = event("tool_started", call_id="c", name="any", title="create")
    head = "<!doctype html><html><head><title>Lyon</title><style>body { background: peachpuff }"
    piece = event("file_delta", call_id="c", path="index.html", offset=0, text=head)
    stage.play([start, piece, ended("stopped")])
    stage.preview.locator("style").wait_for(state="attached")
    expect(
        stage.widget.get_by_text("Stopped before the page had a body: 37 B of styles in index.html")
    ).to_be_visible()


@pytest.mark.wide
def test_the_wheel_scrolls_what_is_around_a_page_that_nobody_has_clicked(stage: Stage):
    stage.play([*wrote("index.html", "<h1>Tall</h1><p style='height: 4000px'>Page</p>")])
    stage.page.evaluate("() => { document.body.style.height = '4000px' }")
    heading = stage.preview.get_by_role("heading", name="Tall")
    box = heading.bounding_box()
    for step in range(1, 4):  # the first one only leads into the frame
        stage.page.mouse.move(box["x"] + 9 * step, box["y"] + 9)
    stage.page.mouse.wheel(0, 60)
    stage.page.wait_for_function("() => scrollY === 60")
    assert heading.evaluate("() => scrollY") == 0
    heading.click()
    stage.page.mouse.wheel(0, 50)
    stage.preview.locator("body").evaluate(
        "() => new Promise((done) => { const look = () => scrollY ? done() : setTimeout(look, 20); look(); })"
    )
    assert stage.page.evaluate("() => scrollY") == 60


@pytest.mark.wide
def test_a_page_stays_dimmed_until_what_replaces_it_has_something_to_see(stage: Stage):
    given = event(
        "file_changed",
        path="index.html",
        media_type="text/html",
        call_id=None,
        patch=[[0, 1, "<!doctype html><h1>Old</h1>"]],
        version=1,
        action="created",
        size=1,
        first_line=1,
        added=1,
        removed=0,
    )
    styles = "<!doctype html><style>" + ".pad { margin: 0 }\n" * 40
    begun = event("tool_started", call_id="c", name="any", title="create")
    written = event("file_delta", call_id="c", path="index.html", offset=0, text=styles)
    stage.play([given, event("turn_started", step=1), begun, written])
    stage.widget.get_by_text("streaming").wait_for()
    stage.preview.get_by_text("Old").wait_for()
    page = stage.widget.locator(".anb-page")
    expect(page).to_have_css("opacity", "0.4")
    expect(stage.widget.locator(".anb-stage > .anb-empty:visible")).to_have_count(0)
    body = "</style><h1>New</h1>"
    stage.more(event("file_delta", call_id="c", path="index.html", offset=len(styles), text=body))
    stage.preview.get_by_text("New").wait_for()
    expect(page).to_have_css("opacity", "1")


@pytest.mark.wide
def test_page_has_the_colour_scheme_of_the_browser_until_it_is_switched(stage: Stage):
    stage.play(
        wrote("index.html", "<!doctype html><style>:root{color-scheme:light dark}</style><h1>Hello</h1>")
    )
    stage.page.evaluate("document.documentElement.style.colorScheme = 'dark'")
    switch = stage.widget.get_by_role("button", name="Show the page in a dark browser")
    body = stage.preview.locator("body")
    ink = "node => getComputedStyle(node).color"
    assert body.evaluate(ink) == "rgb(0, 0, 0)"
    for colour in ("rgb(255, 255, 255)", "rgb(0, 0, 0)"):
        switch.click()
        wait_until(stage.page, lambda colour=colour: body.evaluate(ink) == colour)
