"""Reads a log and says where it does not fit together."""

from collections.abc import Iterator
from dataclasses import dataclass

from agent_nb._base.text import sha256
from agent_nb.lab.log import CUT, Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class LogReading:
    """The entries of a log. The other fields are line numbers, from 1."""

    entries: tuple[Entry, ...] = ()
    breaks: tuple[int, ...] = ()
    """Lines that do not have the hash of the line before them, or are no entries."""
    cut: tuple[int, ...] = ()
    """Lines that were cut short, as the next line says."""
    clock: tuple[int, ...] = ()
    """Lines with an earlier time than the line before: the clock was set back."""
    rules: tuple[int, ...] = ()
    """Lines with another lab file than the line before."""

    def remarks(self) -> Iterator[str]:
        """What is unusual, one sentence each."""
        if self.breaks:
            yield f"{_lines(self.breaks)} not fit what is before."
        if self.cut:
            yield f"{_lines(self.cut, 'was', 'were')} cut short, as when a kernel is killed."
        if self.clock:
            yield f"At {_listed(self.clock)} the clock of the computer was set back."
        if self.rules:
            yield f"At {_listed(self.rules)} the lab file had changed."


def read_log(data: bytes) -> LogReading:
    """Reads a log that anybody may have written or edited."""
    lines = [line.rstrip(b"\r") for line in data.split(b"\n")]
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line]
    entries: list[Entry] = []
    found: dict[str, list[int]] = {"breaks": [], "cut": [], "clock": [], "rules": []}
    previous = b""
    for index, (number, line) in enumerate(numbered):
        entry = Entry.from_line(line)
        following = numbered[index + 1][1] if index + 1 < len(numbered) else None
        if entry is None:
            found["cut" if _is_cut(line, following, data) else "breaks"].append(number)
        else:
            if entry.before != (sha256(previous) if previous else ""):
                found["breaks"].append(number)
            if entries and entry.time < entries[-1].time:
                found["clock"].append(number)
            if entries and entry.lab != entries[-1].lab:
                found["rules"].append(number)
            entries.append(entry)
        previous = line
    return LogReading(entries=tuple(entries), **{name: tuple(numbers) for name, numbers in found.items()})


def _is_cut(line: bytes, following: bytes | None, data: bytes) -> bool:
    """Whether a line that is no entry was cut short: the next line says so, or the log ends within it."""
    if following is None:
        return not data.endswith(b"\n")
    entry = Entry.from_line(following)
    return entry is not None and entry.note == CUT and entry.before == sha256(line)


def _lines(numbers: tuple[int, ...], one: str = "does", several: str = "do") -> str:
    return f"{_listed(numbers).capitalize()} {one if len(numbers) == 1 else several}"


def _listed(numbers: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, numbers[:10])) + (", …" if len(numbers) > 10 else "")
    return f"line{'s' if len(numbers) > 1 else ''} {shown}"
