"""The rows of a transcript: which a retry withdraws, what folds together, and how each form writes them."""

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from agent_nb import Agent, tool
from agent_nb._base.secrets import safe_text
from agent_nb.core.errors import ProviderError
from agent_nb.core.events import MessageAdded, Note, PlanEntry, PlanUpdated, TextDelta
from agent_nb.core.messages import Source, assistant
from agent_nb.engine.approval import Answer
from agent_nb.providers.scripted import ScriptedProvider, call, fail, stall, text, think
from agent_nb.render import MARKDOWN, TEXT, bundle
from agent_nb.render.frozen import frozen_html
from agent_nb.render.plain import markdown, plain_text
from agent_nb.render.transcript import (
    MAX_TEXT,
    MOST_CHARACTERS,
    LineRow,
    Transcript,
    changes,
    line_text,
    shortened_text,
    transcript,
)
from tests.support.scripts import of, write
from tests.unit.render.test_render import Elements, play

KEY = "sk-ant-api03-" + "a1B2c3D4" * 8


async def test_edits_of_one_file_fold_into_a_row():
    def edit(old: str, new: str):
        return call("edit_file", {"path": "index.html", "old": old, "new": new})

    run = await play(
        [write(content="<p>abc</p>")],
        [edit("a", "x"), edit("b", "y"), edit("nowhere", "z")],
        [edit("c", "z")],
        [text("Done.")],
    )
    shown = Elements(bundle(run)["text/html"]).text
    assert shown.count("2 edits of index.html") == 1
    assert shown.index("2 edits") < shown.index("failed") < shown.rindex("index.html: ")
    assert "3 edits" not in shown
    assert run.html == "<p>xyz</p>"


async def test_a_stopped_call_is_no_failed_call():
    handle = Agent(ScriptedProvider([[write(fragment=6), stall()]])).start("A page")
    async for event in handle:
        if event.type == "file_delta":
            handle.stop()
    run = await handle
    for shown in (Elements(bundle(run)["text/html"]).text, MARKDOWN.render(run), TEXT.render(run)):
        assert re.search(r"create file\W* Cut off at \d+ bytes?, unfinished\.", shown)
        assert re.search(r"index\.html\W* \d+ bytes?, unfinished\b", shown)
        assert "Not run" not in shown
        assert "failed" not in shown
        assert "✗" not in shown


NOTE = Note(run_id="r", seq=1, at=0.0, title="Note", detail="The cache is `warm`.")


def cut(why: str):
    return fail(ProviderError(why, retryable=True))


async def test_a_retry_withdraws_its_own_turn():
    run = await play(
        [text("Kept."), write()],
        [think("Lost."), write("b.html"), cut("Cut.")],
        [text("Lost, too."), cut("Cut again.")],
        [text("Whole.")],
    )
    rows = transcript(run.events)
    assert [type(row).__name__ for row in rows] == ["TextRow", "ToolRow", "LineRow", "LineRow", "TextRow"]
    assert [row.turn for row in rows] == [1, 1, 2, 2, 2]
    assert [row.detail for row in rows if isinstance(row, LineRow)][1:] == ["Cut.", "Cut again."]


async def test_the_row_of_a_file_that_is_written_again_says_so():
    run = await play([write()], [write(content="<p>Other</p>")], [text("Done.")])
    assert [use.title for use in run.tool_uses] == ["create index.html", "rewrite index.html"]


async def test_a_row_ends_the_text_before_it():
    run = await play([text("One, two.", fragment=3)])
    sources = replace(of(run, MessageAdded)[0], message=assistant(Source("A", "https://a.example")))
    place = run.events.index(of(run, TextDelta)[1])
    first, cited, rest = transcript((*run.events[:place], sources, *run.events[place:]))
    assert (first.text, cited.sources[0].title, rest.text) == ("One", "A", ", two.")


async def test_lines_are_given_when_they_are_complete():
    run = await play([write(), cut("Cut.")], [write()], [text("Done.")])
    growing = Transcript()
    lines = [(event.type, line_text(line)) for event in (NOTE, *run.events) if (line := growing.add(event))]
    assert lines == [
        ("note", "• Note: The cache is `warm`."),
        ("turn_retrying", "↻ Retry 1 of 4: Cut."),
        ("tool_finished", "✓ create index.html: 29 bytes, 1 line"),
    ]


