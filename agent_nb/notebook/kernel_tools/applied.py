"""Apply: the code of a run that worked in a branch, run in the session that the branch was copied from."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_nb._base.secrets import as_accepted, safe_text
from agent_nb._base.text import plural
from agent_nb._base.threads import run_blocking
from agent_nb.core.errors import ConfigError, ToolError
from agent_nb.files import Files, Workspace
from agent_nb.notebook.failures import error_message
from agent_nb.notebook.kernel_tools.capture import is_captured
from agent_nb.notebook.kernel_tools.execute import CodeRun, Execution, execute
from agent_nb.notebook.kernel_tools.in_place import snapshots
from agent_nb.notebook.kernel_tools.kept_branches import KEPT
from agent_nb.notebook.kernel_tools.name_changes import NameChanges, changes_between, undo_store
from agent_nb.notebook.session import settings
from agent_nb.notebook.user_variables import user_names
from agent_nb.run import Run
from agent_nb.run.cells import PART, kept_steps
from agent_nb.run.code_names import names_in
from agent_nb.tools.base import ToolContext

INTERRUPTED = "was interrupted."


@dataclass(frozen=True, slots=True)
class Application:
    """What Apply has done: its text says which names the code set."""

    text: str
    changes: NameChanges

    def __repr__(self) -> str:
        return self.text


class BranchedKernel:
    """The session that the branch of a run was copied from."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._undo: list[str] = []
        """The tokens of Undo for each time that the code was applied and set names."""
        self._applied_by: BranchedKernel | None = None
        """The session whose Apply has run the code: this one, or that of a run which continues this run."""
        self._name = ""
        self.known: Mapping[str, str] = {}
        self._base: BranchedKernel | None = None
        self._base_codes: list[str] = []
        """The own code of the run whose branch this one was forked from."""
        self.is_left_out = False
        """Whether another variant stands for the run."""

    @property
    def is_applied(self) -> bool:
        return self._applied_by is not None

    @property
    def has_base(self) -> bool:
        return self._base is not None

    def follow(self, base: Run) -> None:
        self._base, self._base_codes = base.branched_from, _own_codes(base)

    def leave_out(self) -> None:
        self.is_left_out = True
        KEPT.end(*(branch for branch in KEPT if branch.session is self))

    def _earlier(self) -> list[str]:
        """The code of the base runs that was not applied."""
        base = self._base
        return [] if base is None or base.is_applied else [*base._earlier(), *self._base_codes]

    def check(self, run: Run, *, anyway: bool = False) -> list[str]:
        """Return the code to apply; raise `ConfigError` if there is none, or if it should not run now."""
        codes, name = [*self._earlier(), *_own_codes(run)], _expression(run)
        if not codes:
            raise ConfigError(f"`{name}` has executed no code, so there is nothing to apply.")
        if is_captured():
            raise ConfigError("Code of a run cannot apply another one: call `apply` in a cell.")
        if not anyway and (objections := [*self._objections(run, codes)]):
            parts, _ = as_accepted("\n\n".join(code for code in codes if code.startswith(PART)), self.known)
            again = f"`{name}.apply(anyway=True)` runs the code nevertheless."
            raise ConfigError(" ".join((*objections, again)) + f"\n\n{parts}".rstrip())
        return codes

    def _objections(self, run: Run, codes: Sequence[str]) -> Iterator[str]:
        """Why the code should not run now, or not before the user has seen it."""
        name = _expression(run)
        if self.is_applied:
            yield f"`{name}` has been applied already. `{name}.unapply()` puts the names back."
        if any(code.startswith(PART) for code in codes):
            yield f"A call of `{name}` failed, and later code needs some of its statements: check them before they run."

    def apply(self, run: Run, *, anyway: bool = False) -> Application:
        """Run the code in the session, as one entry of Undo; raises `ToolError` with what ran if a call fails."""
        work = self._begin(run, self.check(run, anyway=anyway))
        try:
            run_blocking(work.run())
        except KeyboardInterrupt:
            work.problem = INTERRUPTED
        done = self._end(run, work)
        if work.problem == INTERRUPTED:
            raise KeyboardInterrupt(done.text)
        if work.problem:
            raise ToolError(done.text)
        return done

    def offer(self, run: Run) -> tuple[list[str], str]:
        codes = self.check(run, anyway=True)
        return codes, " ".join(self._objections(run, codes))

    async def apply_shown(self, run: Run, codes: Sequence[str]) -> str:
        work = self._begin(run, codes)
        await work.run()
        return self._end(run, work).text

    def _begin(self, run: Run, codes: Sequence[str]) -> "_Work":
        self._applied_by, self._name = self, _expression(run)  # another window may ask while the code runs
        for base in self._bases():
            base._applied_by = base._applied_by or self
        return _Work(self._shell, codes, run.files)

    def _end(self, run: Run, work: "_Work") -> Application:
        changes = work.changes()
        if changes:
            self._undo.append(undo_store.add(changes))
        return Application(work.text(_expression(run), changes), changes)

    def unapply(self, run: Run) -> str:
        """Put back the names that Apply has set, and return what was done."""
        if self._applied_by is None:
            raise ConfigError(f"`{_expression(run)}` has not been applied.")
        if (other := self._applied_by) is not self:
            raise ConfigError(
                f"`{_expression(run)}` was applied with `{other._name}`: `{other._name}.unapply()` puts the names back."
            )
        tokens = self._undo[::-1]
        text = undo_store.undo_all(tokens) if tokens else "The code had set no names."
        self._undo, self._applied_by = [], None
        for base in self._bases():
            base._applied_by = None if base._applied_by is self else base._applied_by
        return text

    def _bases(self) -> Iterator["BranchedKernel"]:
        """The sessions of the base runs whose code Apply runs, too."""
        session = self
        while session._base is not None:
            yield (session := session._base)


