"""`%%agent` on a real kernel: options, variables in and out, the line commands."""

import json

import pytest

from tests.support.kernels import start_kernel
from tests.support.waiting import PATIENCE

DEMO = "No API key found, so the offline demo model answers."


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    with start_kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        yield kernel


def test_a_cell_leaves_the_run_and_its_files(kernel):
    cell = kernel.run("%%agent hero\nA landing page for a bakery in Lyon")
    assert cell.status == "ok"
    assert cell.stdout.startswith(DEMO)
    assert len(cell.displays) == 1
    assert set(cell.displays[0]) == {"text/html", "text/markdown", "text/plain"}
    assert 'data-anb-run="hero-' in cell.displays[0]["text/html"]
    assert (
        kernel.value("(hero.reason, files is hero.files, '<h1' in hero.html)") == "('end_turn', True, True)"
    )


def test_a_cell_leaves_nothing_in_out(kernel):
    kernel.run("before = len(Out)")
    kernel.run("%%agent quiet\nA form")
    assert kernel.value("len(Out) - before") == "0"


def test_the_same_cell_gives_the_same_bytes(kernel):
    code = "%%agent same\nAn article about bread"
    assert kernel.run(code).displays == kernel.run(code).displays


def test_the_users_files_variable_is_left_alone(kernel):
    kernel.run("saved = files; files = ['mine']")
    cell = kernel.run("%%agent other\nA form")
    assert kernel.value("files") == "['mine']"
    assert "other.files" in cell.displays[0]["text/html"] + cell.displays[0]["text/markdown"]
    kernel.run("files = saved; del files")
    kernel.run("%%agent other\nA form")
    assert kernel.value("files is other.files") == "True"


def test_continuing_starts_from_the_same_run_each_time(kernel):
    kernel.run("%%agent first\nA landing page for a bakery")
    for _ in range(2):
        assert kernel.run("%%agent second --from first\nMake it blue").status == "ok"
        assert (
            kernel.value("len(second.messages) - len(first.messages), second.html != first.html")[1:2] != "0"
        )
    kernel.run("%%agent first -c\nCall it Maison Marie")
    assert kernel.value("'Maison Marie' in first.html") == "True"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--modle demo:", "There is no option --modle. Did you mean --model?"),
        ("1x", "is not a valid name"),
        ("class", "is not a valid name"),
        ("print", "would hide Python's own"),
        ("json", "is an imported module"),
        ("x -m opnai:gpt-6", "Did you mean `openai:`?"),
        ("x --from nothing", "`nothing` is not defined. Run its cell first."),
        ("x --from DEMO", "not a Run"),
        ("x --from hero -c", "either --from NAME or -c, not both"),
        ("x -w nothing", "`nothing` is not defined"),
        ("x -t DEMO", "not a tool"),
        ("x -i no.png", "no.png"),
        ("x --steps 0", "a whole number of at least 1"),
        ("x --steps many", "a whole number of at least 1"),
        ("x --effort huge", "--effort takes one of none"),
        ("x --budget 1 -m ollama:qwen3", "known price"),
        ("x --check ", "needs an expression"),
        ("x y", "Write the prompt below the %%agent line."),
    ],
)
def test_a_wrong_option_is_an_error_of_one_line(kernel, line, says):
    kernel.run("import json; DEMO = 'demo:'")
    cell = kernel.run(f"%%agent {line}\nA page")
    assert cell.status == "error"
    assert says in cell.errors
    assert cell.errors.strip().count("\n") == 0
    assert not cell.displays


def test_a_missing_key_is_a_card_and_can_be_entered(kernel):
    cell = kernel.run("%%agent x -m openai:gpt-6-sol\nA page")
    assert cell.errors.strip().count("\n") == 0
    assert "`OPENAI_API_KEY`" in cell.errors
    (card,) = cell.displays
    assert "https://platform.openai.com/api-keys" in card["text/html"]
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
    assert "Half characters (lone surrogates) in the prompt are sent as \ufffd" in cell.stdout
    assert "hero: done" in cell.updates[-1]["text/plain"]
    assert kernel.value("hero.prompt") == "'A page\ufffd for a bakery'"
    assert kernel.run("%agent load hero").status == "ok"


def test_a_fault_of_our_own_ends_the_running_output(kernel):
    kernel.run(
        "from agent_nb.run.store import RunStore\nsave, RunStore.save = RunStore.save, lambda *_: 1 / 0"
    )
    cell = kernel.run("%%agent hero -m demo: --pace 0\nA form", stdin=True)
    kernel.run("RunStore.save = save")
    assert "ZeroDivisionError" in cell.errors
    assert (
        "hero has ended, but its output could not be made. ZeroDivisionError"
        in cell.updates[-1]["text/plain"]
    )
    assert not any("is running" in form for form in cell.updates[-1].values())


def test_quotes_around_values_are_stripped(kernel):
    assert kernel.run('%%agent quoted -m "demo:" --system "Speak French"\nA form').status == "ok"
    assert kernel.value("quoted.model, quoted.system.endswith('Speak French')") == "('demo:', True)"


