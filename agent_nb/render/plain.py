"""A finished run in Markdown, and in lines of text that stay the same from run to run."""

import re
from collections.abc import Sequence

from agent_nb.files import human_size
from agent_nb.render.safe_markdown import is_safe_link, neutralized
from agent_nb.render.summary import (
    FinishedRun,
    ending,
    facts,
    image_labels,
    model_label,
    plural,
    result_expression,
    variant_lines,
    variant_note,
)
from agent_nb.render.transcript import Cited, Entry, Given, Retry, Step, Thought, Words


def markdown(run: FinishedRun, entries: Sequence[Entry]) -> str:
    blocks = [neutralized(_one_line(f"**{run.name}**: {', '.join(facts(run))}"))]
    if run.error:
        blocks.append("> " + neutralized(_one_line(run.error)))
    blocks += [block for entry in entries if (block := _markdown_of(entry))]
    if run.files:
        blocks.append("\n".join(f"- {_code(path)}, {human_size(run.files.size(path))}" for path in run.files))
    if options := variant_lines(run):
        blocks.append("Options:")
        blocks.append("\n".join(f"- {neutralized(_one_line(line))}" for line in options))
    said = f"In the kernel: {result_expression(run)}{variant_note(run)}"
    return "\n\n".join([*_joined_lists(blocks), said]) + "\n"


def _markdown_of(entry: Entry) -> str:
    match entry:
        case Given(pictures):
            return "- given: " + ", ".join(map(_code, image_labels(pictures)))
        case Words(text):
            return neutralized(text)
        case Step() as step:
            outcome = f"{step.end}: " if step.end in ("failed", "denied") else ""
            return f"- {_code(step.title)}: {outcome}{neutralized(_one_line(step.summary)) or 'done'}"
        case Retry(why):
            return f"- tried again: {neutralized(_one_line(why))}"
        case Cited(sources):
            return "\n".join(
                f"- <{source.url}>" if is_safe_link(source.url) and not re.search(r"[\s<>]", source.url)
                else f"- {_code(source.title)}"
                for source in sources
            )  # fmt: skip
        case Thought():
            return ""


def _joined_lists(blocks: list[str]) -> list[str]:
    """List items that follow each other are one list."""
    joined: list[str] = []
    for block in blocks:
        if joined and block.startswith("- ") and joined[-1].startswith("- "):
            joined[-1] += "\n" + block
        else:
            joined.append(block)
    return joined


def plain_text(run: FinishedRun, entries: Sequence[Entry]) -> str:
    lines = [f"{run.name}: {ending(run)} ({model_label(run.model)})"]
    if run.error:
        lines.append(f"  {_one_line(run.error)}")
    for entry in entries:
        if isinstance(entry, Given):
            lines.append(f"  given: {_one_line(', '.join(image_labels(entry.pictures)))}")
        if isinstance(entry, Step):
            outcome = "" if entry.end == "stopped" else entry.end
            lines.append(f"  {_one_line(entry.title)}: {', '.join(filter(None, (outcome, entry.summary)))}")
    if run.text:
        lines += ["", run.text.strip()]
    if run.files:
        lines += ["", plural(len(run.files), "file") + ":"]
        lines += [f"  {path}, {human_size(run.files.size(path))}" for path in run.files]
    return "\n".join([*lines, *_option_lines(run)])


def _option_lines(run: FinishedRun) -> list[str]:
    """How each of several variants ended, without what differs from run to run."""
    if len(run.variants) < 2:
        return []
    lines = ["", f"This is option {run.variant + 1} of {len(run.variants)}:"]
    for number, one in enumerate(run.variants, 1):
        size = f", {human_size(one.files.size(one.files.entry))}" if one.files.entry else ""
        lines.append(f"  {number}: {ending(one)} ({model_label(one.model)}){size}")
    return lines


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _code(text: str) -> str:
    """A code span, whatever is in it."""
    text = _one_line(text)
    longest = max((len(ticks) for ticks in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"`{text}`"
