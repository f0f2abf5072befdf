"""`%agent fix`: what the model gets of a cell that failed, and what the page offers in its place."""

import sys
from types import SimpleNamespace

import pytest

from agent_nb.engine.approval import Consent
from agent_nb.notebook.failures import MAX_MESSAGE, Failures
from agent_nb.notebook.notebook_tools.proposals import offer_fix


def prompt_of(shell, line: str = "%agent fix") -> str:
    cell = shell.run(f"{line} --dry-run")
    assert cell.ok, cell.stderr
    return cell.stdout.partition("\nuser:\n")[2]


def test_with_nothing_to_fix_it_says_so(shell):
    assert "No cell has failed in this session." in shell.run("%agent fix").stderr
    shell.run("1 / 0")
    assert "Cell [99] has not failed" in shell.run("%agent fix 99").stderr
    shell.run("%agent nothing")
    assert "ZeroDivisionError" in prompt_of(shell)
    shell.run("1 / 0 if False else 2")
    assert "ZeroDivisionError" in prompt_of(shell)


def test_a_cell_that_runs_well_later_is_not_fixed(shell):
    shell.run("wide / 2")
    shell.run("wide = 3")
    assert shell.run("wide / 2").ok
    assert "No cell has failed in this session." in shell.run("%agent fix").stderr


def test_the_prompt_has_the_cell_the_error_and_the_variables_it_names(shell):
    shell.run("prices = [3, 5]\nother = 'not named'\nrate = 0")
    shell.run("# the mean\nsum(prices) / rate  # {{other}} and \\{{rate}}")
    text = prompt_of(shell)
    assert "sum(prices) / rate  # {{other}} and \\{{rate}}" in text
    assert "cell, line 2, in <module>" in text
    assert "ZeroDivisionError: division by zero" in text
    assert "Variable `prices`:\n    [3, 5]" in text
    assert "Variable `rate`:\n    0" in text
    assert "not named" not in text


@pytest.mark.parametrize("folder", ["IPython", "ipykernel", "ipykernel_tools"])
def test_frames_of_the_users_own_folders_are_kept(shell, tmp_path, monkeypatch, folder):
    (tmp_path / folder).mkdir()
    (tmp_path / folder / f"mine_{folder}.py").write_text("def half(x):\n    return x / 0\n")
    monkeypatch.syspath_prepend(tmp_path / folder)
    shell.run(f"from mine_{folder} import half\nhalf(1)")
    assert f"{folder}/mine_{folder}.py, line 2, in half" in prompt_of(shell)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("x = = 3", "SyntaxError: invalid syntax"),
        ("%%time\nnope.x", "NameError: name 'nope' is not defined"),
        ("%matplotlib_nope inline\n1", "UsageError"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        (
            "try:\n    1 / 0\nexcept Exception as e:\n    raise KeyError('k') from e",
            "Caused by ZeroDivisionError",
        ),
    ],
)
def test_any_error_can_be_sent(shell, code, found):
    shell.run(code)
    text = prompt_of(shell)
    assert found in text
    assert code.splitlines()[0] in text
    assert "IPython/core" not in text


def test_a_long_error_is_cut(shell):
    shell.run("raise ValueError('\\n'.join(f'line {n}' for n in range(10_000)))")
    failure = shell.session.failures.find()
    assert failure.error.startswith("Traceback")
    assert MAX_MESSAGE < len(failure.error) < MAX_MESSAGE + 500


def test_a_deep_recursion_is_read_in_part():
    """Without IPython, which takes a minute to show it."""
    code = "def f(n): return g(n)\ndef g(n): return n and f(n - 1) or 1 / 0\nf(5_000)"
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        exec(code, {})
    except ZeroDivisionError as error:
        result = SimpleNamespace(
            error_before_exec=None,
            error_in_exec=error,
            execution_count=1,
            info=SimpleNamespace(raw_cell=code),
        )
    finally:
        sys.setrecursionlimit(before)
    failures = Failures()
    failures.note(result, "")
    assert len(failures.find().error) < MAX_MESSAGE
    assert failures.find().error.endswith("ZeroDivisionError: division by zero")


