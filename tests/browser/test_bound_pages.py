"""A bound page without a kernel, as saved and exported: the values are there, and nothing reaches Python."""

import json

from agent_nb import Agent, model
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


def shown(stage, page, types, saved):
    stage.page.goto(f"{stage.server.address}/nowhere")
    frame = f"<iframe {frame_attributes(page, bound_script(types, saved))}></iframe>"
    stage.page.evaluate("html => { document.body.innerHTML = html }", frame)
    return stage.page.frame_locator("iframe").frame_locator("iframe")


def test_a_saved_page_has_its_values_and_calls_nothing(stage: Stage):
    items = shown(stage, PAGE, TYPES, SAVED).locator("li")
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


def test_the_demo_labels_a_row_by_its_own_key_and_not_by_its_position(stage: Stage):
    rows = {
        "17": {"id": 17, "index": 2, "text": "Warm bread"},
        "Cold bread": {"index": 2, "town": "Lyon", "text": "Cold bread"},
        "Warm bread": "Warm bread",
        "2": {"index": 2, "stars": 4},
        '{"stars":4}': {"stars": 4},
    }
    names = "- `rows`, a value:\n- `labels`, which the page fills: null"
    prompt = f"Label them.\n\nThe page is bound to these names of the notebook:\n{names}"
    page = Agent(model("demo:", pace=0)).run_sync(prompt).html
    saved = {"rows": json.dumps([*rows.values()])}
    frame = shown(stage, page, {"rows": "list", "labels": "filled by the page"}, saved)
    for _ in rows:
        frame.get_by_role("button", name="good").click()
    labels = frame.locator("body").evaluate("() => notebook.get('labels')")
    assert labels == dict.fromkeys(rows, "good")
