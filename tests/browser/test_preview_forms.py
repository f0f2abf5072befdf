"""Forms of a previewed page: they have their events, and nothing of them is sent, whoever submits them."""

from typing import Any

import pytest

from tests.support.waiting import wait_until
from tests.support.widget_stage import Stage, edited, event, wrote

CANARY = "https://canary.invalid"
UNSENT = "Forms are not submitted in the preview."


def streamed(page: str) -> list[dict[str, Any]]:
    """The page in fragments, as a model writes it."""
    started, _, changed = wrote("index.html", page)
    call_id = started["call_id"]
    pieces = [
        event("file_delta", call_id=call_id, path="index.html", offset=at, text=page[at : at + 60])
        for at in range(0, len(page), 60)
    ]
    return [started, *pieces, changed]


@pytest.mark.parametrize(
    "submit",
    [
        "f.submit()",
        pytest.param("f.requestSubmit()", marks=pytest.mark.wide),
        pytest.param(
            "addEventListener('submit', (e) => e.stopImmediatePropagation(), true); f.requestSubmit()",
            marks=pytest.mark.wide,
        ),
        "const i = document.createElement('iframe'); i.srcdoc = f.outerHTML + '<script>document.forms[0].submit()<'"
        " + '/script>'; document.body.append(i)",
    ],
)
def test_no_form_takes_the_tab_down(stage: Stage, submit: str):
    """Chromium crashed the whole tab on this page: blocked styles and a blocked form post in one task."""
    crashes: list[Any] = []
    stage.page.on("crash", lambda page: crashes.append(page))
    stage.play(
        streamed(f"""<!doctype html><title>t</title><h1>Page</h1><img src="{CANARY}/image"><script>
document.head.insertAdjacentHTML('beforeend',
  '<style>@import url({CANARY}/css); body {{ background: url({CANARY}/background) }}</style>');
const f = document.createElement('form');
f.method = 'post'; f.action = '{CANARY}/form'; document.body.append(f);
{submit};
</script>""")
    )
    stage.wait_for_report("img-src from canary.invalid")
    stage.page.wait_for_timeout(1500)
    assert crashes == []
    assert stage.page.evaluate("1 + 1") == 2


def test_the_real_submit_is_out_of_reach(stage: Stage):
    stage.play(
        wrote(
            "index.html",
            f"""<h1>Page</h1><form action="{CANARY}/form"></form><script>
const frame = document.createElement('iframe'); document.body.append(frame);
try {{ frame.contentWindow.HTMLFormElement.prototype.submit.call(document.forms[0]); console.log('found'); }}
catch (error) {{ console.log('other window: ' + error.name); }}
document.forms[0].submit();
</script>""",
        )
    )
    reports = stage.wait_for_report("other window")
    assert "other window: SecurityError" in reports
    assert UNSENT in reports
    assert stage.preview.get_by_role("heading", name="Page").is_visible()


def test_forms_have_their_events(stage: Stage):
    stage.play(
        wrote(
            "index.html",
            f"""<form id=plain action="{CANARY}/form"><button>Plain</button></form>
<form id=own><button>Own</button></form>
<dialog open><form method=dialog><button>Close</button></form></dialog>
<script>
document.addEventListener('submit', (event) => console.log('submit of ' + (event.target.id || 'dialog')));
document.querySelector('#own').addEventListener('submit', (event) => event.preventDefault());
</script>""",
        )
    )
    for name in ("Own", "Close", "Plain"):
        stage.preview.get_by_role("button", name=name).click()
    reports = stage.wait_for_report("submit of plain")
    stage.wait_for_report(UNSENT)
    assert "submit of own" in reports
    assert "submit of dialog" in reports
    assert stage.reports().count(UNSENT) == 1
    assert not stage.preview.get_by_role("dialog").is_visible()
    assert stage.preview.get_by_role("button", name="Plain").is_visible()


