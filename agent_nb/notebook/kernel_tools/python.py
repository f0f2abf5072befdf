"""The `run_python` tool, which runs Python in the notebook with the user's approval."""

import ast
import asyncio
import base64
import contextlib
import itertools
import re
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from agent_nb._base.constants import NAMES_TYPE
from agent_nb._base.secrets import shortened
from agent_nb._base.text import showable_text
from agent_nb._base.wire import Json
from agent_nb.core.errors import AgentError, ToolError
from agent_nb.core.events import MimeBundle
from agent_nb.core.messages import Image
from agent_nb.core.run_settings import MAX_CODE
from agent_nb.images.convert import to_image
from agent_nb.notebook.failures import code_frames, error_message, is_code, line_in, short_traceback
from agent_nb.notebook.kernel_tools.capture import cut
from agent_nb.notebook.kernel_tools.execute import CodeRun, Execution, execute
from agent_nb.notebook.kernel_tools.name_changes import undo_store
from agent_nb.notebook.kernel_tools.variables import kinds
from agent_nb.notebook.session import settings, shown_hub
from agent_nb.notebook.user_variables import user_names
from agent_nb.notebook.values.classes import counted
from agent_nb.notebook.values.loaded import loaded_data
from agent_nb.notebook.values.schema import read_schema
from agent_nb.run.cells import used_helpers
from agent_nb.run.code_names import names_in
from agent_nb.tools.base import SCHEMA_PHRASES, Name, Schema, Tool, ToolContext, ToolOutput
from agent_nb.tools.schema import described, tool_spec

MAX_TEXT = 20_000
MAX_MAGIC_COST = 100_000
"""Characters that IPython reads: all code again for each line with a magic, and a long line in quadratic time."""
_MAGIC = re.compile(r"\A[!%?,;/]|=\s*[!%]|\?\Z")
_TOO_MANY_MAGICS = "It has too many or too long lines with `!`, `%` or `?`."
MAX_IMAGES = 4
MAX_COMMAND = 60
_SHELL_METHODS = {"system", "getoutput", "getoutput_split"}
_SHELL_MAGICS = {
    "sx", "sc", "system", "bash", "sh", "script", "cmd", "perl", "ruby", "pip", "conda", "mamba", "uv",
}  # fmt: skip
_PROCESS_CALLS = {
    "os.system", "os.popen", "os.execv", "os.execvp", "os.spawnl", "os.posix_spawn", "subprocess.run",
    "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.getoutput",
    "subprocess.Popen", "asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell",
}  # fmt: skip

# The card that asks shows the first paragraph.
_DESCRIPTION = """\
Runs Python in the notebook, with its variables.

Returns what the code prints and displays: text, tables and figures. The value of a last expression is displayed. \
`await`, `%magics` and `!commands` work, `input()` does not. `agent_files` is a copy of the files of this run by path. \
`to_file(path, value)` writes one. A page cannot fetch files: `to_file('sales.js', df)` writes `window.sales = [...]`, \
which it loads with `<script src="sales.js">`. Prefer new names to changing the user's."""


_ONLY_THE_USER = "Output, which only the user sees: "
_UNITS = (f" {unit}{ending}" for unit in ("line", "table", "image") for ending in ("", "s"))
SCHEMA_PHRASES.update((_ONLY_THE_USER, "no output", ".", "\n", ": deleted", ", changed in place: ", *_UNITS))


