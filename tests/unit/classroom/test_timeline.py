"""What `%%agent` cells write to the log of a lab, and `%agent lab log`."""

import pytest

from agent_nb.classroom.log import FILE, read_log

DEMO = "%%agent hero -m demo: --pace 0\nA form"


@pytest.fixture
def entries(shell, tmp_path):
    """A lab file, and what the log says under it."""
    (tmp_path / "lab.toml").write_text('[lab]\ntitle = "Woche 3"', encoding="utf-8")

    def read():
        reading = read_log((tmp_path / FILE).read_bytes())
        assert not reading.breaks
        return reading.entries

    return read


def test_without_a_lab_file_nothing_is_logged(shell, tmp_path):
    assert shell.run(DEMO).ok
    assert not (tmp_path / FILE).exists()
    assert f"There is no {FILE} in" in repr(shell.run("%agent lab log").displays)


def test_a_line_for_each_run(shell, entries, monkeypatch, tmp_path):
    (tmp_path / "Übung 三.ipynb").touch()
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "Übung 三.ipynb"))
    assert shell.run(DEMO).ok
    assert shell.run(DEMO.replace("--pace 0", "--pace 0 --check '<form' in html")).ok
    assert not shell.run(
        DEMO.replace("hero", "other").replace("--pace 0", "--pace 0 --check len(files) > 9")
    ).ok
    (tmp_path / "lab.toml").write_text('[lab]\ntitle = "Woche 4"', encoding="utf-8")
    assert shell.run("%%agent more -m demo: --background --pace 0\nA form").ok
    shell.names["finishing"] = shell.session.finishing
    assert shell.run("import asyncio\nawait asyncio.gather(*finishing)").ok
    first, second, third, fourth = entries()
    assert (first.run, first.prompt, first.status, first.check) == ("hero", "A form", "demo", "")
    assert first.id == shell.session.replaced[0][1].id
    assert first.notebook == "Übung 三.ipynb"
    assert (second.check, second.passed, third.passed) == ("'<form' in html", True, False)
    assert (third.run, fourth.run) == ("other", "more")
    assert first.lab == third.lab != fourth.lab
    assert first.files == second.files


def test_edits_by_hand_are_logged_once_with_the_next_run(shell, entries):
    shell.run(DEMO)
    shell.run("hero = hero.with_files({'index.html': '<p>Mine</p>', 'a.css': 'p {}'})")
    shell.run("hero.with_files({'b.css': 'never assigned'})")
    shell.run("%%agent hero -c -m demo: --pace 0\nMake it green")
    shell.run("files = files.write('index.html', '<p>Other</p>')")
    shell.run(DEMO.replace("hero", "third"))
    shell.run(DEMO.replace("hero", "fourth"))
    assert [each.edited for each in entries()] == [(), ("a.css", "index.html"), ("index.html",), ()]


def test_a_log_that_cannot_be_written_is_said_and_the_run_stays(shell, entries, tmp_path):
    (tmp_path / FILE).mkdir()
    cell = shell.run(DEMO)
    assert cell.ok
    assert f"This run is not in {FILE}, which cannot be written: {FILE} is not a file." in cell.stdout
    assert shell.names["hero"].reason == "end_turn"


def test_the_timeline(shell, entries):
    shell.run("%%agent hero -m demo: --pace 0\nA form \u202ereversed\u202c <b>, טופס")
    (shown,) = shell.run("%agent lab log").displays
    for form in ("text/plain", "text/html"):
        assert "hero" in shown[form]
        assert "demo, done" in shown[form]
        assert "\u202e" not in shown[form]
        assert "A form reversed" in shown[form]
        assert "Each line fits the one before." in shown[form]
    assert "<b>" not in shown["text/html"]
    assert "takes at most `log`, not 'logs'" in str(shell.run("%agent lab logs").error)
