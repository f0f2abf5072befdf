"""The definition of a tool: one object with its schema, its function and its display."""

import json
import math
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, get_args

from agent_nb._base.text import TextBuffer, whole_text
from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError, FileError
from agent_nb.core.events import MimeBundle
from agent_nb.core.messages import Image, ToolSpec
from agent_nb.files import MAX_TEXT_BYTES, Files, Workspace, safe_path
from agent_nb.images.maker import Charge, Studio
from agent_nb.pages.page_check import PageViewer

_HEX = "[0-9a-fA-F]"
# Complete characters of a JSON string. A high surrogate is complete only together with the escape after it.
# The group is not repeated possessively: up to Python 3.11.4 that would keep half a match.
_CHARACTERS = re.compile(
    rf"""(?: [^"\\]++ | \\["\\/bfnrt] | \\u (?![dD][89abAB]) {_HEX}{{4}}
         | \\u[dD][89abAB]{_HEX}{{2}} (?= [^\\] | \\[^u] | \\u{_HEX}{{4}} ) )*""",
    re.VERBOSE,
)
_LONGEST_SPLIT_ESCAPE = len(r"\ud83d\ude0")
_OPENING = re.compile(r'\s*+[{,]\s*+"(path|content)"\s*+:\s*+"')
_LONGEST_OPENING = 200
_DECODER = json.JSONDecoder(strict=False)
SCHEMA_PHRASES: set[str] = set()
"""The fixed texts of schemas, between their names and numbers. Every module that makes schemas adds its own."""

ArgumentPiece = tuple[str, int, str]
Approval = Literal["never", "ask"]


class FileArguments:
    """Incremental parser of `{"path": ..., "content": ...}` that yields `(path, offset, text)`: `file[:offset] + text`.

    The content may precede the path: its pieces then have an empty path and are repeated once the path is complete.
    Content after the path is not buffered, so a second `path`, which no model writes, receives none of it.
    """

    def __init__(self) -> None:
        self._unread = ""
        self._ended = False
        self._name = ""
        """The argument whose value is being read; empty between two arguments."""
        self._offset = 0
        self._path: str | None = ""
        """Empty until it is complete; None if it is invalid."""
        self._path_so_far = ""
        self._content = TextBuffer()
        """The content that arrived before the path."""
        self._has_content = False
        """Whether any content arrived, even if it is empty."""

    def feed(self, fragment: str) -> Sequence[ArgumentPiece]:
        pieces: list[ArgumentPiece] = []
        if not self._ended:
            self._unread += fragment
            while self._read_value(pieces) if self._name else self._open_value():
                pass
        return pieces

    def _open_value(self) -> bool:
        """Read up to the first character of a value; return False if it has not arrived."""
        match = _OPENING.match(self._unread)
        if match is None:
            self._ended = len(self._unread) > _LONGEST_OPENING
            return False
        self._name, self._unread = match[1], self._unread[match.end() :]
        if self._name == "path":
            self._path_so_far = ""
        else:
            self._offset = 0
            self._content.clear()
        return True

    def _read_value(self, pieces: list[ArgumentPiece]) -> bool:
        """Read the characters of a value that have arrived; return whether the value is complete."""
        match = _CHARACTERS.match(self._unread)
        end = match.end() if match else 0
        text, self._unread = self._unread[:end], self._unread[end:]
        if "\\" in text:
            text = _DECODER.decode(f'"{text}"')
        is_complete = self._unread.startswith('"')
        self._ended = not is_complete and len(self._unread) > _LONGEST_SPLIT_ESCAPE
        if self._name == "path":
            self._path_so_far += text
            if is_complete:
                self._complete_path(pieces)
        elif text or (is_complete and self._offset == 0):
            self._add_content(text, pieces)
        if is_complete:
            self._name, self._unread = "", self._unread[1:]
        return is_complete

    def _add_content(self, text: str, pieces: list[ArgumentPiece]) -> None:
        offset, self._offset = self._offset, self._offset + len(text)
        if self._offset > MAX_TEXT_BYTES:
            return
        text = whole_text(text)  # as it will be written
        self._has_content = True
        if self._path == "":
            self._content.add(text)
        if self._path is not None:
            pieces.append((self._path, offset, text))

    def _complete_path(self, pieces: list[ArgumentPiece]) -> None:
        is_first = self._path == ""
        try:
            self._path = safe_path(self._path_so_far)
        except FileError:
            self._path = None
        if is_first and self._path is not None and self._has_content:
            pieces.append((self._path, 0, str(self._content)))
        self._content.clear()


