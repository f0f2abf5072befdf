"""What code has printed, without warnings."""

import re

from agent_nb._base.constants import NAMES_TYPE
from agent_nb.core.events import MimeBundle

_WARNING = re.compile(r"^\S+:\d+: \w*(?:Warning|Error): .*\n?(?:(?:(?!  ).*\n){0,20}  .*\n?)?", re.MULTILINE)
"""A warning of Python's, of one or more lines, with the line of code below it."""


def printed_text(output: MimeBundle) -> str | None:
    """The text of an output without warnings, empty for an image; None if the output shows nothing."""
    if NAMES_TYPE in output:
        return None
    has_image = any(kind.startswith("image/") for kind in output)
    return "" if has_image else _WARNING.sub("", str(output.get("text/plain", ""))).strip("\n") or None
