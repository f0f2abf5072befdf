"""The texts a model is given, as files beside this one.

`system` and a stack make the system text, the same for a whole conversation. What is said about pictures goes
with the question that brings them, so that nothing sent before it changes.
"""

from functools import cache
from pathlib import Path

from agent_nb.errors import ConfigError

STACKS = ("html", "tailwind", "react", "vue", "bootstrap")
FROM_IMAGE, CHANGE_FROM_IMAGE = "from_image", "change_from_image"
_FOLDER = Path(__file__).parent
_NUMBERS = "To the tools, the pictures of this request are"


@cache
def prompt_text(name: str) -> str:
    """The text of `prompts/<name>.md`."""
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()


def stack_text(stack: str) -> str:
    """What the model is told about a stack: one page that runs in the preview."""
    return prompt_text(f"stacks/{check_stack(stack)}")


def check_stack(stack: str) -> str:
    """The stack, if it is one of ours."""
    if stack not in STACKS:
        raise ConfigError(f"There is no stack {stack!r}. Use {', '.join(STACKS[:-1])} or {STACKS[-1]}.")
    return stack


def image_text(*, page: bool) -> str:
    """How to take the pictures of a request: as a page to build, or as changes to the page there is."""
    return prompt_text(CHANGE_FROM_IMAGE if page else FROM_IMAGE)


def image_numbers(earlier: int, own: int) -> str:
    """Which pictures are meant by their numbers, where some came before this request."""
    names = [f"input:{number}" for number in range(earlier + 1, earlier + own + 1)]
    listed = names[0] if own == 1 else f"{names[0]} to {names[-1]}"
    return f"{_NUMBERS} {listed}; those before came earlier."


def is_about_images(text: str) -> bool:
    """Whether a part of a question is our own word about its pictures."""
    told = text.strip()
    return told in (prompt_text(FROM_IMAGE), prompt_text(CHANGE_FROM_IMAGE)) or told.startswith(_NUMBERS)
