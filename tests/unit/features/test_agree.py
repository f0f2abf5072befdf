"""`--agree`: tries of a request, each in a branch, until the code of two computes the same answer."""

import asyncio
import json

import pytest

from agent_nb import Agent, Answer, ConfigError, Limits, load, model
from agent_nb.features.agree.agreement import is_equal
from agent_nb.notebook.kernel_tools import kernel_tools
from agent_nb.providers.scripted import ScriptedProvider, call, text
from tests.support.waiting import wait_for
from tests.support.wire import Hold, Say, WireServer, reply

DATA = "import pandas as pd\ndf = pd.DataFrame({'town': ['Lyon', 'Nice'], 'price': [1.5, 2.5], 'wind': 1})\ntotal = 0"
CELL = "%%agent run --approve auto --no-raise"
ASKED = "The mean price of `df`?"


@pytest.fixture
def server(monkeypatch):
    with WireServer.in_thread() as server:
        monkeypatch.setenv("CHAT_BASE_URL", server.base_url("chat"))
        yield server


def agent(shell, provider="chat:qwen", **settings):
    settings = {"approve": "auto", "agree": 3, **settings}
    return Agent(provider, tools=[*kernel_tools(shell.ipython)], **settings)


class Computes(ScriptedProvider):
    """Writes the same code in each try, and then says so, in whatever order the requests come."""

    def stream(self, request):
        is_done = request.messages[-1].role == "tool"
        self._turns.append((text("Done."),) if is_done else (call("run_python", {"code": "print(4)"}),))
        return super().stream(request)


def tried(shell, server, *codes, options="--agree 3 -m chat:qwen", prompt="The mean price of {{df}}?"):
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
    assert run.text.startswith("```\nIt is 2.0")
    assert shell.names["total"] == 0
    run.apply()
    assert shell.names["total"] == 1


@pytest.mark.parametrize(
    ("codes", "words", "text"),
    [
        (["print(1)", "print(2)", "print(1.2)"], "2 of 3 agree", "1"),
        (["print(1)", "print(2)", "print(2)"], "2 of 3 agree", "2"),
        (["print(1)", "print('a')", "print(3)"], "none of 3 agree", "1"),
    ],
)
def test_a_further_try_starts_only_if_the_others_disagree(shell, server, codes, words, text):
    run = tried(shell, server, *codes)
    assert str(run.agreement) == words
    assert run.text.startswith(f"```\n{text}\n```")
    assert (words in run.to_html(), words in run.to_markdown()) == (True, True)
    assert words in run._repr_mimebundle_()["text/plain"]
    assert ("try 3" in run.to_html()) == words.startswith("none")


def test_tries_differ(shell, server):
    tried(shell, server, "print(1)", "print(2)", "print(2)")
    bodies = [request.body for request in server.requests][::2]
    assert [body["temperature"] for body in bodies] == [0.2, 0.8, 0.8]
    columns = ["- town: str\n", "- price: float64\n", "- wind: int64\n"]
    texts = [body["messages"][1]["content"] for body in bodies]
    assert ["".join(columns[n:] + columns[:n]) in texts[n] for n in range(3)] == [True] * 3


async def test_a_temperature_of_the_user_stays(shell, server):
    shell.run(DATA)
    server.plan(*[reply(Say("```python\nprint(1)\n```")), reply(Say("Done."))] * 2)
    run = await agent(shell, model("chat:qwen", temperature=0.4), agree=2).run(ASKED)
    assert run.agreement.agree == 2
    assert {request.body["temperature"] for request in server.requests} == {0.4}


def test_typed_answers_agree_by_value(shell, server):
    codes = [f"answer = {{'mean': {value}, 'town': 'Lyon'}}" for value in ("2.04166", "3.0", "2.04")]
    run = tried(shell, server, *codes, options='--agree 3 -m chat:qwen --as "mean: float, town: str"')
    assert (run.agreement.agree, run.answer["mean"]) == (2, 2.04166)


def test_a_try_that_ran_no_code_has_no_vote(shell, server):
    server.plan(*(reply(Say(text)) for text in ("It is 2.", "Still 2.", *["It is 2.", "Still 2."] * 2)))
    shell.run(DATA)
    shell.run(f"{CELL} --agree 3 -m chat:qwen\nThe mean price of {{{{df}}}}?")
    agreement = shell.names["run"].agreement
    assert (agreement.agree, agreement.tries, agreement.answers) == (0, 3, (None, None, None))


def test_a_saved_run_and_a_cassette_have_all_tries(shell, server):
    run = tried(
        shell,
        server,
        "print(1)",
        "print(2)",
        "print(2)",
        options="--agree 3 -m chat:qwen --record runs/a.jsonl",
    )
    assert load("runs/a.jsonl").agreement == run.agreement
    again = shell.run(f"{CELL} --agree 3 -m chat:qwen --replay runs/a.jsonl\nThe mean price of {{{{df}}}}?")
    assert again.ok, again.stderr
    replayed = shell.names["run"]
    assert (replayed.agreement, replayed.text, len(replayed.variants)) == (run.agreement, run.text, 3)
    other = shell.run(f"{CELL} --agree 2 -m chat:qwen --replay runs/a.jsonl\nThe mean price of {{{{df}}}}?")
    assert "`--agree 3`, not `--agree 2`" in str(other.error)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("-m chat:qwen -n 2", "compares tries of one model"),
        ("-m chat:qwen -m chat:other", "compares tries of one model"),
        ("-m chat:qwen --bind total", "compares tries of one model"),
        ("-m acp:claude", "An outside agent ends its runs on its own"),
        ("-m chat:qwen --plain", "no tool for it"),
    ],
)
def test_what_does_not_go_with_it_is_refused_in_a_sentence(shell, server, options, words):
    shell.run(DATA)
    prompt = "Hello." if "plain" in options else "The mean of {{df}}?"
    done = shell.run(f"{CELL} --agree 3 {options}\n{prompt}")
    assert words in str(done.error)
    assert not server.requests


