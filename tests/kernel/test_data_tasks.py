"""A question about a public table with one checked answer: asked, recorded, replayed, and verified as cells.

The model is scripted, but its code runs: a number that it names must be in what the code printed. The table is that
of McNeil (1977), which comes with R.
"""

import re

import pytest

from tests.support.kernels import start_kernel
from tests.support.wire import Call, Say, WireServer, reply

WEIGHTS = (115, 117, 120, 123, 126, 129, 132, 135, 139, 142, 146, 150, 154, 159, 164)
WOMEN = "height,weight\n" + "\n".join(f"{58 + place},{weight}" for place, weight in enumerate(WEIGHTS))
QUESTION = "By how many pounds does the fitted line in women.csv rise for each inch? Answer as @slope[...]."
CODE = (
    "import numpy as np\nimport pandas as pd\nwomen = pd.read_csv('women.csv')\n"
    "slope, intercept = np.polyfit(women['height'], women['weight'], 1)\n"
    "women.plot.scatter('height', 'weight')\nprint(f'{slope:.2f} {intercept:.2f}')"
)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("task")
    (home / "women.csv").write_text(WOMEN)
    return home


@pytest.fixture(scope="module", autouse=True)
def recorded(home):
    """Records the run in a kernel with a key, and yields that kernel."""
    with WireServer.in_thread() as server, start_kernel(home, **server.as_openai()) as kernel:
        server.plan(
            reply(Say("I compute it."), Call("run_python", {"code": CODE})),
            reply(Say("The answer is @slope[3.45].")),
        )
        options = "-m openai: -t kernel --approve run_python=auto --record"
        cell = kernel.run(f"%%agent fitted {options}\n{QUESTION}")
        assert cell.status == "ok", cell.errors
        yield kernel


def answered(kernel) -> str:
    """The answer of the run, which its code must have printed."""
    text, printed = (
        kernel.run(f"print(fitted.{part})").stdout for part in ("text", "tool_uses[0].result.text")
    )
    (answer,) = re.findall(r"@\w+\[([^]]+)\]", text)
    assert answer in printed
    return answer


def test_the_answer_is_what_the_code_computed_and_the_cells_compute_it_again(recorded):
    assert answered(recorded) == "3.45"
    verified = recorded.run("%agent cells fitted --verify").displays[-1]["text/plain"]
    assert re.search(r"[1-9]\d* equal, 0 differs, 0 not verified", verified), verified


def test_the_recording_plays_without_a_key_and_runs_no_code(home, recorded):
    with start_kernel(home) as kernel:
        cell = kernel.run(f"%%agent fitted -t kernel\n{QUESTION}")
        assert cell.status == "ok", cell.errors
        assert answered(kernel) == answered(recorded)
        outputs = kernel.value("[getattr(event, 'outputs', ()) for event in fitted.events]")
        assert "no code ran here" in outputs
        assert "'undo'" not in outputs
        assert kernel.value("'women' in globals()") == "False"
