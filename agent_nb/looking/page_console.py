"""What the previewed pages of runs have logged in this kernel: `run.console`."""

from typing import NoReturn
from weakref import WeakValueDictionary

from agent_nb._base.wire import Json
from agent_nb.errors import ConfigError
from agent_nb.looking.page_check import ConsoleLine
from agent_nb.looking.page_report import read_console_line

MOST_LINES = 200
_LONGEST = 2000
"""Characters of a line."""


class PageConsole(dict[int, ConsoleLine]):
    """The lines of a page by number, from 1. A line that comes again keeps its number.

    The newest 200 are kept; errors are dropped last.
    """

    _last = 0

    def add(self, entry: Json) -> int:
        """Keeps what the page reports, of which nothing is trusted, and returns its number."""
        line = read_console_line(entry, _LONGEST)
        known = next((number for number, one in self.items() if one == line), None)
        if known is not None:
            return known
        if len(self) == MOST_LINES:
            others = (number for number, one in self.items() if one.level != "error")
            del self[next(others, next(iter(self)))]
        self._last += 1
        self[self._last] = line
        return self._last

    def __missing__(self, number: object) -> NoReturn:
        raise ConfigError(f"this kernel has no line {number!r} of what the page has logged.")


_consoles: WeakValueDictionary[tuple[str, int], PageConsole] = WeakValueDictionary()


def console_of(run_id: str, variant: int) -> PageConsole:
    """The console of a variant's page, which lasts as long as whoever reports to it keeps it."""
    return _consoles.setdefault((run_id, variant), PageConsole())
