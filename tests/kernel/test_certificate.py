"""Certificates on a real kernel, verified by `agent-nb verify` in another process with a fresh kernel."""

import json
import re
import subprocess
import sys

import pytest

from tests.support.certified import ANSWER, CODES, TABLE, mended
from tests.support.kernels import quiet_environment, start_kernel
from tests.support.wire import Call, Say, reply

MODEL = "-m openai:gpt-6.1-sol -t kernel --approve auto"
VERIFY = [sys.executable, "-P", "-m", "agent_nb", "verify", "--yes"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("kernel")


@pytest.fixture(scope="module")
def kernel(home, vendor):
    with start_kernel(home, **vendor) as kernel:
        assert kernel.run(TABLE).status == "ok"
        yield kernel


@pytest.fixture
def ran(kernel, server):
    def run(*codes: str, answer: str = ANSWER, line: str = "") -> None:
        server.forget()
        server.forget_exchanges()
        calls = [reply(Call("run_python", {"code": code}, id=f"c{n}")) for n, code in enumerate(codes)]
        server.plan(*calls, reply(Say(answer)))
        cell = kernel.run(f"%%agent ran {MODEL} {line}\nCompute")
        assert cell.status == "ok", cell.errors
        assert kernel.value("ran.to_cells().code != ()") == "True", kernel.value(
            "[e for e in ran.events if 'Tool' in type(e).__name__]"
        )

    return run


@pytest.fixture
def certify(kernel, home, ran):
    """The text of a certificate of a run of these codes."""

    def write(*codes: str, answer: str = ANSWER, options: str = "--with-data", line: str = "") -> str:
        ran(*codes, answer=answer, line=line)
        path = home / "ran.certificate.html"
        path.unlink(missing_ok=True)
        cell = kernel.run(f"%agent certify ran {options}")
        assert cell.status == "ok", cell.errors
        return path.read_text()

    return write


@pytest.fixture
def verify(tmp_path):
    """The exit status and what was printed, of `agent-nb verify` in a folder of its own."""

    def run(html: str, *options: str, command=VERIFY, **variables: str) -> tuple[int, str]:
        (tmp_path / "x.html").write_text(html)
        environment = {**quiet_environment(tmp_path), **variables}
        done = subprocess.run(
            [*command, *([] if command[-1].endswith(".jsonl") else ["x.html"]), *options],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert "Traceback" not in done.stderr + done.stdout, done.stderr
        return done.returncode, re.sub(" +", " ", done.stdout)

    return run


def test_what_was_computed_comes_out_again(certify, verify, tmp_path):
    html = certify(*CODES)
    status, table = verify(html)
    assert status == 0, table
    assert "input sales the same" in table
    assert "4 of 4 computed numbers reproduced" in table
    status, facts = verify(html, "--json", "--strict")
    grades = {row["what"]: row["grade"] for row in json.loads(facts)["rows"]}
    assert (status, grades["77.7"], grades["87.2"]) == (1, "not reproduced", "reproduced")
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == ["x.html"]


def test_nothing_runs_without_a_yes(certify, verify, tmp_path):
    html = certify(f"open({str(tmp_path / 'trace')!r}, 'a').write('1')", answer="None.", options="")
    (tmp_path / "trace").unlink()
    status, said = verify(html, command=[part for part in VERIFY if part != "--yes"])
    assert (status, said) == (
        2,
        "Nothing was run: nobody approved the code. `--yes` runs it without asking.\n",
    )
    assert not (tmp_path / "trace").exists()
    assert verify(html)[0] == 0
    assert (tmp_path / "trace").exists()


def test_inputs_come_from_a_notebook_or_a_folder(kernel, home, certify, verify, tmp_path):
    (home / "prices.csv").write_text("price\n2\n3.5\n")
    html = certify(
        CODES[0], "print(pd.read_csv('prices.csv').price.sum())", answer="2.50 and 5.5.", options=""
    )
    status, said = verify(html)
    assert (status, said.startswith("The code needs sales and prices.csv, which")) == (2, True)
    cells = [
        {"cell_type": "code", "source": "%load_ext agent_nb"},
        {"cell_type": "code", "source": TABLE.splitlines(keepends=True)},
        {"cell_type": "code", "source": "%%agent ran\nCompute"},
        {"cell_type": "code", "source": "1 / 0"},
    ]
    (tmp_path / "analysis.ipynb").write_text(json.dumps({"cells": cells}))
    (tmp_path / "prices.csv").write_text("price\n2\n3.5\n")
    status, table = verify(html, "--notebook", "analysis.ipynb")
    assert status == 0, table
    (tmp_path / "prices.csv").write_text("price\n2\n3.6\n")
    status, table = verify(html, "--notebook", "analysis.ipynb")
    assert status == 1
    assert "input prices.csv not reproduced other contents" in table
    assert "5.5 not reproduced cell" in table


def test_what_a_notebook_makes_otherwise_is_named(certify, verify, tmp_path):
    html = certify(CODES[0], answer="2.50", options="")
    cell = {"cell_type": "code", "source": TABLE.replace("* 3", "* 2")}
    (tmp_path / "other.ipynb").write_text(json.dumps({"cells": [cell]}))
    status, table = verify(html, "--notebook", "other.ipynb")
    assert status == 1
    assert "pandas.DataFrame 8 x 2 instead of pandas.DataFrame 12 x 2" in table


@pytest.mark.parametrize(
    ("change", "code", "expected"),
    [
        ("import nowhere_to_be_found\n", "", (2, "Install `nowhere_to_be_found`")),
        ("import time; time.sleep(600)\n", "", (2, "stopped: after 2 seconds")),
        ("import os; os._exit(1)\n", "", (2, "the kernel died")),
        ("while True: print('x' * 10_000)\n", "", (2, "it printed more than")),
        ("", "import random\n", (1, "The code uses random numbers without a seed")),
        ("", "import time; time.time()\n", (1, "The code uses the time")),
        ("", "import urllib\n", (1, "The code uses the network")),
        ("1 / 0\n", "", (1, "ZeroDivisionError")),
    ],
)
def test_what_cannot_run_or_differs_has_its_sentence(certify, verify, change, code, expected):
    """`code` stands for what may differ each time, here by a number that was forged."""
    html = certify(CODES[0], answer="2.50", options="--with-data")

    def forge(wire):
        source = wire["cells"][-1]["source"]
        wire["cells"][-1]["source"] = change + code + (source.replace("mean()", "sum()") if code else source)

    options = ["--seconds", "2"] if "sleep" in change else ["--seconds", "60"]
    found, said = verify(mended(html, forge), *options)
    status, words = expected
    assert (found, words in said) == (status, True), said


def test_other_versions_are_named(certify, verify):
    html = certify("import pandas\n" + CODES[0], answer="2.50")
    status, table = verify(mended(html, lambda wire: wire["packages"].update(pandas="0.1")))
    assert status == 0
    assert "Other versions than those of the run: pandas 0.1 (here " in table


def test_a_hostile_file_writes_nothing_outside_and_gets_no_keys(certify, verify, tmp_path):
    html = certify("import os\nprint(1234.5, sorted(os.environ))", answer="1234.5", options="")
    assert "OPENAI_API_KEY" in html  # of the kernel of the run
    code = "import os\nprint(1234.5)\nassert 'OPENAI_API_KEY' not in os.environ"

    def forge(wire):
        wire["cells"][-1]["source"] = code
        names = ["../../outside", str(tmp_path / "absolute"), "__builtins__.x"]
        wire["inputs"] = [{"name": name, "kind": "file", "digest": "0"} for name in names]
        wire["data"] = [{"name": name, "form": "file", "text": "eA=="} for name in names]

    status, said = verify(mended(html, forge), OPENAI_API_KEY="sk-proj-0123456789abcdef")
    assert status == 1, said
    assert "1234.5" in said
    assert "AssertionError" not in said
    assert not (tmp_path / "absolute").exists()


def test_in_the_notebook_it_runs_at_once_if_its_code_has_run_there(kernel, ran):
    ran(*CODES)
    cell = kernel.run("%agent cells ran --verify")
    assert cell.status == "ok", cell.errors
    assert "4 of 4 computed numbers reproduced" in cell.displays[-1]["text/plain"]


def test_a_saved_run_is_verified_by_the_same_command(home, ran, kernel, verify):
    ran("print(6 * 7.5)", answer="45.0")
    kernel.run("ran.save('ran.run.jsonl', overwrite=True)")
    status, said = verify("", command=[*VERIFY, str(home / "ran.run.jsonl")])
    assert status == 0, said
    assert "1 of 1 computed number reproduced" in said
