"""Describes the last cells to the model: `--cells`."""

import re
from collections.abc import Collection, Iterator
from typing import Any

from agent_nb._base.secrets import MASK, can_be_secret, for_model, is_secret_name, own_values
from agent_nb._base.text import fenced
from agent_nb.notebook.values.describe_values import CELL_LIMIT, describe, limited
from agent_nb.notebook.values.value_masking import Masks

_QUOTED = r"""\"{3}[\s\S]*?\"{3}|'{3}[\s\S]*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
_NAMED_TEXT = re.compile(
    r"(?<![\w.\-])(?P<before>[.\-]*+)(?P<name>\w[\w.\-]*+)"
    rf"(?P<sign>[\"']?\]?\s*(?::\s*+[\w.|\[\] ]*+=|[:=])\s*[bfru]{{0,2}})(?P<text>{_QUOTED})",
    re.IGNORECASE,
)
"""Quoted text and its name: `password = "..."`, `config["token"] = "..."`, `{'api_key': '...'}`."""
_PAIR = re.compile(
    rf"(?P<before>[\"'])(?P<name>\w[\w.\-]*+)(?P<sign>[\"'],(?:\s*[\"']?\w{{1,20}}[\"']?\s*[:=])?\s*)(?P<text>{_QUOTED})"
)
"""A name and the text after it: `["api_key", "..."]`, `{"name": "api_key", "value": "..."}`."""
COLOUR = re.compile(r"\x1b\[[\d;]*m")


def recent_cells(shell: Any) -> Iterator[str]:
    """The source, text output and error of each cell before the current one, newest first."""
    values = own_values()
    sources = shell.history_manager.input_hist_raw
    failures = getattr(shell.history_manager, "exceptions", {})  # IPython 7 does not store them
    for number in range(len(sources) - 2, 0, -1):
        output = "\n".join(text_outputs(shell, number))
        error = COLOUR.sub("", "\n".join(failures.get(number, {}).get("traceback", ())))
        texts = ((f"Cell {number}", sources[number], "python"), ("Output", output, ""), ("Error", error, ""))
        yield "\n".join(
            f"{title}:\n{fenced(masked_beginning(text, CELL_LIMIT, values), language)}"
            for title, text, language in texts
            if language or text.strip()
        )


def text_outputs(shell: Any, number: int) -> Iterator[str]:
    """The printed and displayed text of a cell. A value that contains secrets is described as in a prompt."""
    description = _masked_value(number, shell.user_ns.get("Out", {}).get(number))
    for output in getattr(shell.history_manager, "outputs", {}).get(number, ()):
        if description and output.output_type == "execute_result":
            yield description
            continue
        text = output.bundle.get("stream") or output.bundle.get("text/plain") or ""
        yield "".join(text) if isinstance(text, list) else str(text)


def _masked_value(number: int, value: Any) -> str:
    """The description of a value that contains secrets; empty for other values."""
    try:
        return "" if Masks().over(value) is value else describe(f"Out[{number}]", value).text
    except Exception:  # the value's own code
        return MASK


def masked_beginning(text: str, most: int, values: Collection[str]) -> str:
    """The beginning of a text, masked before it is cut. Only the beginning of a very long text is searched."""
    masked = limited(mask_named(text[: 5 * most], values), most)
    return masked if len(text) <= 5 * most else f"{masked[:most]}\n… ({len(text) - most:,} more characters)"


def mask_named(text: str, values: Collection[str] | None = None) -> str:
    """Mask known secrets, these values and quoted text with a secret name. Call it before truncating."""
    return _PAIR.sub(_masked_text, _NAMED_TEXT.sub(_masked_text, for_model(text, values)))


def _masked_text(match: re.Match[str]) -> str:
    is_pair = "," in match["sign"]  # it may also be a list of two words, such as column names
    if not is_secret_name(match["name"]) or (is_pair and not can_be_secret(match["text"].strip("\"'"))):
        return match[0]
    return f"{match['before']}{match['name']}{match['sign']}{match['text'][0]}{MASK}{match['text'][0]}"
