"""What a generated page tries in a real browser, and what stops it: each attempt must fail, and say how."""

import itertools
import json
from contextlib import suppress
from typing import Any

import pytest
from playwright.sync_api import TimeoutError as TookTooLong

from tests.support.widget_stage import Stage, edited, event, wrote


def page_that(script: str) -> list[dict[str, Any]]:
    """A run whose page runs `script` and says how it went."""
    html = f"""<!doctype html><title>t</title><h1>Page</h1><script>
(async () => {{
  const said = [];
  const attempt = async (name, deed) => {{
    try {{ said.push(name + ': ' + await deed()); }} catch (error) {{ said.push(name + ': stopped by ' + error.name); }}
  }};
  {script}
  console.log('verdict ' + said.join(' | '));
}})();
</script>"""
    return [
        event("run_started", prompt="p", model="demo:", base=None, settings={}),
        *wrote("index.html", html),
    ]


def test_parent_page_is_out_of_reach(stage: Stage):
    stage.play(
        page_that("""
  await attempt('parent document', () => parent.document.title);
  await attempt('top location', () => top.location.href);
  await attempt('parent variable', () => parent.kernel);
  await attempt('frame element', () => String(frameElement));
  await attempt('cookies', () => document.cookie);
  await attempt('origin', () => self.origin);""")
    )
    said = stage.wait_for_report("verdict")
    assert "parent document: stopped by SecurityError" in said
    assert "top location: stopped by SecurityError" in said
    assert "parent variable: stopped by SecurityError" in said
    assert "frame element: null" in said
    assert "cookies: stopped by SecurityError" in said
    assert "origin: null" in said


def test_network_is_out_of_reach(stage: Stage):
    target = json.dumps(stage.server.address)
    stage.play(
        page_that(f"""
  const target = {target};
  await attempt('fetch', () => fetch(target + '/leak-fetch'));
  await attempt('api', () => fetch('/leak-api/contents'));
  await attempt('xhr', () => new Promise((resolve, reject) => {{
    const request = new XMLHttpRequest();
    request.onload = () => resolve('loaded'); request.onerror = () => reject(new TypeError());
    request.open('GET', target + '/leak-xhr'); request.send();
  }}));
  navigator.sendBeacon(target + '/leak-beacon', 'x');
  await attempt('socket', () => new Promise((resolve, reject) => {{
    const socket = new WebSocket(target.replace('http', 'ws') + '/leak-socket');
    socket.onopen = () => resolve('open'); socket.onerror = () => reject(new TypeError());
  }}));
  await attempt('source', () => new Promise((resolve, reject) => {{
    const source = new EventSource(target + '/leak-source');
    source.onopen = () => resolve('open'); source.onerror = () => reject(new TypeError());
  }}));
  new Image().src = target + '/leak-image.png';
  await attempt('import', () => import(target + '/leak-import.js'));
  document.body.insertAdjacentHTML('beforeend', '<iframe src="' + target + '/leak-frame"></iframe>'
    + '<link rel="stylesheet" href="' + target + '/leak-style.css">'
    + '<link rel="prefetch" href="' + target + '/leak-prefetch">'
    + '<object data="' + target + '/leak-object"></object>'
    + '<base href="' + target + '/leak-base/"><img src="relative-leak.png">');
  await new Promise((done) => setTimeout(done, 300));""")
    )
    said = stage.wait_for_report("verdict")
    for name in ("fetch", "api", "xhr", "import"):
        assert f"{name}: stopped by TypeError" in said
    for name in ("socket", "source"):
        assert f"{name}: stopped by" in said
    assert "Blocked by the sandbox" in said
    assert [path for path in stage.server.asked if "leak" in path] == []


def test_workers_and_storage_are_not_jupyters(stage: Stage):
    stage.page.goto(stage.server.address)
    stage.page.evaluate("localStorage.setItem('token', 'secret')")
    stage.play(
        page_that("""
  await attempt('service worker', () => navigator.serviceWorker.register('/sw.js'));
  await attempt('worker', () => new Worker('data:text/javascript,postMessage(1)') && 'made');
  await attempt('storage', () => String(localStorage.getItem('token')));
  localStorage.setItem('mine', 'kept');
  await attempt('own storage', () => localStorage.getItem('mine'));
  await attempt('database', () => indexedDB.open('x') && 'opened');
  await attempt('caches', () => caches.keys());""")
    )
    said = stage.wait_for_report("verdict")
    assert "service worker: stopped by" in said
    assert "storage: null" in said
    assert "own storage: kept" in said
    assert "database: stopped by SecurityError" in said
    assert "caches: stopped by SecurityError" in said
    assert stage.page.evaluate("localStorage.getItem('mine')") is None


