"""Questions about public tables with one checked answer each: asked, recorded, replayed, and verified as cells.

The model is scripted, but its code runs: a number that it names must be in what the code printed. The figures were
published with the tables: Anscombe (1973), McNeil (1977) and Ezekiel (1930); the latter two come with R.
"""

import re
from dataclasses import dataclass

import pytest

from tests.support.kernels import start_kernel
from tests.support.wire import Call, Say, WireServer, reply

ANSCOMBE = """x,y
10,8.04\n8,6.95\n13,7.58\n9,8.81\n11,8.33\n14,9.96\n6,7.24\n4,4.26\n12,10.84\n7,4.82\n5,5.68
"""
WOMEN = "height,weight\n" + "\n".join(
    f"{58 + place},{weight}"
    for place, weight in enumerate(
        (115, 117, 120, 123, 126, 129, 132, 135, 139, 142, 146, 150, 154, 159, 164)
    )
)
CARS = """speed,dist
4,2\n4,10\n7,4\n7,22\n8,16\n9,10\n10,18\n10,26\n10,34\n11,17\n11,28\n12,14\n12,20\n12,24\n12,28\n13,26\n13,34
13,34\n13,46\n14,26\n14,36\n14,60\n14,80\n15,20\n15,26\n15,54\n16,32\n16,40\n17,32\n17,40\n17,50\n18,42\n18,56
18,76\n18,84\n19,36\n19,46\n19,68\n20,32\n20,48\n20,52\n20,56\n20,64\n22,66\n23,54\n24,70\n24,92\n24,93\n24,120
25,85
"""


@dataclass(frozen=True)
class Task:
    name: str
    table: str
    question: str
    code: str
    answer: str


TASKS = (
    Task(
        "anscombe",
        ANSCOMBE,
        "What is the correlation of x and y in anscombe.csv, to three digits? Answer as @r[...].",
        "import pandas as pd\ntable = pd.read_csv('anscombe.csv')\nr = table['x'].corr(table['y'])\nprint(f'{r:.3f}')",
        "@r[0.816]",
    ),
    Task(
        "women",
        WOMEN,
        "By how many pounds does the fitted line in women.csv rise for each inch? Answer as @slope[...].",
        "import numpy as np\nimport pandas as pd\nwomen = pd.read_csv('women.csv')\n"
        "slope, intercept = np.polyfit(women['height'], women['weight'], 1)\nprint(f'{slope:.2f} {intercept:.2f}')",
        "@slope[3.45]",
    ),
    Task(
        "cars",
        CARS,
        "How much of the variance of dist does a line in speed explain in cars.csv? Answer as @r2[...].",
        "import pandas as pd\ncars = pd.read_csv('cars.csv')\nr2 = cars.corr().loc['speed', 'dist'] ** 2\n"
        "cars.plot.scatter('speed', 'dist')\nprint(f'{r2:.4f}')",
        "@r2[0.6511]",
    ),
)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("tasks")
    for task in TASKS:
        (home / f"{task.name}.csv").write_text(task.table)
    return home


@pytest.fixture(scope="module", autouse=True)
def recorded(home):
    """Records each task in a kernel with a key, and yields that kernel."""
    with WireServer.in_thread() as server:
        environment = {
            "ANTHROPIC_API_KEY": "sk-ant-test-key",
            "ANTHROPIC_BASE_URL": server.base_url("anthropic_messages"),
        }
        with start_kernel(home, **environment) as kernel:
            for task in TASKS:
                code = Call("run_python", {"code": task.code})
                server.plan(reply(Say("I compute it."), code), reply(Say(f"The answer is {task.answer}.")))
                options = "-m anthropic: -t kernel --approve run_python=auto --record"
                cell = kernel.run(f"%%agent {task.name}_run {options}\n{task.question}")
                assert cell.status == "ok", cell.errors
            yield kernel


def answered(kernel, task: Task) -> str:
    """The answer of the run, which its code must have printed."""
    text, printed = (
        kernel.run(f"print({task.name}_run.{part})").stdout for part in ("text", "tool_uses[0].result.text")
    )
    (answer,) = re.findall(r"@\w+\[([^]]+)\]", text)
    assert answer in printed
    return answer


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_answer_is_what_the_code_computed_and_the_cells_compute_it_again(recorded, task):
    assert answered(recorded, task) == task.answer.partition("[")[2].rstrip("]")
    verified = recorded.run(f"%agent cells {task.name}_run --verify").displays[-1]["text/plain"]
    assert re.search(r"[1-9]\d* equal, 0 differs, 0 not verified", verified), verified


def test_the_recordings_play_without_a_key_and_run_no_code(home, recorded):
    with start_kernel(home) as kernel:
        for task in TASKS:
            cell = kernel.run(f"%%agent {task.name}_run -t kernel\n{task.question}")
            assert cell.status == "ok", cell.errors
            assert answered(kernel, task) == answered(recorded, task)
        outputs = kernel.value("[getattr(event, 'outputs', ()) for event in cars_run.events]")
        assert "no code ran here" in outputs
        assert "'undo'" not in outputs
        assert kernel.value("[name for name in ('table', 'women', 'cars') if name in globals()]") == "[]"