class _Work:
    """The calls that run in the session, and what they have done."""

    def __init__(self, shell: Any, codes: Sequence[str], files: Files) -> None:
        self._shell, self._codes, self._files = shell, codes, Workspace(files)
        self._before = user_names(shell)
        names = [names_in(code) for code in codes]
        named = {name for code in names for name in (*code.reads, *code.changes)}
        self._objects = snapshots({name: self._before[name] for name in named if name in self._before})
        self._done, self._notes = 0, list[str]()
        self.problem = ""
        """Why the first call that failed ended the work; empty if all calls succeeded."""

    async def run(self) -> None:
        for code in self._codes:
            context = ToolContext(files=self._files, progress=lambda text: None)
            seconds = settings(self._shell).python_seconds
            call = CodeRun(
                code=code, shell=self._shell, context=context, seconds=seconds, on_tick=lambda: None
            )
            execution = await execute(call)
            self._notes += execution.notes
            if problem := _problem(execution):
                self.problem = problem
                return
            self._done += 1

    def changes(self) -> NameChanges:
        after = user_names(self._shell)
        return changes_between(self._shell.user_ns, self._before, after, self._objects)

    def text(self, name: str, changes: NameChanges) -> str:
        total = len(self._codes)
        head = f"Applied `{name}`: {plural(total, 'call')} ran in this session."
        if self.problem:
            head = f"Call {self._done + 1} of {total} of `{name}` {self.problem} The later ones did not run."
        remedy = f"`{name}.unapply()` puts the names back." if changes else ""
        parts = (head, changes.sentence() or "No name was set.", *self._notes, remedy)
        return safe_text(" ".join(filter(None, parts)))


def _own_codes(run: Run) -> list[str]:
    steps = kept_steps(run, repeated=True)
    return [step.executed if step.ok else step.code for step in steps]


def _expression(run: Run) -> str:
    """`look`, or `look.variants[1]` for a variant that is not the one with that name."""
    return f"{run.name}.variants[{run.variant}]" if run.variant and not run.variants else run.name


def _problem(execution: Execution) -> str:
    watchdog, error = execution.watchdog, execution.error
    if watchdog.timed_out and not watchdog.interrupted:
        return f"was stopped after {watchdog.seconds:.3g} seconds."
    if watchdog.interrupted or isinstance(error, asyncio.CancelledError):
        return INTERRUPTED
    return f"failed: {error_message(error)}." if error is not None else ""
