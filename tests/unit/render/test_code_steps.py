"""Runs of code in the frozen form, as text and as Markdown: they read like a notebook."""

import re
from dataclasses import replace

from agent_nb import Agent, tool
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.render import FORMS, HTML, MARKDOWN, bundle
from agent_nb.run import Run
from agent_nb.tools.base import ToolOutput
from tests.unit.render.test_render import PNG, Elements

FIGURE = {"image/png": PNG, "text/plain": "<Figure size 640x480 with 1 Axes>"}
TABLE = {
    "text/html": "<table><tbody><tr><td>south</td></tr></tbody></table>",
    "text/plain": "  region\n0  south",
}
KINDS = {"top": "pandas.DataFrame, 12 rows x 3 columns"}
NAMES = {"application/vnd.agent-nb.names+json": {"bound": ["top"], "kinds": KINDS}, "text/plain": "Set top."}


async def data_run(code: str, *outputs: dict, answer: str = "South leads.") -> Run:
    """A run with one call that runs code, in two turns."""

    @tool
    def run_code(code: str) -> ToolOutput:
        return ToolOutput(text="8", summary="1 table", outputs=outputs)

    with ScriptedProvider([[text("I look."), call("run_code", {"code": code})], [text(answer)]]) as p:
        return await Agent(p, tools=[run_code]).run("Explore")


async def test_code_reads_like_a_cell_also_where_nothing_can_be_unfolded():
    run = await data_run("top = df.max()  # <most>", {"text/plain": "printed"}, TABLE, FIGURE, NAMES)
    page = bundle(run)["text/html"]
    shown = page[page.index("anb-text") :]
    assert "<details" not in shown
    elements = Elements(shown)
    assert [pre.get("class") for pre in elements.named("pre")] == ["anb-source", None]
    order = [
        elements.text.index(part)
        for part in ("I look.", "# <most>", "printed", "south", "Set top.", "South leads.")
    ]
    assert order == sorted(order)
    assert [tag for tag, _ in elements.tags].count("td") == 1
    assert not elements.named("iframe")
    assert elements.named("img")[0]["src"] == f"data:image/png;base64,{PNG}"


async def test_markdown_has_code_and_outputs_as_blocks_and_exports_the_figures():
    run = await data_run(
        "a = '```'\ntop", {"text/plain": "printed\n"}, TABLE, FIGURE, {"text/markdown": "**b**"}
    )
    saved, exported = bundle(run)["text/markdown"], MARKDOWN.render(run)
    assert "````python\na = '```'\ntop\n````\n\n```\nprinted\n```\n\n```\n  region\n0  south\n```" in saved
    assert PNG not in saved
    assert f"![image](data:image/png;base64,{PNG})\n\n**b**" in exported


async def test_secrets_in_code_are_masked_before_it_is_coloured():
    key = "sk-ant-api03-" + "aB3" * 30
    run = await data_run(f"token = '{key[:20]}' '{key}'\nif 1: print('{key}')")
    for text_ in (*bundle(run).values(), MARKDOWN.render(run), HTML.render(run)):
        assert key not in re.sub(r"<[^>]+>", "", text_)


async def test_long_code_and_long_tables_are_folded_and_the_answer_is_not():
    code = 'x = """' + "\n".join(f"line {number}" for number in range(60)) + '"""\ny = 1'
    rows = {"text/html": f"<table>{'<tr><td>1</td></tr>' * 50}</table>", "text/plain": "1"}
    page = bundle(await data_run(code, rows, answer="\n\n".join(["A line."] * 80)))["text/html"]
    assert '<details><summary>31 more lines</summary><pre class="anb-source"><code><span' in page
    assert "<details><summary>Table with 50 rows</summary>" in page
    Elements(page)  # it is well formed although the string ends in the fold
    answer = page[page.rindex('<div class="anb-answer"') :]
    assert answer.count("<p>A line.</p>") == 80
    assert "<details" not in answer


async def test_code_and_what_it_printed_are_apart_where_styles_are_removed():
    page = bundle(await data_run("x", {"text/plain": "printed"}))["text/html"]
    assert '</code></pre><p class="anb-untrusted"><br>Output:</p><pre>printed</pre>' in page
    assert "Output:" not in bundle(await data_run("x", FIGURE))["text/html"]


async def test_a_long_output_is_folded_with_a_count():
    run = await data_run("x", {"text/plain": "".join(f"line {number}\n" for number in range(100))})
    assert "line 29</pre><details><summary>70 more lines</summary><pre>line 30" in bundle(run)["text/html"]


async def test_the_answer_and_the_names_that_code_left_come_last():
    run = await data_run("top = 1", NAMES)
    answer = '<div class="anb-answer"><div class="anb-text"><p>South leads.</p>\n</div></div>'
    left = '<ul class="anb-dim"><li><code>top</code>: pandas.DataFrame, 12 rows x 3 columns</li></ul>'
    assert f"{answer.removesuffix('</div>')}{left}</div>" in bundle(run)["text/html"]
    assert (
        "South leads.\n\nIn the notebook:\n\n- `top`: pandas.DataFrame, 12 rows x 3 columns\n"
        in MARKDOWN.render(run)
    )
    in_branch = replace(run, settings={**run.settings, "branch": True})
    assert "In the branch:\n\n- `top`" in MARKDOWN.render(in_branch)


async def test_interactive_output_is_saved_as_its_text_with_how_to_see_it():
    marked = {"application/vnd.agent-nb.interactive+json": True, "text/plain": "Figure()"}
    run = await data_run(
        "x", marked, {"text/html": "<div></div><SCRIPT>draw()</SCRIPT>", "text/plain": "Chart()"}
    )
    page = bundle(run)["text/html"]
    assert page.count("Interactive output: run the code in a cell of its own to see it.") == 2
    assert "<pre>Figure()</pre>" in page
    assert "<pre>Chart()</pre>" in page
    assert "draw()" not in page


async def test_every_form_has_a_footnote_about_numbers_that_no_output_has():
    notes = {
        "It is 47.1 of 1,340.": "Not computed: 47.1, 1,340",
        " ".join(f"{number}.5" for number in range(100, 130)): "118.5, 119.5 and 10 more",
        "It is 53.": "",
    }
    for answer, note in notes.items():
        run = await data_run("top", {"text/plain": "53"}, answer=answer)
        for form in (*bundle(run).values(), *(form.render(run) for form in FORMS)):
            assert note in form
            assert bool(note) == ("Not computed: " in form)


async def test_every_form_names_what_code_changed_in_place():
    changed = {
        "application/vnd.agent-nb.names+json": {"in_place": {"top": "+ share"}},
        "text/plain": "top: + share.",
    }
    run = await data_run("top['share'] = 1", changed)
    for form in (*bundle(run).values(), *(form.render(run) for form in FORMS)):
        assert form.count("top: + share.") == 1


async def test_only_a_number_that_nothing_computed_is_marked_in_saved_html_also_in_a_formula():
    answer = "😀 `18.4` **18.4** of 53,\\\nat $x = 20.5$ and $y = 53$; 475"
    page = bundle(await data_run("top", {"text/plain": "53"}, answer=answer))["text/html"]
    marks = re.findall(
        '<span style="text-decoration:underline dotted" title="Not comp[^"]*">(.*?)</span>', page
    )
    assert marks == ["18.4", '<span class="anb-math">$x = 20.5$', "475"]
    assert page.index("475</span>") < page.index("Not computed: 18.4, 20.5, 475") < page.index("In Python")
