"""What the preview shows before a page has something to see, and while its images are missing."""

import base64

import pytest
from playwright.sync_api import expect

from tests.support.drawings import png
from tests.support.widget_stage import Stage, event, findings, wrote


def piece(text: str, offset: int = 0) -> dict[str, object]:
    return event("file_delta", call_id="c", path="index.html", offset=offset, text=text)


def test_the_source_is_shown_until_the_page_has_content(stage: Stage):
    head = "<!doctype html><style>\n" + "".join(f".rule-{n} {{ margin: {n}px }}\n" for n in range(300))
    stage.play([event("tool_started", call_id="c", name="any", title="create"), piece(head)])
    source = stage.widget.locator(".anb-empty > pre").first
    source.wait_for()
    expect(source).to_contain_text("rule-299")
    assert "rule-1 " not in source.inner_text()
    assert source.get_attribute("aria-hidden") == "true"
    assert findings(stage) == []
    bottom = source.evaluate("node => [node.scrollTop, node.scrollHeight - node.clientHeight]")
    assert bottom == [0, 0], "what does not fit is cut off above"
    script = "</style><div id=app></div><script>\nconst late = 1;\n"
    stage.more(piece(script, len(head)))
    stage.widget.get_by_text("const late").last.wait_for()
    expect(source, "a body without content is nothing to see").to_be_visible()
    stage.page.emulate_media(reduced_motion="reduce")
    expect(source).to_be_hidden()
    stage.page.emulate_media(reduced_motion="no-preference")
    stage.more(piece("app.textContent = 'Made by a script';\n</script>", len(head + script)))
    stage.preview.get_by_text("Made by a script").wait_for()
    source.wait_for(state="hidden")


@pytest.mark.wide
def test_a_page_that_stays_empty_is_shown_in_the_end(stage: Stage):
    stage.play(wrote("index.html", "<!doctype html><body style='background: red'>"))
    stage.preview.locator("body").wait_for(state="attached")
    stage.widget.locator(".anb-stage > .anb-empty").first.wait_for(state="hidden")


IMAGES = {
    "both attributes": '<img src="a.png" width="200" height="100" alt="A drawing">',
    "both attributes, fluid": '<img src="a.png" width="400" height="200" alt="" style="width: 50%; height: auto">',
    "a ratio": '<img src="a.png" alt="A drawing" style="width: 50%; aspect-ratio: 2">',
    "a height": '<img src="a.png" alt="" style="width: 100%; height: 150px; object-fit: cover">',
}


@pytest.mark.wide
def test_an_image_that_comes_late_moves_nothing(stage: Stage):
    parts = [f"<div>{image}<p>{name}</p></div>" for name, image in IMAGES.items()]
    stage.play([event("turn_started", step=1), *wrote("index.html", "<!doctype html>" + "\n".join(parts))])
    tops = """body => [...body.querySelectorAll("p")].map((node) => Math.round(node.getBoundingClientRect().top))"""
    stage.preview.get_by_text("a height").wait_for()
    before = stage.preview.locator("body").evaluate(tops)
    stage.page.evaluate(
        "base64 => { kernel.record.binary = { 'a.png': { base64, media_type: 'image/png' } } }",
        base64.b64encode(png(400, 200)).decode(),
    )
    change = {"version": 1, "action": "created", "size": 99, "first_line": 0, "added": 0, "removed": 0}
    stage.more(
        event("file_changed", path="a.png", media_type="image/png", call_id=None, patch=None, **change)
    )
    stage.preview.locator('img[src^="data:image/png"]').first.wait_for()
    drawn = stage.preview.locator("img").last
    assert drawn.evaluate("node => node.decode().then(() => node.naturalWidth)") == 400
    assert stage.preview.locator("body").evaluate(tops) == before
