"""Which of several tries agree: answers with a type by value, others by what the code of each printed last."""

import json
import re
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from agent_nb.features.agree import AGREE
from agent_nb.plugins import Run, events
from agent_nb.plugins.engine import CODE_TOOL, ENDINGS, printed_text

_MOST_COMPARED = 20_000
_NUMBER = re.compile(r"[-−]?(?:\d++(?:,\d{3}){0,9}+(?:\.\d++)?+|\.\d++)(?:[eE][-+]?\d++)?+")
_TOKEN = re.compile(rf"(?<![\w.]){_NUMBER.pattern}(?!\w)|\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    agree: int
    """How many tries have the answer that counts; 0 if no two agree."""
    tries: int
    """How many tries have ended and were not stopped."""
    answers: tuple[Any, ...]
    """The answer of each of them: a value, or what its code printed; None if it has computed none."""
    first: int
    """The number, from 0, of the first variant whose answer counts."""
    is_stopped: bool
    """Whether the user has stopped a try."""
    most: int
    """How many tries there may be."""

    def __str__(self) -> str:
        ended = "stopped" if self.is_stopped else "no more within the limits"
        cut = f", {ended}" if not self.agree and self.tries < self.most else ""
        if self.tries < 2:
            return f"{self.tries} of {self.most} tries{cut}"
        return f"{self.agree or 'none'} of {self.tries} agree{cut}"


def agreement_of(run: Run) -> Agreement | None:
    """How the tries of a run agree, also of one in progress; None for a run without tries."""
    most = run.settings.get(AGREE.name)
    if not isinstance(most, int) or most < 2:
        return None
    runs = run.variants or (run,)
    ended = {number: each for number, each in enumerate(runs) if not ENDINGS[each.reason].is_by_user}
    answers = {number: answer_of(each) for number, each in ended.items()}
    computed = [number for number, answer in answers.items() if answer is not None]
    pairs = (pair for pair in combinations(computed, 2) if is_equal(*map(answers.__getitem__, pair)))
    pair = min(pairs, key=lambda pair: pair[1], default=None)
    first = pair[0] if pair else next(iter(computed), run.variant)
    group = [number for number in computed if pair and is_equal(answers[first], answers[number])]
    return Agreement(
        agree=len(group),
        tries=len(ended),
        answers=tuple(answers.values()),
        first=first,
        is_stopped=len(ended) < len(runs),
        most=most,
    )


def answer_of(run: Run) -> Any:
    """What the code of a try has computed; None if it has no vote."""
    if run.reason != "end_turn" or not run.ran_code:
        return None
    if run.plain_answer is not None:
        return run.plain_answer
    calls = {event.call_id for event in run.events.of(events.ToolStarted) if event.name == CODE_TOOL}
    ends = [end for end in run.events.of(events.ToolFinished) if end.call_id in calls and end.ok]
    texts = (printed_text(output) for output in (ends[-1].outputs if ends else ()))
    return "\n".join(filter(None, texts)).strip() or None


def is_equal(one: Any, other: Any) -> bool:
    """Whether two answers are equal, numbers within the rounding that is shown."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_equal(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_equal, one, other))
    texts = [value if isinstance(value, str) else json.dumps(value) for value in (one, other)]
    tokens = [_TOKEN.findall(text[:_MOST_COMPARED].casefold()) for text in texts]
    is_empty = not any(tokens) and texts[0] != texts[1]
    return not is_empty and len(tokens[0]) == len(tokens[1]) and all(map(_is_same, *tokens))


def _is_same(one: str, other: str) -> bool:
    if one == other or not (_NUMBER.fullmatch(one) and _NUMBER.fullmatch(other)):
        return one == other
    values = [float(text.replace(",", "").replace("−", "-")) for text in (one, other)]
    return abs(values[0] - values[1]) <= 0.5 * max(map(_unit, (one, other))) * (1 + 1e-9)


def _unit(number: str) -> float:
    """The unit of the last digit that is shown."""
    digits, _, exponent = number.partition("e")
    return float(10.0 ** (int(exponent or 0) - len(digits.partition(".")[2])))
