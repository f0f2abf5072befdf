"""`%agent submit` in a real JupyterLab: the notebook that it finds, what it refuses, and what is in the zip file."""

import json
import zipfile

import pytest
from playwright.sync_api import Page, expect

from tests.support.lab import LOAD, Lab, open_notebook, run_all, save, wait_for_kernel, write_notebook

pytestmark = pytest.mark.wide

CHECK = "%%agent hero -m demo: --pace 0 --check '<form' in html\nA form"
_RUN = """(index) => {
  const { commands, shell } = window.jupyterapp;
  shell.currentWidget.content.activeCellIndex = index;
  commands.execute("notebook:run-cell");
}"""
_RENAME = "(name) => window.jupyterapp.shell.currentWidget.context.rename(name)"


def test_a_notebook_with_any_name_is_submitted_as_it_was_saved(page: Page, lab: Lab) -> None:
    folder = lab.root / "Woche 3, 第三週"
    folder.mkdir()
    (folder / "lab.toml").write_text("[lab]", encoding="utf-8")
    path = folder / "Übung 三 от Зои (1).ipynb"
    archive = folder / "Übung 三 от Зои (1)-submission.zip"
    write_notebook(path, LOAD, CHECK, "x = 1", "%agent submit", "%agent submit Neu 四.ipynb")
    open_notebook(page, lab, f"{folder.name}/{path.name}")
    run_all(page)
    submit = page.locator(".jp-Notebook .jp-CodeCell").nth(3)
    expect(submit).to_contain_text(
        f"{path.name} on disk is older than your last cell: save the notebook first"
    )
    assert not archive.exists()

    save(page)
    page.evaluate(_RUN, 3)
    expect(submit).to_contain_text(f"Wrote {archive.name} (")
    expect(submit).to_contain_text("lab-log.jsonl with 1 run, 1 saved run, 1 page.")
    with zipfile.ZipFile(archive) as parts:
        names = parts.namelist()
        assert {name.partition("/")[0] for name in names} == {path.name, "lab-log.jsonl", "pages", "runs"}
        saved = json.loads(parts.read(path.name))
        entry = json.loads(parts.read("lab-log.jsonl"))
    assert [cell["execution_count"] for cell in saved["cells"]][:3] == [1, 2, 3]
    assert (entry["notebook"], entry["passed"]) == (path.name, True)

    written = archive.read_bytes()
    page.evaluate(_RUN, 2)
    expect(page.locator(".jp-Notebook .jp-CodeCell").nth(2)).to_contain_text("[6]:")
    wait_for_kernel(page)
    page.evaluate(_RUN, 3)
    expect(submit).to_contain_text("save the notebook first")
    assert archive.read_bytes() == written

    page.evaluate(_RENAME, "Neu 四.ipynb")
    save(page)
    page.evaluate(_RUN, 3)
    expect(submit).to_contain_text("This kernel does not know its notebook's file. Name it")
    page.evaluate(_RUN, 4)
    expect(page.locator(".jp-Notebook .jp-CodeCell").nth(4)).to_contain_text(
        "lab-log.jsonl with 1 run, 1 saved run"
    )
