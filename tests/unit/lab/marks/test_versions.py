"""The versions of a student's pages, bounded."""

from dataclasses import replace

from agent_nb import Files
from agent_nb.lab.marks import versions as versions_module
from agent_nb.lab.marks.versions import versions_of
from tests.support.submissions import live_run, submit


def test_versions_of_all_runs_in_the_order_of_the_log_each_once(tmp_path):
    files = Files({"index.html": "<p>1</p>"}).write("index.html", "<p>2</p>")
    later = replace(live_run("", "2"), name="a", files=files.write("index.html", "<p>3</p>"))
    runs = [replace(live_run("", "1"), name="z", files=files), later, live_run("<p>4</p>", "3")]
    versions, left_out = versions_of(submit(tmp_path / "a.zip", runs))
    assert [version.label for version in versions] == [
        "a, version 1 of 3",
        "a, version 2 of 3",
        "a, version 3 of 3",
        "hero, version 1 of 1",
    ]
    assert [f"<p>{number}</p>" in versions[number - 1].document for number in range(1, 5)] == [True] * 4
    assert left_out == 0


def test_a_page_has_its_files_and_edits_by_hand_are_versions(tmp_path):
    files = Files({"index.html": '<link rel="stylesheet" href="a.css">', "a.css": "p { color: teal }"})
    run = replace(live_run(""), files=files).with_files({"index.html": "<p>Mine</p>"})
    versions, _ = versions_of(submit(tmp_path / "a.zip", [run]))
    assert "color: teal" in versions[0].document
    assert "<p>Mine</p>" in versions[1].document
    assert all("Content-Security-Policy" in version.document for version in versions)


def test_limits_and_submissions_without_pages(tmp_path, monkeypatch):
    monkeypatch.setattr(versions_module, "MOST_VERSIONS", 3)
    path = submit(tmp_path / "a.zip", [live_run(f"<p>{number}</p>", str(number)) for number in range(5)])
    versions, left_out = versions_of(path)
    assert ["<p>4</p>" in version.document for version in versions] == [False, False, True]
    assert left_out == 2
    monkeypatch.setattr(versions_module, "MAX_CHARACTERS", 100)
    assert versions_of(path) == ([], 5)
    (tmp_path / "b.zip").write_text("x")
    assert versions_of(tmp_path / "b.zip") == ([], 0)
    no_page = replace(live_run(""), files=Files({"a.txt": "x"}))
    assert versions_of(submit(tmp_path / "c.zip", [no_page])) == ([], 0)
