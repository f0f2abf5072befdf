"""No output that we write into a notebook loads anything when it is opened, in JupyterLab or by nbconvert."""

import ast
import asyncio
import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import Page, Route

from agent_nb import Run
from agent_nb._base.table import Table
from agent_nb.core.event_list import EventList
from agent_nb.core.events import RunFinished
from agent_nb.notebook.magic.run_commands import FileNotice
from agent_nb.render import FORMS, Progress, abandoned_frame, first_frame, page_html, to_page
from agent_nb.render.answers import Answers
from agent_nb.render.transcript import transcript
from agent_nb.run.compare import compare
from tests.support import ROOT
from tests.support.hostile_run import hostile_outputs, hostile_run
from tests.support.lab import Lab, open_notebook, write_notebook

URL = "http://pixel.example/x.png"
PIXEL = f"![x]({URL}) <img src={URL}>"
Bundles = list[dict[str, Any]]


def kept(run: Run) -> Bundles:
    """The cells of "Keep as cells" and `to_notebook`, with their outputs."""
    cells = json.loads(run.to_cells().to_notebook())["cells"]
    texts = [{"text/markdown": "".join(cell["source"])} for cell in cells if cell["cell_type"] == "markdown"]
    return [*texts, *(output["data"] for cell in cells for output in cell.get("outputs", ()))]


def bundled(run: Run) -> Bundles:
    return [run._repr_mimebundle_()]


def compared(run: Run) -> Bundles:
    return [{"text/html": compare([run, run])._repr_html_()}]


def answers(run: Run) -> Bundles:
    """The answers of two variants, with the attack in the names and values of fields, and as a field of numbers."""

    def variant(number: int) -> Run:
        answer = {PIXEL: number, "value": PIXEL}
        ends = [replace(end, answer=answer) for end in run.events.of(RunFinished)]
        return replace(run, events=EventList([*run.events[:-1], *ends]))

    return [{"text/html": Answers([variant(1), variant(2)])._repr_html_()}]


def table(run: Run) -> Bundles:
    return [{"text/html": Table((PIXEL,), [[PIXEL]], PIXEL, PIXEL)._repr_html_()}]


WRITERS: dict[str, Callable[[Run], Bundles]] = {
    "_base/table.py:_repr_html_": table,
    "engine/batch/runs.py:_repr_html_": compared,
    "features/certificate/certificate.py:_repr_html_": lambda run: [
        {"text/html": run.certificate._repr_html_()}
    ],
    "features/certificate/verify.py:_repr_html_": table,
    "files/__init__.py:_repr_html_": lambda run: [{"text/html": run.files._repr_html_()}],
    "notebook/magic/run_commands.py:_repr_html_": lambda run: [
        {"text/html": FileNotice(Path("/home", PIXEL), Path("/home"), PIXEL)._repr_html_()}
    ],
    "notebook/page/widget.py:_repr_mimebundle_": lambda run: [{"text/html": page_html(run)}],
    # Also the outputs of `%agent fix`, `%agent explain` and replays.
    "render/__init__.py:_output": lambda run: [
        *bundled(run),
        first_frame("key", PIXEL, PIXEL, progress=Progress(PIXEL, tuple(transcript(run.events)), PIXEL)),
        abandoned_frame(PIXEL, PIXEL),
    ],
    "render/answers.py:_repr_html_": answers,
    "render/outputs.py:safe_output": kept,
    "run/cells.py:_outputs": kept,
    "run/cells.py:_repr_markdown_": lambda run: [{"text/markdown": run.to_cells()._repr_markdown_()}],
    "run/compare.py:_repr_html_": compared,
    "run/run.py:_repr_html_": lambda run: [{"text/html": run._repr_html_()}],
    "run/run.py:_repr_mimebundle_": bundled,
}
"""By the function that makes the data of an output."""
TOOLS = {"notebook/kernel_tools/variables.py:_listed", "tools/function.py:to_output"}
"""Functions that make the outputs of a tool, which the writers get."""


def exported(run: Run) -> Bundles:
    """The forms of `%agent export`, a certificate, and the page in a submission."""
    texts = {form.suffix: form.render(run) for form in FORMS}
    page = {"text/html": to_page(run) or ""}
    return [
        {"text/html": texts[".html"], "text/markdown": texts[".md"]},
        {"text/markdown": run.certificate.to_markdown()},
        page,
    ]


def functions_with_outputs() -> Iterator[str]:
    root = ROOT / "agent_nb"
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                keys = (key for inner in ast.walk(node) if isinstance(inner, ast.Dict) for key in inner.keys)
                values = {key.value for key in keys if isinstance(key, ast.Constant)}
                is_writer = values & {"text/html", "text/markdown", "output_type"}
                if is_writer or re.fullmatch("_repr_[a-z]+_", node.name):
                    yield f"{path.relative_to(root).as_posix()}:{node.name}"


def test_every_writer_of_an_output_is_listed() -> None:
    assert {*functions_with_outputs()} - TOOLS == {*WRITERS}


DRAW = """async ([bundles, trusted]) => {
    const { rendermime } = window.jupyterapp.shell.currentWidget.content;
    const nodes = [];
    for (const bundle of bundles) for (const kind of Object.keys(bundle)) {
        if (kind === "text/plain" || !rendermime.mimeTypes.includes(kind)) continue;
        const renderer = rendermime.createRenderer(kind);
        nodes.push(renderer.node);
        document.body.append(renderer.node);
        await renderer.renderModel(rendermime.createModel({ data: bundle, trusted }));
    }
    await new Promise((drawn) => setTimeout(drawn, 1000));
    for (const node of nodes) node.remove();
}"""


@pytest.mark.trust
def test_no_output_loads_anything(page: Page, lab: Lab, tmp_path: Path) -> None:
    with ThreadPoolExecutor() as thread:  # this one has the browser's loop
        run = thread.submit(lambda: asyncio.run(hostile_run(URL))).result()
    writers = dict.fromkeys((*WRITERS.values(), exported))
    outputs = [output for writer in writers for output in writer(run)]
    write_notebook(lab.root / "outputs.ipynb", "1")
    open_notebook(page, lab, "outputs.ipynb")
    loaded: list[str] = []

    def note(route: Route) -> None:
        loaded.append(route.request.url)
        route.abort()

    page.route("**/pixel.example/**", note)
    page.evaluate(DRAW, [hostile_outputs(URL), False])
    assert loaded
    loaded.clear()
    for trusted in (False, True):
        page.evaluate(DRAW, [outputs, trusted])
        assert loaded == [], f"{trusted=}"
    write_notebook(tmp_path / "all.ipynb", ("1", outputs))
    converted, _ = HTMLExporter().from_notebook_node(nbformat.read(tmp_path / "all.ipynb", 4))
    reader = page.context.new_page()
    reader.route(re.compile("https://"), lambda route: route.abort())  # MathJax and others from a CDN
    reader.route("**/pixel.example/**", note)
    reader.set_content(converted)
    reader.wait_for_timeout(1000)
    assert loaded == []