@pytest.mark.parametrize(
    ("form", "line"),
    [
        (frozen_html, "• Note: The cache is warm."),
        (markdown, "- Note: The cache is `warm`.\n"),
        (lambda run, rows: plain_text(run, rows, run.text), "  • Note: The cache is `warm`.\n"),
    ],
)
async def test_every_form_shows_a_note(form, line):
    run = await play([text("Done.")])
    shown = form(run, transcript((NOTE, *run.events)))
    assert line in (Elements(shown).text if form is frozen_html else shown)


@tool(approval="ask")
def shell(command: str) -> str:
    """Runs a command."""
    return f"ran {command}"


@pytest.mark.parametrize(
    ("note", "expected"), [("", "You said no."), ("Use Python.", "Note to the model: Use Python.")]
)
async def test_a_denied_call_is_no_failed_call(note, expected):
    async def no(request: object) -> Answer:
        return Answer(False, note)

    run = await run_approved(answer=no)
    html = bundle(run)["text/html"]
    assert expected in Elements(html).text
    assert "Go on without it." not in html
    for shown in (Elements(html).text, MARKDOWN.render(run), TEXT.render(run)):
        assert "denied: You said no." in shown
        assert "failed" not in shown
        assert "✗" not in shown


async def run_approved(approve=None, answer=None):
    with ScriptedProvider([[call("shell", {"command": "ls"})], [text("Done.")]]) as provider:
        handle = Agent(provider, tools=[shell], approve=approve or "ask").start("List")
        handle.approve_with(answer)
        return await handle


async def test_every_form_says_who_approved_and_what_ran():
    async def change(request: object) -> Answer:
        return Answer(True, "Not there.", {"command": "ls /tmp"})

    run = await run_approved(answer=change)
    decision = 'pproved by you with changes: {0}command{0} from "ls" to "ls /tmp"'
    for shown in (MARKDOWN.render(run), TEXT.render(run)):
        assert f"ran ls /tmp (a{decision.format('`')}; note to the model: “Not there.”)" in shown
    html = Elements(bundle(run)["text/html"]).text
    assert f"A{decision.format('')}." in html
    assert "Note to the model: Not there." in html
    assert "command: ls /tmp" in html


async def test_a_function_and_an_earlier_always_are_named():
    async def always(request: object) -> Answer:
        return Answer(True, by="always")

    assert "ran ls (approved by a function)" in TEXT.render(await run_approved(lambda asked, args: True))
    assert "ran ls (approved by your earlier “always”)" in TEXT.render(await run_approved(answer=always))


async def test_a_switched_off_tool_says_so():
    run = await run_approved("deny")
    assert "denied: This tool is switched off for this run." in MARKDOWN.render(run)


def plan(*statuses):
    names = ["Read `orders`", f"Draw {KEY}", "Write <b>"]
    entries = tuple(PlanEntry(text=name, status=status) for name, status in zip(names, statuses, strict=True))
    done = f"{statuses.count('completed')} of 3 done"
    return PlanUpdated(run_id="r", seq=1, at=0.0, detail=done, entries=entries)


PLANS = [plan("in_progress", "pending", "pending"), plan("completed", "in_progress", "pending")]


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        (frozen_html, "• Plan: 1 of 3 done✓ Read orders▸ Draw •••○ Write <b>"),
        (markdown, "- Plan: 1 of 3 done\n  - ✓ Read `orders`\n  - ▸ Draw •••\n  - ○ Write &lt;b&gt;\n"),
        (
            lambda run, rows: plain_text(run, rows, run.text),
            "  • Plan: 1 of 3 done\n    ✓ Read `orders`\n    ▸ Draw •••\n    ○ Write <b>\n",
        ),
    ],
)
async def test_every_form_shows_one_plan_where_it_was_first(form, lines):
    run = await play([text("Done.")])
    started, *rest = run.events
    shown = safe_text(form(run, transcript((started, PLANS[0], *rest, PLANS[1]))))
    shown = Elements(shown).text if form is frozen_html else shown
    assert lines in shown
    assert shown.count("Plan") == 1
    assert (shown.index("Plan") < shown.index("Done.")) != (form is frozen_html)  # its answer is first


