"""What the README and the pages under docs/ show is run as it stands there, and their links lead somewhere."""

import re
from pathlib import Path

import pytest

from docs.scripts.reference import AGENTS, TARGET, agents_page, reference
from tests.support import ROOT
from tests.support.kernels import start_kernel
from tests.support.wire import Call, Say, Tokens, WireServer, reply

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/how-to/*.md")])
PAGES += sorted(ROOT.glob("docs/internals/**/*.md"))
_BLOCK = re.compile(r"^```(?:python)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
_MADE = re.compile(r"^    make ([a-z-]+)", re.MULTILINE)
_CELL = re.compile(r"^((?: {4}.*\n)+)", re.MULTILINE)


def blocks(page: Path) -> list[str]:
    return _BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_every_command_is_a_target(page):
    text = page.read_text(encoding="utf-8")
    for link in _LINK.findall(text):
        assert (page.parent / link).exists(), link
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(_MADE.findall(text)) <= set(targets)


_AT_ONCE = """
from agent_nb.demo.provider import DemoProvider
DemoProvider.__init__.__kwdefaults__["pace"] = 0
"""
"""The demo model without its waits."""


@pytest.fixture(scope="module")
def keyless(tmp_path_factory):
    with start_kernel(tmp_path_factory.mktemp("docs")) as kernel:
        yield kernel


@pytest.mark.parametrize(
    "pages",
    [
        ("docs/start.md", "docs/how-to/iterate.md", "docs/how-to/share.md", "docs/how-to/variants.md"),
        ("docs/how-to/compute.md", "docs/how-to/answers.md", "docs/how-to/models.md"),
        ("docs/how-to/approvals.md", "docs/how-to/scripts.md", "docs/how-to/tools.md"),
        ("docs/internals/write-a-provider.md",),
        ("docs/internals/write-a-plugin.md",),
        ("docs/how-to/middleware.md",),
    ],
    ids=lambda pages: pages[0].rpartition("/")[2],
)
def test_pages_run_as_written(pages, keyless, tmp_path):
    keyless.run(f"%reset -f\n%cd {tmp_path}\n{_AT_ONCE}")  # no page has the names of another
    keyless.run("%reload_ext agent_nb")
    for page in pages:
        shown = blocks(ROOT / page)
        assert shown
        for block in shown:
            cell = keyless.run(block)
            assert cell.status == "ok", (block, cell.errors)
    if pages == ("docs/how-to/middleware.md",):
        check_middleware(keyless, tmp_path)


def test_the_cells_of_the_readme_show_what_their_comments_say(tmp_path):
    with start_kernel(tmp_path) as kernel:
        kernel.run(_AT_ONCE)
        _, run, values = (kernel.run(block) for block in blocks(ROOT / "README.md"))
    assert "the offline demo model answers" in run.stdout
    assert run.displays[-1]["text/plain"].startswith("hero: done")
    page, _, diff = values.stdout.partition("--- a/index.html\n")
    assert page.startswith("<!doctype html>\n<html")
    assert "\n+<p" in diff
    assert values.result == {"text/plain": "0.0"}


def check_middleware(kernel, folder: Path) -> None:
    """What the examples of the page did; the last of them are used by a cell, too."""
    assert kernel.value("[run.reason for run in runs]") == "['end_turn', 'failed']"
    assert kernel.value("runs[1].error") == "'The quota of 1 requests a day is used up.'"
    assert "PERSON-1 and PERSON-2" in kernel.value("redact.redacted('Ada Lovelace and Grace Hopper')")
    kernel.run(
        "class Sent:\n    def on_request(self, request):\n        self.texts = repr(request)\nsent = Sent()"
    )
    assert (
        "In use, in this order: `redact`, `sent`, `log`." in kernel.run("%agent use redact sent log").stdout
    )
    assert "on_request, before_tool" in kernel.run("%agent use").displays[0]["text/plain"]
    assert "Middleware: redact, sent, log," in kernel.run("%%agent page -m demo: --dry-run\nA form").stdout
    assert kernel.run("%%agent page -m demo: --pace 0\nA landing page for Grace Hopper").status == "ok"
    assert kernel.value("('Grace Hopper' in sent.texts, 'PERSON-2' in sent.texts)") == "(False, True)"
    assert kernel.value("('Grace Hopper' in page.html, 'PERSON-2' in page.html)") == "(True, False)"
    lines = (folder / "runs.csv").read_text(encoding="utf-8").splitlines()
    assert [line.rsplit(",", 1)[1] for line in lines] == ["A form", "A landing page for Grace Hopper"]
    kernel.run("del sent")
    assert (
        "`sent` is not defined. `%agent use -sent` removes it." in kernel.run("%%agent page\nA form").errors
    )
    assert "In use, in this order: `log`." in kernel.run("%agent use -sent -redact").stdout
    assert "`redact` is not in use." in kernel.run("%agent use -redact").errors
    kernel.run("number = 3")
    assert (
        "`number` cannot be used. Middleware has one of the methods" in kernel.run("%agent use number").errors
    )


def test_the_reference_is_up_to_date():
    assert TARGET.read_text(encoding="utf-8") == reference(), "run `make reference`"
    assert AGENTS.read_text(encoding="utf-8") == agents_page(), "run `make reference`"


def test_the_page_on_cassettes_runs_as_written(tmp_path):
    page = ROOT / "docs/how-to/cassettes.md"
    (recorded,) = (cell for cell in _CELL.findall(page.read_text(encoding="utf-8")) if "--record" in cell)
    with (
        WireServer.in_thread() as server,
        start_kernel(tmp_path, **server.as_anthropic("k3y-0f-the-tests")) as kernel,
    ):
        for block in (recorded.replace("    ", ""), *blocks(page)):
            call = Call("create_file", {"path": "index.html", "content": "<h1>Pain</h1>"}, id="call_a")
            server.plan(reply(call, Tokens(input=900, output=40)), reply(Say("Done.")))
            cell = kernel.run(block)
            assert cell.status == "ok", (block, cell.errors)
            (tmp_path / "cassettes/hero.run.jsonl").unlink()
    assert server.unused == 0
