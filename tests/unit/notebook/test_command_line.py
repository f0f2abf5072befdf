"""`python -m agent_nb`: exit codes, one sentence instead of a traceback, and no code without a yes."""

import io
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agent_nb import Agent, kernel_tools, scripted
from agent_nb.notebook.command_line import main
from tests.support.shells import start_shell

CASSETTES = Path(__file__).parents[3] / "notebooks" / "cassettes"
PAGE = str(CASSETTES / "by_claude.run.jsonl")
MODULE = [sys.executable, "-m", "agent_nb"]
NEEDS_DATA = str(CASSETTES / "explore.run.jsonl")


@pytest.mark.parametrize("words", [["show", PAGE], ["models"], ["replay", PAGE, "--pace", "0"]])
def test_modules_of_the_current_folder_are_not_imported(tmp_path: Path, words: list[str]) -> None:
    for name in ("argparse", "asyncio", "json", "decimal", "traitlets", "yaml", "agent_nb_plugin"):
        (tmp_path / f"{name}.py").write_text(f"open('{name}.ran', 'w').close()\nraise SystemExit(7)\n")
    ended = subprocess.run([*MODULE, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert not [*tmp_path.glob("*.ran")]


def test_show_replay_and_models_print_text(capsys: pytest.CaptureFixture[str]) -> None:
    for words, expected in (
        (["show", PAGE], "create index.html"),
        (["replay", PAGE, "--pace", "0"], "when it was recorded."),
        (["verify", PAGE], "No number is claimed as computed."),
        (["models"], "demo:"),
    ):
        assert main(words) == 0, words
        printed = capsys.readouterr().out
        assert expected in printed
        assert "\x1b" not in printed


@pytest.mark.parametrize("path", sorted(CASSETTES.glob("*.run.jsonl")), ids=lambda path: path.stem)
def test_every_run_can_be_replayed(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also one with tools, images, an answer with a type or a conversation before it."""
    assert main(["replay", str(path), "--pace", "0"]) == 0, capsys.readouterr().err


@pytest.mark.parametrize("suffix", ["html", "md", "txt"])
def test_export_writes_the_format_of_the_suffix(tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"menu.{suffix}"
    assert main(["export", PAGE, str(out)]) == 0
    assert out.read_text().lstrip().startswith("<!doctype html>") == (suffix == "html")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["show", "nowhere.run.jsonl"], "There is no file 'nowhere.run.jsonl'."),
        (["replay", "nowhere.run.jsonl"], "There is no cassette 'nowhere.run.jsonl'."),
        (["export", PAGE, "menu.pdf"], "A run is written to files that end in .html, .md, .txt"),
        (["export", PAGE, f"{PAGE}/menu.md"], "cannot be written"),
        (["replay", PAGE, "--pace", "-1"], "pace"),
    ],
)
def test_a_failure_is_one_sentence_and_exit_code_1(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 1
    output = capsys.readouterr()
    assert sentence in output.err
    assert output.err.count("\n") == 1
    assert "Traceback" not in output.err


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        ([__file__], 2, "It is not a certificate."),
        ([NEEDS_DATA, "--yes"], 2, "The code needs rides, which the file does not contain"),
        ([], 2, "verify: the following arguments are required: what."),
        (["nowhere.html"], 2, "'nowhere.html' cannot be read: No such file or directory."),
    ],
)
def test_what_cannot_be_verified_is_one_sentence_and_exit_code_2(words, status, sentence, capsys):
    assert main(["verify", *words]) == status
    printed = capsys.readouterr().out
    assert sentence in printed
    assert printed.count("\n") == 1


def test_code_of_a_file_runs_only_after_a_yes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "trace"
    code = f"open({str(trace)!r}, 'a').write('ran')"
    script = [[scripted.call("run_python", {"code": code})], [scripted.text("Done.")]]
    path = str(tmp_path / "with_code.run.jsonl")
    with start_shell(tmp_path):
        agent = Agent(scripted.ScriptedProvider(script), tools=kernel_tools(), approve="auto")
        agent.run_sync("x").save(path)
    trace.unlink()
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert main(["verify", path]) == 2  # nobody is there
    for answer, exit_code in (("", 2), ("n\n", 2), ("y\n", 0)):
        assert not trace.exists()
        terminal = io.StringIO(answer)
        terminal.isatty = lambda: True
        monkeypatch.setattr("sys.stdin", terminal)
        assert main(["verify", path]) == exit_code
        assert code in capsys.readouterr().out
    assert trace.read_text() == "ran"


def test_escape_sequences_of_a_file_do_not_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "hostile.run.jsonl")
    provider = scripted.ScriptedProvider([[scripted.text("\x1b]0;owned\x07\x1b[2Jhello")]])
    Agent(provider).run_sync("x").save(path)
    for command in ("show", "replay"):
        assert main([command, path]) == 0
        printed = capsys.readouterr().out
        assert "hello" in printed
        assert "\x1b" not in printed
        assert "\x07" not in printed


@pytest.mark.parametrize(
    ("words", "pipe"),
    [
        (["show", NEEDS_DATA], "| head -n 1"),
        (["replay", "--pace", "0", NEEDS_DATA], "| true"),
        (["show", NEEDS_DATA], ">&-"),
        (["show", NEEDS_DATA], "| cat"),
    ],
)
def test_the_module_runs_and_a_closed_or_narrow_output_is_no_error(words: list[str], pipe: str) -> None:
    command = f"{shlex.join([*MODULE, *words])} {pipe}; exit ${{PIPESTATUS[0]}}"
    narrow = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(["bash", "-c", command], env=narrow, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device on which no byte can be written")
@pytest.mark.parametrize("words", [["show", PAGE], ["models"]])
def test_a_full_output_is_said_in_one_sentence(words: list[str]) -> None:
    command = f"{shlex.join([*MODULE, *words])} > /dev/full"
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    done = subprocess.run(
        ["bash", "-c", command], env=buffered, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (1, "agent-nb: the output: No space left on device\n")
