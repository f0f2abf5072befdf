"""Every way out of the kernel is a door that masks: listed, typed, and tried with secrets in many forms."""

import ast
import html
import io
import json
import logging
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import replace
from urllib.parse import quote, quote_plus, unquote

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agent_nb import Agent, tool, tracing
from agent_nb._base import secrets
from agent_nb._base.log import log
from agent_nb._base.secrets import MASK, for_page, forms_of, register
from agent_nb._base.table import Table
from agent_nb.core.errors import ConfigError
from agent_nb.notebook.front_end import CellError
from agent_nb.providers.scripted import ScriptedProvider, call, text, think
from agent_nb.render import FORMS, bundle, to_page
from agent_nb.run.protocol import Encoder
from agent_nb.run.record import all_events
from agent_nb.run.replay_file import replay_html
from agent_nb.run.run_writer import run_file
from agent_nb.tools import toolbox
from tests.support import ROOT
from tests.support.leaks import planted_keys
from tests.support.scripts import write
from tests.unit._base.test_secrets import ESCAPES

WAYS_OUT = re.compile(
    "print|display|send|write|post|write_atomically|write_own|write_text|write_bytes|set_attribute|set_status"
    "|publish_display_data|update_display"
)
"""Names of functions that put something out of the kernel."""
MASKS = re.compile(
    "mask|mask_values|mask_json|mask_pieces|for_model|for_page|safe_text|terminal_text|StreamMasker"
)
MOST_MASKS = 59
"""A new mask belongs to a door, or to the place where a text of the notebook, of a tool or of the user is read."""
DOORS = {
    "messages to a page": "notebook/door.py notebook/live/hub.py",
    "bound values of a page, which gets them as they are": "notebook/page/store.py",
    "outputs of cells": "notebook/front_end.py notebook/views/views.py notebook/magic/commands.py notebook/magic/mcp.py"
    " notebook/magic/run_commands.py notebook/command_line.py",
    "questions, which are exact": "notebook/asking.py",
    "files of runs": "run/store.py cassette/recording.py engine/batch/runs.py classroom/submit.py",
    "exports": "run/run.py run/replay_file.py notebook/page/widget.py features/certificate/commands.py",
    "requests to vendors": "providers/streaming.py",
    "outside agents and servers": "acp/session.py _base/mcp_server.py _base/program.py tools/mcp/connection.py",
    "clients of a notebook that is lent, and the token that the user asks for": "features/lend/bridge.py"
    " features/lend/command.py features/lend/lease.py",
    "spans": "tracing.py",
    "files that the user saves, or the run for its own agent": "files/__init__.py files/contents.py acp/folder.py",
    "preferences, consents and budgets, which have no text of a run": "_base/user_file.py classroom/budget.py",
    "inside of the kernel and its branches": "_base/atomic.py notebook/kernel_tools/branch.py"
    " notebook/kernel_tools/branch_process.py notebook/kernel_tools/capture.py notebook/kernel_tools/execute.py"
    " notebook/notebook_tools/open_notebook.py notebook/page/calls.py tools/toolbox.py features/certificate/data.py"
    " features/certificate/fresh_kernel.py",
    "virtual files of a run": "acp/turns.py engine/journal.py engine/run_input.py tools/file_tools.py"
    " tools/image_tools.py",
    "a widget of the user's own, without this package": "notebook/page/exported.py",
}
"""The files that call them, by what passes there."""
PEM = "-----BEGIN PRIVATE KEY-----\n" + "\n".join(
    f"MIIEvQ{letter * 3}q7W2x9Yb{letter}8Xr3Tn1Q" for letter in "ABC"
)
SECRETS = [
    *planted_keys().values(),
    """p/s's "w&rd\\é+<7>\\""",
    "correct-horse-battery 42",
    "Tr0ub4dor&3=x+y/z",
    "äöü-ßchlüssel-9",
    "pa%41ss-w0rd",
    "hunter2_the*fourth",
    "postgres://ann:Zx81Qw@db/1",
    PEM,
]


def in_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


