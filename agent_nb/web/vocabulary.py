"""The vocabularies of `agent.sse`: `agent_nb` leaves the events as they are, `ag-ui` is another protocol."""

from collections.abc import Callable, Iterator

from agent_nb._base.wire import to_wire
from agent_nb.errors import ConfigError
from agent_nb.events import Event
from agent_nb.web.ag_ui import AgUi
from agent_nb.web.drafts import Pair, Translate, pair


def translator(vocabulary: str | Translate) -> Translate:
    """A translator for one run."""
    if callable(vocabulary):
        return vocabulary
    try:
        return _VOCABULARIES[vocabulary]()
    except KeyError:
        names = ", ".join(repr(name) for name in _VOCABULARIES)
        raise ConfigError(f"There is no vocabulary {vocabulary!r}; there are {names}.") from None


def _own() -> Translate:
    def translate(event: Event) -> Iterator[Pair]:
        yield pair(event.type, to_wire(event))

    return translate


_VOCABULARIES: dict[str, Callable[[], Translate]] = {"agent_nb": _own, "ag-ui": AgUi}
