"""`assert_same` holds two runs together and says well where they part."""

from dataclasses import replace

import pytest

from agent_nb import assert_same
from agent_nb.providers.scripted import call, text
from tests.scripts import PAGE, run_script, write


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


async def test_a_run_reads_as_documents():
    run = await run_script([write()], [text("The page is **ready**.")])
    assert "The page is **ready**." in run.to_markdown()
    page = run.to_html()
    assert page.lower().startswith("<!doctype html>")
    assert "ready" in page
    assert "Bread" in page
