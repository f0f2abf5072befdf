"""The card that asks before a tool runs, in a real browser: the call as a form, what was changed, and the keyboard."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.waiting import wait_until
from tests.support.widget_stage import Stage, ended, event, findings, focused, returned

CODE = "for month in sales:\n    print(month)"
CODE_SCHEMA = {"properties": {"code": {"type": "string"}}, "required": ["code"]}


def ask(stage: Stage, args: dict[str, Any], **more: Any) -> Any:
    """The card of a question, with the focus on it, as after a click on its title."""
    call = {"call_id": "c", "name": "tool", "title": "run it", "args": args, "description": "Runs it."}
    request = event("approval_requested", **call, schema=CODE_SCHEMA, **{"identical_only": False, **more})
    stage.play([event("turn_started", step=1), request])
    card = stage.widget.locator(".anb-card.ask")
    card.get_by_role("heading").click()
    stage.still()
    return card


def sent(stage: Stage) -> list[dict[str, Any]]:
    """The answers so far, without what says which command they are."""
    commands = stage.page.evaluate(
        "() => window.kernel.commands.filter((one) => ['approve', 'deny'].includes(one.command))"
    )
    known = ("kind", "id", "client", "run_id", "variant", "call_id")
    return [{key: value for key, value in one.items() if key not in known} for one in commands]


def test_code_is_edited_and_approved_by_keyboard(stage: Stage):
    card = ask(stage, {"code": CODE}, identical_only=True)
    assert card.locator("pre .k").all_inner_texts() == ["for", "in"]
    stage.page.keyboard.press("e")
    field = card.get_by_role("textbox", name="code")
    field.wait_for()
    assert field.evaluate("node => node.getRootNode().activeElement === node")
    stage.page.keyboard.press("Control+End")
    stage.page.keyboard.press("Enter")
    stage.page.keyboard.type("yes = month  # no, Y or N here")
    edited = f"{CODE}\n    yes = month  # no, Y or N here"
    assert field.input_value() == edited
    assert (
        card.locator(".anb-editor pre").evaluate(
            "node => node.offsetHeight === node.previousSibling.offsetHeight && node.innerText.trimEnd()"
        )
        == edited
    )
    assert findings(stage) == []
    stage.page.keyboard.press("Escape")
    assert focused(stage) == "Allow “run it”?"
    assert card.locator(".anb-diff .p").all_inner_texts() == ["3\t+\t    yes = month  # no, Y or N here"]
    assert card.get_by_role("button", name="Always").count() == 0
    assert sent(stage) == []
    refusal = {"ok": False, "error": "`code`: It is too long.", "fields": {"code": "It is too long."}}
    stage.page.evaluate("refusal => { window.kernel.record.approve = refusal }", refusal)
    stage.still()
    stage.page.keyboard.press("y")
    problem = card.get_by_role("alert").filter(has_text="It is too long.")
    problem.wait_for()
    assert field.evaluate("node => node.getRootNode().activeElement === node")
    assert field.get_attribute("aria-describedby").split()[-1] == problem.get_attribute("id")
    assert field.input_value() == edited
    stage.page.evaluate("() => { window.kernel.record.approve = {} }")
    field.fill("1")
    assert problem.count() == 0
    card.get_by_role("button", name="Approve with changes").click()
    assert sent(stage) == [
        {"command": "approve", "args": {"code": edited}},
        {"command": "approve", "args": {"code": "1"}},
    ]


PRESS_WHEN_MOVED = """() => {
    const [, card] = document.querySelector('[data-anb-run]').shadowRoot.querySelectorAll('.anb-card.ask');
    const top = () => card.getBoundingClientRect().top;
    const before = top();
    const press = () =>
        card.querySelector('.primary').dispatchEvent(new MouseEvent('click', { detail: 1, bubbles: true }));
    const look = () => (top() === before ? requestAnimationFrame(look) : press());
    look();
}"""
ANSWERED = "() => window.kernel.commands.filter((one) => one.command === 'approve').map((one) => one.call_id)"


@pytest.mark.parametrize(("width", "beside"), [pytest.param(1200, 60, marks=pytest.mark.wide), (420, 30)])
def test_the_code_of_a_card_has_the_width_there_is(stage: Stage, width: int, beside: int):
    stage.page.set_viewport_size({"width": width, "height": 900})
    card = ask(stage, {"code": CODE})
    frame = stage.widget.locator(".anb-frame").bounding_box()
    assert card.bounding_box()["width"] > frame["width"] - beside


def test_a_double_click_answers_one_question(stage: Stage):
    """The card below moves up when the first is answered, and the second press comes in that frame."""
    asked = [
        event("approval_requested", call_id=name, name="sh", title=name, args={"command": name}, schema={})
        for name in ("first", "second")
    ]
    stage.play([event("turn_started", step=1), *asked])
    approve = stage.widget.get_by_role("button", name="Approve", exact=True)
    approve.first.click()
    stage.page.evaluate(PRESS_WHEN_MOVED)
    resolved = {"approved": True, "note": "", "by": "person", "proposed": {}, "executed": {}}
    stage.more(event("approval_resolved", call_id="first", **resolved))
    stage.widget.get_by_text("that press did not count").first.wait_for()
    assert stage.page.evaluate(ANSWERED) == ["first"]
    approve.click()  # waits until the button is enabled
    assert stage.page.evaluate(ANSWERED) == ["first", "second"]


def test_keys_on_a_card_that_has_just_appeared_do_not_count(stage: Stage):
    stage.play([event("turn_started", step=1)])
    request = event("approval_requested", call_id="c", name="sh", title="run it", args={}, schema={})
    stage.page.evaluate(
        """() => {
            const root = document.querySelector('[data-anb-run]').shadowRoot;
            const press = () => {
                const card = root.querySelector('.anb-card.ask:not([hidden])');
                const key = new KeyboardEvent('keydown', { key: 'y', bubbles: true });
                if (card) card.dispatchEvent(key);
                else requestAnimationFrame(press);
            };
            press();
        }"""
    )
    stage.more(request)
    stage.widget.get_by_text("that press did not count").first.wait_for()
    assert stage.page.evaluate(ANSWERED) == []
    stage.widget.locator(".anb-card.ask").get_by_role("heading").click()
    stage.still()
    stage.page.keyboard.press("y")
    assert stage.page.evaluate(ANSWERED) == ["c"]


def badges(card: Any) -> list[str]:
    """The keys that the card shows."""
    seen = "nodes => nodes.filter(one => getComputedStyle(one).visibility === 'visible').map(one => one.innerText)"
    return [text for text in card.locator(".anb-kbd:visible").evaluate_all(seen) if text]


def test_one_key_leads_to_the_card_and_its_keys_show_where_they_work(stage: Stage):
    card = ask(stage, {"code": CODE})
    stage.widget.get_by_role("button", name="Stop").focus()
    assert badges(card) == ["F8"]
    stage.page.keyboard.press("y")
    assert sent(stage) == []
    stage.page.keyboard.press("F8")
    stage.page.wait_for_function(
        "() => document.querySelector('[data-anb-run]').shadowRoot.activeElement?.matches('.anb-card.ask')"
    )
    assert badges(card) == ["E", "Y", "N", "⇧Y"]
    card.get_by_role("textbox", name="Note to the model").focus()
    assert badges(card) == []
    stage.page.keyboard.press("Escape")
    stage.page.keyboard.press("e")
    card.get_by_role("textbox", name="code").wait_for()
    wait_until(stage.page, lambda: badges(card) == ["Esc", "Ctrl+Enter"])
    stage.page.keyboard.type("y")
    stage.still()
    card.get_by_role("heading").click()
    stage.page.keyboard.press("y")
    assert sent(stage) == []
    stage.page.keyboard.press("Control+Enter")
    assert [answer["command"] for answer in sent(stage)] == ["approve"]
    assert "y" in sent(stage)[0]["args"]["code"]


@pytest.mark.wide
def test_the_key_leads_on_to_the_next_question(stage: Stage):
    call = {
        "name": "tool",
        "title": "run it",
        "args": {},
        "description": "",
        "schema": {},
        "identical_only": False,
    }
    asked = [event("approval_requested", call_id=call_id, **call) for call_id in ("first", "second")]
    stage.play([event("turn_started", step=1), *asked])
    stage.widget.locator(".anb-card.ask").last.wait_for()
    held = "call => document.querySelector('[data-anb-run]').shadowRoot.activeElement?.dataset.question?.includes(call)"
    for call_id in ("first", "second", "first"):
        stage.page.keyboard.press("F8")
        stage.page.wait_for_function(held, arg=call_id)


@pytest.mark.wide
def test_a_hidden_tab_notifies_where_that_is_allowed(stage: Stage):
    ask(stage, {"code": CODE}, identical_only=True)
    page = stage.page
    page.evaluate(
        """() => {
            window.shown = [];
            window.Notification = class {
                static permission = "granted";
                constructor(title, { body }) { window.shown.push(`${title}: ${body}`); }
            };
            Object.defineProperty(document, "hidden", { get: () => true });
        }"""
    )
    leaves = "() => document.dispatchEvent(new Event('visibilitychange')) && window.shown.length > 0"
    page.wait_for_function(leaves)
    assert page.evaluate("() => window.shown") == ["Approval needed: run it"]


@pytest.mark.parametrize("how", ["scroll", "Show all"])
def test_long_code_is_approved_only_after_its_end_was_in_view(stage: Stage, how: str):
    stage.page.set_viewport_size({"width": 700, "height": 900})
    code = "\n".join(f"x{number} = {number}" for number in range(60))
    card = ask(stage, {"code": code})
    expect(card.locator(".in .field")).to_have_text("code60 lines")
    approve = card.get_by_role("button", name="Approve", exact=True)
    expect(approve).to_be_disabled()
    expect(card.get_by_role("button", name="Deny")).to_be_enabled()
    stage.page.keyboard.press("y")
    stage.widget.locator(".anb-toast", has_text="Scroll to the end first, or press Show all.").wait_for()
    assert sent(stage) == []
    if how == "scroll":
        stage.page.keyboard.press("End")
    else:
        card.get_by_role("button", name=how).click()
        assert stage.widget.locator(".anb-scroll").evaluate("node => node.scrollHeight <= node.clientHeight")
    expect(approve).to_be_enabled()
    expect(card.get_by_role("button", name="Show all")).to_have_count(0)
    stage.page.keyboard.press("y")
    assert sent(stage) == [{"command": "approve"}]


def test_long_code_is_applied_only_after_its_end_was_in_view(stage: Stage):
    stage.page.set_viewport_size({"width": 700, "height": 900})
    code = "\n".join(f"x{number} = {number}" for number in range(60))
    call = {"call_id": "c", "title": "run Python"}
    ran = [
        event("tool_started", name="any", **call),
        event("tool_ready", **call, args={"code": "x = 1\ny = 2"}),
        returned("c"),
    ]
    stage.play([event("turn_started", step=1), *ran, ended()], features={"branch": {0: {"applies": True}}})
    offer = {"code": code, "problem": "`x` has changed.", "question": "q", "applied": True}
    stage.page.evaluate("offer => { window.kernel.record.apply = offer }", offer)
    stage.widget.get_by_role("button", name="Apply").click()
    card = stage.widget.locator(".anb-card.ask")
    apply = card.get_by_role("button", name="Apply anyway")
    card.locator(".anb-acts:not(.waits)").wait_for(state="attached")
    expect(apply).to_be_disabled()
    apply.dispatch_event("click", {"detail": 1})
    stage.widget.locator(".anb-toast", has_text="Scroll to the end first, or press Show all.").wait_for()
    assert findings(stage) == []
    apply.scroll_into_view_if_needed()
    expect(apply).to_be_enabled()
    apply.click()
    asked = "() => window.kernel.commands.filter((one) => one.command === 'apply').map((one) => one.question)"
    stage.page.wait_for_function(f"() => ({asked})().length === 2")
    assert stage.page.evaluate(asked) == [None, "q"]
