"""Makes `docs/widget.png`, the README's picture, from a real run in a real JupyterLab.

    python -m docs.picture
"""

import tempfile
from pathlib import Path

from playwright.sync_api import expect

from tests.lab import open_browser, open_notebook, run_all, start_lab, write_notebook

PROMPT = "A landing page for a small bakery in Lyon, warm colours, opening hours, one photo."


def main() -> None:
    root = Path(tempfile.mkdtemp())
    write_notebook(root / "bakery.ipynb", "%load_ext agent_nb", f"%%agent hero -m demo:\n{PROMPT}")
    with start_lab(root) as lab, open_browser() as browser:
        page = browser.new_page(viewport={"width": 1240, "height": 900}, device_scale_factor=2)
        open_notebook(page, lab, "bakery.ipynb")
        page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
        run_all(page)
        expect(page.locator(".anb-status .phase")).to_contain_text("done", timeout=60_000)
        page.mouse.move(0, 0)
        cell = page.locator(".jp-Cell").nth(1)
        cell.screenshot(path=Path(__file__).parent / "widget.png")


if __name__ == "__main__":
    main()
