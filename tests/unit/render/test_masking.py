"""What leaves the kernel by itself holds no secret: neither a known one nor what is shaped like a key."""

import base64
import html
from dataclasses import replace

import pytest

from agent_nb import Agent, tool
from agent_nb._base.secrets import MASK, mask, register
from agent_nb.notebook.views.views import PlainView
from agent_nb.providers.scripted import ScriptedProvider, call, text, think
from agent_nb.render import FORMS, bundle
from agent_nb.render.frozen import MAX_ARGUMENT, code_html
from agent_nb.tools import Toolbox
from tests.support.scripts import write
from tests.unit.render.test_render import play

KEY = "sk-ant-api03-" + "x9-Y" * 8
KNOWN = 'hunter & "sons" <of> 19&&87'


def test_escaped_code_is_masked():
    register(KNOWN)
    assert html.unescape(mask(code_html(f"key = {KNOWN}"))) == f"key = {MASK}"


@pytest.mark.parametrize(
    "form",
    ["text/html", "text/markdown", "text/plain", *FORMS],
    ids=lambda form: getattr(form, "suffix", form),
)
async def test_no_form_holds_a_secret(form):
    register(KNOWN)

    @tool
    def look(where: str) -> str:
        """Looks."""
        return f"found {KEY} and {KNOWN}" + " more" * 3000 + f" {KEY}"

    long = "x " * (MAX_ARGUMENT // 2 - 6) + KEY
    leaky = f"<p>{KEY}</p><script>\n{KEY};'{KNOWN}'</script>"
    run = await play(
        [think(f"Hm, {KEY}, {KNOWN}", fragment=3), call("look", {"where": f"{KEY} {KNOWN}"})],
        [call("look", {"where": long}), write(content=leaky)],
        [
            text(f"Yours is **{KEY}** and {KNOWN}.\n\n    {KEY}", fragment=2),
            call("final_answer", {"note": f"{KEY} {KNOWN}", "more": ["x " * 190 + KEY]}),
        ],
        tools=Toolbox.default([look]),
        answer="note: str, more: list[str]",
    )
    run = replace(run, prompt=f"{'Use it. ' * 12}{KEY} {KNOWN}", error=f"Refused {KEY}")
    shown = bundle(run)[form] if isinstance(form, str) else form.render(run)
    assert MASK in shown
    assert "sk-ant" not in shown
    assert "x9-Y" not in shown
    assert "1987" not in shown
    assert KEY in run.html


async def test_an_image_is_never_masked():
    data = base64.b64decode("A" * 400 + "/AIza" + "Qw12" * 10 + "AAA" + "A" * 400)
    page = "<p>See</p><img src='a.png'>"
    run = (await play([write(content=page)], [text(f"It is {KEY}.")])).with_files({"a.png": data})
    shown = bundle(run)["text/html"]
    assert base64.b64encode(data).decode() in shown
    assert MASK in shown


async def test_plain_text_holds_no_control_signs(capsys):
    with ScriptedProvider([[text("\x1b]0;pwned\x07 Bye.")]]) as provider:
        handle = Agent(provider).start("Hello")
        PlainView(handle).finish(await handle, "files", [])
    assert "]0;pwned Bye." in capsys.readouterr().out


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.suffix)
async def test_no_export_holds_characters_that_a_terminal_obeys(form):
    hostile = "\x1b]0;owned\x07\x9b2J\x08 red"
    run = await play([think(hostile), call("view_file", {"path": hostile})], [text(f"{hostile}\n\tDone.")])
    exported = form.render(replace(run, prompt=hostile, error=hostile, reason="failed"))
    assert "owned" in exported
    assert not {*map(chr, (*range(9), *range(11, 32), *range(127, 160)))} & {*exported}
