"""The commands of the page, one class each: its fields are read from the message, and `run` carries it out."""

import base64
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, dataclass_transform
from uuid import uuid4

from agent_nb._base.bundles import bundle as code_bundle
from agent_nb._base.secrets import Exact, as_accepted, exact
from agent_nb._base.text import change_texts, whole_text
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json, WireError, from_wire, to_wire
from agent_nb.core.errors import ConfigError, ToolError
from agent_nb.core.feature import command_of
from agent_nb.engine.approval import Answer
from agent_nb.files.cell_changes import ChangeDecision
from agent_nb.images.pasted import save_pasted
from agent_nb.notebook.kernel_tools.name_changes import undo_store
from agent_nb.notebook.live.live_run import LiveRun, window_number
from agent_nb.notebook.live.open_questions import Scope
from agent_nb.notebook.notebook_tools.open_notebook import open_notebook
from agent_nb.notebook.notebook_tools.proposals import proposals
from agent_nb.notebook.page.pages import store_of
from agent_nb.notebook.session import host as session_host
from agent_nb.pages.page_check import ViewerUnavailableError
from agent_nb.render import bundle
from agent_nb.run.cells import cells_to_keep, numbered_code
from agent_nb.run.run import Run, session_of
from agent_nb.run.turn_requests import request_for_page
from agent_nb.tools import ToolOutput

COMMANDS: "dict[str, type[PageCommand]]" = {}
"""The commands by the name that their messages have."""


@dataclass_transform(kw_only_default=True, frozen_default=True)
@dataclass(frozen=True, kw_only=True)
class PageCommand:
    """A command about a run. A page that has only a saved output names the run by its key."""

    id: str
    client: str
    run_id: str = ""
    key: str = ""
    variant: int | None = None

    def __init_subclass__(cls, command: str = "") -> None:
        dataclass(frozen=True, kw_only=True)(cls)
        if command:
            COMMANDS[command] = cls

    @property
    def number(self) -> int:
        return self.variant or 0

    def run(self, run: LiveRun) -> Any:
        """Return the fields of the answer, if any, or a coroutine that returns them later."""


class CallCommand(PageCommand):
    """A command about a call of the run."""

    call_id: str

    @property
    def place(self) -> tuple[int, str]:
        return self.number, self.call_id


class UnderWayCommand(PageCommand, command="under_way"):
    """Asks for the active runs of a reloaded window. It is about no run: the hub answers it."""


class NotebookCommand(PageCommand, command="notebook"):
    """The cells that the kernel has asked for. It is about no run: the hub delivers it."""

    request_id: str
    cells: Any = None
    left_out: Any = 0
    error: str = ""

    def deliver(self) -> Json:
        open_notebook.receive(self.request_id, self.cells, self.left_out, self.error)
        return {}


class HelloCommand(PageCommand, command="hello"):
    def run(self, run: LiveRun) -> Json:
        stream = run.stream
        stream.watched.set()
        run.window = self.client
        stream.windows[run.window] = True
        return {
            "run_id": run.id,
            "meta": to_wire(stream.meta),
            "window": window_number(run.window),
            "last": len(stream.events),
        }


class ResyncCommand(PageCommand, command="resync"):
    """Asks for all events, which the hub sends after the answer."""


class StopCommand(PageCommand, command="stop"):
    def run(self, run: LiveRun) -> None:
        if run.handle is not None:
            run.handle.stop(number=None if self.variant is None else self.variant + 1)


class ApproveCommand(CallCommand, command="approve"):
    note: str = ""
    args: Json | None = None
    scope: Scope = "call"

    def run(self, run: LiveRun) -> None:
        run.questions.answer(self.place, Answer(True, self.note, self.args), self.scope)
        if self.scope == "run":
            run.let_code_run(self.number, allowed=True)


class DenyCommand(CallCommand, command="deny"):
    note: str = ""

    def run(self, run: LiveRun) -> None:
        run.questions.answer(self.place, Answer(False, self.note))


class TryCommand(CallCommand, command="try"):
    args: Json | None = None
    stop: bool = False

    def run(self, run: LiveRun) -> Coroutine[Any, Any, Json] | None:
        """Try the call of an open question in a copy of the kernel, or stop trying it."""
        if run.handle is None:
            raise ConfigError("The run has ended.")
        trials = run.handle.trials[self.number]
        if self.stop:
            trials.stop(self.call_id)
            return None
        return self._outcome(trials.run(self.call_id, run.questions.args_to_try(self.place, self.args)))

    async def _outcome(self, trial: Coroutine[Any, Any, ToolOutput]) -> Json:
        try:
            outputs, problem = (await trial).outputs, ""
        except ToolError as error:
            outputs, problem = error.outputs, error.headline
        return {"outputs": to_wire(outputs), "problem": problem}


