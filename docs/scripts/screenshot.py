"""Makes `docs/widget.png`, the README's image, from a real run in a real JupyterLab.

python -m docs.scripts.screenshot
"""

import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.support.lab import open_browser, open_notebook, run_all, start_lab, write_notebook

CELLS = (
    "%load_ext agent_nb",
    "%%agent hero\nA landing page for a small bakery in Lyon, warm colours, opening hours, one photo.",
    'files["index.html"][:62]',
    "",
)
TARGET = Path(__file__).parents[1] / "widget.png"


def main() -> None:
    root = Path(tempfile.mkdtemp())
    write_notebook(root / "bakery.ipynb", *CELLS)
    with start_lab(root) as lab, open_browser() as browser:
        page = browser.new_page(viewport={"width": 1240, "height": 1100}, device_scale_factor=2)
        open_notebook(page, lab, "bakery.ipynb")
        page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
        run_all(page)
        expect(page.locator(".anb-status .phase")).to_contain_text("done", timeout=90_000)
        expect(page.locator(".jp-Cell").nth(2).locator(".jp-OutputPrompt").first).to_have_text("[3]:")
        page.locator('[aria-label="Tablet, 768 px"]').click()
        take(page)


def take(page: Page) -> None:
    """The cell and the one after it, with neither selected."""
    page.locator(".jp-Cell").nth(3).click()
    page.mouse.move(0, 0)
    page.wait_for_timeout(1500)  # the preview draws again in its new width
    first, second = (page.locator(".jp-Cell").nth(number).bounding_box() for number in (1, 2))
    assert first
    assert second
    height = second["y"] + second["height"] - first["y"]
    page.screenshot(path=TARGET, clip={**first, "height": height})


if __name__ == "__main__":
    main()
