"""A page that is bound to variables and functions of the kernel, in JupyterLab."""

import pytest
from playwright.sync_api import expect

from tests.support.lab import LOAD, MODEL, run_notebook
from tests.support.wire import Call, Say, reply

pytestmark = pytest.mark.wide

LABELER = """<!doctype html>
<html lang="en"><title>Labeler</title>
<style>body{font:15px/1.5 system-ui;margin:24px;color:#222;background:#fff}</style>
<h1 id="head">Reviews</h1><p id="text"></p><p id="score"></p><p id="left"></p>
<p><kbd>1</kbd> good <kbd>2</kbd> bad <kbd>3</kbd> unclear</p>
<script>
const labels = {};
let rows = [], at = 0;
async function draw() {
  const row = rows[at];
  document.getElementById("left").textContent = `${rows.length - at} left`;
  document.getElementById("text").textContent = row ? row.text : "Done";
  if (!row) return;
  try { document.getElementById("score").textContent = "score " + await notebook.call("score", {text: row.text}); }
  catch (error) { document.getElementById("score").textContent = error.message; }
}
notebook.on("reviews", value => { rows = value; at = 0; draw(); });
notebook.on("labels", value => { document.getElementById("head").textContent = "Labels " + JSON.stringify(value); });
document.addEventListener("keydown", event => {
  const label = {1: "good", 2: "bad", 3: "unclear"}[event.key];
  if (!label) return;
  labels[rows[at].id] = label; at++;
  notebook.set("labels", labels);
  draw();
});
</script></html>"""
DATA = """
import pandas as pd
reviews = pd.DataFrame({"id": [17, 18], "text": ["Warm bread", "A long wait"], "stars": [5, float("nan")]})
def score(text: str) -> int:
    "How long a review is."
    if "never" in text:
        raise ValueError("never is a long time")
    return len(text)
"""
CELL = f"%%agent labeler {MODEL} --bind reviews,labels,score\nLabel the reviews."


def frame_of(page, place):
    return place.frame_locator("iframe").frame_locator("iframe")


def make_page(page, lab, vendor, name, *cells):
    vendor.plan(reply(Call("create_file", {"path": "index.html", "content": LABELER})), reply(Say("Done.")))
    run_notebook(page, lab, name, LOAD + DATA, CELL, *cells)
    return frame_of(page, page.locator(".anb-page").first)


def run_cell(page, number):
    """Runs one cell again."""
    page.evaluate(
        """number => {
            window.jupyterapp.shell.currentWidget.content.activeCellIndex = number;
            window.jupyterapp.commands.execute('notebook:run-cell');
        }""",
        number,
    )


def press(page, preview, keys):
    preview.locator("#head").click()
    for key in keys:
        page.keyboard.press(key)


def expect_printed(page, number, text):
    """Runs a cell again until it prints the text: the page's last value is on its way."""
    printed = page.get_by_text(text)
    for _ in range(20):
        run_cell(page, number)
        page.wait_for_timeout(500)
        if printed.is_visible():
            break
    expect(printed).to_be_visible()


def test_a_page_reads_calls_and_fills(page, lab, vendor):
    watch = "seen = []\nlabeler.page.observe(lambda change: seen.append(change.new), 'labels')"
    shown = "print('labels', labeler.page.labels, len(seen) > 0)"
    newer = "labeler.page.reviews = pd.DataFrame({'id': [1], 'text': ['never again']})"
    preview = make_page(page, lab, vendor, "bound", watch, "labeler.page", shown, newer)
    expect(preview.locator("#score")).to_contain_text("never is a long time")
    vendor.plan(reply(Call("create_file", {"path": "index.html", "content": LABELER})), reply(Say("Done.")))
    run_cell(page, 1)
    expect(preview.locator("#text")).to_have_text("Warm bread")
    expect(preview.locator("#score")).to_have_text("score 10")
    press(page, preview, "13")
    expect(preview.locator("#left")).to_have_text("0 left")
    expect_printed(page, 4, "labels {'17': 'good', '18': 'unclear'} True")


