"""Which optional parameters a model takes, by its name: a table, so that no provider decides by names."""

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
    thinking_off: Literal["disabled", "between_tools", ""] = ""
    """The type of `thinking` for the effort `none` (Anthropic); empty if thinking cannot be turned off."""
    bound_thinking: bool = False
    """Whether it takes back thinking only after the same system text, tools and messages (Anthropic)."""
    budgets: tuple[int, int] | None = None
    """The fewest and the most thinking tokens it accepts; None if it takes no budget (Gemini)."""
    thoughts: bool = True
    """Whether it can be asked to show its thoughts (Gemini)."""
    signed_calls: bool = False
    """Whether it refuses a tool call that comes back without its signature (Gemini)."""
    encrypted_reasoning: bool = False
    """Whether to ask for reasoning that can be sent back without being stored (OpenAI's `include`)."""
    echoes_reasoning: bool = True
    """Whether it takes back the reasoning items of earlier turns (OpenAI)."""
    summaries: bool = True
    """Whether it can summarise its reasoning (OpenAI)."""
    call_ids: str = r".+"
    """A regular expression for the ids of calls that it accepts (Chat Completions)."""
    user_after_results: bool = True
    """Whether a user message may follow the results of tools directly (Chat Completions)."""
    max_output: int | None = None
    """Tokens to ask for when `max_tokens` is not set; None leaves it to the vendor."""

    def effort(self, wanted: str) -> str:
        """The accepted word closest to `wanted`; the higher one if two are equally close."""
        rank = EFFORTS.index
        return min(self.efforts, key=lambda word: (abs(rank(word) - rank(wanted)), -rank(word)))


CHAT_MODELS = (
    Family(
        pattern=r"(^|/)(open-)?(mistral|ministral|mixtral|magistral|devstral|codestral|pixtral)",
        efforts=("none", "high"),
        call_ids=r"[a-zA-Z0-9]{9}",
        user_after_results=False,
    ),
    Family(),
)
"""For servers of Chat Completions, which serve models of many makers. Most of them map the efforts themselves."""

_OPENAI = r"^(?:.*/)?(?:ft:)?"
_NO_REASONING = Family(efforts=(), echoes_reasoning=False)


def _reasoning(pattern: str, efforts: str, summaries: bool = True) -> Family:
    return Family(
        pattern=f"{_OPENAI}(?:{pattern})",
        efforts=tuple(efforts.split()),
        encrypted_reasoning=True,
        summaries=summaries,
    )


OPENAI_MODELS = (
    replace(_NO_REASONING, pattern=rf"{_OPENAI}(gpt-[34]|chatgpt-4|gpt-5-chat|o1-(mini|preview))"),
    _reasoning(r"(gpt-)?chat-latest|gpt-5\.\d-chat|[^/]*deep-research|computer-use", "medium"),
    _reasoning(r"o1|o3-mini", "low medium high", summaries=False),
    _reasoning(r"o3|o4|gpt-oss|gpt-5-codex|gpt-5\.1-codex(?!-max)", "low medium high"),
    _reasoning(r"gpt-5-pro", "high"),
    _reasoning(r"gpt-5\.1-codex-max|gpt-5\.[23]-codex", "low medium high xhigh"),
    _reasoning(r"gpt-5(-mini|-nano)?(-\d{4}|$)", "minimal low medium high"),
    _reasoning(r"gpt-5\.1", "none low medium high"),
    _reasoning(r"gpt-5\.[245]-pro", "medium high xhigh"),
    _reasoning(r"gpt-5\.[2345]", "none low medium high xhigh"),
    _reasoning(r"gpt-5\.6|gpt-6-(sol|luna)", "none low medium high xhigh max"),
    _reasoning(r"gpt-6", "low medium high xhigh max"),
    Family(efforts=()),
)
"""OpenAI has no default limit of output tokens below what a model can write, so none is asked for."""

_CLAUDE = r"claude-(?:[a-z]+-)?"
_ADAPTIVE = Family(thinking="adaptive", efforts=("low", "medium", "high", "xhigh", "max"), max_output=128_000)
_BOUND = replace(_ADAPTIVE, bound_thinking=True)
_BUDGET = Family(thinking="budget", thinking_off="disabled", efforts=(), max_output=64_000)
ANTHROPIC_MODELS = (
    replace(_BOUND, pattern=r"claude-sonnet-5[-.]5(?!\d)", thinking_off="between_tools"),
    replace(_BOUND, pattern=r"claude-haiku-5[-.]5(?!\d)", thinking_off="disabled"),
    replace(_BOUND, pattern=rf"{_CLAUDE}(5[-.]\d|[6-9]|\d\d)(?!\d)"),
    replace(_ADAPTIVE, pattern=r"claude-(fable|mythos)-5(?!\d)"),
    replace(_ADAPTIVE, pattern=rf"{_CLAUDE}(5|4[-.]([7-9]|\d\d))(?!\d)", thinking_off="disabled"),
    replace(
        _ADAPTIVE,
        pattern=rf"{_CLAUDE}4[-.]6(?!\d)",
        thinking_off="disabled",
        efforts=("low", "medium", "high", "max"),
    ),
    replace(_BUDGET, pattern=rf"{_CLAUDE}(4[-.]5|3[-.][7-9])(?!\d)"),
    replace(_BUDGET, pattern=r"claude-(opus-4|4-opus)(?!\d)", max_output=32_000),
    replace(_BUDGET, pattern=rf"{_CLAUDE}4(?!\d)"),
    Family(pattern=rf"{_CLAUDE}3[-.]5(?!\d)", efforts=(), max_output=8192),
    Family(pattern=rf"{_CLAUDE}[0-3](?!\d)", efforts=(), max_output=4096),
    Family(efforts=()),
)
"""From https://platform.claude.com/docs/en/about-claude/models/overview and the pages on thinking and effort.

Models newer than those listed get what the newest accept.
"""

_GEMINI_LEVELS = ("low", "medium", "high")
GEMINI_MODELS = (
    Family(pattern=r"gemini-(1|2\.0)|-image|nano-banana|imagen|-tts|-live", efforts=(), thoughts=False),
    Family(pattern=r"gemini-2\.5-pro", efforts=(), budgets=(128, 32_768)),
    Family(pattern=r"gemini-2\.5", efforts=(), budgets=(0, 24_576)),
    Family(pattern=r"gemini-3-pro", efforts=("low", "high"), signed_calls=True),
    Family(pattern=r"gemini-4-hydrogen", efforts=(*_GEMINI_LEVELS, "xhigh"), signed_calls=True),
    Family(
        pattern=r"gemini-3\.1-pro|gemini-3\.[78]-flash(?!-lite)|gemini-(pro|flash)-latest|gemini-4",
        efforts=_GEMINI_LEVELS,
        signed_calls=True,
    ),
    Family(
        pattern=r"gemini-3(\.[156])?-flash|gemini-(?:(?!gemini-).)*flash-lite",
        efforts=("minimal", *_GEMINI_LEVELS),
        signed_calls=True,
    ),
    Family(pattern=r"gemma-4", efforts=("minimal", "high")),
    Family(pattern=r"gemini-\d", efforts=(), signed_calls=True),
    Family(efforts=()),
)
