"""What the demo model makes of elements that a prompt points at."""

import pytest

from agent_nb import Agent, model
from agent_nb.demo.changes import changed_element, pointed_at, without_elements
from agent_nb.notebook.values.describe_values import expand

PAGE = '<main>\n<h1 class="big">Bread</h1>\n<p style="margin:0">Fresh <b>daily</b></p>\n<hr/>\n</main>'


def described(tag: str, line: int) -> str:
    return f"the element <{tag}>…</{tag}> (`{tag}`, {tag} 1 of 1 on the page, line {line} of `index.html`)"


def test_notes_are_read_with_their_elements():
    prompt = f"{described('h1', 2)} and {described('p', 3)}: larger\n{described('hr', 4)}: blue\nAnd a map."
    assert [tuple(one) for one in pointed_at(prompt)] == [
        ("h1", 2, "larger"),
        ("p", 3, "larger"),
        ("hr", 4, "blue"),
    ]
    assert without_elements(prompt).strip() == "And a map."


@pytest.mark.parametrize(
    ("tag", "line", "note", "there"),
    [
        ("h1", 2, "larger and bold", '<h1 class="big" style="zoom:1.25;font-weight:800">Bread</h1>'),
        ("p", 3, "blue", '<p style="margin:0;color:oklch(55% .16 255)">Fresh <b>daily</b></p>'),
        ("p", 3, 'say "Warm & good"', '<p style="margin:0">Warm &amp; good</p>'),
        ("hr", 4, "remove", '<hr style="display:none">'),
    ],
)
def test_an_element_is_changed(tag, line, note, there):
    (pointed,) = pointed_at(f"{described(tag, line)}: {note}")
    (edit,) = changed_element(PAGE, pointed)
    assert (edit.old, edit.new) == (PAGE.split("\n")[line - 1], there)


@pytest.mark.parametrize(
    ("tag", "line", "note"), [("h1", 2, "jump"), ("h1", 3, "larger"), ("h1", 99, "larger")]
)
def test_what_is_not_understood_is_left_alone(tag, line, note):
    (pointed,) = pointed_at(f"{described(tag, line)}: {note}")
    assert [*changed_element(PAGE, pointed)] == []


async def test_a_prompt_of_a_cell_changes_its_element_alone():
    agent = Agent(model("demo:", pace=0))
    hero = await agent.run("A landing page for a bakery in Lyon")
    prompt = expand('{{hero.element("h1")}}: larger', {"hero": hero}).text
    after = await agent.run(prompt, base=hero)
    diff = [line for line in after.files.diff("index.html").splitlines() if line[:2] in ("-<", "+<")]
    assert len(diff) == 2
    assert 'style="zoom:1.25"' in diff[1]
    assert "h1 in line" in after.text