def test_popups_dialogs_and_forms_stay_inside(stage: Stage):
    stage.play(
        page_that(f"""
  alert('hello'); await attempt('confirm', () => confirm('sure?')); await attempt('prompt', () => prompt('name?'));
  await attempt('open', () => String(window.open('/leak-popup')));
  document.body.insertAdjacentHTML('beforeend',
    '<form id=f method=post action="{stage.server.address}/leak-form"><input name=a value=1></form>'
    + '<a id=l target=_blank href="{stage.server.address}/leak-link">x</a>');
  document.querySelector('#f').submit(); document.querySelector('#l').click();
  await new Promise((done) => setTimeout(done, 300));""")
    )
    said = stage.wait_for_report("verdict")
    assert "alert: hello" in said
    assert "confirm: false" in said
    assert "prompt: null" in said
    assert "open: null" in said
    assert stage.popups == []
    assert stage.dialogs == []
    assert [path for path in stage.server.asked if "leak" in path] == []
    assert stage.page.url.startswith(stage.server.address)


def test_page_cannot_move_the_notebook(stage: Stage):
    stage.play(
        page_that("""
  document.body.insertAdjacentHTML('beforeend', '<a target=_top href=/leak-anchor>x</a>');
  await attempt('top', () => { top.location = '/leak-top' });
  await attempt('parent', () => parent.location.replace('/leak-parent'));
  await attempt('link', () => document.querySelector('a').click());
  await new Promise((done) => setTimeout(done, 300));""")
    )
    stage.wait_for_report("verdict")
    assert stage.page.url.startswith(f"{stage.server.address}/?record")
    assert [path for path in stage.server.asked if "leak" in path] == []


def test_page_that_leaves_is_stopped(stage: Stage):
    stage.play(page_that("location.href = 'data:text/html,<h1>gone</h1>'; location.href = 'about:blank';"))
    stage.widget.get_by_text("Preview stopped").first.wait_for()
    assert stage.widget.get_by_text("tried to go to another address").is_visible()
    assert stage.widget.locator(".anb-page iframe").count() == 0


@pytest.mark.wide
def test_endless_loop_is_stopped(stage: Stage):
    stage.play(page_that("setTimeout(() => { for (;;); }, 50);"))
    stage.widget.get_by_text("Preview stopped").first.wait_for()
    assert stage.widget.get_by_text("did not respond").is_visible()
    # On a busy machine the process of the hung page may still be there, and take the next one into it.
    for version in itertools.count(2):
        stage.more(edited("index.html", version, [[0, 99, "<h1>Calm</h1>"]]))
        with suppress(TookTooLong):
            stage.preview.get_by_role("heading", name="Calm").wait_for()
            break
        assert version < 6, "the page stayed stopped"
    assert not stage.widget.get_by_text("Preview stopped").first.is_visible()


def test_stopped_page_can_be_reloaded(stage: Stage):
    stage.play(page_that("setTimeout(() => { location.href = 'about:blank' }, 1500);"))
    reload = stage.widget.get_by_role("button", name="Reload", exact=True)
    reload.wait_for()
    reload.click()
    stage.preview.get_by_role("heading", name="Page").wait_for()


@pytest.mark.wide
def test_flood_of_messages_is_cut(stage: Stage):
    stage.play(page_that("for (let i = 0; i < 20000; i++) console.log('line ' + i);"))
    stage.wait_for_report("more messages than can be shown")
    assert stage.reports().count("line ") < 5000
    assert stage.widget.get_by_role("tab", name="Console").is_visible()


def test_port_to_the_widget_is_out_of_reach(stage: Stage):
    stage.play(
        page_that("""
  const caught = [];
  const spy = (self, args = []) => { for (const one of [self, self?.target, ...args, args[0]?.target])
    if (one instanceof MessagePort) caught.push(one); };
  const spyOn = (owner, name, kind = 'value') => {
    const whole = Object.getOwnPropertyDescriptor(owner, name), real = whole[kind];
    const spied = function (...args) { spy(this, args); return Reflect.apply(real, this, args); };
    Object.defineProperty(owner, name, { ...whole, [kind]: spied });
  };
  for (const name of ['data', 'ports']) spyOn(MessageEvent.prototype, name, 'get');
  for (const name of ['target', 'currentTarget']) spyOn(Event.prototype, name, 'get');
  for (const name of ['call', 'apply', 'bind']) spyOn(Function.prototype, name);
  spyOn(MessagePort.prototype, 'postMessage');
  spyOn(EventTarget.prototype, 'addEventListener');
  console.log('something to post');
  await new Promise((done) => setTimeout(done, 1500));
  await attempt('ports', () => caught.length);""")
    )
    assert "ports: 0" in stage.wait_for_report("verdict")


def test_flood_beside_the_port_is_stopped(stage: Stage):
    stage.play(
        page_that(
            "setInterval(() => { for (let i = 0; i < 2000; i++) parent.parent.postMessage(i, '*'); }, 50);"
        )
    )
    stage.widget.get_by_text("The page sent too many messages.").wait_for()
    assert stage.widget.locator(".anb-page iframe").count() == 0
