"""`--agree`: tries of a request, each in a branch, until the code of two computes the same answer."""

import json

import pytest

from agent_nb import load
from tests.support.wire import Say, WireServer, reply

DATA = "import pandas as pd\ndf = pd.DataFrame({'town': ['Lyon', 'Nice'], 'price': [1.5, 2.5], 'wind': [1, 2]})\ntotal = 0"
CELL = "%%agent run -m chat:qwen --approve auto --no-raise"


@pytest.fixture
def server(monkeypatch):
    with WireServer.in_thread() as server:
        monkeypatch.setenv("CHAT_BASE_URL", server.base_url("chat"))
        yield server


def tried(shell, server, *codes, options="--agree 3", prompt="The mean price of {{df}}?"):
    """A run whose tries write a block each, and a sentence if it prints something."""
    answers = [(f"```python\n{code}\n```", *(["Done."] if "print" in code else [])) for code in codes]
    server.plan(*(reply(Say(text)) for texts in answers for text in texts))
    shell.run(DATA)
    cell = shell.run(f"{CELL} {options}\n{prompt}")
    assert server.unused == 0, cell.stderr
    return shell.names["run"]


def test_two_tries_that_agree_are_enough(shell, server):
    run = tried(shell, server, "total = 1\nprint('It is 2.0')", "total = 2\nprint('It is 2')")
    agreement = run.agreement
    assert (agreement.agree, agreement.tries, agreement.answers) == (2, 2, ("It is 2.0", "It is 2"))
    assert "2 of 2 agree" in run.to_html()
    assert run.text.startswith("```text\nIt is 2.0")
    assert shell.names["total"] == 0
    run.apply()
    assert shell.names["total"] == 1
