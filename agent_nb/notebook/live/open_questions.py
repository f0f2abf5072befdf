"""The pending approvals of a run on the page."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

from agent_nb._base.secrets import MASK, as_accepted
from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError
from agent_nb.core.events import ApprovalRequested
from agent_nb.engine.approval import Answer, Consent
from agent_nb.tools.schema import without_nulls

Scope = Literal["call", "together", "always", "run"]
"""The scope of an answer: the call, all open questions about the same call, later calls too ("always"), or all code of
the variant in this run."""


class InvalidArgsError(ConfigError):
    """Raised if the tool does not accept the arguments as edited by the user."""

    def __init__(self, fields: dict[str, str]) -> None:
        path, text = next(iter(fields.items()))
        super().__init__(f"`{path}`: {text}" if path else text)
        self.fields = {path: text for path, text in fields.items() if path}
        """An error message per argument, by its path, such as `size/width`."""


class Questions:
    """The open questions of all variants of a run."""

    def __init__(
        self,
        problems_of: Callable[[str, Json], Mapping[str, str]] = lambda name, args: {},
        consent: Consent | None = None,
    ) -> None:
        self._problems_of = problems_of
        self.open: dict[tuple[int, str], tuple[ApprovalRequested, asyncio.Future[Answer]]] = {}
        self.consent = consent or Consent()

    async def ask(self, request: ApprovalRequested) -> Answer:
        if self.consent.covers(request):  # while the run waited for a page
            return Answer(True, by="always")
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        place = request.variant, request.call_id
        self.open[place] = request, answer
        try:
            return await answer
        finally:
            del self.open[place]

    def args_to_try(self, place: tuple[int, str], args: Json | None) -> Json:
        """The arguments of an open question that may be tried, as the user edited them."""
        request, _ = self._question(place)
        if not request.can_try:
            raise ConfigError(f"`{request.name}` cannot be tried here.")
        return request.args if args is None else self._edited(request, args)

    def answer(self, place: tuple[int, str], answer: Answer, scope: Scope = "call") -> None:
        request, pending = self._question(place)
        if scope == "together" and request.identical_only:
            raise ConfigError(f"Calls of `{request.name}` are approved one at a time.")
        if scope == "run" and not request.allows_whole_run:
            raise ConfigError(f"`{request.name}` cannot be allowed for the whole run.")
        if answer.args is not None:
            answer = replace(answer, args=self._edited(request, answer.args))
        pending.set_result(replace(answer, by="run") if scope == "run" else answer)
        if scope == "together":
            same = request.name, request.args
            self._answer_others(answer, lambda other: (other.name, other.args) == same)
        if scope == "always":
            self.consent.always(request, answer)
            if not request.identical_only:
                self._answer_others(Answer(True, by="always"), self.consent.covers)
        if scope == "run":
            variant = request.variant
            self._answer_others(
                Answer(True, by="run"), lambda other: other.allows_whole_run and other.variant == variant
            )

    def _question(self, place: tuple[int, str]) -> "tuple[ApprovalRequested, asyncio.Future[Answer]]":
        question = self.open.get(place)
        if question is None or question[1].done():
            raise ConfigError("That question is no longer open.")
        return question

    def _edited(self, request: ApprovalRequested, args: Json) -> Json:
        args = edited(request, args, self.consent.secrets)
        if problems := self._problems_of(request.name, args):
            raise InvalidArgsError(dict(problems))
        return args

    def _answer_others(self, answer: Answer, are_covered: Callable[[ApprovalRequested], bool]) -> None:
        for request, pending in self.open.values():
            if not pending.done() and are_covered(request):
                pending.set_result(answer)


def edited(request: ApprovalRequested, args: Json, known: Mapping[str, str]) -> Json:
    """The arguments as the user edited them, with masked secrets restored."""
    if not request.schema:
        raise ConfigError("The arguments of this question cannot be changed.")
    args = _unmasked(request.args, args, known)
    before = {name: _text(request.args.get(name)) for name in args}
    edited_masks = [name for name, value in args.items() if MASK in _text(value) and MASK not in before[name]]
    if edited_masks:
        raise InvalidArgsError(dict.fromkeys(edited_masks, "A masked value cannot be edited."))
    without: Json = without_nulls(request.schema, args)
    return without


def _unmasked(original: Any, value: Any, known: Mapping[str, str]) -> Any:
    """The value with the original restored wherever it equals what was shown on the page."""
    if value == as_accepted(original, known)[0]:
        return original
    if isinstance(original, dict) and isinstance(value, dict):
        return {name: _unmasked(original.get(name), item, known) for name, item in value.items()}
    if isinstance(original, list) and isinstance(value, list) and len(original) == len(value):
        return [_unmasked(*pair, known) for pair in zip(original, value, strict=True)]
    return value


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