def test_without_fork_it_is_refused(shell, server, monkeypatch):
    monkeypatch.delattr("os.fork")
    shell.run(DATA)
    assert str(shell.run(f"{CELL} --agree 3 -m chat:qwen\nThe mean of {{{{df}}}}?").error) == (
        "Tries that must agree work in branches. A branch is a copy of the kernel's process, which Windows and"
        " JupyterLite cannot make: leave out `--agree`."
    )


def test_a_lab_may_forbid_it(shell, server):
    (shell.session.home / "lab.toml").write_text("[lab]\nagree = 1\n")
    shell.run(DATA)
    error = str(shell.run(f"{CELL} --agree 3 -m chat:qwen\nThe mean of {{{{df}}}}?").error)
    assert "This lab allows at most `--agree 1`, not 3." in error


async def test_stop_keeps_the_tries_that_have_ended(shell, server):
    shell.run(DATA)
    server.plan(reply(Say("```python\nprint(1)\n```")), reply(Say("Done.")), reply(Hold()))
    handle = agent(shell).start(ASKED)
    await asyncio.to_thread(wait_for, lambda: len(server.requests) == 3)
    handle.stop()
    run = await handle
    assert (str(run.agreement), run.reason) == ("1 of 3 tries, stopped", "end_turn")
    assert [each.reason for each in run.variants] == ["end_turn", "stopped"]
    assert run.text.startswith("```\n1")


async def test_a_try_that_hangs_ends_and_a_further_one_starts(shell, server):
    shell.run(DATA)
    shell.magics.python_seconds = 0.5
    hangs = [reply(Say("```python\nwhile True: pass\n```"))] * 3
    good = [reply(Say("```python\nprint(1)\n```")), reply(Say("Done."))]
    server.plan(*good, *hangs, *good)
    run = await agent(shell).run(ASKED)
    assert str(run.agreement) == "2 of 3 agree"
    assert [each.reason for each in run.variants] == ["end_turn", "failed", "end_turn"]


async def test_on_a_vendors_model_two_tries_run_at_once(shell):
    shell.run(DATA)
    meet = "import os, time\nopen(f'try{os.getpid()}', 'w').close()\n"
    meet += (
        "while len([name for name in os.listdir() if name.startswith('try')]) < 2: time.sleep(0.01)\nprint(4)"
    )
    first = [call("run_python", {"code": meet})]
    provider = ScriptedProvider([first, first, [text("Done.")], [text("Done.")]])
    run = await agent(shell, provider).run(ASKED)
    assert str(run.agreement) == "2 of 2 agree"


async def test_one_card_covers_equal_code_of_all_tries(shell):
    shell.run(DATA)
    asked = []

    async def ask(request):
        asked.append(request.args["code"])
        await asyncio.sleep(0.05)
        return Answer(approved=True)

    handle = agent(shell, Computes([]), approve="ask").start(ASKED)
    handle.approve_with(ask)
    assert str((await handle).agreement) == "2 of 2 agree"
    assert asked == ["print(4)"]


async def test_a_try_that_would_exceed_the_seconds_does_not_start(shell, server):
    shell.run(DATA)
    slow = reply(Say("```python\nimport time; time.sleep(3.2); print(1)\n```"))
    server.plan(slow, reply(Say("Done.")))
    run = await agent(shell, limits=Limits(seconds=6.0)).run(ASKED)
    assert (str(run.agreement), run.text[:5]) == ("1 of 3 tries, no more within the limits", "```\n1")


async def test_a_failure_that_another_try_would_repeat_ends_the_tries(shell, server):
    shell.run(DATA)
    server.plan(reply(status=401, body=json.dumps({"error": {"message": "No such key"}}).encode()))
    run = await agent(shell).run(ASKED)
    assert (run.reason, run.agreement.tries, len(server.requests)) == ("failed", 1, 1)


def test_agents_check_the_number():
    with pytest.raises(ConfigError, match="`agree` must be a whole number from 1 to 5, not 9"):
        Agent("demo:", agree=9)


def test_the_default_of_cells_may_be_switched_off(shell, server):
    shell.run("%config AgentMagics.agree = 2")
    server.plan(reply(Say("Hello.")))
    assert "or write `--agree 1`" in str(shell.run(f"{CELL} -m chat:qwen\nHello.").error)
    assert shell.run(f"{CELL} -m chat:qwen --agree 1\nHello.").ok
    assert shell.names["run"].agreement is None


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("@mean[4.04]", "@mean[4.041]", True),
        ("@mean[4.04]", "@mean[4.05]", False),
        ("1,234.5 euros", "1234.5 Euros", True),
        ("-3", "3", False),
        ("1e-05", "0.0000", True),
        ("4 linear", "4 nonlinear", False),
        ("4", "4 4", False),
        ("…", "—", False),
        ({"a": 0.3}, {"a": 0.1 + 0.2}, True),
        ({"a": 1}, {"b": 1}, False),
        ([1, 2.0], [1, 2], True),
        (True, False, False),
        ("9" * 50_000, "9" * 50_000 + "1", True),
    ],
)
def test_numbers_agree_within_the_rounding_that_is_shown(one, other, equal):
    assert (is_equal(one, other), is_equal(other, one), is_equal(one, one)) == (equal, equal, True)
