"""The room that the widget takes on the page, with scrollbars as people see them."""

from itertools import pairwise
from typing import Any

import pytest

from tests.support.waiting import wait_until
from tests.support.widget_stage import Stage, edited, ended, event, wrote

PAGE = "<!doctype html>\n<h1>Hello</h1>\n<p>Here.</p>"


def overflow(stage: Stage) -> list[int]:
    """By how many pixels the widget exceeds its output, which scrolls as in JupyterLab."""
    pixels: list[int] = stage.page.evaluate(
        """() => {
            const cell = document.querySelector('#cell');
            cell.style.cssText += 'overflow: auto; position: relative';
            return [cell.scrollWidth - cell.clientWidth, cell.scrollHeight - cell.clientHeight];
        }"""
    )
    return pixels


def height(stage: Stage) -> int:
    return int(stage.widget.locator(".anb-frame").evaluate("frame => frame.offsetHeight"))


@pytest.mark.wide
def test_bottom_edge_sets_the_height_and_remembers_it(stage: Stage):
    stage.play(wrote("index.html", PAGE))
    edge = stage.widget.get_by_role("separator", name="Resize height")
    before = height(stage)
    box = edge.bounding_box()
    stage.page.mouse.move(box["x"] + 200, box["y"] + 3)
    stage.page.mouse.down()
    stage.page.mouse.move(box["x"] + 200, box["y"] - 60, steps=3)
    stage.page.mouse.up()
    dragged = height(stage)
    assert dragged == before - 63
    edge.focus()
    stage.page.keyboard.press("ArrowDown")
    assert height(stage) == dragged + 20
    assert edge.get_attribute("aria-valuenow") == str(dragged + 20)
    stage.play(wrote("index.html", PAGE))
    assert height(stage) == dragged + 20
    edge.dblclick()
    assert height(stage) == before
    stage.play(wrote("index.html", PAGE))
    assert height(stage) == before


@pytest.mark.parametrize("width", [900, pytest.param(440, marks=pytest.mark.wide), 320])
def test_neither_the_name_nor_the_tab_of_files_is_cut(stage: Stage, width: int):
    asked = {"call_id": "call-1", "name": "run", "title": "run it", "args": {"code": "1"}}
    stage.play(wrote("index.html", PAGE), name="landing_page_for_a_bakery_2")
    stage.page.evaluate(f"document.querySelector('#cell').style.width = '{width}px'")
    stage.more(event("tool_started", call_id="call-1", name="run", title="run it"))
    stage.more(event("approval_requested", **asked))
    whole = "node => node.scrollWidth <= node.clientWidth && node.checkVisibility()"
    assert stage.widget.locator(".anb-status .name").evaluate(whole)
    stage.page.set_viewport_size({"width": 1000, "height": 1400})
    stage.widget.get_by_role("tab", name="Files").click(timeout=5_000)
    stage.widget.get_by_role("button", name="Save index.html").wait_for()


def is_full(stage: Stage) -> bool:
    return bool(stage.page.evaluate("document.fullscreenElement !== null"))


def wait_until_full(stage: Stage, full: bool) -> None:
    stage.page.wait_for_function("full => (document.fullscreenElement !== null) === full", arg=full)


def test_full_screen_by_button_and_key(stage: Stage):
    stage.play(wrote("index.html", PAGE))
    stage.page.set_viewport_size({"width": 1000, "height": 800})
    stage.page.locator("#again").focus()
    stage.page.keyboard.press("f")
    stage.widget.get_by_role("button", name="Full screen").focus()
    stage.page.keyboard.press("Control+f")
    stage.widget.locator(".anb-frame").evaluate("frame => frame.append(document.createElement('input'))")
    stage.widget.locator(".anb-frame > input").press("f")
    stage.widget.get_by_role("button", name="Full screen").focus()
    assert not is_full(stage)
    stage.page.keyboard.press("f")
    wait_until_full(stage, True)
    assert height(stage) == stage.page.evaluate("innerHeight")
    assert not stage.widget.get_by_role("separator", name="Resize height").is_visible()
    stage.page.keyboard.press("Escape")
    wait_until_full(stage, False)
    stage.widget.get_by_role("button", name="Full screen").click()
    wait_until_full(stage, True)
    stage.widget.get_by_role("button", name="Leave full screen").click()
    wait_until_full(stage, False)