def test_what_is_blocked_is_listed_once_with_its_host(stage: Stage):
    stage.play(
        wrote(
            "index.html",
            f"""<h1>Page</h1><script>
for (let n = 0; n < 20; n++) new Image().src = '{CANARY}/' + n;
for (let n = 0; n < 80; n++) new Image().src = 'https://h' + n + '.invalid/';
</script>""",
        )
    )
    stage.wait_for_report("further addresses, not listed here")
    lines = [line for line in stage.reports().splitlines() if line.startswith("Blocked by the sandbox")]
    assert len(lines) == 51
    assert lines[0] == f"Blocked by the sandbox: img-src from canary.invalid ({CANARY}/0)"
    stage.widget.get_by_role("tab", name="Console").click()
    assert stage.widget.get_by_text("img-src from canary.invalid").count() == 1


FORM = """<!doctype html>
<h1>Old</h1>
<ul><li><input type=checkbox> Milk</li>
<li><input type=checkbox> Bread</li></ul>
<input id=name value=Ada><input id=town>
<textarea name=note>Hi</textarea><select name=size><option>S<option>M<option>L</select>
<label><input type=radio name=pay value=card checked>Card</label>
<label><input type=radio name=pay value=cash>Cash</label>
<p>end</p>"""


def fill(stage: Stage) -> None:
    page = stage.preview
    page.locator("li", has_text="Bread").locator("input").check()
    page.locator("#name").press("End")
    page.locator("#name").press_sequentially(" L")
    page.locator("#town").press_sequentially("Lyon")
    page.locator("textarea").press("End")
    page.locator("textarea").press_sequentially("!")
    page.locator("select").press("L")
    page.get_by_label("Cash").check()
    page.locator("body").evaluate("() => document.activeElement.blur()")


def given(stage: Stage) -> list[Any]:
    values: list[Any] = stage.preview.locator("body").evaluate(
        """() => [
            [...document.querySelectorAll('li')].filter((item) => item.firstChild.checked)
                .map((item) => item.innerText.trim()),
            ...['#name', '#town', 'textarea', 'select', 'input:checked[name=pay]']
                .map((at) => document.querySelector(at).value),
        ]"""
    )
    return values


@pytest.mark.wide
def test_edit_keeps_what_was_given_to_other_fields(stage: Stage):
    stage.play(wrote("index.html", FORM))
    fill(stage)
    assert given(stage) == [["Bread"], "Ada L", "Lyon", "Hi!", "L", "cash"]
    stage.more(
        edited(
            "index.html",
            2,
            [[1, 1, "<h1>New</h1><input id=first>"], [2, 0, "<li><input type=checkbox> Eggs</li>"]],
        )
    )
    stage.preview.get_by_text("New").wait_for()
    assert given(stage) == [["Bread"], "Ada L", "Lyon", "Hi!", "L", "cash"]
    assert "selected" not in stage.preview.locator("select").evaluate("node => node.outerHTML")
    stage.more(edited("index.html", 3, [[5, 1, "<input id=name value=Bob><input id=town>"]]))
    wait_until(stage.page, lambda: given(stage) == [["Bread"], "Bob", "Lyon", "Hi!", "L", "cash"])


@pytest.mark.wide
def test_page_that_loads_again_keeps_its_fields(stage: Stage):
    script = "<script>document.querySelector('h1').dataset.drawn = '1'</script>"
    stage.play(wrote("index.html", f"{FORM}\n{script}"))
    fill(stage)
    stage.more(edited("index.html", 2, [[1, 1, "<h1>New</h1>"]]))
    stage.preview.get_by_text("New").wait_for()
    wait_until(stage.page, lambda: given(stage) == [["Bread"], "Ada L", "Lyon", "Hi!", "L", "cash"])
    stage.widget.get_by_role("button", name="Reload preview").click()
    stage.preview.get_by_text("New").wait_for()
    assert given(stage) == [[], "Ada", "", "Hi", "S", "card"]
