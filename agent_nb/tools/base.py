"""What a tool is: one object that carries everything about itself.

The engine runs it, the page draws what it says; no other place knows a tool by name.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

from agent_nb._base.wire import Json
from agent_nb.errors import ConfigError
from agent_nb.events import MimeBundle
from agent_nb.files import Files, Workspace
from agent_nb.images.charge import Charge
from agent_nb.images.maker import Studio
from agent_nb.messages import Image, ToolSpec

Approval = Literal["never", "ask"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """What a tool gives back: text and images for the model, a line and mime bundles for the person."""

    text: str
    summary: str = ""
    """One line for the card; the first line of `text` when empty."""
    images: tuple[Image, ...] = ()
    outputs: tuple[MimeBundle, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a running tool may touch."""

    files: Workspace
    progress: Callable[[str], None]
    """Shows a line on the card while the tool works."""
    images: tuple[Image, ...] = ()
    """The pictures the person gave, in the whole conversation."""
    base_variants: tuple[Files, ...] = ()
    """The files of each variant of the base run."""
    variant: int = 0
    call_id: str | None = None
    """The call this tool runs for, as its events name it."""
    studio: Studio | None = None
    """Who makes pictures; None when nobody does."""
    charge: Charge = field(default_factory=Charge)
    """What the call costs."""
    hosts: frozenset[str] | None = frozenset()
    """The hosts that the person lets this run fetch from; None for all."""


class ArgumentStream(Protocol):
    """Reads a call's JSON arguments while they arrive and tells the file text in them."""

    def feed(self, fragment: str) -> Sequence[tuple[str, int, str]]:
        """The new `(path, offset, text)` pieces, as `FileDelta` carries them."""
        ...


def _no_paths(args: Json) -> tuple[str, ...]:
    return ()


def _no_hosts(args: Json, context: ToolContext) -> Mapping[str, int]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool. `run(args, context)` may be sync (it then runs off the loop) or async."""

    spec: ToolSpec
    run: Callable[[Json, ToolContext], "ToolOutput | Awaitable[ToolOutput]"]
    title: Callable[[Json], str]
    """A few words for the card. Called with `{}` before the arguments are known."""
    stream: Callable[[], ArgumentStream] | None = None
    writes: Callable[[Json], tuple[str, ...]] = field(default=_no_paths)
    """The paths a call changes: calls that share one run in order."""
    fetches: Callable[[Json, ToolContext], Mapping[str, int]] = field(default=_no_hosts)
    """From which hosts a call fetches how many images. The person is asked once about each host."""
    approval: Approval = "never"
    cache: bool = False
    """A read-only tool whose result for the same arguments may be used again within a run."""
    repeatable: bool = False
    """Depends on nothing but its arguments and the files, so it may be played again."""
    needs: frozenset[str] = frozenset()
    """What must be there for a default agent to offer it, such as pictures the person gave."""
    served_by: Callable[[Studio], str] | None = None
    """Who does its work in a studio; None for a tool that does it itself."""
    timeout: float | None = 60.0
    """Seconds; None for no limit."""
    function: Callable[..., Any] | None = None
    """The plain function behind it: the tool stays callable as that."""

    def __post_init__(self) -> None:
        if self.approval not in get_args(Approval):
            raise ConfigError(f"The approval of {self.name!r} is 'never' or 'ask', not {self.approval!r}.")

    @property
    def name(self) -> str:
        return self.spec.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.function is not None:
            return self.function(*args, **kwargs)
        raise TypeError(f"{self.name!r} is a Tool: give it to Agent(tools=[...]) instead of calling it")
