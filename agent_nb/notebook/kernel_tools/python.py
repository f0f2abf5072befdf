"""The tool with which a model runs Python in the notebook. It asks first."""

import asyncio
import base64
import contextlib
import itertools
from collections.abc import Sequence
from typing import Any

from agent_nb._base.constants import NAMES_TYPE
from agent_nb._base.secrets import safe_text
from agent_nb._base.wire import Json
from agent_nb.errors import AgentError, ToolError
from agent_nb.events import MimeBundle
from agent_nb.messages import Image
from agent_nb.notebook.kernel_tools.capture import cut
from agent_nb.notebook.kernel_tools.code_failure import code_line, failed_line, headline, short_traceback
from agent_nb.notebook.kernel_tools.execute import Call, Execution, execute
from agent_nb.notebook.kernel_tools.mentions import magics, mentions, syntax_problem
from agent_nb.notebook.kernel_tools.name_changes import undo_store
from agent_nb.notebook.kernel_tools.variables import kinds
from agent_nb.notebook.session import settings, shown_hub
from agent_nb.notebook.values.schema import read_schema
from agent_nb.run.cells import used_helpers
from agent_nb.run.code_names import names_in
from agent_nb.tools.base import Name, Schema, Tool, ToolContext, ToolOutput
from agent_nb.tools.schema import tool_spec

MAX_TEXT = 20_000
"""Characters of the output that the model gets."""
MAX_IMAGES = 4

# The card that asks shows the first paragraph.
_DESCRIPTION = """\
Runs Python in the notebook, with its variables.

Returns what the code prints and displays: text, tables and figures. The value of a last expression is displayed. \
`await`, `%magics` and `!commands` work, `input()` does not. `agent_files` is a copy of the files of this run by path. \
`to_file(path, value)` writes one. A page cannot fetch files: `to_file('sales.js', df)` writes `window.sales = [...]`, \
which it loads with `<script src="sales.js">`. Prefer new names to changing the person's."""


def run_python(shell: Any) -> Tool:
    """The tool, for one shell."""

    async def run(args: Json, context: ToolContext) -> ToolOutput:
        code, seconds = str(args["code"]), settings(shell).python_seconds
        if (own := settings(shell).magic_name) in magics(code, shell):
            raise ToolError(f"`%{own}` cannot be used in run_python.", hint="Do the work in this run.")
        _send_new()  # the page shows the code before it runs
        call = Call(code=code, shell=shell, context=context, seconds=seconds, on_tick=_send_new)
        return _output(call, await execute(call))

    def title(args: Json) -> str:
        found = mentions(str(args.get("code", "")), shell)
        return f"run Python: {'; '.join(found)}" if found else "run Python"

    def problems(args: Json) -> dict[str, str]:
        problem = syntax_problem(str(args.get("code", "")), shell)
        return {"code": problem} if problem else {}

    code = {"type": "string", "description": "Python, as in one cell of the notebook."}
    return Tool(
        spec=tool_spec("run_python", _DESCRIPTION, {"code": code}, required=("code",)),
        run=run,
        packaged=True,
        title=title,
        approval="ask",
        identical_only=True,
        problems=problems,
        timeout=None,  # the watchdog's limit also holds for code that blocks the loop
    )


def _output(call: Call, ended: Execution) -> ToolOutput:
    names, text = _names(call.code, ended), _text(ended)
    if (task := asyncio.current_task()) is not None and task.cancelling():
        raise ToolError("The code was stopped.", code="STOPPED", outputs=(*ended.outputs, names))
    if ended.watchdog.interrupted:
        ended.watchdog.pass_on()
        message = _joined("The person interrupted the code.", text)
        shown = "You interrupted the code."
        raise ToolError(message, code="STOPPED", outputs=(*ended.outputs, names), summary=shown)
    if ended.watchdog.timed_out:
        message = _joined(f"The code was stopped after {ended.watchdog.seconds:.3g} seconds.", text)
        hint = "Make it do less, or in steps."
        raise ToolError(message, code="TIMEOUT", hint=hint, outputs=(*ended.outputs, names))
    if ended.error is not None:
        shown = safe_text(short_traceback(ended.error))
        message = _joined(safe_text(headline(ended.error)), text, shown)
        failure = ToolError(message, outputs=(*ended.outputs, {"text/plain": shown}, names))
        failure.line = code_line(ended.error)
        raise failure
    return ToolOutput(
        text=text or "Done, without output.",
        summary=_summary(ended.outputs),
        images=_images(ended.outputs),
        outputs=(*ended.outputs, names),
        schema=_schema(ended),
    )


