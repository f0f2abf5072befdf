"""Markdown that we write, drawn by JupyterLab itself: its parser, formulas, diagrams and sanitizer load nothing."""

import pytest
from playwright.sync_api import Page, Route

from agent_nb.render.safe_markdown import rebuilt
from tests.support.lab import Lab, open_notebook, write_notebook
from tests.support.markdown_forms import FORMS

DRAW = """async ([texts, trusted]) => {
    const { rendermime } = window.jupyterapp.shell.currentWidget.content;
    for (const text of texts) {
        const renderer = rendermime.createRenderer("text/markdown");
        document.body.append(renderer.node);
        await renderer.renderModel(rendermime.createModel({ data: { "text/markdown": text }, trusted }));
        await new Promise((drawn) => setTimeout(drawn, 20));
        renderer.node.remove();
    }
    await new Promise((drawn) => setTimeout(drawn, 2000));
}"""


@pytest.mark.trust
def test_no_form_loads_anything_in_jupyterlab(page: Page, lab: Lab) -> None:
    write_notebook(lab.root / "forms.ipynb", "1")
    open_notebook(page, lab, "forms.ipynb")
    loaded: set[str] = set()

    def note(route: Route) -> None:
        loaded.add(route.request.url)
        route.abort()

    page.route("**/pixel.example/**", note)
    raw = [form.replace("URL", f"http://pixel.example/raw/{number}.png") for number, form in enumerate(FORMS)]
    page.evaluate(DRAW, [raw, False])
    assert len(loaded) > 0.4 * len(raw)
    loaded.clear()
    for trusted in (True, False):
        ours = [rebuilt(form.replace("raw", "ours")) for form in raw]
        quoted = [rebuilt(form, quoted=True).replace("\n", "\n> ") for form in raw]
        page.evaluate(DRAW, [[*ours, *(f"> {text}" for text in quoted)], trusted])
    assert loaded == set()
