"""What decodes the events of one answer: the shape that the wire protocols share."""

import abc
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from agent_nb._base.wire import Json
from agent_nb.errors import ProviderError
from agent_nb.providers import failure
from agent_nb.providers.assemble import Assembler
from agent_nb.providers.base import Piece
from agent_nb.providers.settings import Settings


class Decoder(abc.ABC):
    """Turns the events of one stream, the answer to `body`, into pieces; the last piece is the turn."""

    status_of: ClassVar[Mapping[str, int]] = {}
    """The HTTP status that a code of an error event stands for."""
    unknown_status = 500

    def __init__(self, settings: Settings, body: Json) -> None:
        self._settings = settings
        self._body = body
        self._turn = Assembler()
        self._model = settings.model

    @abc.abstractmethod
    def feed(self, event: str, data: Json) -> Sequence[Piece]: ...

    def finish(self) -> Sequence[Piece]:
        """The stream ended without a turn. Returns the turn if the protocol allows such an end, else nothing."""
        return ()

    def _error(self, problem: Any) -> ProviderError:
        """The error of an error event, whose code is a status, a word or missing."""
        if not isinstance(problem, dict):
            return failure.from_status(self._settings, 500, str(problem))
        code = str(problem.get("code") or problem.get("type") or "")
        status = int(code) if code.isdigit() and len(code) == 3 else self._status(code)
        return failure.from_status(self._settings, status, str(problem.get("message") or code), body=problem)

    def _status(self, code: str) -> int:
        return self.status_of.get(code.lower(), self.unknown_status) if code else 500

    def _disordered(self) -> ProviderError:
        return failure.disordered(self._settings)