def run_python(shell: Any) -> Tool:

    async def run(args: Json, context: ToolContext) -> ToolOutput:
        code, defaults = str(args["code"]), settings(shell)
        if _is_costly(code):
            raise ToolError(_TOO_MANY_MAGICS, hint="Use `subprocess` and functions in their place.")
        magic = defaults.magic_name
        if {f"uses %{magic}", f"uses %%{magic}"} & {*mentions(code, shell)}:
            raise ToolError(f"`%{magic}` cannot be used in run_python.", hint="Do the work in this run.")
        _send_new()  # the page shows the code before it runs
        seconds = defaults.python_seconds
        call = CodeRun(code=code, shell=shell, context=context, seconds=seconds, on_tick=_send_new)
        return _output(call, await execute(call))

    def title(args: Json) -> str:
        effects = mentions(str(args.get("code", "")), shell)
        return f"run Python: {'; '.join(effects)}" if effects else "run Python"

    def problems(args: Json) -> dict[str, str]:
        problem = syntax_problem(str(args.get("code", "")), shell)
        return {"code": problem} if problem else {}

    code = described("string", "Python, as in one cell of the notebook.", maxLength=MAX_CODE)
    return Tool(
        spec=tool_spec("run_python", _DESCRIPTION, {"code": code}, required=("code",)),
        run=run,
        packaged=True,
        title=title,
        approval="ask",
        identical_only=True,
        allows_whole_run=True,
        problems=problems,
        loaded=partial(loaded_data, shell),
        namespace=lambda: user_names(shell),
        timeout=None,  # the watchdog's limit also holds for code that blocks the loop
    )


def _output(call: CodeRun, execution: Execution) -> ToolOutput:
    names, text, watchdog = _names(call.code, execution), _text(execution), execution.watchdog
    outputs = (*execution.outputs, names)
    if (task := asyncio.current_task()) is not None and task.cancelling():
        raise ToolError("The code was stopped.", code="STOPPED", outputs=outputs)
    if watchdog.interrupted:
        watchdog.pass_on()
        message = _joined("The user interrupted the code.", text)
        raise ToolError(message, code="STOPPED", outputs=outputs, summary="You interrupted the code.")
    if watchdog.timed_out:
        message = _joined(f"The code was stopped after {watchdog.seconds:.3g} seconds.", text)
        raise ToolError(message, code="TIMEOUT", hint="Make it do less, or in steps.", outputs=outputs)
    if execution.error is not None:
        details = showable_text(short_traceback(execution.error))
        headline, line = showable_text(error_message(execution.error)), code_line(execution.error)
        message = _joined(headline + (f" (line {line})" if line else ""), text, details)
        failure = ToolError(message, outputs=(*execution.outputs, {"text/plain": details}, names))
        failure.headline, failure.line = headline.splitlines()[0], line_in(call.code, line)
        raise failure
    return ToolOutput(
        text=text or "Done, without output.",
        summary=_summary(execution.outputs),
        images=_images(execution.outputs),
        outputs=outputs,
        schema=_schema(execution),
    )


def _schema(execution: Execution) -> Schema:
    """The names that the code has set, by type and shape, and the amount of output."""
    output = _ONLY_THE_USER, _summary(execution.outputs), "."
    changes = execution.changes
    set_names = [("\n", Name(name), ": ", *read_schema(value)) for name, value in changes.after.items()]
    in_place = [
        ("\n", Name(name), ", changed in place: ", *read_schema(changes.namespace[name]))
        for name in changes.in_place
    ]
    deleted = [("\n", Name(name), ": deleted") for name in changes.deleted]
    return (*output, *itertools.chain(*set_names, *in_place, *deleted))


def _send_new() -> None:
    """Send pending events now: timers on the event loop usually do this, but it may be blocked."""
    if hub := shown_hub():
        hub.send_new()


def _text(execution: Execution) -> str:
    output = "\n".join(filter(None, (_plain(bundle).rstrip("\n") for bundle in execution.outputs)))
    return _joined(cut(showable_text(output), MAX_TEXT), execution.changes.sentence(), *execution.notes)


def _joined(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))


def _plain(bundle: MimeBundle) -> str:
    text = str(bundle.get("text/plain", bundle.get("text/markdown", "")))
    return text or ("[image]" if _image_type(bundle) else "[HTML]" if "text/html" in bundle else "")


def _image_type(bundle: MimeBundle) -> str | None:
    return next((kind for kind in bundle if kind.startswith("image/")), None)


def _images(outputs: Sequence[MimeBundle]) -> tuple[Image, ...]:
    images: list[Image] = []
    for bundle in outputs:
        kind = _image_type(bundle)
        if kind not in (None, "image/svg+xml") and len(images) < MAX_IMAGES:
            with contextlib.suppress(AgentError, ValueError):
                images.append(to_image(base64.b64decode(bundle[kind])))
    return tuple(images)


