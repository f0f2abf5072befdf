"""A bound page without a kernel, as saved and exported: the values are there, and nothing reaches Python."""

import json

from agent_nb.pages.preview import bound_script, frame_attributes
from tests.support.widget_stage import Stage

TYPES = {"reviews": "list", "large": "str", "labels": "filled by the page", "score": "function"}
PAGE = """<!doctype html><ol></ol><script>
function say(text) {
  const item = document.createElement("li");
  item.textContent = text;
  document.querySelector("ol").append(item);
}
const tried = (promise) => promise.then((value) => say(JSON.stringify(value)), (error) => say(error.message));
async function main() {
  await tried(notebook.get("reviews"));
  await tried(notebook.get("labels"));
  notebook.set("labels", { 17: "good" });
  await tried(notebook.get("labels"));
  await tried(notebook.get("large"));
  await tried(notebook.call("score", { text: "a" }));
  await tried(notebook.get("other"));
  say(Object.isFrozen(notebook));
}
main();
</script>
<script src="https://cdn.jsdelivr.net/npm/vue@3.5.45/dist/vue.global.prod.js" onerror="say('no CDN')"></script>"""
SAVED = {"reviews": json.dumps(["</script><b>", "ü"])}


def test_a_saved_page_has_its_values_and_calls_nothing(stage: Stage):
    stage.page.goto(f"{stage.server.address}/nowhere")
    frame = f"<iframe {frame_attributes(PAGE, bound_script(TYPES, SAVED))}></iframe>"
    stage.page.evaluate("html => { document.body.innerHTML = html }", frame)
    items = stage.page.frame_locator("iframe").frame_locator("iframe").locator("li")
    items.nth(7).wait_for()
    seen = items.all_inner_texts()
    assert "no CDN" in seen
    assert [text for text in seen if text != "no CDN"] == [
        '["</script><b>","ü"]',
        "null",
        '{"17":"good"}',
        '"large" was not saved with the page: it needs the kernel.',
        "This needs the kernel, and the page is not connected to one.",
        'The page is bound to no "other", only to reviews, large, labels, score.',
        "true",
    ]
