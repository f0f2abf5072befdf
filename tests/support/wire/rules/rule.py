"""What a rule is: one thing that a vendor refuses, for the models of one family."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.wire.steps import Reply

Json = dict[str, Any]


@dataclass(frozen=True)
class Exchange:
    """A request that was answered, for rules about what the model itself has sent before."""

    body: Json
    reply: Reply


@dataclass(frozen=True)
class Asked:
    """A request as the rules see it."""

    model: str
    body: Json
    earlier: tuple[Exchange, ...] = ()


Fault = str | tuple[str, Json]
"""The vendor's message, or the message and the fields of the error that differ from the rule's `error`."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A row of the table. The vendor refuses a request when `check` yields a fault; the first one is sent."""

    id: str
    protocol: str
    source: str
    """The document, the type of the SDK or the issue that shows it."""
    check: Callable[[Asked], Iterable[Fault]]
    example: Asked | Callable[[], Asked]
    """A request that this rule refuses; a function if it is costly to make."""
    models: Collection[str] = ()
    """The names of the models that it holds for, from a list of the vendor; empty for every model."""
    family: str = ""
    """A regular expression for their names, where nobody lists them: servers of Chat Completions name models freely."""
    status: int = 400
    error: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the error beside its message."""
    shape: Callable[[Json], Json] | None = None
    """The body around the error, where a vendor's differs from its protocol's."""

    @property
    def refused_request(self) -> Asked:
        return self.example if isinstance(self.example, Asked) else self.example()

    def holds_for(self, model: str) -> bool:
        return (not self.models or model in self.models) and re.search(self.family, model) is not None

    def faults(self, asked: Asked) -> Iterator[Fault]:
        if self.holds_for(asked.model):
            yield from self.check(asked)


Check = Callable[[Asked], Iterable[Fault]]


class Rules(list[Rule]):
    """The rules of one protocol. `@RULES(name, source, example)` above a check adds a row."""

    def __init__(self, protocol: str) -> None:
        self.protocol = protocol

    def __call__(
        self, name: str, source: str, example: Asked | Callable[[], Asked], **more: Any
    ) -> Callable[[Check], Check]:
        def add(check: Check) -> Check:
            self.append(
                Rule(id=name, protocol=self.protocol, source=source, check=check, example=example, **more)
            )
            return check

        return add