def _schema(ended: Execution) -> Schema:
    """The names that the code has set, by type and shape, and how much it has put out."""
    output = f"Output, which only the person sees: {_summary(ended.outputs)}."
    set_names = [("\n", Name(name), ": ", *read_schema(value)) for name, value in ended.changes.after.items()]
    deleted = [("\n", Name(name), ": deleted") for name in ended.changes.deleted]
    return (output, *itertools.chain(*set_names, *deleted))


def _send_new() -> None:
    """Sends what the run has emitted: the loop, whose timers do that, may be blocked."""
    if hub := shown_hub():
        hub.send_new()


def _text(ended: Execution) -> str:
    """What the model reads: the output, what happened to names, and what the code left behind."""
    output = "\n".join(filter(None, (_plain(bundle).rstrip("\n") for bundle in ended.outputs)))
    return _joined(cut(safe_text(output), MAX_TEXT), ended.changes.sentence(), *ended.notes)


def _joined(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))


def _plain(bundle: MimeBundle) -> str:
    text = str(bundle.get("text/plain", bundle.get("text/markdown", "")))
    return text or ("[image]" if _image_type(bundle) else "[HTML]" if "text/html" in bundle else "")


def _image_type(bundle: MimeBundle) -> str | None:
    return next((kind for kind in bundle if kind.startswith("image/")), None)


def _images(outputs: Sequence[MimeBundle]) -> tuple[Image, ...]:
    """The first images for the model; those that cannot be read are only on the card."""
    from agent_nb.images.convert import to_image

    images: list[Image] = []
    for bundle in outputs:
        kind = _image_type(bundle)
        if kind not in (None, "image/svg+xml") and len(images) < MAX_IMAGES:
            with contextlib.suppress(AgentError, ValueError):
                images.append(to_image(base64.b64decode(bundle[kind])))
    return tuple(images)


def _names(code: str, ended: Execution) -> MimeBundle:
    """What the call did to names, with the code, so that the page can offer to undo it and to insert it."""
    changes = ended.changes
    names: Json = {
        "bound": changes.bound,
        "changed": changes.changed,
        "deleted": changes.deleted,
        "code": _as_cell(code, ended.notes),
        "notes": ended.notes,
        "kinds": kinds(changes.after),
    }
    if line := failed_line(ended.error):
        names["line"] = line
    if changes:
        names["undo"] = undo_store.add(changes)
    plain = _joined(changes.sentence(), *ended.notes)
    return {NAMES_TYPE: names, "text/plain": plain} if plain else {NAMES_TYPE: names}


def _as_cell(code: str, notes: Sequence[str]) -> str:
    """The code as a cell of this notebook, which has no `to_file`."""
    names = dict(used_helpers(names_in(code).reads, notes))
    if "to_file" not in names or code.lstrip().startswith("%%"):
        return code
    renamed = "" if names["to_file"] == "to_file" else f" as {names['to_file']}"
    return f"from agent_nb.files.contents import to_file{renamed}\n\n{code}"


def _summary(outputs: Sequence[MimeBundle]) -> str:
    """`14 lines, 1 table, 1 image`"""
    images = sum(_image_type(bundle) is not None for bundle in outputs)
    tables = sum("text/html" in bundle and _image_type(bundle) is None for bundle in outputs)
    lines = sum(
        len(str(bundle["text/plain"]).splitlines()) for bundle in outputs if [*bundle] == ["text/plain"]
    )
    counts = ((lines, "line"), (tables, "table"), (images, "image"))
    found = [f"{count:,} {name}{'s' if count != 1 else ''}" for count, name in counts if count]
    return ", ".join(found) or "no output"