def test_a_second_view_shows_the_same_values(page, lab, vendor):
    preview = make_page(page, lab, vendor, "views", "labeler.page")
    expect(preview.locator("#text")).to_have_text("Warm bread")
    widget = frame_of(page, page.locator(".jp-OutputArea-output").last)
    expect(widget.locator("#score")).to_have_text("score 10")
    press(page, preview, "2")
    expect(widget.locator("#head")).to_have_text('Labels {"17":"bad"}')
    press(page, widget, "1")
    expect(preview.locator("#head")).to_have_text('Labels {"17":"good"}')


def test_a_call_waits_for_a_busy_kernel_and_a_restart_is_said(page, lab, vendor):
    busy = "import time\ntime.sleep(4)"
    preview = make_page(page, lab, vendor, "busy", busy)
    expect(preview.locator("#text")).to_have_text("Warm bread")
    run_cell(page, 2)
    press(page, preview, "1")
    expect(page.locator(".anb-bound")).to_have_text("The kernel is busy: the page waits for it.")
    expect(preview.locator("#score")).to_have_text("score 11")
    expect(page.locator(".anb-bound")).to_be_hidden()
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    expect(page.locator(".anb-bound")).to_contain_text("not connected: the kernel was restarted")
    expect(preview.locator("#left")).to_have_text("1 left")


def test_a_replayed_page_has_the_values_and_no_kernel(page, lab, vendor):
    preview = make_page(page, lab, vendor, "replayed")
    expect(preview.locator("#score")).to_have_text("score 10")
    page.get_by_role("button", name="Replay").first.click()
    page.keyboard.press("End")
    expect(preview.locator("#text")).to_have_text("Warm bread")
    expect(preview.locator("#score")).to_contain_text("needs the kernel")


HOSTILE = """<!doctype html><title>Hostile</title><ul id="seen"></ul>
<script>
let stolen = null;
const own = MessagePort.prototype.postMessage;
MessagePort.prototype.postMessage = function (...given) { stolen = this; return own.apply(this, given); };
function say(text) {
  const item = document.createElement("li");
  item.textContent = text;
  document.getElementById("seen").append(item);
}
async function refused(what, act) {
  try { await act(); say("allowed: " + what); } catch { say("refused: " + what); }
}
async function main() {
  for (const name of ["api_token", "__proto__", "constructor", "reviews.__class__", "os"])
    await refused(name, () => notebook.get(name));
  await refused("call of a value", () => notebook.call("reviews"));
  await refused("unknown argument", () => notebook.call("score", {text: "a", __class__: 1}));
  await refused("other object", () => { "use strict"; notebook.set = () => {}; });
  const cyclic = []; cyclic.push(cyclic);
  await refused("cyclic", () => notebook.set("labels", cyclic));
  await refused("100 MB", () => notebook.set("labels", "x".repeat(100e6)));
  notebook.set("labels", 0);
  await refused("peer", () => { if (!window.RTCPeerConnection) throw 0; });
  say("stolen: " + Boolean(stolen));
  const flood = JSON.parse('{"__proto__": {"polluted": true}}');
  for (let n = 0; n <= 10000; n++) notebook.set("labels", Object.assign(Object.create(null), flood, {n}));
  let deep = [];
  for (let n = 0; n < 5000; n++) deep = [deep];
  try { notebook.set("reviews", deep); } catch {}
  await new Promise(resolve => setTimeout(resolve, 500));
  const all = await Promise.allSettled(Array.from({length: 2000}, () => notebook.call("score", {text: "a"})));
  say("calls: " + all.every(({status, value}) => status === "rejected" || value === 1));
  say("end");
}
main();
</script>
<script src="https://cdn.jsdelivr.net/npm/vue@3.5.45/dist/vue.global.prod.js" onerror="say('no CDN')"></script>"""


