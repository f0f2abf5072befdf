"""What the preview shows while a page of each stack is written, sampled with every frame of the browser.

    python -m benchmarks.bench_first_second [--libraries FOLDER] [STACK ...]

Each page has a long head, as models write it. The libraries are the real ones, from npm. A frame is blank when the
preview shows neither its own text nor any content of the page. The page's height is sampled inside its frame.
"""

import argparse
import contextlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from agent_nb._base.constants import STACKS
from agent_nb._base.wire import to_wire
from agent_nb.prompts import stack_text
from benchmarks.bench_widget import open_stage
from benchmarks.quality import write_figures
from tests.support.widget_stage import BUNDLE, CHROMIUM, META, DevServer, event

TOKENS = 240
"""Per second: eight times the pace of a slow model, so that the bench ends."""
PIECE = 4
"""Characters of a token."""
SETTLE = 2
"""Seconds after the last token."""
HASHES = r' integrity="[^"]*" crossorigin="anonymous"'
"""What the preview adds to the tags of known libraries."""
HEIGHTS = """
if (window.parent !== window && window.parent !== top) {
  const written = [], { open, write } = Document.prototype;
  Document.prototype.open = function (...rest) { written.length = 0; return open.apply(this, rest) };
  Document.prototype.write = function (...rest) { written.push(...rest); return write.apply(this, rest) };
  const shows = () => document.body?.innerText.trim() ||
    document.body?.querySelector("img, svg, canvas, video, input, button")?.getClientRects().length;
  const sample = () => {
    const height = document.body?.scrollHeight ?? 0;
    top.postMessage({ height, content: Boolean(shows()), written: written.join("") }, "*");
    requestAnimationFrame(sample);
  };
  requestAnimationFrame(sample);
}
"""
SAMPLE = """
() => {
  const newest = new Map(), samples = window.samples = [];
  addEventListener("message", ({ source, data }) => {
    if (source && "height" in (data ?? {})) newest.set(source.parent, data);
  });
  const step = () => {
    const root = document.querySelector("[data-anb-run]")?.shadowRoot;
    const frames = [...(root?.querySelectorAll(".anb-page > iframe") ?? [])];
    const shown = frames.findLast((frame) => frame.style.visibility !== "hidden");
    const empty = root?.querySelector(".anb-stage > .anb-empty:not(.anb-stopped)");
    const covered = Boolean(empty && !empty.hidden);
    const source = Boolean(covered && empty.querySelector("pre")?.checkVisibility());
    const { height = 0, content = false, written = "" } = newest.get(shown?.contentWindow) ?? {};
    samples.push({ at: performance.now(), covered, source, height, content, bytes: written.length });
    window.written = written;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
"""

STYLE = "\n".join(
    f"  .part-{number} {{ padding: {number % 5 + 1}rem 1rem; border-bottom: 1px solid #{number:03d}; }}"
    for number in range(100, 150)
)
SECTIONS = [
    f"<section class='part-{number + 100} py-4'><h2>Part {number}</h2><p>{'Bread and butter. ' * 8}</p></section>"
    for number in range(12)
]
MARKUP = {
    "react": [
        ("<button", "<main>{}</main>".format("".join(SECTIONS).replace("class=", "className=")), "</button>")
    ],
    "vue": [("<button", "<main>{}</main>".format("\n".join(SECTIONS)), "</button>")],
}


@dataclass(frozen=True)
class Figures:
    """How one page was shown. Times are in seconds of a model that writes 30 tokens a second."""

    samples: int
    hidden: float
    """Until the page shows content."""
    source: float
    """Of these, with its source in sight."""
    blank_before: int
    blank_after: int
    shrinks: int
    same: bool


def page_of(stack: str) -> str:
    """A page as the stack recommends it, with a long head and twelve sections."""
    blocks = "".join(re.findall(r"```html\n(.*?)```", stack_text(stack), re.DOTALL))
    for start, markup, end in MARKUP.get(stack, []):
        blocks = re.sub(rf"{start}.*?{end}", lambda _, markup=markup: markup, blocks, flags=re.DOTALL)
    head, body = (blocks, "\n".join(SECTIONS)) if stack not in MARKUP else ("", blocks)
    style = f"<style>\n  [v-cloak] {{ display: none }}\n{STYLE}\n</style>"
    script = "<script>document.body.dataset.ready = 'yes'</script>"
    return (
        f"<!doctype html>\n<html>\n<head>\n<meta charset=utf-8>\n<title>{stack}</title>\n{head}\n"
        f"{style}\n</head>\n<body>\n{body}\n{script}\n</body>\n</html>\n"
    )


