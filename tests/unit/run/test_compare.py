"""Runs in a table, with checks; `assert_same` says well where two part."""

import re
from dataclasses import replace

import pytest

from agent_nb import ConfigError, Files, assert_same, compare
from agent_nb.providers.scripted import call, text, usage
from tests.support.scripts import PAGE, run_script, write


async def test_the_same_script_twice_is_the_same():
    one, other = [await run_script([write()], [text("ok")]) for _ in range(2)]
    assert one.id != other.id
    assert_same(one, replace(other, seconds=9.0, cost=3.0, name="other"))


async def test_spacing_of_arguments_does_not_count():
    one = await run_script([call("list_files", "{}")], [text("ok")])
    other = await run_script([call("list_files", "{ }")], [text("ok")])
    assert_same(one, other)


@pytest.mark.parametrize(
    ("turns", "says"),
    [
        ([[write(content=PAGE.replace("Bread", "Cake"))], [text("ok")]], "+<!doctype html><h1>Cake</h1>"),
        ([[write("b.html")], [text("ok")]], "file b.html: only in the second"),
        ([[write("logo.bin")], [text("ok")]], "file index.html: only in the first"),
        ([[write()], [text("fine")]], "-assistant: ok\n+assistant: fine"),
        ([[write()], [call("list_files")], [text("ok")]], "+list_files({}): ok"),
        ([[write("../x")], [text("ok")]], "FAILED"),
    ],
)
async def test_a_difference_is_shown(turns, says):
    one, other = await run_script([write()], [text("ok")]), await run_script(*turns)
    with pytest.raises(AssertionError) as raised:
        assert_same(one, other)
    assert "are not the same run" in str(raised.value)
    assert says in str(raised.value)


async def test_plain_facts_are_compared():
    one = await run_script([text("ok")])
    for name in ("prompt", "model", "reason"):
        with pytest.raises(AssertionError, match=f"{name}: .*, then 'x'"):
            assert_same(one, replace(one, **{name: "x"}))


async def test_a_long_difference_is_cut():
    one = await run_script([write(content="a\n" * 300)], [text("ok")])
    other = await run_script([write(content="b\n" * 300)], [text("ok")])
    with pytest.raises(AssertionError) as raised:
        assert_same(one, other)
    assert "more lines)" in str(raised.value)
    assert str(raised.value).count("\n") < 100


async def variants():
    runs = [await run_script([write()], [text("ok"), usage(input=1500, output=20)]) for _ in range(3)]
    worse = replace(runs[-1], reason="failed", error="No such model.", files=Files(), cost=None)
    return replace(runs[0], name="hero", variants=(*runs[:-1], worse))


async def test_variants_are_numbered_as_pick_counts():
    hero = await variants()
    rows = hero.compare().rows()
    assert [(row["run"], row["number"]) for row in rows] == [("hero", 1), ("hero", 2), ("hero", 3)]
    assert hero.pick(rows[2]["number"]).reason == rows[2]["reason"]
    assert [row["reason"] for row in rows] == ["end_turn", "end_turn", "failed"]
    assert rows[0] == {
        "run": "hero",
        "number": 1,
        "prompt": "A page for a bakery",
        "model": "scripted:test",
        "effort": None,
        "reason": "end_turn",
        "error": None,
        "steps": 2,
        "seconds": 0.0,
        "tokens_in": 1500,
        "tokens_out": 20,
        "cost": None,
        "bytes": len(PAGE),
        "closeness": None,
    }


async def test_the_table_tells_ends_and_sums():
    hero = await variants()
    priced = replace(hero, variants=tuple(replace(v, cost=0.5) for v in hero.variants))
    lines = repr(priced.compare()).splitlines()
    assert " ".join(lines[0].split()) == "run model ended steps time tokens in tokens out cost size"
    assert lines[3].split()[:6] == ["3", "scripted:test", "failed:", "No", "such", "model."]
    assert lines[-1] == "3 runs, 1 failed, $1.50 together."
    assert repr(hero.compare()).endswith("3 runs, 1 failed, prices are not known.")


async def test_any_runs_compare_by_name():
    one = await run_script([text("ok")])
    mine, other = replace(one, name="mine"), replace(one, name="other", prompt="A shop " * 40, cost=0.0)
    assert [row["run"] for row in compare([mine, other]).rows()] == ["mine", "other"]
    shown = repr(compare([mine, other]))
    assert "prompt" in shown.splitlines()[0]
    assert "A shop A shop" in shown
    assert max(map(len, shown.splitlines())) < 160
    assert [line.split()[0] for line in shown.splitlines()[1:3]] == ["mine", "other"]


async def test_runs_of_one_name_show_numbers():
    one = await run_script([text("ok")])
    table = compare([one, one])
    assert [(row["run"], row["number"]) for row in table.rows()] == [("run", 1), ("run", 2)]
    assert [line.split()[0] for line in repr(table).splitlines()[1:3]] == ["1", "2"]


async def test_checks_are_columns_of_words():
    run = await run_script([write()], [text("ok")])
    found = compare(
        run,
        checks={
            "has h1": lambda run: "<h1" in run.html,
            "short": "len(html) < 5",
            "every word": "all(word in html for word in ('Bread', 'h1'))",
            "styled": lambda run: run.files["style.css"],
            "kind": "text == 'ok' and 'index.html' in files",
        },
    )
    assert found.checked == (
        {"has h1": True, "short": False, "every word": True, "styled": "KeyError", "kind": True},
    )
    assert found.rows()[0]["styled"] == "KeyError"
    assert repr(found).splitlines()[1].split()[-5:] == ["yes", "no", "yes", "KeyError", "yes"]
    assert "<td" in found._repr_html_()


async def test_checks_without_names_name_themselves():
    def has_page(run):
        return run.html

    run = await run_script([write()], [text("ok")])
    assert compare(run, ["'h1' in html", has_page]).checked == ({"'h1' in html": True, "has_page": True},)
    assert compare(run, "'h1' in html").checked == ({"'h1' in html": True},)


async def test_a_quoted_check_is_no_string():
    run = await run_script([write()], [text("ok")])
    assert compare(run, {"h1": "\"'<h1' in html\"", "h9": "\"'<h9' in html\""}).checked == (
        {"h1": True, "h9": False},
    )


@pytest.mark.parametrize(
    ("checks", "says"),
    [
        ({"model": "html"}, "already a column 'model'"),
        (["html", "html"], "already a column 'html'"),
        (["html ="], "'html =' is not a valid expression"),
        (["1 < 2"], "The check '1 < 2' is the same for every run."),
        ({"number": "html"}, "already a column 'number'"),
        ({"a number": 3}, "'a number' is 3"),
        ({"later": run_script}, "'later' is async"),
    ],
)
async def test_bad_checks_are_refused(checks, says):
    run = await run_script([text("ok")])
    with pytest.raises(ConfigError, match=re.escape(says)):
        run.compare(checks)


def test_nothing_to_compare_is_refused():
    with pytest.raises(ConfigError, match="at least one run"):
        compare([])
    with pytest.raises(ConfigError, match="not a str"):
        compare(["hero"])


async def test_long_lists_show_their_beginning():
    one = await run_script([text("ok")])
    shown = compare([replace(one, name=f"r{number}") for number in range(300)])
    assert len(shown.rows()) == 300
    assert "r199" in repr(shown)
    assert "r200" not in repr(shown)
    assert "`rows()` has them all" in repr(shown)
