"""A model looks at its page through the user's own browser, sees that it is broken, mends it and looks again."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.lab import LOAD, MODEL, run_notebook, save
from tests.support.wire import Call, Say, reply

pytestmark = pytest.mark.wide

BROKEN = """<!doctype html>
<html lang="en"><title>Bread</title>
<h1>Bread</h1><p id="price"></p>
<script>
document.getElementById("prize").textContent = "3.20";
</script></html>"""
LOOK = Call("check_preview", {})
MEND = Call("edit_file", {"path": "index.html", "old": '"prize"', "new": '"price"'})
PNG = "data:image/png;base64"


def images_of(parts) -> list[str]:
    """The start of every image's address: what the vendor takes it for."""
    return [part["image_url"].partition(",")[0] for part in parts if part["type"] == "input_image"]


def test_a_broken_page_is_seen_and_mended(page, lab, vendor):
    asked = len(vendor.requests)
    vendor.plan(
        reply(Call("create_file", {"path": "index.html", "content": BROKEN})),
        reply(LOOK),
        reply(MEND),
        reply(LOOK),
        reply(Say("Mended.")),
        reply(Say("Larger.")),
    )
    cells = (
        f"%%agent hero {MODEL}\nA page for a bakery",
        "print([check.viewer for check in hero.checks], [len(check.errors) for check in hero.checks],"
        " hero.checks[0].errors[0].line)",
        f'%%agent hero_2 --from hero {MODEL}\n{{{{hero.element("h1")}}}}: larger',
        "%%agent offline -m demo: --pace 0\nA form",
    )
    run_notebook(page, lab, "check", LOAD, *cells)
    expect(page.get_by_text("['your browser', 'your browser'] [1, 0] 5")).to_be_visible()
    expect(page.locator(".anb-thumb img")).to_have_count(4)
    results = [request.body["input"][-1] for request in vendor.requests[asked + 2 : asked + 5 : 2]]
    assert [images_of(result["output"]) for result in results] == [[PNG, PNG]] * 2
    for index in (1, 2):
        expect(page.locator(".anb-status .phase").nth(index)).to_contain_text("done")
    *_, about, image = vendor.requests[asked + 5].body["input"][-1]["content"]
    assert 'computed style "display: block; color: rgb(0, 0, 0)' in about["text"]
    assert images_of([image]) == [PNG]
    save(page)
    saved = (lab.root / "check.ipynb").read_text(encoding="utf-8")
    pictures = re.findall(r'alt=\\"The page\\" src=\\"data:image/png;base64,([^\\]*)', saved)
    assert len(pictures) == 2, "none of the offline model's page"
    assert all(0 < len(picture) <= 12_000 for picture in pictures)