class ShowOutputCommand(CallCommand, command="show_output"):
    def run(self, run: LiveRun) -> None:
        if run.handle is None:
            raise ConfigError("The run has ended.")
        run.handle.show_output(*self.place)


class AskAgainCommand(PageCommand, command="ask_again"):
    def run(self, run: LiveRun) -> None:
        run.let_code_run(self.number, allowed=False)


class PickCommand(PageCommand, command="pick"):
    def run(self, run: LiveRun) -> None:
        number = self.number + 1
        if run.on_pick is None:
            raise ConfigError(f"Pick it in the notebook: `{run.name}.pick({number})`.")
        run.on_pick(number)


class FileCommand(PageCommand, command="file"):
    path: str
    version: int | None = None

    def run(self, run: LiveRun) -> Json:
        """Return a version of a file, the newest by default: text, or bytes as base64."""
        handle = run.handle if run.result is None else None
        files = handle.files_of(self.number) if handle else run.finished_result(self.number).files
        if self.path not in files.paths:
            raise ConfigError(f"There is no file {self.path!r}.")
        versions = files.versions(self.path)
        number = len(versions) if self.version is None else self.version
        content = versions[number - 1] if 0 < number <= len(versions) else None
        if content is None:
            raise ConfigError(f"There is no version {number} of the file {self.path!r}.")
        if isinstance(content, bytes):
            return {"base64": Exact(base64.b64encode(content).decode())}
        return {"text": content}


class PasteImageCommand(PageCommand, command="paste_image"):
    """An image that the user has pasted for the next cell, in base64."""

    data: str

    def run(self, run: LiveRun) -> Coroutine[Any, Any, Json]:
        if not run.stream.meta.reviewable or run.handle is None:
            raise ConfigError("This run was loaded or replayed. Run its cell again to paste images below it.")
        if run.handle.settings.get("data"):
            raise ConfigError("With `--data schema` no image is sent to the model, so none was saved.")
        return self._save(run.name)

    async def _save(self, name: str) -> Json:
        path, thumbnail = await off_loop(save_pasted, self.data, name, Path.cwd())
        return {"path": path, "thumbnail": Exact(base64.b64encode(thumbnail).decode())}


class ElementCommand(PageCommand, command="element"):
    path: str
    file: str | None = None

    def run(self, run: LiveRun) -> Coroutine[Any, Any, Json]:
        return off_loop(self._find, run)

    def _find(self, run: LiveRun) -> Json:
        """Return the source position of an element on the page, and the edit that wrote it."""
        element = run.finished_result(self.number).element(self.path, self.file or None)
        return {name: getattr(element, name) for name in ("path", "file", "line", "place", "turn", "edit")}


class CellsCommand(PageCommand, command="cells"):
    def run(self, run: LiveRun) -> Json:
        """Return the code of a finished variant as cells, with their outputs in the run."""
        cells = cells_to_keep(run.finished_result(self.number))
        rows = [{"kind": cell.kind, "source": cell.source, "outputs": [*cell.outputs]} for cell in cells]
        return {"cells": rows}


class ApplyCommand(PageCommand, command="apply"):
    question: str = ""
    """The id of the card on which the user has agreed; empty to show one."""

    def run(self, run: LiveRun) -> Json | Coroutine[Any, Any, Json]:
        """Return what the card shows, or run exactly that in the session, once."""
        result = run.finished_result(self.number)
        session = session_of(result)
        codes, problem = offer = session.offer(result)
        if not self.question:
            question = uuid4().hex
            run.offers[self.number] = question, offer
            code = numbered_code(codes)
            shown, secrets = as_accepted({"code": code, "problem": problem}, session.known)
            return {**shown, "secrets": secrets, "question": question, "applied": session.is_applied}
        if run.offers.pop(self.number, None) != (self.question, offer):
            raise ConfigError("That is no longer what was shown, so nothing was run. Press Apply again.")
        return self._apply(session.apply_shown(result, codes))

    async def _apply(self, work: Coroutine[Any, Any, str]) -> Json:
        return {"text": await work}


class UnapplyCommand(PageCommand, command="unapply"):
    def run(self, run: LiveRun) -> Json:
        return {"text": run.finished_result(self.number).unapply()}


class KeepCommand(PageCommand, command="keep"):
    def run(self, run: LiveRun) -> Json:
        """Write the cells to a notebook file, for a page that cannot insert them."""
        try:
            path = run.finished_result(self.number).to_notebook(f"{run.name}.ipynb")
        except OSError as error:
            raise ConfigError(f"{run.name}.ipynb was not written: {error.strerror or error}.") from None
        return {"text": f"Wrote {path.name}, with the outputs of the run"}


