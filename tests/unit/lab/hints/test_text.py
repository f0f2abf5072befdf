"""The filter of texts: what passes depends on the text alone, and a block passes when it is complete."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.lab.hints.allowance import Allowance, AvoidList
from agent_nb.lab.hints.text import TextFilter
from tests.support.wire import Say
from tests.unit.lab.hints.hostile import HOSTILE, LINES, NOT_MARKED

TEXTS = [
    step.text
    for answer in HOSTILE.values()
    for steps in answer.turns
    for step in steps
    if isinstance(step, Say)
]
PARTS = [
    "What now? ",
    "Look at it. ",
    "\n",
    "\n\n",
    "```",
    "~~~\n",
    "    ",
    "- ",
    "> ",
    "| a | b |",
    "`x = 1`",
    "<!--",
]
PARTS += [
    "-->",
    "divide and ",
    "conquer",
    "x = 1; ",
    "。",
    "“Why?” ",
    "\t",
    "\r\n",
    "\u200b",
    "aGVsbG8gd29ybGQ",
    *LINES,
]
ANY_TEXT = st.lists(st.sampled_from(PARTS) | st.text(max_size=8), max_size=14).map("".join) | st.sampled_from(
    TEXTS
)


def allowance(step: str = "partial", *avoid: str) -> Allowance:
    return Allowance(step, AvoidList(avoid))


def filtered(text: str, allowed: Allowance) -> str:
    text_filter = TextFilter(allowed)
    return text_filter.feed(text) + text_filter.finish()


@given(text=ANY_TEXT, data=st.data(), step=st.sampled_from(["question", "pointer", "partial"]))
def test_any_split_of_a_text_gives_the_same(text, data, step):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    whole, single, cut = (allowance(step, "divide and conquer") for _ in range(3))
    expected = filtered(text, whole)
    by_character, in_pieces = TextFilter(single), TextFilter(cut)
    assert "".join(map(by_character.feed, text)) + by_character.finish() == expected
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert "".join(map(in_pieces.feed, pieces)) + in_pieces.finish() == expected
    assert whole.held == single.held == cut.held
    if not whole.held:
        assert expected == text


@pytest.mark.parametrize(
    "text",
    [
        "What does your function return for the smallest input? Try it.\n",
        "Run it with `n = 0` and look at the result. Which line is reached?\n",
        "- Read the section on slices.\n- Think about the end of the loop.\n\n  It has two ends.\n",
        "| step | what to check |\n|---|---|\n| first | the condition |\n",
        "循环的条件是什么？想一想。再试一次。",
        "Was passiert, wenn die Liste leer ist? Und mit z. B. einem Eintrag?",
        "See [the tutorial](https://docs.python.org/3/tutorial/controlflow.html#for-statements) for more. Then go on.",
        "If someone gave you the answer for `n - 1`, how could you use it to get the answer for `n`?\n",
        "For n = 1,000 that is about 1,000,000 comparisons; could you do it in one pass?\n",
        '| expression | type |\n|---|---|\n| `input()` | ? |\n| `int("3")` | ? |\n',
        "Which one do you need here: `<h1>` or `<title>`? One of them is inside `<head>`.\n",
        "### Where to look\n\nIt says `IndexError: list index out of range`. Which index is it? (Hint: not 0!)\n",
        "Set it by hand to `1`, then to `2`. What does `range(1, 5)` give? 🙂\n",
        "1. First, the base case.\n\n    What is it here?\n",
    ],
)
def test_hints_in_prose_pass_unchanged(text):
    assert filtered(text, allowance("question")) == text


def test_a_block_passes_when_it_is_complete():
    text_filter = TextFilter(allowance())
    assert text_filter.feed("Look at the loop. Then") == ""
    assert text_filter.feed(" run it.\n\n```python\nx = 1\n``") == "Look at the loop. Then run it.\n\n"
    assert text_filter.feed("`\n\nWhat is x now? ") == "```python\nx = 1\n```\n\n"
    assert text_filter.feed("And y?\n\n- A list\n\n  goes on.\n\n") == "What is x now? And y?\n\n"
    assert text_filter.feed("The end") == ""
    assert text_filter.finish() == "- A list\n\n  goes on.\n\nThe end"


def test_only_the_code_in_a_list_is_replaced():
    text = "1. First.\n\n   ```\n   x = 1\n   ```\n\n2. Then `a` and so on.\n"
    held = "> A code block of 1 line was held back: this lab gives hints, not solutions. (`mode` in lab.toml)\n\n"
    assert filtered(text, allowance("question")) == f"1. First.\n\n{held}2. Then `a` and so on.\n"


@pytest.mark.parametrize("text", NOT_MARKED.values(), ids=NOT_MARKED)
def test_what_markdown_does_not_show_as_code_passes(text):
    assert filtered(text, allowance("question")) == text


@pytest.mark.parametrize(
    ("step", "block", "passes"),
    [
        ("question", "x = 1\n", False),
        ("pointer", "x = 1\n", True),
        ("pointer", "x = 1\ny = 2\n", False),
        ("partial", "x = 1\ny = 2\n\n}\nz = 3\n", True),
        ("partial", "x = 1\ny = 2\nz = 3\na = 4\n", False),
        ("partial", "x = 1; y = 2; z = 3; a = 4\n", False),
        ("partial", f"x = {[*range(120)]}\n", False),
    ],
)
def test_how_many_lines_pass_at_a_step(step, block, passes):
    allowed = allowance(step)
    fenced = f"```\n{block}```\n"
    assert (filtered(fenced, allowed) == fenced) is passes
    assert bool(allowed.held) is not passes


def test_lines_count_over_all_blocks_and_the_same_line_is_free():
    allowed = allowance("partial")
    for text in ("```\nx = 1\ny = 2\n```\n", "```\nx  =  1\n```\n", "Then `z = x + y` and that is it.\n"):
        assert filtered(text, allowed) == text
    assert filtered("And now `a = b + c` too.", allowed).startswith("> Code of 1 line was held back")
    assert filtered("Again `y = 2` here.", allowed) == "Again `y = 2` here."


def test_lines_that_the_person_has_written_may_be_quoted():
    allowed = allowance("question")
    allowed.add_own("x = 1\nif x = 3:\n    print(x)")
    quoted = "Look at these two:\n\n```python\nif x = 3:\n        print(x)\n```\nWhich sign compares?\n"
    assert filtered(quoted, allowed) == quoted
    assert "held back" in filtered("```\nif x == 3:\n```\n", allowed)


def test_one_line_within_a_sentence_is_allowed_before_any_block():
    allowed = allowance("question")
    assert filtered("What is `x == y` here?", allowed) == "What is `x == y` here?"
    assert "held back" in filtered("And `a != b` then?", allowed)


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("recursion", "Use RECURSION now."),
        ("recursion", "Use re\u200bcur\u00adsion now."),
        ("recursion", "Use ｒｅｃｕｒｓｉｏｎ now."),
        ("recursion", "Set `use_recursion` now."),
        ("recursion", "Set `useRecursion` now."),
        ("JavaScript", "Use javascript now."),
        ("divide and conquer", "You can divide and\nconquer here."),
        ("递归", "可以使用递归方法。"),
        ("Straße", "Nimm die STRASSE."),
    ],
)
def test_the_avoid_list_sees_through_disguises(phrase, text):
    allowed = allowance("partial", phrase)
    assert "(`avoid` in lab.toml)" in filtered(text, allowed)


@pytest.mark.parametrize(
    ("phrase", "text"), [("loop", "A loophole."), ("for", "The format."), ("!!", "What!!")]
)
def test_the_avoid_list_matches_whole_words(phrase, text):
    assert filtered(text, allowance("partial", phrase)) == text