@pytest.mark.wide
def test_result_alone_folds_the_transcript(stage: Stage):
    stage.page.set_viewport_size({"width": 1000, "height": 800})
    stage.play(wrote("index.html", PAGE))
    transcript = stage.widget.locator(".anb-scroll")
    frame = stage.widget.locator(".anb-page iframe")
    narrow = frame.evaluate("node => node.offsetWidth")
    stage.widget.get_by_role("button", name="Hide transcript").click()
    transcript.wait_for(state="hidden")
    assert frame.evaluate("node => node.offsetWidth") > narrow + 300
    stage.play(wrote("index.html", PAGE))
    stage.widget.locator(".anb-fold").click()
    transcript.wait_for()
    assert stage.widget.evaluate("node => node.shadowRoot.activeElement?.className").startswith("anb-scroll")
    stage.widget.get_by_role("button", name="Hide transcript").click()
    asked = {"call_id": "call-1", "name": "run", "title": "run it", "args": {"code": "1"}}
    stage.more(event("tool_started", call_id="call-1", name="run", title="run it"))
    stage.more(event("approval_requested", **asked))
    stage.widget.get_by_role("button", name="Approve", exact=True).wait_for()


def variants() -> list[dict[str, Any]]:
    """Three variants, each with a page that has to be scrolled, and each of another length."""
    pages = [f"<!doctype html><h1>Page {n}</h1><p style='height:{6000 + 900 * n}px'>" for n in range(3)]
    return [{**item, "variant": n} for n, page in enumerate(pages) for item in wrote("index.html", page)]


@pytest.mark.wide
def test_all_variants_are_seen_side_by_side_and_scroll_together(stage: Stage):
    stage.play(variants())
    stage.page.add_style_tag(content="main { max-width: none !important }")
    stage.widget.get_by_role("radio", name="Side by side").click()
    side = stage.widget.locator(".anb-side")
    for width in (1400, 360, 700):
        stage.page.set_viewport_size({"width": width, "height": 800})
        assert side.evaluate("node => node.scrollWidth - node.clientWidth") == 0
        assert side.locator(".anb-col > header").evaluate_all(
            "all => all.every((one) => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight)"
        )
    frames = [side.locator(".anb-page > iframe").nth(n) for n in range(3)]
    pages = [frame.content_frame.frame_locator("iframe").locator("body") for frame in frames]
    for number, page in enumerate(pages):
        page.get_by_text(f"Page {number}").wait_for()
    frames[1].click()
    stage.page.mouse.wheel(0, 1000)
    share = "() => scrollY / (document.documentElement.scrollHeight - innerHeight)"

    def scrolled_together() -> bool:
        shares = [page.evaluate(share) for page in pages]
        return min(shares) > 0.2 and max(shares) - min(shares) < 0.01

    wait_until(stage.page, scrolled_together)


def test_narrow_output_clips_nothing_and_forced_colours_hide_nothing(stage: Stage):
    stage.page.set_viewport_size({"width": 270, "height": 800})
    stage.page.emulate_media(forced_colors="active")
    text = event("text_delta", text="Here:\n\n- one\n- two")
    stage.play([*wrote("index.html", PAGE), edited("index.html", 2, [[1, 1, "<h1>New</h1>"]]), text])
    assert overflow(stage) == [0, 0]
    stage.widget.get_by_role("button", name="Full screen").click(trial=True)
    shapes = stage.widget.evaluate(
        """host => [['.anb-say li', '::before'], ['.anb-node.pt', '::after'], ['.anb-edge', '::after']]
            .map(([path, part]) => getComputedStyle(host.shadowRoot.querySelector(path), part).backgroundColor)"""
    )
    assert shapes == ["rgb(0, 0, 0)"] * 3
    slider = stage.widget.locator(".anb-ver .anb-range")
    assert slider.evaluate("node => getComputedStyle(node).forcedColorAdjust") == "none"