class VerifyCommand(PageCommand, command="verify"):
    def run(self, run: LiveRun) -> Coroutine[Any, Any, Json]:
        result = run.finished_result(self.number)
        cells_to_keep(result)
        return self._verify(result)

    async def _verify(self, run: Run) -> Json:
        host = session_host()
        if not host.has_run(run):
            command = host.command(f"verify {run.name}")
            raise ConfigError(f"The code has not run in this kernel. `{command}` asks and runs it.")
        result = await off_loop(command_of("verify").call, host, run)
        return {"text": result.text, "equal": result.is_same}


class RequestCommand(PageCommand, command="request"):
    step: int = 1

    def run(self, run: LiveRun) -> Any:
        return request_for_page(run.result, self.number, self.step)


class CheckCodeCommand(PageCommand, command="check_code"):
    """Asks for the script of page checks. It is large, so it is sent on first use."""

    def run(self, run: LiveRun) -> Json:
        return {"code": Exact(code_bundle("check").read_text(encoding="utf-8"))}


class OnScreenCommand(PageCommand, command="on_screen"):
    on_screen: bool = False

    def run(self, run: LiveRun) -> None:
        if self.on_screen:
            run.window = self.client
        run.stream.set_on_screen(self.client, on_screen=self.on_screen)


class CheckedCommand(PageCommand, command="checked"):
    check_id: str
    ok: bool = False
    report: Any = None
    error: str = ""

    def run(self, run: LiveRun) -> None:
        window, check = run.checks.get(self.check_id, ("", None))
        if check is None or check.done() or self.client != window:
            raise ConfigError("That check is not expected.")
        if self.ok and isinstance(self.report, dict):
            check.set_result(self.report)
        else:
            failure = f"the user's browser could not check the page ({self.error[:200]})."
            check.set_exception(ViewerUnavailableError(failure))


class UndoPythonCommand(PageCommand, command="undo_python"):
    token: str

    def run(self, run: LiveRun) -> Json:
        text, names = undo_store.undo(self.token)
        stream = run.stream
        stream.update(undone=(*stream.meta.undone, *(f"{self.token} {name}" for name in names)))
        return {"text": text}


class DecideCommand(PageCommand, command="decide"):
    """The user accepts or refuses changes of cells, or takes that back."""

    changes: tuple[str, ...]
    decision: ChangeDecision

    def run(self, run: LiveRun) -> Json:
        """Return what the page writes. Only the kernel that made the changes has it."""
        if not run.stream.meta.reviewable:
            raise ConfigError("This run was loaded or replayed. Run its cell again to change the notebook.")
        model = run.finished_result(self.number).model
        changes = proposals.decide(self.changes, self.decision, self.client)
        run.decide(dict.fromkeys(self.changes, self.decision))
        return {"changes": changes, "made": {"run": run.id, "model": model}}


class ResultCommand(PageCommand, command="result"):
    def run(self, run: LiveRun) -> Json:
        """Return the frozen result to one window only: in a shared notebook, two would write it twice."""
        if run.result is None:
            raise ConfigError("The run has not ended yet.")
        run.writer = run.writer or self.client
        if self.client != run.writer:
            raise ConfigError("Another window is writing the result into the notebook.")
        return {"data": exact(bundle(replace(run.result, key=run.key), load=run.load))}


class PreviewReportCommand(PageCommand, command="preview_report"):
    entries: Any = None

    def run(self, run: LiveRun) -> Json:
        """Store console entries of the page; return their numbers."""
        entries = self.entries if isinstance(self.entries, list) else []
        console = run.console(self.number)
        return {"numbers": [console.add(entry) for entry in entries if isinstance(entry, dict)]}


class BoundCommand(PageCommand, command="bound"):
    message: Json | None = None

    def run(self, run: LiveRun) -> None:
        """Forward a message from a view of a bound page."""
        store = store_of(run.id, self.number)
        if store is None:
            raise ConfigError("That page has no bindings in this kernel. Run its cell again.")
        view = self.message.get("view") if self.message else None

        def send(answer: Json) -> None:
            run.stream.tell("bound", variant=self.number, message={**answer, "view": view})

        store.receive(self.message, send)


def read_command(content: Json) -> PageCommand:
    """Validate a message and return its command; any client of the kernel can send one."""
    kind = COMMANDS.get(str(content.get("command")))
    if kind is None:
        raise ConfigError(f"There is no command {whole_text(str(content.get('command')))[:80]!r}.")
    try:
        command: PageCommand = from_wire(kind, change_texts(from_wire(Json, content), whole_text))
    except WireError as error:
        raise ConfigError(f"That message is not a command: {error}.") from None
    return command
