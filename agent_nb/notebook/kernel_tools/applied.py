"""Apply: the code of a run that worked in a branch, run in the session that the branch was copied from.

The session notes small fingerprints of its variables when the branch is made, so that Apply can refuse if one that the
code reads has changed since. The branch is not asked: its code may have changed what it says.
"""

import asyncio
import pickle
import sys
import time
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_nb._base.secrets import as_accepted, safe_text
from agent_nb._base.text import listed, plural
from agent_nb._base.threads import run_blocking
from agent_nb.core.errors import ConfigError, ToolError
from agent_nb.files import Files, Workspace
from agent_nb.notebook.failures import error_message
from agent_nb.notebook.kernel_tools import in_place
from agent_nb.notebook.kernel_tools.capture import is_captured
from agent_nb.notebook.kernel_tools.execute import CodeRun, Execution, execute
from agent_nb.notebook.kernel_tools.in_place import MAX_BYTES, Snapshot, snapshots
from agent_nb.notebook.kernel_tools.name_changes import NameChanges, changes_between, undo_store
from agent_nb.notebook.session import settings
from agent_nb.notebook.user_variables import names_read, user_names
from agent_nb.run import Run
from agent_nb.run.cells import PART, kept_steps
from agent_nb.run.code_names import names_in
from agent_nb.tools.base import ToolContext

INTERRUPTED = "was interrupted."
_PLAIN = (bool, int, float, complex, str, bytes, bytearray)
"""Types that are compared by value: running a cell again makes an equal object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """Identifies a value and its contents. Ids are equal in a process and its copy."""

    id: int
    value: int | None = None
    """The checksum of a plain value."""
    size: str = ""
    columns: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Checksums of the contents of a table, array or container, by the hash of the column's label."""

    def fits(self, other: "Fingerprint") -> bool:
        if None not in (self.value, other.value):
            return self.value == other.value
        if self.id != other.id or not self.size or not other.size:  # it could not be read in time
            return self.id == other.id
        same_form = self.size == other.size and self.columns.keys() == other.columns.keys()
        # Contents that could not be read in time are missing.
        return same_form and all(
            left == right
            for label, column in self.columns.items()
            for left, right in zip(column, other.columns[label], strict=False)
        )


def fingerprints(values: Mapping[str, Any]) -> dict[str, Fingerprint]:
    """Fingerprints, without the contents of what is not read in time."""
    objects, end = snapshots(values), time.monotonic() + in_place.SECONDS
    return {
        name: _fingerprint(value, objects.get(name)) if time.monotonic() < end else Fingerprint(id=id(value))
        for name, value in values.items()
    }


def _fingerprint(value: Any, snapshot: Snapshot | None) -> Fingerprint:
    if type(value) in _PLAIN and sys.getsizeof(value) <= MAX_BYTES:
        return Fingerprint(id=id(value), value=zlib.crc32(pickle.dumps((type(value).__name__, value), 4)))
    if snapshot is None:
        return Fingerprint(id=id(value))
    columns = {
        f"{hash(label)}": tuple(zlib.crc32(repr(part).encode()) for part in list(parts))
        for label, parts in list(snapshot.contents.items())
    }
    return Fingerprint(id=id(value), size=snapshot.size, columns=columns)


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
        self._copied: dict[str, tuple[Fingerprint, Callable[[], Any]]] = {}
        """The variables when the branch was made, and references: after an object is gone, a new one may get its id."""
        self._read: set[str] = set()
        """Those that the branch's code reads."""
        self._undo: list[str] = []
        """The tokens of Undo for each time that the code was applied and set names."""
        self._applied_by: BranchedKernel | None = None
        """The session whose Apply has run the code: this one, or that of a run which continues this run."""
        self._name = ""
        self.known: Mapping[str, str] = {}
        self._base: BranchedKernel | None = None
        self._earlier: tuple[str, ...] = ()
        """The code of the base runs, which the branch ran first."""
        self._is_whole = True
        """Whether that is all of their code, and not what ran before a failure."""

    @property
    def is_applied(self) -> bool:
        return self._applied_by is not None

    def copied(self) -> None:
        """Note the variables that a new copy has, except those that code has read in an earlier copy."""
        variables, read = user_names(self._shell), {name: self._copied[name] for name in self._read}
        fresh = {name: (now, _reference(variables[name])) for name, now in fingerprints(variables).items()}
        self._copied = fresh | read

    def remember(self, code: str) -> None:
        """Note which variables the code reads, with the contents that there was no time to read before."""
        names, now = self._read_by([code])
        for name in names:
            if name not in self._read and self._is_same(name, now):
                self._copied[name] = now[name], self._copied[name][1]
        self._read.update(names)

    def changed(self, codes: Iterable[str]) -> list[str]:
        """Return the names that the code reads and whose values have changed since the branch was made."""
        names, now = self._read_by(codes)
        return [name for name in names if not self._is_same(name, now)]

    def _read_by(self, codes: Iterable[str]) -> tuple[list[str], dict[str, Fingerprint]]:
        variables = user_names(self._shell)
        names = names_read(codes, self._copied, self._shell.user_ns)
        return names, fingerprints({name: variables[name] for name in names if name in variables})

    def _is_same(self, name: str, now: Mapping[str, Fingerprint]) -> bool:
        fingerprint, reference = self._copied[name]
        return name in now and reference() is not None and fingerprint.fits(now[name])

    def follow(self, base: "BranchedKernel", codes: Sequence[str], *, whole: bool) -> None:
        self._base, self._earlier, self._is_whole = base, tuple(codes), whole

    def codes(self, run: Run) -> list[str]:
        """Return the code of the run, preceded by that of its base runs unless that was applied before."""
        earlier = () if self._base and self._base.is_applied else self._earlier
        steps = kept_steps(run, repeated=True)
        return [*earlier, *(step.executed if step.ok else step.code for step in steps)]

    def check(self, run: Run, *, anyway: bool = False) -> list[str]:
        """Return the code to apply; raise `ConfigError` if there is none, or if it should not run now."""
        codes, name = self.codes(run), _expression(run)
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
        elif names := self.changed(codes):
            have, them = ("has", "it") if len(names) == 1 else ("have", "them")
            yield (
                f"{listed([f'`{changed}`' for changed in names])} {have} changed since the branch of `{name}` was made,"
                f" and its code reads {them}. Run the cell of `{run.name}` again."
            )
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
        while session._base is not None and session._is_whole:
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


def _reference(value: Any) -> Callable[[], Any]:
    """Return a weak reference, or a function that is never None for a type without them."""
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: True