FORMS_OF_SECRETS = {
    "plain": str,
    **{name: form for name, form in ESCAPES.items() if name != "Latin-1"},
    "Python": repr,
    "JSON in JSON": lambda secret: in_json({"a": in_json(secret)}),
    "JSON in JSON in JSON": lambda secret: in_json({"a": in_json({"b": in_json(secret)})}),
    "HTML in JSON": lambda secret: in_json(html.escape(secret)),
    "JSON in HTML": lambda secret: html.escape(in_json(secret)),
    "HTML in HTML": lambda secret: html.escape(html.escape(secret)),
    "URL in HTML": lambda secret: (
        f'<a href="https://x.example/?k={html.escape(quote(secret, safe=""))}">a</a>'
    ),
    "URL in JSON": lambda secret: in_json({"url": f"https://x.example/?k={quote_plus(secret)}"}),
    "Python in JSON": lambda secret: in_json(repr([secret])),
    "key of JSON": lambda secret: in_json({secret: 1}),
    "key of a dict": lambda secret: repr({secret: 1}),
    "item of a list": lambda secret: repr([1, secret]),
    "header": lambda secret: f"Authorization: Bearer {secret}",
    "variable": lambda secret: f"export API_KEY={secret}",
    "query": lambda secret: f"https://x.example/?api_key={secret}",
    "YAML": lambda secret: f"api:\n  key: {secret}",
    "code": lambda secret: f"key = {secret!r}  # mine",
    "code block": lambda secret: f"```\n{secret}\n```",
    "inline code": lambda secret: f"`{secret}`",
    "bold": lambda secret: f"**{secret}**",
    "heading": lambda secret: f"# {secret}",
    "item": lambda secret: f"- {secret}",
    "table": lambda secret: f"| a | b |\n|---|---|\n| {secret} | 1 |",
    "block quote": lambda secret: f"> {secret}",
    "link": lambda secret: f"[here](https://x.example/{quote(secret, safe='')})",
    "comment": lambda secret: f"<!-- {secret} -->",
    "attribute": lambda secret: f"<p title='{html.escape(secret)}'>x</p>",
    "traceback": lambda secret: (
        f'  File "a.py", line 1\n    raise ValueError({secret!r})\nValueError: {secret}'
    ),
    "after an escape": lambda secret: in_json(f"\t{secret}")[1:-1],
    "one line": lambda secret: " ".join(secret.split()),
}


def decoded(written: str) -> str:
    """The text with one level of escapes less."""
    written = html.unescape(unquote(written, errors="replace"))
    written = re.sub(r"\\u([0-9a-f]{4})|\\x([0-9a-f]{2})", lambda at: chr(int(at[1] or at[2], 16)), written)
    return re.sub(r"(?<!\\)\\[nrt]", " ", written).replace("\\\\", "\\")


def plain_signs(written: str) -> str:
    return "".join(filter(str.isalnum, written))


def leaked(written: str) -> list[str]:
    """The secrets that a text has, however they are escaped."""
    readings = []
    for _ in range(6):
        readings.append(plain_signs(written))
        written = decoded(written)
    cores = {secret: plain_signs(secret)[-24:][:20] for secret in SECRETS}
    return [secret for secret, core in cores.items() if any(core in reading for reading in readings)]


@pytest.fixture
def known(monkeypatch):
    """All secrets are registered, and in variables."""
    for name in ("registered", "_cores", "PIECES"):
        monkeypatch.setattr(secrets, name, set(getattr(secrets, name)))
    monkeypatch.setattr(secrets, "_places", {})
    own = {written: "`key`" for secret in SECRETS for written in forms_of(secret)}
    for module in (secrets, toolbox):
        monkeypatch.setattr(module, "SECRET_SOURCES", [lambda: own])
    for secret in SECRETS:
        register(secret)


async def run_with(written: str):
    """A run that has the text everywhere, and the spans of it."""

    @tool
    def tell(what: str) -> str:
        """Tells."""
        return written

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.enable(tracer_provider=provider, contents=True)
    try:
        first = [
            think(written, fragment=13),
            call("tell", {"what": written}, fragment=11),
            write(content=written),
        ]
        agent = Agent(
            ScriptedProvider([first, [text(written, fragment=12)]]), tools=[*toolbox.Toolbox.default(), tell]
        )
        run = await agent.run("go")
    finally:
        tracing.disable()
    run = replace(run, prompt=written, error=written, failed_check=written)
    return run, "".join(
        str(dict(span.attributes)) + str(span.status.description) for span in exporter.get_finished_spans()
    )


