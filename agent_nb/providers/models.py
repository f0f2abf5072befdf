"""Which optional parameters a model takes, by its name: a table, so that no provider decides by names."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agent_nb._base.constants import EFFORTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Models whose names match `pattern`, and the optional parameters they take."""

    pattern: str = ""
    """A regular expression, searched for in the model's name; empty matches every name."""
    efforts: tuple[str, ...] = EFFORTS
    """The effort words it accepts; empty if it takes no effort."""
    thinking: Literal["adaptive", "budget", ""] = ""
    """Anthropic's `thinking`: adaptive, with a budget of tokens, or not sent."""
    encrypted_reasoning: bool = False
    """Whether to ask for reasoning that can be sent back without being stored (OpenAI's `include`)."""
    max_output: int | None = None
    """Tokens to ask for when `max_tokens` is not set; None leaves it to the vendor."""

    def effort(self, wanted: str) -> str:
        """The accepted word closest to `wanted`; the higher one if two are equally close."""
        return nearest_effort(wanted, self.efforts)


def nearest_effort(wanted: str, accepted: Sequence[str]) -> str:
    rank = EFFORTS.index
    return min(accepted, key=lambda word: (abs(rank(word) - rank(wanted)), -rank(word)))


ANY_MODEL = (Family(),)
"""For vendors that serve models of many makers and take every effort word."""

OPENAI_MODELS = (
    Family(pattern=r"^(gpt-[34]|chatgpt-4)", efforts=(), encrypted_reasoning=True),
    Family(encrypted_reasoning=True),
)

_CLAUDE = r"claude-(?:[a-z]+-)?"
_ADAPTIVE = Family(thinking="adaptive", efforts=("low", "medium", "high", "xhigh", "max"))
ANTHROPIC_MODELS = (
    replace(_ADAPTIVE, pattern=rf"{_CLAUDE}4[-.]([6-9]|\d\d)(?!\d)"),
    Family(pattern=rf"{_CLAUDE}(4|3[-.][7-9])(?!\d)", thinking="budget", efforts=()),
    Family(pattern=rf"{_CLAUDE}[0-3](?!\d)", efforts=()),
    _ADAPTIVE,
)

GEMINI_MODELS = (Family(efforts=("minimal", "low", "medium", "high")),)

DEEPSEEK_MODELS = (Family(efforts=("low", "high", "max")),)
