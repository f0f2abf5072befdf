"""Notes and questions in the exports of a run: all of them, as text and never as markup of the page."""

from dataclasses import replace

from markdown_it import MarkdownIt

from agent_nb import Agent, Run
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.render import HTML, MARKDOWN, TEXT, bundle

HOSTILE = "</section></script><script>top.pwned=1</script>\"'><img src=x onerror=top.pwned=1>"
KEY = "sk-ant-api03-" + "a1B2" * 8


def annotated() -> Run:
    """A run with a note, a question and a hostile note."""
    turns = [[call("create_file", {"path": "index.html", "content": "<h1>Hi</h1>"})], [text("Done.")]]
    with ScriptedProvider(turns) as provider:
        run = Agent(provider).run_sync("A page")
    run = replace(run, events=tuple(replace(event, at=index / 10) for index, event in enumerate(run.events)))
    run = run.annotate("turn 1", "It gets **tools** only.")
    run = run.annotate(
        "end", "```python\nprint(1)", ask="What next?", choices=["It stops", "1 < 2 & *more*"], answer=2
    )
    return run.annotate(0.0, HOSTILE, ask=HOSTILE, choices=[HOSTILE, "other"], answer=HOSTILE)


def test_the_page_has_the_notes_in_the_order_of_the_run():
    page = annotated().to_html()
    notes = page.partition('<section class="notes">')[2]
    assert [part.partition("</h3>")[0] for part in notes.split("<h3>")[1:]] == [
        "After 0.0 s",
        "Turn 1",
        "End",
    ]
    assert "<p>It gets <strong>tools</strong> only.</p>" in notes
    assert "<ol><li>It stops</li><li>1 &lt; 2 &amp; *more*</li></ol>" in notes
    assert "<details><summary>Expected answer</summary>1 &lt; 2 &amp; *more*</details>" in notes
    assert "<script" not in notes
    assert "<img" not in notes
    assert notes.count("</section>") == 1


def test_markdown_has_the_notes_and_what_one_leaves_open_ends_with_it():
    document = annotated().to_markdown()
    shown = MarkdownIt().render(document.partition("**Notes**")[2])
    assert "<p>It gets <strong>tools</strong> only.</p>" in shown
    assert (
        "<p>Question: What next?</p>\n<ol>\n<li>It stops</li>\n<li>1 &lt; 2 &amp; *more*</li>\n</ol>" in shown
    )
    assert "<p>Expected answer: 1 &lt; 2 &amp; *more*</p>" in shown
    assert "<script" not in shown
    assert "<img" not in shown


def test_variants_are_named_and_keys_are_masked():
    run = annotated()
    other = replace(run, events=tuple(replace(event, variant=1) for event in run.events))
    both = replace(run, variants=(run, other))
    noted = both.pick(2).annotate("turn 2", f"The key {KEY}")
    for document in (form.render(noted) for form in (HTML, MARKDOWN)):
        assert "Variant 2, turn 2" in document
        assert "Variant 1, turn 1" in document
        assert "api03" not in document


def test_the_output_of_a_cell_has_none_and_a_run_without_notes_no_section():
    run = annotated()
    assert "Expected answer" not in str(bundle(run))
    assert "Expected answer" not in TEXT.render(run)
    plain = replace(run, annotations=())
    assert 'class="notes"' not in plain.to_html()
    assert "**Notes**" not in plain.to_markdown()