def streamed(text: str) -> list[dict[str, Any]]:
    call, size, lines = "c", len(text.encode()), text.count("\n") + 1
    events = [event("turn_started", step=1), event("tool_started", call_id=call, name="any", title="create")]
    for number, offset in enumerate(range(0, len(text), PIECE)):
        piece = {
            "call_id": call,
            "path": "index.html",
            "offset": offset,
            "text": text[offset : offset + PIECE],
        }
        events.append(event("file_delta", **piece) | {"at": number / TOKENS})
    change = {"version": 1, "action": "created", "size": size, "first_line": 1, "added": lines, "removed": 0}
    changed = event(
        "file_changed", path="index.html", media_type="text/html", call_id=call, patch=None, **change
    )
    return [item | {"seq": seq} for seq, item in enumerate([*events, changed | {"at": events[-1]["at"]}], 1)]


def watch(browser: Any, server: DevServer, stack: str, libraries: Path) -> Figures:
    from playwright.sync_api import TimeoutError as PlaywrightTimeout

    text = page_of(stack)
    context = browser.new_context(viewport={"width": 1100, "height": 800})
    context.route(
        "https://cdn.jsdelivr.net/**", lambda route: route.fulfill(path=_file(libraries, route.request.url))
    )
    context.add_init_script(HEIGHTS)
    page = context.new_page()
    page.goto(f"{server.address}/?record&speed=1")
    events = streamed(text)
    page.evaluate(
        "record => { window.record = record }", {"meta": to_wire(META), "events": events, "ready": None}
    )
    page.evaluate(SAMPLE)
    page.evaluate("document.querySelector('#speed').value = '1'; window.start()")
    with contextlib.suppress(PlaywrightTimeout):
        page.wait_for_function(
            "([text, hashes]) => written.replace(RegExp(hashes, 'g'), '') === text",
            arg=[re.sub(HASHES, "", text), HASHES],
            timeout=(events[-1]["at"] + 20) * 1000,
        )
    page.wait_for_timeout(SETTLE * 1000)
    samples, written = page.evaluate("[samples, written]")
    context.close()
    return figures_of(samples, re.sub(HASHES, "", written) == re.sub(HASHES, "", text))


def _file(libraries: Path, address: str) -> Path:
    """The file of `https://cdn.jsdelivr.net/npm/NAME@VERSION/PATH`."""
    return libraries / "node_modules" / re.sub(r"(.)@[^/]+", r"\1", address.partition("/npm/")[2], count=1)


def figures_of(samples: list[dict[str, Any]], same: bool) -> Figures:
    pace = TOKENS / 30 / 1000
    blank = [not (sample["covered"] or sample["content"]) for sample in samples]
    first = next(
        (at for at, sample in enumerate(samples) if sample["content"] and not sample["covered"]),
        len(samples) - 1,
    )
    after = samples[first:]
    return Figures(
        samples=len(samples),
        hidden=(samples[first]["at"] - samples[0]["at"]) * pace,
        source=sum(b["at"] - a["at"] for a, b in pairwise(samples[: first + 1]) if a["source"]) * pace,
        blank_before=sum(blank[:first]),
        blank_after=sum(blank[first:]),
        shrinks=sum(b["height"] < a["height"] for a, b in pairwise(after)),
        same=same,
    )


@contextlib.contextmanager
def fetched(folder: Path | None) -> Iterator[Path]:
    """The folder with the libraries that the stacks name, from npm unless there is one."""
    with tempfile.TemporaryDirectory() as temporary:
        if folder is None:
            folder = Path(temporary)
            named = re.findall(
                r"cdn\.jsdelivr\.net/npm/(@?[^@\s]+@[\d.]+)/", "".join(map(stack_text, STACKS))
            )
            npm = [shutil.which("npm") or "npm", "install", "--no-audit", "--no-fund", "--loglevel=error"]
            subprocess.run([*npm, "--silent", *sorted(set(named))], cwd=folder, check=True)
        yield folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stacks", nargs="*", default=STACKS)
    parser.add_argument("--libraries", type=Path, help="a folder with these libraries in its node_modules")
    options = parser.parse_args()
    if not (CHROMIUM and BUNDLE.exists()):
        print("\nThe page needs Chromium and the built bundle: `make chromium build`.")
        return
    with fetched(options.libraries) as libraries, open_stage() as (browser, server):
        print("\nThe first second of a page (times at 30 tokens a second)")
        print(
            f"  {'':<11}{'frames':>7}{'no content':>12}{'with source':>13}{'blank':>7}"
            f"{'blank later':>13}{'shrinks':>9}  same text"
        )
        figures = {}
        for stack in options.stacks:
            seen = watch(browser, server, stack, libraries)
            print(
                f"  {stack:<11}{seen.samples:>7}{seen.hidden:>10.1f} s{seen.source:>11.1f} s{seen.blank_before:>7}"
                f"{seen.blank_after:>13}{seen.shrinks:>9}  {'yes' if seen.same else 'NO'}"
            )
            figures[stack] = asdict(seen)
        write_figures("first_second", figures)
        print("  limits: no blank frame later, no shrinking, the same text")


if __name__ == "__main__":
    main()