def test_a_hostile_page_reaches_nothing_else_and_stalls_nothing(page, lab, vendor):
    line = f"\napi_token = 'x' * 30\n{DATA}"
    shown = "print('values', labeler.page.labels['n'], len(labeler.page.reviews), api_token == 'x' * 30)"
    vendor.plan(reply(Call("create_file", {"path": "index.html", "content": HOSTILE})), reply(Say("Done.")))
    run_notebook(page, lab, "hostile", LOAD + line, CELL, shown)
    preview = frame_of(page, page.locator(".anb-page").first)
    expect(preview.get_by_text("end", exact=True)).to_be_visible()
    seen = preview.locator("#seen").inner_text()
    assert "allowed" not in seen
    assert seen.count("refused") == 11
    assert "stolen: false" in seen
    assert "calls: true" in seen
    assert "no CDN" in seen
    run_cell(page, 2)
    expect(page.get_by_text("values 10000 2 True")).to_be_visible()
    assert page.evaluate("() => ({}).polluted") is None
    page.locator('[data-tab="console"]').first.click()
    expect(page.get_by_text("reviews: The value cannot be read: RecursionError")).to_be_visible()
    expect(page.locator(".anb-net")).to_be_hidden()


def test_a_look_at_the_page_sees_its_values_and_calls(page, lab, vendor):
    vendor.plan(
        reply(Call("create_file", {"path": "index.html", "content": LABELER})),
        reply(Call("check_preview", {})),
        reply(Say("Done.")),
    )
    shown = "print(labeler.checks[0].viewer, labeler.checks[0].errors)"
    run_notebook(page, lab, "looked", LOAD + DATA, CELL, shown)
    expect(page.get_by_text("your browser ()")).to_be_visible()
    expect(frame_of(page, page.locator(".anb-page").first).locator("#score")).to_have_text("score 10")


GROWTH = """
def growth(rate: float = 0.5, years: int = 4) -> list[float]:
    return [(1 + rate) ** n for n in range(years)]
"""


def test_the_demo_makes_a_labeller_and_a_slider(page, lab):
    label = "%%agent labeler -m demo: --pace 0 --bind reviews,labels,score\nLabel them fine, poor or open."
    run_notebook(
        page,
        lab,
        "demo",
        LOAD + DATA + GROWTH,
        label,
        "%%agent form -m demo: --pace 0 --bind growth\nTry it out.",
        "print('labels', labeler.page.labels)",
    )
    labeller = frame_of(page, page.locator(".anb-page").first)
    expect(labeller.locator("#left")).to_have_text("2 left")
    expect(labeller.locator(".facts")).to_contain_text("score: 10")
    labeller.locator("h1").click()
    page.keyboard.press("1")
    labeller.get_by_role("button", name="open").click()
    expect(labeller.locator("#left")).to_have_text("All labelled")
    page.locator(".anb-page").nth(1).scroll_into_view_if_needed()
    form = frame_of(page, page.locator(".anb-page").nth(1))
    expect(form.locator("svg polyline")).to_be_visible()
    form.get_by_role("slider").nth(1).fill("9")
    expect(form.locator(".result")).to_contain_text("1 to 25.6289")
    form.get_by_role("spinbutton", name="years").fill("40")  # beyond the slider's end
    expect(form.locator(".result")).to_contain_text("1 to 7371550")
    expect_printed(page, 3, "labels {'17': 'fine', '18': 'open'}")


def test_an_exported_page_is_a_widget_without_the_package(page, lab, vendor):
    vendor.plan(reply(Call("create_file", {"path": "index.html", "content": LABELER})), reply(Say("Done.")))
    alone = (
        "import sys\nsys.modules['agent_nb'] = None\nfrom kept_labels import KeptLabels\n"
        "own = KeptLabels(reviews=reviews, score=score)\nown"
    )
    exported = "print(labeler.page.export('kept_labels.py').name)"
    unfit = "KeptLabels(reviews=[object()])"
    run_notebook(page, lab, "kept", LOAD + DATA, CELL, exported, alone, "print('labels', own.labels)", unfit)
    frames = page.locator(".jp-OutputArea-output:has(iframe)")
    expect(frames).to_have_count(3)
    get = "() => notebook.get('reviews').catch(error => error.message)"
    answer = frame_of(page, frames.nth(2)).locator("#head").evaluate(get)
    assert "contains a value of type object" in answer
    widget = frame_of(page, frames.nth(1))
    expect(widget.locator("#text")).to_have_text("Warm bread")
    expect(widget.locator("#score")).to_have_text("score 10")
    press(page, widget, "13")
    expect(widget.locator("#left")).to_have_text("0 left")
    expect_printed(page, 4, "labels {'17': 'good', '18': 'unclear'}")
