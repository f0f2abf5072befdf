"""The frozen form for everyone, in a real browser: axe finds nothing serious, folded or not, light or dark."""

import pytest

from agent_nb.core.errors import ProviderError
from agent_nb.providers.scripted import call, fail, think
from agent_nb.render import HTML, first_frame
from tests.lab.test_frozen import hero, play
from tests.support.widget_stage import axe_findings

pytest_plugins = ["tests.support.widget_stage"]

PAGE = "<!doctype html><html lang='en'><title>frozen</title><body>"
EDITS = [
    call("edit_file", {"path": "a.html", "old": old, "new": new}) for old, new in (("a", "b"), ("b", "c"))
]


def forms() -> dict[str, str]:
    failed = play([fail(ProviderError("It needs a key. Set `ANTHROPIC_API_KEY`."))], name="failed")
    edited = play(
        [think("Hm."), call("create_file", {"path": "a.html", "content": "<p>a</p>"})],
        EDITS,
        [call("nothing", {})],
        [],
        name="edited",
    )
    first = first_frame("hero-1", "hero", "demo:")["text/html"]
    return {
        "done": HTML.render(hero()),
        "failed": HTML.render(failed),
        "edits": HTML.render(edited),
        "first": PAGE + first,
    }


def findings(page) -> list[str]:
    return axe_findings(page, "[data-anb-run]")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["done", "failed", "edits", "first"])
def test_axe_finds_nothing_serious_when_frozen(browser, name: str, scheme: str):
    page = browser.new_page(color_scheme=scheme)
    page.set_content(forms()[name])
    assert findings(page) == []
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true })")
    assert findings(page) == []
    page.close()


def test_axe_sees_the_frozen_form(browser):
    page = browser.new_page()
    page.set_content(forms()["done"])
    page.evaluate("document.querySelector('[data-anb-run]').append(document.createElement('button'))")
    assert any(found.startswith("button-name") for found in findings(page))
    page.close()