@dataclass(frozen=True, slots=True, repr=False)
class Name:
    """A name in a schema, such as a column name. It is sent only if the run may send names."""

    text: str


Schema = tuple[str | Name, ...]
"""Replacement for a tool's text in a run that sends no values: names, and texts of `SCHEMA_PHRASES` and numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """The result of a call: text and images for the model, a summary and MIME bundles for the user."""

    text: str
    summary: str = ""
    """One line for the card; the first line of `text` by default."""
    images: tuple[Image, ...] = ()
    outputs: tuple[MimeBundle, ...] = ()
    schema: Schema = ()
    """Replaces `text` in a run that sends no values; see `engine/data_gate.py`."""

    def with_text(self, more: str) -> "ToolOutput":
        """Append text for the model and keep the summary."""
        if not more:
            return self
        text = "\n\n".join(filter(None, (self.text, more)))
        return replace(self, text=text, summary=self.summary or self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """The files, callbacks and services available to a running tool."""

    files: Workspace
    progress: Callable[[str], None]
    """Shows a line on the card while the tool runs."""
    show: Callable[[MimeBundle], None] = lambda bundle: None
    """Adds an output to the card while the tool runs. Plain text continues the plain text before it. The outputs of
    the result replace these."""
    images: tuple[Image, ...] = ()
    """All images that the user attached in this conversation."""
    base_variants: tuple[Files, ...] = ()
    """The files of each variant of the base run."""
    variant: int = 0
    call_id: str | None = None
    """The id of this call in events."""
    studio: Studio | None = None
    """Makes and edits images; None if no image model is available."""
    charge: Charge = field(default_factory=Charge)
    """Collects the cost of this call."""
    viewer: PageViewer | None = None
    """Renders the page and reports problems; None if no viewer is available."""
    hosts: frozenset[str] | None = frozenset()
    """The hosts that the user allows this run to fetch from; None for all."""
    seconds_left: Callable[[], float] = lambda: math.inf
    """Seconds until the run's time limit."""
    branch: "Branch | None" = None
    """The copy of the kernel that the run's kernel tools work in; None if they work in the session."""
    answer: str = ""
    """For a question to the user: the answer, or a sentence that says why there is none."""


class Branch(Protocol):
    """A copy of the kernel in which tools of one run work; see `notebook/kernel_tools/branch.py`."""

    async def call(self, name: str, args: Json, context: ToolContext) -> ToolOutput:
        """Run a tool in the branch; raises `ToolError` as the tool would, or `BranchError` if it cannot be made."""

    async def copy(self) -> "Branch":
        """Copy the branch with its variables."""

    def renew(self) -> None:
        """End its process. The next call works in a new copy of the session, and its result says so."""

    def keep(self, run_id: str) -> None:
        """Keep the branch for runs that continue this one, instead of ending it."""

    def end(self) -> None:
        """End the branch at once, with everything that it started."""

    @property
    def session(self) -> "BranchedSession":
        """The session that the branch was copied from."""


class BranchedSession(Protocol):
    """The session that the branch of a run was copied from, in which the code of the run can be applied."""

    known: Mapping[str, str]
    """The secrets that were known before the run, and where they are."""

    @property
    def is_applied(self) -> bool:
        """Whether the code of the run has run in the session, with `apply` of this run or of one that continues it."""

    @property
    def has_base(self) -> bool:
        """Whether the branch was forked from that of the base run, and not from the session."""

    def leave_out(self) -> None:
        """End the branch of a variant, now or when it ends: another one stands for the run."""

    def offer(self, run: Any) -> tuple[list[str], str]:
        """Return the code that `apply` runs and why it needs `anyway`, empty if it does not; raises if none can run."""

    async def apply_shown(self, run: Any, codes: Sequence[str]) -> str:
        """Run the code that the user has agreed to; return what it did, even if a call fails."""

    def apply(self, run: Any, *, anyway: bool) -> Any:
        """Run the code of the run; raises `ConfigError` for what the user should know before, unless `anyway`."""

    def unapply(self, run: Any) -> str:
        """Put back the names that `apply` has set, and return what was done."""