@pytest.mark.wide
def test_narrow_header_shows_a_failed_check_in_full_and_its_buttons_in_one_row(stage: Stage):
    check = "len(html) > 100000: len(html) is 8790"
    stage.play([*wrote("index.html", PAGE), ended()], failed_check=check)
    for width in (700, 420, 300):
        stage.page.set_viewport_size({"width": width, "height": 800})
        phase = stage.widget.locator(".anb-status .phase")
        assert phase.inner_text() == f"check failed: {check}"
        assert phase.evaluate("node => node.scrollWidth <= node.clientWidth")
        buttons = stage.widget.locator(".anb-head button:visible")
        assert buttons.count() >= 2
        assert (
            len(
                {
                    round(box["y"] + box["height"] / 2)
                    for button in buttons.all()
                    if (box := button.bounding_box())
                }
            )
            == 1
        )


@pytest.mark.wide
def test_a_header_between_narrow_and_wide_covers_nothing(stage: Stage):
    usage = {"input": 16_000, "cached_read": 0, "cached_write": 0, "output": 4400, "reasoning": 0}
    end = ended(usage=usage, cost=0.15, seconds=11.6)
    begun = event("turn_started", step=3)
    facts = {"model": "anthropic:claude-opus-5-5", "demo": False, "name": "quarterly_sales_dashboard_2"}
    stage.page.set_viewport_size({"width": 820, "height": 800})
    stage.play([begun, *wrote("index.html", PAGE), end], **facts)
    stage.widget.get_by_role("button", name="Replay").wait_for()
    stage.widget.locator(".anb-head").evaluate("head => { window.head = head }")
    boxes = stage.page.evaluate(
        """() => [...head.children].filter((part) => part.offsetWidth > 1).concat(head.querySelector('.name'))
            .map((part) => part.getBoundingClientRect()).map(({ left, right }) => [left, right])"""
    )
    *parts, name = boxes
    assert all(end <= start for (_, end), (start, _) in pairwise(parts))
    assert name[1] <= parts[0][1]
    assert parts[-1][1] <= stage.page.evaluate("head.getBoundingClientRect().right")


@pytest.mark.wide
@pytest.mark.parametrize(("window", "frame"), [(600, 520), (1400, 800)])
def test_the_frame_grows_with_the_window(stage: Stage, window: int, frame: int):
    stage.page.set_viewport_size({"width": 1000, "height": window})
    stage.play(wrote("index.html", PAGE))
    assert height(stage) == frame


def test_saved_form_has_its_padding_back_when_the_widget_leaves_it(stage: Stage):
    stage.play(wrote("index.html", PAGE))
    stage.page.evaluate(
        """() => {
            const cell = document.querySelector('#cell');
            cell.innerHTML = `<div class="jp-RenderedHTML" style="padding-right: 20px">${cell.innerHTML}</div>`;
        }"""
    )
    output = stage.page.locator(".jp-RenderedHTML")
    output.locator(".anb").wait_for()
    padding = "node => getComputedStyle(node).paddingRight"
    assert output.evaluate(padding) == "0px"
    output.evaluate("node => node.firstElementChild.remove()")
    output.locator(".anb").wait_for(state="detached")
    assert output.evaluate(padding) == "20px"


@pytest.mark.wide
def test_buttons_of_the_result_stay_beside_its_tabs(stage: Stage):
    stage.play([*wrote("index.html", PAGE), *wrote("style.css", "p{color:red}", "text/css")])
    stage.more(edited("index.html", 2, [[1, 1, "<h1>Bye</h1>"]]))
    stage.preview.get_by_text("Bye").wait_for()
    gaps = """widths => widths.map((width) => {
        document.querySelector('#cell').style.width = `${width}px`;
        const bar = document.querySelector('[data-anb-run]').shadowRoot.querySelector('.anb-right > .anb-bar');
        const last = [...bar.querySelectorAll('[role=tab]')].findLast((tab) => tab.offsetWidth);
        const tool = [...bar.querySelectorAll('.sp ~ *')].find((each) => each.offsetWidth);
        return Math.floor(tool.getBoundingClientRect().left - last.getBoundingClientRect().right);
    })"""
    assert min(stage.page.evaluate(gaps, [1040, 1000, 960, 940, 900, 860, 820, 760, 690])) >= 0
