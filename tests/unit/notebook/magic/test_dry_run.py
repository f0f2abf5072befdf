"""`--dry-run` shows what would be sent and sends nothing."""

from pathlib import Path

import pytest
from PIL import Image as Picture

from tests.support.pdf import pdf_of
from tests.support.shells import quick_run


def dry(shell, line: str, prompt: str = "A page for a bakery") -> str:
    cell = shell.run(f"%%agent planned {line} --dry-run\n{prompt}")
    assert cell.ok, cell.stderr
    assert not cell.displays
    return cell.stdout


def test_a_dry_run_shows_the_request(shell):
    shown = dry(shell, "-m demo: --system 'Speak French.'")
    assert shown.startswith("Dry run, nothing sent. Model: demo\nAbout ")
    assert "\nuser:\n    A page for a bakery\n" in shown
    assert "\n    Speak French.\n" in shown


def test_a_dry_run_says_what_is_approved(shell):
    assert "Approve" not in dry(shell, "-m demo:")
    shown = dry(shell, "-m demo: --approve deny --approve edit_file=ask")
    assert "\nApprove: deny, edit_file=ask\n" in shown


def test_a_dry_run_leaves_nothing_behind(shell, tmp_path):
    dry(shell, "-m demo: --record --save site")
    assert "planned" not in shell.names
    assert "files" not in shell.names
    assert [path.name for path in tmp_path.iterdir() if path.name != ".ipython"] == []


def test_a_known_price_is_shown(shell, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    assert ", $0." in dry(shell, "-m anthropic:claude-opus-5-5").splitlines()[1]
    assert "$" not in dry(shell, "-m ollama:qwen3").splitlines()[1]


def test_the_tools_are_those_of_the_run(shell):
    shown = dry(shell, "-m demo:")
    shell.run("%%agent real -m demo: --pace 0\nA page for a bakery")
    assert f"Tools: {', '.join(shell.names['real'].settings['tools'])}\n" in shown


def test_with_data_schema_it_shows_nothing_that_is_held_back(shell):
    shell.run("%%agent first -m demo: --pace 0 --data schema\nA form")
    shell.run("first = first.with_files({'index.html': 'Secret 17zq'})")
    shown = dry(shell, "-m demo: --from first")
    assert "17zq" not in shown
    assert "I edited files, and this run does not send their contents:" in shown


def test_images_are_named_not_printed(shell):
    shell.names["photo"] = Picture.new("RGB", (4, 4))
    assert "(image photo, " in dry(shell, "-m demo: -i photo")


@pytest.mark.parametrize("way", ["{{paper}}", "-w paper", "-i paper", "-i paper.pdf"])
@pytest.mark.parametrize("variable", [Path("paper.pdf"), pdf_of("The mean is 42")], ids=["path", "bytes"])
def test_a_pdf_is_attached(shell, tmp_path, way, variable):
    (tmp_path / "paper.pdf").write_bytes(pdf_of("The mean is 42"))
    shell.names["paper"] = variable
    option, prompt = ("", f"Sum up {way}") if way.startswith("{") else (way, "Sum it up")
    shown = dry(shell, f"-m demo: {option}", prompt)
    assert f"(document paper.pdf, {len(pdf_of('The mean is 42'))} bytes)" in shown
    assert way.startswith("-i") or "(PDF `paper.pdf`)" in shown
    assert "PosixPath" not in shown
    assert "%PDF" not in shown


@pytest.mark.parametrize(
    ("name", "line"), [("paper", "--data schema"), ("secret_key", "")], ids=["schema", "secret"]
)
def test_a_pdf_that_may_not_be_sent_is_not_attached(shell, name, line):
    shell.names[name] = pdf_of("The mean is 42")
    shown = dry(shell, f"-m demo: {line}", f"Sum up {{{{{name}}}}}")
    assert "(document" not in shown
    assert "%PDF" not in shown


def test_the_earlier_conversation_is_shown(shell):
    shell.names["hero"] = quick_run("A landing page")
    shown = dry(shell, "-m demo: --from hero", "Make it blue")
    assert "user:\n    A landing page" in shown
    assert "    (tool_call)" in shown
    assert shown.rstrip().endswith("user:\n    Make it blue")


def test_a_cassette_is_named(shell):
    assert shell.run("%%agent planned -m demo: --pace 0 --record\nA page for a bakery").ok
    shown = dry(shell, "")
    assert shown.startswith(
        "Dry run, nothing sent. Cassette: cassettes/planned.run.jsonl, recorded with demo\n"
    )


def test_a_dry_run_shows_no_secret(shell):
    shown = dry(shell, "-m demo:", f"Use sk-ant-api03-{'x9-Y' * 8} for it")
    assert "\n    Use ••• for it\n" in shown
    assert "x9-Y" not in shown