class BranchMaker(Protocol):
    """Copies the session for tools that can work in a branch."""

    def check(self, why: str = "", remedy: str = "") -> None:
        """Raise `ConfigError` if branches cannot be made here, or are risky and the user has not asked for one.

        `why` is a sentence that says what needs a branch that the user has not asked for.
        """

    def are_safe(self) -> bool:
        """Whether branches can be made here, and nothing is known that could fail in them."""

    async def open(self, base: Any = None) -> Branch:
        """Copy the branch of this run if it is alive, else the session; raises `BranchError` if that fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedData:
    """The user's variables that a prompt names, for a model that is asked for code."""

    question: str
    """The prompt, with names in place of the values of these variables."""
    description: str
    tables: Collection[str]
    """Names of the tables among them."""
    names: Callable[[], Mapping[str, Sequence[str]]]
    """Returns the variables that exist now, with the columns of tables."""
    has: Callable[[str], bool]
    """Whether there is a variable of this name."""


def _no_problems(args: Json) -> Mapping[str, str]:
    return {}


def _no_paths(args: Json) -> tuple[str, ...]:
    return ()


def no_hosts(args: Json, context: ToolContext) -> Mapping[str, int]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool. `run(args, context)` is async, or synchronous and called in a thread."""

    spec: ToolSpec
    run: Callable[[Json, ToolContext], "ToolOutput | Awaitable[ToolOutput]"]
    title: Callable[[Json], str]
    """The title of the card. Called with `{}` until the arguments are known."""
    rewrite_title: Callable[[Json], str] | None = None
    """The title of a call that writes a file again; None if `title` covers that."""
    stream: Callable[[], FileArguments] | None = None
    """Parser that extracts the file's text from the arguments while they stream in."""
    writes: Callable[[Json], tuple[str, ...]] = field(default=_no_paths)
    """The paths that a call writes. Calls of one turn that share a path run in order."""
    after_writes: bool = False
    """Whether a call waits for all earlier calls of its turn that write files."""
    content_arguments: tuple[str, ...] = ()
    """The arguments that contain file text to write."""
    reads: Callable[[Json], tuple[str, ...]] | None = None
    """The paths of the files that a call returns; None for a tool that reads no files."""
    fetches: Callable[[Json, ToolContext], Mapping[str, int]] = field(default=no_hosts)
    """The number of images that a call fetches, by host. The user is asked once about each host."""
    approval: Approval = "never"
    is_question: bool = False
    """Whether a call asks the user a question. It runs with the answer in `context.answer`."""
    identical_only: bool = False
    """Whether "always" covers only calls with the same arguments, as for code and shell commands."""
    allows_whole_run: bool = False
    """Whether the user may allow all its calls of a run at once, as for notebook code: `--approve NAME=run`."""
    problems: Callable[[Json], Mapping[str, str]] = field(default=_no_problems)
    """Problems by argument that the schema cannot express; checked for arguments that the user has edited."""
    cache: bool = False
    """Whether a result is reused for the same arguments and files within a run; for tools that only read."""
    repeatable: bool = False
    """Whether the result depends only on the arguments and the files, so that calls can be repeated to restore the
    files of a conversation."""
    loaded: Callable[..., LoadedData | None] | None = None
    """For a tool that runs code: `loaded(prompt, variables, schema_only=...)` returns the variables that the prompt
    names. In a cell, `variables` are those of `-w`, and the prompt may have `{{name}}`; in Python, they are None."""
    namespace: Callable[[], Mapping[str, Any]] | None = None
    """For a tool that runs code in the session: returns the user's variables, which the code may read."""
    needs: frozenset[str] = frozenset()
    """Requirements of a run for this built-in tool to be offered, such as attached images."""
    served_by: Callable[[Studio], str] | None = None
    """Returns the name of the studio's service for this tool, "" if there is none; None if no studio is needed."""
    lean: tuple[str, ...] | None = None
    """The arguments that a lean request contains, without descriptions; None for a built-in tool that a lean request
    omits unless an option asks for it."""
    in_settings: bool = False
    """Whether a setting of the run says all about it, so that a cassette is matched by that."""
    branches: BranchMaker | None = None
    """Makes the branches that the tool can work in; None for a tool that always works in the session."""
    packaged: bool = False
    """Whether it is part of this package. Its texts change with releases, so cassettes match it by name only."""
    timeout: float | None = 60.0
    """Seconds; None for no limit."""
    origin: str = ""
    """Where an MCP tool comes from, such as `mcp:weather/forecast`; empty for other tools."""
    function: Callable[..., Any] | None = None
    """The decorated function. Calling the tool calls it."""

    def __post_init__(self) -> None:
        if self.approval not in get_args(Approval):
            raise ConfigError(f"The approval of {self.name!r} is 'never' or 'ask', not {self.approval!r}.")

    @property
    def name(self) -> str:
        return self.spec.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.function is not None:
            return self.function(*args, **kwargs)
        raise TypeError(f"{self.name!r} is a Tool: pass it to Agent(tools=[...]) instead of calling it")
