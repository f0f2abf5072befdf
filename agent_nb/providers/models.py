"""Table of the optional parameters that models accept, so that no provider checks model names."""

from dataclasses import dataclass, replace
from typing import Literal

from agent_nb._base.constants import EFFORTS

_OPENAI = r"^(?:.*/)?(?:ft:)?"
_CLAUDE = r"claude-(?:[a-z]+-)?"
_GEMINI_LEVELS = ("low", "medium", "high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Models whose names match `pattern`, with the optional parameters they accept."""

    pattern: str = ""
    """Regular expression searched in the model's name; empty matches every name."""
    efforts: tuple[str, ...] = EFFORTS
    """Accepted efforts; empty if unsupported."""
    thinking: Literal["adaptive", "budget", ""] = ""
    """Anthropic's `thinking`: adaptive, with a token budget, or not sent."""
    thinking_off: Literal["disabled", "between_tools", ""] = ""
    """Type of `thinking` for the effort `none`; empty if thinking cannot be disabled (Anthropic)."""
    bound_thinking: bool = False
    """Whether thinking may be sent back only after the same system text, tools and messages (Anthropic)."""
    budgets: tuple[int, int] | None = None
    """Minimum and maximum of the thinking budget in tokens; None if unsupported (Gemini)."""
    thoughts: bool = True
    """Whether it can return its thoughts (Gemini)."""
    signed_calls: bool = False
    """Whether tool calls must be sent back with their signature (Gemini)."""
    image_results: bool = True
    """Whether results of tools may contain images (Gemini's `generate_content`)."""
    encrypted_reasoning: bool = False
    """Whether to request encrypted reasoning, which can be sent back without being stored (OpenAI's `include`)."""
    echoes_reasoning: bool = True
    """Whether reasoning items of earlier turns can be sent back (OpenAI)."""
    summaries: bool = True
    """Whether it can summarise its reasoning (OpenAI)."""
    call_ids: str = r".+"
    """Regular expression for accepted call ids (Chat Completions)."""
    user_after_results: bool = True
    """Whether a user message may directly follow tool results (Chat Completions)."""
    max_output: int | None = None
    """Default of `max_tokens`; None for the vendor's default."""

    def effort(self, requested: str) -> str:
        """The accepted effort closest to `requested`; the higher one in a tie."""
        rank = EFFORTS.index
        return min(self.efforts, key=lambda effort: (abs(rank(effort) - rank(requested)), -rank(effort)))


CHAT_MODELS = (
    Family(
        pattern=r"(^|/)(open-)?(mistral|ministral|mixtral|magistral|devstral|codestral|pixtral)",
        efforts=("none", "high"),
        call_ids=r"[a-zA-Z0-9]{9}",
        user_after_results=False,
    ),
    Family(),
)
"""For Chat Completions servers, which serve models of many vendors. Most of them map the efforts themselves."""

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
"""No `max_output`: OpenAI's default limit is the model's maximum."""
DEPLOYED_MODELS = (Family(encrypted_reasoning=True),)
"""For OpenAI's models under names that the user chose: everything is sent, and what is refused is left out."""

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

Unlisted newer models are treated like the newest listed ones.
"""

GEMINI_MODELS = (
    Family(
        pattern=r"gemini-(1|2\.0)|-image|nano-banana|imagen|-tts|-live",
        efforts=(),
        thoughts=False,
        image_results=False,
    ),
    Family(pattern=r"gemini-2\.5-pro", efforts=(), budgets=(128, 32_768), image_results=False),
    Family(pattern=r"gemini-2\.5", efforts=(), budgets=(0, 24_576), image_results=False),
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