def logged(written: str) -> str:
    stream = io.StringIO()
    log.addHandler(handler := logging.StreamHandler(stream))
    try:
        log.warning("%s", written)
        try:
            raise ValueError(written)
        except ValueError:
            log.exception("it failed")
    finally:
        log.removeHandler(handler)
    return stream.getvalue()


@pytest.mark.parametrize("form", FORMS_OF_SECRETS)
async def test_no_door_lets_a_secret_through(form, known):
    texts = [FORMS_OF_SECRETS[form](secret) for secret in SECRETS]
    written = "\n\n".join(texts)
    assert len(leaked(written)) == len(SECRETS), "the search finds all of them"
    run, spans = await run_with(written)
    events = all_events(run)
    encoder = Encoder()
    pieces = [encoder.encode(events[start : start + 3]) for start in range(0, len(events), 3)]
    table = Table([written], [[each] for each in texts], written, note=written)
    left = {
        "page": in_json(for_page({"events": pieces, "line": written, written: [written], "items": texts})),
        "tool results": "".join(use.result.text for use in run.tool_uses if use.result),
        "run file": run_file(run).decode(),
        "replay": re.sub(r"<script type=\"module\">.*", "", replay_html(run), flags=re.DOTALL),
        "page alone": to_page(run) or MASK,
        "log": logged(written),
        "spans": spans,
        "errors": "".join(map(str, (ConfigError(written), CellError("Failed", written)))),
        "tables": repr(table) + table._repr_html_(),
        **bundle(run),
        **{each.suffix: each.render(run) for each in FORMS},
    }
    assert {door: found for door, out in left.items() if (found := leaked(out))} == {}
    assert [door for door, out in left.items() if MASK not in out] == []


def ways_out(source: str) -> bool:
    calls = (node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return any(WAYS_OUT.fullmatch(getattr(call, "id", getattr(call, "attr", ""))) for call in calls)


def test_every_way_out_is_listed():
    files = {
        path.relative_to(ROOT / "agent_nb").as_posix(): path.read_text(encoding="utf-8")
        for path in (ROOT / "agent_nb").rglob("*.py")
    }
    listed = defaultdict(list)
    for what, names in DOORS.items():
        for name in names.split():
            listed[name].append(what)
    assert {name for name, source in files.items() if ways_out(source)} == {*listed}
    assert all(len(what) == 1 for what in listed.values())


def uses_of_masks(source: str) -> int:
    tree = ast.parse(source)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = {name.name for node in imports if node.module == secrets.__name__ for name in node.names}
    used = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return sum(name in names and MASKS.fullmatch(name) is not None for name in used)


def test_only_doors_and_first_contacts_mask():
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "agent_nb").rglob("*.py"))
    assert sum(map(uses_of_masks, sources)) <= MOST_MASKS


def test_only_a_gate_says_that_something_is_masked():
    gates = {"_base/secrets.py", "run/run_writer.py"}
    sources = {path: path.read_text(encoding="utf-8") for path in (ROOT / "agent_nb").rglob("*.py")}
    made = {
        path.relative_to(ROOT / "agent_nb").as_posix()
        for path, source in sources.items()
        if re.search(r"\bMasked(Json)?\(|cast\(\"?Masked", source)
    }
    assert made == gates


ROUND = """
from agent_nb._base.secrets import for_page
from agent_nb.notebook.door import Door
from agent_nb.notebook.views import views
from agent_nb.run.run_writer import dump_lines

def past(door: Door, text: str) -> None:
    door.send({"text": text})  # refused
    door.send(for_page({"text": text}))
    views._display({"text/plain": text})  # refused
    views._display(for_page({"text/plain": text}))
    dump_lines([{"text": text}])  # refused
    dump_lines([for_page({"text": text})])
"""


def test_mypy_refuses_a_text_that_goes_around_a_gate(tmp_path):
    (tmp_path / "around.py").write_text(ROUND)
    command = [sys.executable, "-m", "mypy", "--no-error-summary", str(tmp_path / "around.py")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    refused = {number for number, line in enumerate(ROUND.splitlines(), 1) if line.endswith("# refused")}
    assert {int(number) for number in re.findall(r"around\.py:(\d+): error", done.stdout)} == refused, (
        done.stdout
    )