def test_secrets_are_masked(shell):
    shell.run("api_key = 'abcdefgh12345678'\npassword = 'xyz-123-secret'\nraise ValueError(api_key)")
    text = prompt_of(shell)
    assert "abcdefgh12345678" not in text
    assert "xyz-123-secret" not in text


def test_without_values_the_error_keeps_only_known_words(shell):
    shell.run("import pandas as pd\npeople = pd.DataFrame({'age': ['Ann Smith', '5']})")
    shell.run("people['age'].map(int)")
    text = prompt_of(shell, "%agent fix --data schema")
    assert "ValueError: invalid … for int" in text
    assert "(line 1)" in text
    assert "Smith" not in text
    assert "- age: " in text


@pytest.mark.parametrize(
    "error",
    [
        "NameError('x', name=secret)",
        "NameError('x', name=[secret])",
        "type(secret, (Exception,), {})(secret)",
        *("with_line(OSError, secret)", "with_line(OSError, 718281)", "with_line(SyntaxError, 718281)"),
    ],
)
def test_without_values_no_part_of_an_error_is_one(shell, error):
    shell.run("""secret, smithson = "smith" + "sonn", 1
def with_line(kind, line):
    error = kind("bad")
    error.lineno = line
    return error""")
    shell.run(f"error = {error}")
    shell.run("raise error")
    text = prompt_of(shell, "%agent fix --data schema")
    assert "The error:" in text
    assert not [value for value in ("smithsonn", "718281") if value in text]


def test_without_values_a_misspelt_name_gets_its_suggestions(shell):
    shell.run("total = 3")
    shell.run("totl + 1")
    assert "Names like `totl` that the notebook has: total" in prompt_of(shell, "%agent fix --data schema")


def test_a_value_that_cannot_be_shown_is_left_out(shell):
    shell.run("class Odd:\n    def __repr__(self): raise ValueError('no')\nodd, even = Odd(), 2\n1 / 0")
    text = prompt_of(shell)
    assert "Variable `even`" in text
    assert "Variable `odd`" not in text


def test_the_demo_corrects_a_misspelt_name(shell):
    shell.run("total = 3")
    shell.run("print(totl + 1)  # totl")
    number = shell.session.failures.find().number
    assert shell.run(f"%agent fix {number} --plain").ok
    run = shell.names["fix"]
    assert run.files == {}
    fix = offer_fix(run, shell.session.failures.find(), Consent())
    assert (fix.before, fix.after) == ("print(totl + 1)  # totl", "print(total + 1)  # total")


def test_explain_sends_the_last_cell_its_output_and_the_variables_it_names(shell):
    assert "No cell has been run." in shell.run("%agent explain").stderr
    shell.run("prices = [3, 5]\nother = 'not named'")
    shell.run("print('the', 'sum')\nsum(prices)")
    shell.run("%agent models")
    text = prompt_of(shell, "%agent explain")
    assert "Its output:\n    ```\n    the sum\n    8\n" in text
    assert "Variable `prices`:\n    [3, 5]" in text
    assert "not named" not in text
    assert "prices = [3, 5]" in prompt_of(shell, "%agent explain 2")
    assert "There is no cell [99]" in shell.run("%agent explain 99").stderr


def test_explain_sends_the_error_of_a_failed_cell_and_no_values_with_a_schema(shell):
    shell.run("salary = 71_234\nprint(salary)\nsalary")
    text = prompt_of(shell, "%agent explain --data schema")
    assert "(left out: no values are sent)" in text
    assert "71234" not in text
    shell.run("1 / 0")
    assert "ZeroDivisionError: division by zero" in prompt_of(shell, "%agent explain")


@pytest.mark.parametrize(
    ("code", "line", "given"),
    [
        ("1 / rate", "%agent fix mended --plain", "the error (4 lines) and the values of `rate`."),
        ("max(rate, 1)", "%agent explain mended", "the output (1 line) and the values of `rate`"),
    ],
)
def test_the_demo_says_what_a_model_would_get(shell, code, line, given):
    shell.run("rate = 0")
    shell.run(code)
    cell = shell.run(line)
    assert cell.ok, cell.stderr
    run = shell.names["mended"]
    assert f"A real model would get the cell (1 line), {given}" in run.text
    assert offer_fix(run, shell.session.failures.find() if "fix" in line else None, Consent()) is None
