"""`%%agent` on a real kernel: options, variables in and out, the line commands, folders that cannot be written."""

import json
import os
import sys

import pytest

from tests.support.kernels import start_kernel
from tests.support.waiting import PATIENCE

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="uses /proc")
SAVED = "%%agent hero -m demo: --pace 0 --plain --save site --record\nA form"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    with start_kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        yield kernel


def test_a_missing_key_is_one_line_and_can_be_entered(kernel):
    cell = kernel.run("%%agent x -m openai:gpt-6-sol\nA page")
    assert cell.errors.strip().count("\n") == 0
    assert "`OPENAI_API_KEY`" in cell.errors
    assert "https://platform.openai.com/api-keys" in cell.errors
    assert "cannot ask here" in kernel.run("%agent key openai").errors
    message = kernel.start("%agent key openai", stdin=True)
    question = kernel.client.get_stdin_msg(timeout=PATIENCE)["content"]
    kernel.client.input("in-memory-7Q2x-9fLk")
    assert question["password"]
    assert kernel.finish(message).status == "ok"
    kernel.run("key = __import__('agent_nb').model('openai:').settings.api_key")
    seen = "str(dict(__import__('os').environ)) + str(In) + str(Out)"
    assert kernel.value(f"len(key), key in {seen}") == "(19, False)"
    assert kernel.run("%agent key openai --forget").status == "ok"


def test_half_a_character_is_replaced_and_said_so(kernel):
    kernel.run("half = 'A page' + chr(0xD83D)")
    cell = kernel.run("%%agent hero -m demo: --pace 0\n{{half}} for a bakery", stdin=True)
    assert cell.status == "ok"
    assert "Lone surrogates in the prompt are sent as \ufffd" in cell.stdout
    assert "hero: done" in cell.updates[-1]["text/plain"]
    assert kernel.value("hero.prompt") == "'A page\ufffd for a bakery'"
    assert kernel.run("%agent load hero").status == "ok"


def test_a_fault_of_our_own_ends_the_running_output(kernel):
    kernel.run(
        "from agent_nb.notebook.magic import show_cell\n"
        "bind, show_cell.set_variables = show_cell.set_variables, lambda *_: 1 / 0"
    )
    cell = kernel.run("%%agent hero -m demo: --pace 0\nA form", stdin=True)
    kernel.run("show_cell.set_variables = bind")
    assert "ZeroDivisionError" in cell.errors
    assert (
        "hero has ended, but its output could not be made. ZeroDivisionError"
        in cell.updates[-1]["text/plain"]
    )
    assert not any("is running" in form for form in cell.updates[-1].values())


def test_the_doctor_says_what_works(kernel):
    cell = kernel.run("%agent doctor --json")
    assert cell.status == "ok", cell.errors
    lines = {line["name"]: line for line in json.loads(cell.stdout)}
    assert lines["JupyterLab extension"]["state"]
    assert lines["Branches"]["ok"] == (sys.platform == "linux")
    assert lines["Front end"]["state"].startswith("unknown")
    assert "can be written" in kernel.run("%agent doctor").displays[0]["text/plain"]


def test_tools_are_listed_with_who_serves_them(kernel):
    def row(name: str) -> str:
        lines = str(kernel.run("%agent tools").displays).split("\\n")
        return " ".join(next(line for line in lines if line.startswith(name)).split())

    assert row("generate_images").startswith("generate_images always placeholder never Make images")
    assert row("edit_image").startswith("edit_image with a key for OpenAI or Gemini never")
    kernel.run("import os; os.environ['OPENAI_API_KEY'] = 'sk-test-0123456789abcdef0123'")
    try:
        assert row("edit_image").startswith("edit_image always openai:gpt-image-2.6-sunburst never")
        assert row("remove_background").startswith("remove_background always openai:gpt-image")
        kernel.run("os.environ['AGENT_NB_IMAGES'] = 'dall-e'")
        assert "UsageError: 'dall-e' makes no images." in kernel.run("%agent tools").errors
    finally:
        kernel.run("del os.environ['OPENAI_API_KEY']; os.environ.pop('AGENT_NB_IMAGES', '')")


def test_tab_offers_only_what_the_line_can_take(kernel):
    def offered(code: str) -> dict[str, str]:
        kernel.client.complete(code, len(code))
        content = kernel.client.get_shell_msg(timeout=PATIENCE)["content"]
        typed = content["metadata"]["_jupyter_types_experimental"]
        assert content["matches"] == [each["text"] for each in typed]
        assert content["cursor_end"] == len(code)
        start = code[: content["cursor_start"]]
        return {start + each["text"]: each["type"].replace("\N{NO-BREAK SPACE}", " ") for each in typed}

    options = offered("%%agent hero --")
    assert options["%%agent hero --budget"] == "End the run when it has cost this much"
    assert all(each.startswith("%%agent hero --") and "__" not in each for each in options)
    kernel.run("completed = 'a word'")
    assert offered("%%agent hero\nLike {{comple") == {"%%agent hero\nLike {{completed": "str"}
    assert offered("%%agent hero\nA page about ha") == {}


@pytest.mark.parametrize("console", [True, False])
def test_a_console_prints_how_the_run_ended(kernel, console: bool):
    cell = kernel.run("%%agent hero -m demo: --pace 0\nA form", stdin=True, console=console)
    assert ("hero: done" in cell.stdout) is console


def move(kernel, folder) -> None:
    assert kernel.run(f"import os\nos.chdir({str(folder)!r})\n%reload_ext agent_nb").status == "ok"


@needs_proc
def test_a_read_only_folder_costs_only_what_is_saved(kernel):
    move(kernel, "/proc")  # where not even root can make a folder
    is_root = os.access("/proc", os.W_OK)  # anybody else cannot record there, and is told so before the run
    cell = kernel.run(SAVED if is_root else SAVED.removesuffix(" --record\nA form") + "\nA form")
    assert kernel.value("hero.reason, list(hero.files)") == "('end_turn', ['index.html'])"
    assert "The run could not be saved in .agent_nb: No such file or directory." in cell.stdout
    not_recorded = "Not recorded: 'cassettes/hero.run.jsonl' cannot be written: No such file or directory."
    assert (not_recorded in cell.stdout) == is_root
    assert "Not recorded" not in cell.stderr, "it is said once"
    assert "SaveFailed: 'site' could not be written: No such file or directory." in cell.errors
    assert "Traceback" not in cell.errors
    assert kernel.run("%agent runs").status == "ok"


@needs_proc
def test_a_folder_behind_a_symlink_is_used(kernel, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    move(kernel, tmp_path / "link")
    assert kernel.run(SAVED).status == "ok"
    assert "(offline demo model, replayed)" in kernel.run("%%agent hero --plain --replay\nA form").stdout
    assert kernel.run("%agent load hero").status == "ok"
    assert (tmp_path / "real" / "site" / "index.html").is_file()
