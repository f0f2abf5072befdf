"""What a page tries while a question is open: forged messages and keys, a card of its own, the frame's secret."""

from typing import Any

from tests.browser.test_approval import sent
from tests.browser.test_preview_security import page_that
from tests.support.widget_stage import Stage, event

CALL = {"call_id": "c", "name": "tool", "title": "run it", "args": {"code": "1"}, "description": "Runs it."}
QUESTION = event("approval_requested", **CALL, schema={}, identical_only=False)


def attack(stage: Stage, script: str) -> Any:
    """Shows a page that runs the script beside an open question, and returns the card."""
    stage.play([*page_that(script), QUESTION])
    stage.wait_for_report("verdict")
    card = stage.widget.locator(".anb-card.ask")
    card.wait_for()
    return card


def commands(stage: Stage) -> set[str]:
    return set(stage.page.evaluate("() => window.kernel.commands.map((one) => one.command)"))


FORGED = """
  const about = { run_id: 'run', key: 'hero', variant: 0, call_id: 'c' };
  const messages = [
    { kind: 'command', id: '1', client: 'x', command: 'approve', ...about },
    { agent_nb_preview: '' }, { agent_nb_preview: true }, { agent_nb_preview: undefined },
    ...['pressed', 'typed', 'leaving', 'key', 'link', 'console'].map((tell) => ({ tell, given: 'y' })),
    { id: 1, answer: true }, { tell: '__proto__', given: {} }, { tell: 'constructor', given: 'x' },
    { method: 'custom', content: { kind: 'command', command: 'approve', ...about } }, 'approve', null,
  ];
  for (const target of [parent, parent.parent, top])
    for (const message of messages) {
      const { port1, port2 } = new MessageChannel();
      target.postMessage(message, '*');
      target.postMessage(message, '*', [port2]);
      port1.postMessage({ tell: 'key', given: 'y' });
    }
  await attempt('channel', () => new BroadcastChannel('agent_nb').postMessage(messages[0]));
"""


def test_forged_messages_answer_nothing(stage: Stage):
    card = attack(stage, FORGED)
    stage.page.wait_for_timeout(700)
    assert sent(stage) == []
    assert commands(stage) <= {"hello", "on_screen", "preview_report", "resync", "under_way"}
    assert card.is_visible()


KEYS = """
  const keys = ['y', 'Y', 'a', 'Enter', 'n', 'Escape', ' '];
  for (const key of keys)
    for (const target of [window, document, document.body]) {
      const about = { key, code: key, bubbles: true, composed: true, ctrlKey: true };
      for (const kind of ['keydown', 'keypress', 'keyup']) target.dispatchEvent(new KeyboardEvent(kind, about));
    }
  await attempt('parent focus', () => { parent.focus(); parent.parent.focus(); top.focus(); return 'asked'; });
  await attempt('blur', () => { window.blur(); return 'asked'; });
  await attempt('parent event', () => parent.parent.dispatchEvent(new KeyboardEvent('keydown', { key: 'y' })));
"""


def test_keys_of_a_page_answer_nothing(stage: Stage):
    card = attack(stage, KEYS)
    assert "parent event: stopped by SecurityError" in stage.reports()
    stage.page.wait_for_timeout(700)
    assert sent(stage) == []
    assert card.is_visible()


FAKE = """
  document.body.innerHTML = `<div class="anb anb-card ask" role="group" data-anb-run="hero"><h4>run it</h4>
    <button class="anb-act" id="fake">Approve</button><input id="note"></div>`;
"""


def test_a_card_inside_a_page_is_only_a_page(stage: Stage):
    card = attack(stage, FAKE)
    stage.still()
    stage.preview.locator("#fake").click()
    stage.page.keyboard.press("y")
    stage.page.keyboard.press("Control+Enter")
    stage.preview.locator("#note").click()
    stage.page.keyboard.type("y")
    stage.page.keyboard.press("Enter")
    stage.page.wait_for_timeout(300)
    assert stage.preview.locator("#note").input_value() == "y"
    assert sent(stage) == []
    assert commands(stage) <= {"hello", "on_screen", "preview_report", "resync", "under_way"}
    assert card.is_visible()


SECRET = """
  const texts = [document.documentElement.outerHTML, ...[...document.scripts].map((one) => one.text),
    ...performance.getEntries().map((one) => one.name), location.href, document.referrer, window.name];
  for (const name of Object.getOwnPropertyNames(window)) try { texts.push(String(window[name])); } catch {}
  const word = 'agentNb' + 'Secret';
  await attempt('secret', () => texts.some((text) => text.includes(word)));
  await attempt('global', () => typeof globalThis[word]);
  await attempt('evaluated', () => (0, eval)(`typeof ${word}`));
  await attempt('outer scripts', () => parent.document.scripts.length);
"""


def test_the_secret_of_the_frame_is_not_found(stage: Stage):
    attack(stage, SECRET)
    said = stage.reports()
    assert "secret: false" in said
    assert "global: undefined" in said
    assert "evaluated: undefined" in said
    assert "outer scripts: stopped by SecurityError" in said
