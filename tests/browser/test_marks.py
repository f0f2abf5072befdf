"""The overview of a class, opened from disk: hostile pages stay in their frames."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_nb import Files
from agent_nb.lab.marks.command import main
from tests.support.submissions import live_run, submit
from tests.support.widget_stage import PATIENCE, needs_browser

pytestmark = needs_browser

HOSTILE = """<!doctype html><h1 id="out">waits</h1><script>
  const tries = [
    () => { top.document.title = "taken" }, () => { parent.parent.document.title = "taken" },
    () => { parent.parent.location = "https://example.com/a" }, () => fetch("https://example.com/b"),
    () => open("https://example.com/c"), () => { new Image().src = "https://example.com/d" },
  ]
  for (const attempt of tries) try { attempt() } catch {}
  document.querySelector("#out").textContent = "ran"
</script></script><!-- </script> -->"""


def test_pages_side_by_side(browser: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    run = live_run("<h1>A page</h1>")
    submit(tmp_path / "ann.zip", [run])
    submit(tmp_path / "محمد.zip", [replace(run, files=Files({"index.html": HOSTILE}))])
    assert main([".", "-o", "marks.csv", "--html", "marks.html"]) == 0
    page = browser.new_context(offline=True).new_page()
    page.set_default_timeout(PATIENCE)
    arrived: list[str] = []
    page.context.on("requestfinished", lambda request: arrived.append(request.url))
    page.goto((tmp_path / "marks.html").as_uri())
    student = page.locator("article", has_text="محمد")
    student.scroll_into_view_if_needed()
    student.frame_locator("iframe").frame_locator("iframe").locator("#out", has_text="ran").wait_for()
    assert page.title() == "Marks"
    assert page.url.endswith("/marks.html")
    assert all(url.startswith(("file:", "data:")) for url in arrived), arrived
    page.context.close()
