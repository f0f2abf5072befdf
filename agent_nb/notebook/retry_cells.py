"""Cells that the page can insert: a failed cell again, with another model; and options for the next cell."""

import re
from typing import Any

from agent_nb._base.constants import DEMO, DEMO_MODEL
from agent_nb._base.secrets import has_secret
from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError
from agent_nb.core.events import RunFinished
from agent_nb.core.options import OPTIONS, Options
from agent_nb.notebook.parsing import cut_expression, parse_line
from agent_nb.providers import default_model_name
from agent_nb.run import Run
from agent_nb.run.protocol import Repeat

MAX_CELL = 2_000
"""Maximum characters of an offered cell: the user should be able to read it before inserting it."""
_MAGIC_LINE = re.compile(r"(?:^%%.*\n)*(%%\w+)(.*)")
_MODEL = re.compile(r"\s(?:-m\s*|--model[=\s]\s*)[^\s-]\S*")


def written_cell(shell: Any, prompt: str) -> str:
    """The source of the current cell as the user wrote it; empty if it is not in the history."""
    history = getattr(getattr(shell, "history_manager", None), "input_hist_raw", None) or [""]
    cell = str(history[-1])
    return cell if prompt.strip() in cell else ""


def retry_cells(run: Run, cell: str) -> tuple[str, tuple[str, ...]]:
    """The cell and its versions with other models; empty unless the run failed and the cell can be shown."""
    if run.reason != "failed" or not 0 < len(cell) <= MAX_CELL or has_secret(cell):
        return "", ()
    return cell, tuple(filter(None, (with_model(cell, model) for model in _other_models(run))))


def _other_models(run: Run) -> tuple[str, ...]:
    """Other models of the vendor if it does not offer the run's model, else the default of another vendor."""
    match run.events[-1:]:
        case [RunFinished(other_models=models)] if models:
            return models
    vendor = run.model.partition(":")[0]
    return () if vendor == DEMO else (default_model_name(besides=vendor) or DEMO_MODEL,)


def with_model(cell: str, model: str) -> str:
    """The cell with `-m MODEL` in place of its models; empty if it has no magic line."""
    match = _MAGIC_LINE.search(cell)
    if match is None:
        return ""
    options, *_ = cut_expression(match[2])
    found = _MODEL.search(options)
    at = found.start() if found else 0
    line = f"{match[1]}{options[:at]} -m {model}{_MODEL.sub('', options[at:])}{match[2][len(options) :]}"
    return cell[: match.start(1)] + line + cell[match.end() :]


def line_options(settings: Json) -> Options:
    """The options of the run's cell, from its settings; defaults if the line is unknown or invalid."""
    try:
        return parse_line(str(settings.get("line", "")), "agent")
    except ConfigError:
        return Options()


def repeats(settings: Json, *, is_own: bool) -> tuple[Repeat, ...]:
    """The options for a cell that continues the run, from the run's own cell.

    The options of a loaded or replayed run, which may be someone else's, are repeated only if they are plain words, and
    the user has to tick its model and what grants something. For the user's own run, the page adds the model.
    """
    if not settings.get("line"):
        return ()
    options = line_options(settings)
    return tuple(
        Repeat(
            text=f"{option.flags[0]} {word}",
            label=option.label(value) if option.label else word,
            ticked=is_own or not option.grants,
        )
        for name, option in OPTIONS.items()
        if option.label or (name == "models" and not is_own)
        for value in _values(options.value(name))
        if (word := _word(value)) and (is_own or is_plain(word))
    )


def is_plain(word: str) -> bool:
    """Whether a word is a name, a path or a number, so that it may be quoted even if it comes from a file."""
    return re.fullmatch(r"[\w./*][\w.:/=*,-]*", word) is not None


def _values(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else () if value is None else (value,)


def _word(value: Any) -> str:
    """The value as a word of a line; empty if it cannot be one."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    quotes = (quote for quote in "\"'" if quote not in text and text.isprintable())
    return text if is_plain(text) else next((f"{quote}{text}{quote}" for quote in quotes), "")
