"""`lab.toml`: what it may say, the sentence for everything else, and the rule that each refusal names."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from agent_nb.classroom.rules import KEYS, MAX_BYTES, find_lab, read_lab
from agent_nb.core.errors import ConfigError
from agent_nb.tools import Toolbox
from tests.support import ROOT

WHOLE = """
[lab]
title = "Web pages with agents, 第三週"
models = ["demo:", "Anthropic:claude-haiku-5-5"]
budget = 0.50
run_budget = 0.10
steps = 9
seconds = 90.5
tools = ["files", "check_preview"]
approve = "ask"
data = "schema"
variants = 2
replay = "prefer"
mode = "full"
open = 2026-11-01T08:00:00+01:00
close = 2026-12-01T18:00:00+01:00
"""


KERNEL = {"kernel": ("list_variables", "describe_variable", "run_python")}


def read(text: str):
    return read_lab(Path("lab.toml"), text.encode())


def test_every_key_is_read():
    rules = read(WHOLE)
    assert rules.title == "Web pages with agents, 第三週"
    assert rules.models == ("demo:", "anthropic:claude-haiku-5-5")
    assert (rules.budget, rules.run_budget, rules.variants) == (0.5, 0.1, 2)
    assert rules.limits == {"steps": 9, "seconds": 90.5}
    assert rules.tools == ("files", "check_preview")
    assert (rules.approve, rules.data, rules.replay, rules.mode) == ("ask", "schema", "prefer", "full")
    assert rules.open == datetime(2026, 11, 1, 8, tzinfo=timezone(timedelta(hours=1)))
    assert all(f"\n{key} =" in WHOLE for key in KEYS)


def test_every_key_is_documented():
    page = (ROOT / "docs" / "how-to" / "classroom.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    assert [key for key in KEYS if not any(f"`{key}`" in row for row in rows)] == []


@pytest.mark.parametrize("text", ["", "[lab]", "\ufeff[lab]\r\nbudget = 1\r\n", "lab.budget = 1"])
def test_little_is_enough(text):
    assert read(text).models == ()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[lab]\nbudgt = 1", "lab.toml: there is no key 'budgt'. Did you mean `budget`?"),
        ("[lab]\n'Model' = 1", "lab.toml: there is no key 'Model'. Did you mean `models`?"),
        ("[lab]\nzzz = 1", "lab.toml: there is no key 'zzz'. The keys are title, models,"),
        (
            "\n[laboratory]\nbudget = 1",
            "lab.toml: there is no table or key 'laboratory'. The rules belong below",
        ),
        ("[labs]", "lab.toml: there is no table or key 'labs'. Did you mean `lab`?"),
        ("budget = 1", "lab.toml: there is no table or key 'budget'. The rules belong below `[lab]`."),
        ("lab = 3", "lab.toml: `lab` must be a table"),
        (
            "[lab]\n\nbudget = '1'",
            "lab.toml: `budget` must be US dollars of at least 0, such as 0.50, not '1'.",
        ),
        ("[lab]\nbudget = -1", "lab.toml: `budget` must be"),
        ("[lab]\nbudget = nan", "lab.toml: `budget` must be"),
        ("[lab]\nbudget = true", "not true."),
        ("[lab]\nrun_budget = 0", "lab.toml: `run_budget` must be US dollars above 0"),
        ("[lab]\ntitle = 3", "lab.toml: `title` must be text in quotation marks, not 3."),
        ("[lab]\nmodels = 'demo:'", "lab.toml: `models` must be a list of names"),
        ("[lab]\nmodels = []", "`models` must name at least one model"),
        ("[lab]\nmodels = ['antropic:x']", "Did you mean `anthropic:`?"),
        ("[lab]\ntools = [1]", "lab.toml: `tools` must be a list of names"),
        ("[lab]\napprove = 'aks'", 'must be "ask" or "deny", not \'aks\'. Did you mean `ask`?'),
        ("[lab]\napprove = ['ask']", 'must be "ask" or "deny"'),
        ("[lab]\napprove = 'auto'", 'must be "ask" or "deny"'),
        ("[lab]\nvariants = 9", "lab.toml: `variants` must be a whole number from 1 to 8, not 9."),
        ("[lab]\nvariants = 1.0", "not 1.0."),
        ("[lab]\nreplay = 'always'", 'lab.toml: `replay` must be "prefer"'),
        ("[lab]\nmode = 'on'", 'lab.toml: `mode` must be "full" or "hints" or "off"'),
        ("[lab]\nopen = 2026-11-01T08:00:00", "lab.toml: `open` must include a time zone, such as"),
        ("[lab]\nopen = 2026-11-01", "lab.toml: `open` must be a date with a time"),
        ("[lab]\nopen = '2026-11-01T08:00:00Z'", "without quotation marks, not '2026"),
        ("[lab]\nopen = 2026-02-30T08:00:00Z", "is not valid TOML: "),
        (
            "[lab]\nclose = 2026-11-01T08:00:00Z\nopen = 2026-11-01T09:30:00+01:00",
            "lab.toml: `close` must be later than `open`.",
        ),
        ("[lab]\ntitle = 'x", "is not valid TOML: "),
        ("[lab]\nbudget = ", "is not valid TOML: "),
        ("[lab]\nbudget = 1\nbudget = 2", "is not valid TOML: "),
        ("#" * (MAX_BYTES + 1), "has more than 100 kB"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_the_line(text, sentence):
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert sentence in str(caught.value)
    assert str(caught.value).startswith("lab.toml")
    assert "\n" not in str(caught.value)


def test_a_file_in_another_encoding():
    with pytest.raises(ConfigError, match=r"is not UTF-8"):
        read_lab(Path("lab.toml"), "[lab]\ntitle = 'é'".encode("latin-1"))


def test_it_is_found_upwards_to_the_root(tmp_path, monkeypatch):
    root = tmp_path / "Übung 三"
    deep = root / "week 3" / "notebooks"
    deep.mkdir(parents=True)
    (tmp_path / "lab.toml").touch()
    monkeypatch.setenv("HOME", str(root))
    assert find_lab(deep) is None
    (root / "lab.toml").touch()
    assert find_lab(deep) == root / "lab.toml"
    (deep / "lab.toml").mkdir()
    (deep.parent / "lab.toml").touch()
    assert find_lab(deep) == deep.parent / "lab.toml"
    monkeypatch.setenv("JUPYTER_SERVER_ROOT", str(deep))
    assert find_lab(deep) is None
    assert find_lab(tmp_path) == tmp_path / "lab.toml"


def test_outside_of_root_and_home_only_the_folder_counts(tmp_path, monkeypatch):
    (tmp_path / "inner").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "lab.toml").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert find_lab(tmp_path / "inner") is None


def rules(text: str):
    return read_lab(Path("lab.toml"), f"[lab]\n{text}".encode())


def refused(rule: str):
    return pytest.raises(ConfigError, match=rf"\(`{rule}` in lab\.toml\)$")


def test_the_times_are_those_of_the_file_and_the_clock_is_named():
    lab = rules("open = 2026-11-01T08:00:00+01:00\nclose = 2026-12-01T18:00:00+01:00")
    with refused("open") as early:
        lab.check_open(datetime(2026, 11, 1, 6, 59, tzinfo=UTC))
    assert "opens at 2026-11-01 08:00+01:00; the clock here shows 2026-11-01 07:59+01:00." in str(early.value)
    lab.check_open(datetime(2026, 11, 1, 7, tzinfo=UTC))
    lab.check_open(datetime(2026, 12, 1, 16, 59, tzinfo=UTC))
    with refused("close") as late:
        lab.check_open(datetime(2026, 12, 1, 17, tzinfo=UTC))
    assert "closed at 2026-12-01 18:00+01:00; the clock here shows 2026-12-01 18:00+01:00." in str(late.value)


def test_tools_by_name_and_by_group():
    lab = rules('tools = ["files", "check_preview", "mcp:weather", "run_python"]')
    lab.check_tools(["mcp:weather", "mcp:weather/get", "run_python"], KERNEL)
    for name in ("kernel", "list_variables", "mcp:mail", "mcp:weatherman", "my_own"):
        with refused("tools"):
            lab.check_tools([name], KERNEL)
    rules('tools = ["kernel"]').check_tools(["run_python", "kernel"], KERNEL)
    left = {tool.name for tool in Toolbox.default().without(lab.left_out())}
    assert {"create_file", "read_file", "check_preview"} <= left
    assert not left & {"generate_images", "retrieve_option"}
    assert not list(Toolbox.default().without(rules("tools = []").left_out()))
    assert not rules("").left_out()