def _names(code: str, execution: Execution) -> MimeBundle:
    """The name changes and the code of a call, for the page's Undo and Insert."""
    changes = execution.changes
    names: Json = {
        "bound": changes.added,
        "changed": changes.changed,
        "deleted": changes.deleted,
        "in_place": dict(changes.in_place),
        "code": _as_cell(code, execution.renamed),
        "notes": execution.notes,
        "renamed": execution.renamed,
        "kinds": kinds(changes.after),
    }
    if line := failed_line(execution.error):
        names["line"] = line
    if changes:
        names["undo"] = undo_store.add(changes)
    plain = _joined(changes.sentence(), *execution.notes)
    return {NAMES_TYPE: names, "text/plain": plain} if plain else {NAMES_TYPE: names}


def _as_cell(code: str, renamed: Sequence[str]) -> str:
    """The code as a notebook cell, which has to import `to_file`."""
    names = dict(used_helpers(names_in(code).reads, renamed))
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
    return ", ".join(counted(count, name) for count, name in counts if count) or "no output"


def mentions(code: str, shell: Any) -> list[str]:
    """Effects such as `runs a shell command: ls` and `uses %timeit`; empty if the code cannot be parsed."""
    if _is_costly(code):
        return ["has too many magics to run"]
    try:
        tree = ast.parse(shell.input_transformer_manager.transform_cell(code))
    except Exception:  # invalid code fails when it runs; third-party transformers may fail too
        return []
    return list(dict.fromkeys(_mentions(tree)))


def _is_costly(code: str) -> bool:
    """Whether IPython could take seconds to read the code."""
    lines = [line for line in map(str.strip, code.splitlines()) if _MAGIC.search(line)]
    return sum(len(code) + len(line) ** 2 // 1_000 for line in lines) > MAX_MAGIC_COST


def syntax_problem(code: str, shell: Any) -> str:
    if _is_costly(code):
        return _TOO_MANY_MAGICS
    try:
        source = shell.input_transformer_manager.transform_cell(code)
        with warnings.catch_warnings(action="ignore"):
            compile(source, "<code>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        return f"Line {error.lineno}: {error.msg}." if error.lineno else f"{error.msg}."
    except ValueError as error:  # a NUL
        return f"{error}."
    return ""


def _mentions(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="get_ipython")), attr=method)):
                yield from _of_shell(method, [_node_text(argument) for argument in node.args])
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name), args=args):
                if (function := f"{owner}.{name}") in _PROCESS_CALLS:
                    yield f"runs a shell command: {_short(_node_text(args[0]) if args else function)}"


def _of_shell(method: str, arguments: list[str]) -> Iterator[str]:
    command = arguments[0] if arguments else ""
    if method in _SHELL_METHODS:
        yield f"runs a shell command: {_short(command)}"
    elif method in ("run_line_magic", "run_cell_magic") and command in _SHELL_MAGICS:
        yield f"runs a shell command: {_short(' '.join([command, *arguments[1:]]))}"
    elif method in ("run_line_magic", "run_cell_magic"):
        yield f"uses {'%' if method == 'run_line_magic' else '%%'}{command}"


def _node_text(node: ast.AST) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ast.unparse(node)


def _short(command: str) -> str:
    return shortened(" ".join(command.split()), MAX_COMMAND)


def code_line(error: BaseException) -> int | None:
    """The last line of the code in the traceback, or the line of a syntax error; None if unknown."""
    if isinstance(error, SyntaxError) and is_code(error.filename or ""):
        return error.lineno
    return next((frame.lineno for frame in reversed(code_frames(error)) if is_code(frame.filename)), None)


def failed_line(error: BaseException | None) -> int | None:
    """The line of the code at which execution stopped; None if unknown or if nothing was executed."""
    frames = code_frames(error) if error is not None else []
    return next((frame.lineno for frame in frames if is_code(frame.filename)), None)