def test_variables_are_inserted_into_the_prompt(kernel):
    kernel.run("import pandas as pd; df = pd.DataFrame({'sales': [1, 2]})")
    kernel.run("town = {'name': 'Lyon', 'api_key': 'abc12345'}")
    kernel.run(
        "%%agent asked --cells 1 -w df\nA page about {{town['name']}} and {{df.shape}}, not \\{{town}} {css: {a}}"
    )
    prompt = kernel.value("asked.prompt")
    assert "A page about Lyon and (2, 1), not {{town}} {css: {a}}" in prompt
    assert "DataFrame with 2 rows and 1 column" in prompt
    assert "town = {" in prompt
    kernel.run("%%agent asked\nA page about {{town}}")
    assert "abc12345" not in kernel.value("asked.prompt")


def test_figures_and_arrays_are_sent_as_images(kernel):
    kernel.run(
        "import matplotlib.pyplot as plt, numpy as np\nfig, ax = plt.subplots()\ngrid = np.zeros((8, 8), 'uint8')"
    )
    kernel.run("%%agent seen -i grid\nA page like {{fig}}")
    assert kernel.value("[part.type for part in seen.messages[0].parts][-2:]") == "['image', 'image']"


def test_the_users_tool_is_called(kernel):
    kernel.run(
        "from agent_nb import tool\n@tool\ndef count_guests(day: str) -> str:\n"
        "    'Counts the guests of a day.'\n    return '42 guests'"
    )
    kernel.run("%%agent guests -t count_guests\nA page about guests")
    assert "('count_guests', True)" in kernel.value("[(use.call.name, use.ok) for use in guests.tool_uses]")


@pytest.mark.parametrize(
    ("expression", "says"),
    [("'<h1' in html", None), ("len(files) == 7", "len(files) == 7: len(files) is 1"), ("nope", "NameError")],
)
def test_a_check_decides_how_the_cell_ends(kernel, expression, says):
    cell = kernel.run(f"%%agent checked --check {expression}\nA form")
    assert (cell.status == "ok") is (says is None)
    assert (says or "") in cell.errors
    assert len(cell.error["traceback"] if cell.error else [""]) == 1


def test_limits_end_a_run_as_an_ordinary_result(kernel):
    assert kernel.run("%%agent short --steps 1\nA form").status == "ok"
    assert kernel.value("short.reason") == "'max_steps'"
    assert kernel.run("%%agent short --seconds 1 --budget 1\nA form").status == "ok"
    assert kernel.value("short.reason") == "'max_seconds'"


def test_plain_output_is_stable_text(kernel):
    first, second = (kernel.run("%%agent plain --plain\nA form") for _ in range(2))
    assert first.stdout == second.stdout
    assert not first.displays


def test_runs_are_saved_and_can_be_loaded(kernel):
    kernel.run("%%agent kept\nA form")
    listed = kernel.run("%agent runs").displays[0]["text/plain"]
    call = next(line for line in listed.splitlines() if line.startswith("kept")).split("  ")[-1].strip()
    kernel.run("import agent_nb; again = kept; del kept\n" + call)
    assert kernel.value("kept == again") == "True"
    kernel.run("del kept")
    assert "loads the saved run" in kernel.run("%%agent more --from kept\nBlue").errors
    before = kernel.value("len(list(__import__('pathlib').Path('.agent_nb/runs').glob('*.jsonl')))")
    kernel.run("%%agent unkept --no-save\nA form")
    assert kernel.value("len(list(__import__('pathlib').Path('.agent_nb/runs').glob('*.jsonl')))") == before
    assert kernel.value("open('.agent_nb/.gitignore').read()") == repr("*\n")


@pytest.mark.parametrize("command", ["models", "tools", "runs", "cost", "config", "log", "help", ""])
def test_every_command_shows_something(kernel, command):
    cell = kernel.run(f"%agent {command}")
    assert cell.status == "ok"
    assert cell.displays or cell.stdout


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


def test_help_lists_the_options(kernel):
    pager = kernel.run("%%agent?").pager
    assert "--budget" in pager
    assert "A landing page for a small bakery" in pager


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
    assert list(offered("%%agent hero -m openai:")) == ["%%agent hero -m openai:gpt-6.1-sol"]
    assert offered("%%agent hero -m d")["%%agent hero -m demo:"] == "ready"
    assert offered("%agent mod") == {"%agent models": "The models of each vendor"}
    kernel.run("completed = 'a word'")
    assert offered("%%agent hero\nLike {{comple") == {"%%agent hero\nLike {{completed": "str"}
    assert offered("%%agent hero\nA page about ha") == {}


def test_a_displayed_run_shows_itself(kernel):
    kernel.run("%%agent shown\nA form")
    result = kernel.run("shown").result
    assert result is not None
    assert 'data-anb-run="shown-' in result["text/html"]


def test_the_html_survives_json(kernel):
    cell = kernel.run('%%agent odd\nA page about \N{GRINNING FACE} </script> & "quotes"')
    assert json.loads(json.dumps(cell.displays))[0]["text/html"]


@pytest.mark.parametrize("console", [True, False])
def test_a_console_prints_how_the_run_ended(kernel, console: bool):
    cell = kernel.run("%%agent hero -m demo: --pace 0\nA form", stdin=True, console=console)
    assert ("hero: done" in cell.stdout) is console
