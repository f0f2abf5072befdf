"""The cells that the page offers: a failed one once more, with another model or fixed; the options of the next one."""

import re
from typing import Any

from IPython.core.error import UsageError

from agent_nb._base.constants import DEMO, DEMO_MODEL
from agent_nb._base.secrets import safe_text
from agent_nb._base.wire import Json
from agent_nb.events import RunFinished
from agent_nb.notebook.failures import FailedCell, PlainCell
from agent_nb.notebook.parsing import parse_line
from agent_nb.options import OPTIONS, Options
from agent_nb.providers import default_model_name
from agent_nb.run import Run
from agent_nb.run.protocol import Fix, Repeat

MAX_CELL = 2_000
"""Characters. A longer cell is not offered: the user is to read what the button inserts."""
_MAGIC_LINE = re.compile(r"(?:^%%.*\n)*(%%\w+)(.*)")
_PYTHON = frozenset(("", "python", "py", "python3", "ipython", "ipython3"))
"""What a block of Python is called."""
_MODEL = re.compile(r"\s(?:-m\s*|--model[=\s]\s*)[^\s-]\S*")


def written_cell(shell: Any, prompt: str) -> str:
    """The cell that is being run, as the user wrote it; empty if the history does not have it."""
    history = getattr(getattr(shell, "history_manager", None), "input_hist_raw", None) or [""]
    cell = str(history[-1])
    return cell if prompt.strip() in cell else ""


def retry_cells(run: Run, cell: str) -> tuple[str, tuple[str, ...]]:
    """The cell, and the cell with other models; empty unless the run failed and the cell can be shown."""
    if run.reason != "failed" or not 0 < len(cell) <= MAX_CELL or safe_text(cell) != cell:
        return "", ()
    return cell, tuple(filter(None, (with_model(cell, model) for model in _other_models(run))))


def _other_models(run: Run) -> tuple[str, ...]:
    """Models of the same vendor if it does not have the run's, else the default of another vendor."""
    match run.events[-1:]:
        case [RunFinished(other_models=models)] if models:
            return models
    vendor = run.model.partition(":")[0]
    return () if vendor == DEMO else (default_model_name(besides=vendor) or DEMO_MODEL,)


def with_model(cell: str, model: str) -> str:
    """The cell with `-m MODEL` in place of its own models; empty if it has no line to put it in."""
    found = _MAGIC_LINE.search(cell)
    if found is None:
        return ""
    options, check, expression = found[2].partition(" --check")
    line = f"{found[1]} -m {model}{_MODEL.sub('', options)}{check}{expression}"
    return cell[: found.start(1)] + line + cell[found.end() :]


def fix_of(run: Run, failure: FailedCell | PlainCell | None) -> Fix | None:
    """The last block of Python in the answer, for the cell that `%agent fix` was about."""
    if not isinstance(failure, FailedCell) or run.reason != "end_turn":
        return None
    from markdown_it import MarkdownIt

    tokens = MarkdownIt().parse(run.text)
    blocks = [token.content for token in tokens if token.type == "fence" and token.info.strip() in _PYTHON]
    after = safe_text(blocks[-1].strip("\n")) if blocks else ""
    return Fix(before=safe_text(failure.source), after=after, cell_id=failure.cell_id) if after else None


def line_options(settings: Json) -> Options:
    """The options of the cell of a run with these settings; none if its line is unknown or cannot be read."""
    try:
        return parse_line(str(settings.get("line", "")), "agent")
    except UsageError:
        return Options()


def repeats(settings: Json, *, is_loaded: bool = False) -> tuple[Repeat, ...]:
    """The options that a cell which continues the run repeats.

    The cell of a loaded or replayed run may be someone else's, and so may the approval in it.
    """
    if not settings.get("line"):
        return ()
    options, is_own = line_options(settings), not is_loaded and not settings.get("replayed")
    named = [
        (option.flags[0], option.label, value)
        for name, option in OPTIONS.items()
        if option.label and (is_own or name != "approve")
        for value in _values(getattr(options, name))
    ]
    return tuple(
        Repeat(text=f"{flag} {_word(value)}", label=show(value))
        for flag, show, value in named
        if str(value).isprintable()
    )


def _values(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else () if value is None else (value,)


def _word(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    quote = "'" if '"' in text else '"'
    return text if re.fullmatch(r"[\w./*][\w.:/=*,-]*", text) else f"{quote}{text}{quote}"