def test_a_view_that_prints_lines_gets_the_entries_of_a_plan_once():
    growing = Transcript()
    lines = [(line_text(line), len(line.lines)) for event in PLANS if (line := growing.add(event))]
    assert lines == [("• Plan: 0 of 3 done", 3), ("• Plan: 1 of 3 done", 0)]


async def test_a_compacted_conversation_is_a_row_in_every_form():
    base = await play([write(content="bread " * 2_000)], [text("Done.")])
    too_long = fail(ProviderError("Too long for it.", too_long=True))
    with ScriptedProvider([[too_long], [text("Hm."), cut("Overloaded.")], [text("Blue.")]]) as provider:
        run = await Agent(provider).run("In blue", base=base)
    [row] = [row for row in transcript(run.events) if isinstance(row, LineRow) and row.state == "info"]
    assert (row.title, row.turn) == ("Too long, compacted", 1)
    figures = r"about 4\.\dk tokens before, 1\.\dk now; contents left out of 1 message"
    for shown in (Elements(bundle(run)["text/html"]).text, MARKDOWN.render(run), TEXT.render(run)):
        assert re.search(rf"Too long, compacted: {figures}", shown)


UNREACHABLE = "The address [cannot](x) be *reached*: [Errno -2] Name_or <b>, check `base_url`."


async def test_errors_are_text():
    run = await play(*[[cut(UNREACHABLE)]] * 5)
    assert run.reason == "failed"
    html, document = bundle(run)["text/html"], MARKDOWN.render(run)
    assert Elements(html).text.count(UNREACHABLE.replace("`", "")) == 5
    assert not Elements(html).named("a")
    shown = Elements(MarkdownIt("commonmark").render(document))
    assert shown.text.count(UNREACHABLE.replace("`", "")) == 5
    assert not shown.named("a") + shown.named("em") + shown.named("b")


async def test_long_texts_are_cut_in_the_output_and_whole_in_the_kernel():
    long = "A line of the answer.\n" * 5_000 + "```py\n" + "x = 1\n" * 5_000 + "The end."
    run = await play([think(long), text(long)])
    shown = bundle(run)
    assert sum(map(len, shown.values())) < 4 * MAX_TEXT + 16_000
    for form in shown.values():
        assert re.search(r"… 11\d(\.\d)? kB more", form)
        assert f"{run.name}.text" in form
    assert f"{run.name}.thinking" in shown["text/html"]
    assert run.text.strip().endswith("The end.")
    assert all("The end." in whole for whole in (MARKDOWN.render(run), TEXT.render(run)))


def test_a_cut_text_ends_with_a_line_and_closes_its_code():
    cut = shortened_text("```py\n" + "x = 1\n" * 10_000, "hero.text")
    *_, line, fence, gap, note = cut.split("\n")
    assert (line, fence, gap) == ("x = 1", "```", "")
    assert note == "… 30 kB more: `hero.text`"


def test_changed_added_and_removed_arguments_are_named():
    assert changes({"path": "a", "size": 3, "same": [1]}, {"path": "b", "same": [1], "new": True}) == (
        '`path` from "a" to "b" and `size` from 3 to nothing and `new` from nothing to true'
    )


def test_of_long_texts_the_part_that_differs_is_quoted():
    code = "x = 1\n" * 1000
    text = changes({"code": code + "delete()" + code}, {"code": code + "keep()" + code})
    assert "delete()" in text
    assert "keep()" in text
    assert text.count("…") == 4
    assert len(text) < 2 * MOST_CHARACTERS + 100


def test_no_half_of_a_key_is_quoted():
    text = changes({"code": f"{'x = 1; ' * 54}{KEY}"}, {"code": "y"})
    assert "sk-ant" not in text
    assert "•••" in text
