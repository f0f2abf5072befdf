"""The texts a model is given, as files beside this one."""

from functools import cache
from importlib.resources import files


@cache
def prompt_text(name: str) -> str:
    """The text of `prompts/<name>.md`."""
    return (files(__package__) / f"{name}.md").read_text(encoding="utf-8").strip()
