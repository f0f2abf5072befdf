"""Texts and figures about a finished run, shared by all its forms."""

import hashlib
import json

import agent_nb.core.events as ev
from agent_nb._base.constants import DEMO, is_demo
from agent_nb._base.text import plural
from agent_nb.core.run_settings import header_words
from agent_nb.files import human_size, lost_files
from agent_nb.files.cell_changes import CellChange
from agent_nb.render.finished_run import FinishedRun
from agent_nb.render.shown import addition


def duration(seconds: float) -> str:
    """Format as `41.2 s` or `2 min 5 s`."""
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, remainder = divmod(round(seconds), 60)
    return f"{minutes} min {remainder} s"


def count(number: int) -> str:
    """Format as `940`, `3.4k`, `14.2k`, `120k` or `1.2M`."""
    if number < 1000:
        return str(number)
    if number < 999_500:
        return f"{number / 1000:.{1 if number < 99_950 else 0}f}k"
    return f"{number / 1_000_000:.1f}M"


def dollars(cost: float) -> str:
    return f"${cost:.3f}" if 0 < cost < 0.01 else f"${cost:.2f}"


def model_label(model: str) -> str:
    """Return the model name without its vendor, or `offline demo model`."""
    vendor, _, name = model.partition(":")
    return "offline demo model" if vendor == DEMO else name or vendor


def ending(run: FinishedRun) -> str:
    """Return `done`, `stopped at the budget`, `done, check failed`, `done, 2 of 3 agree`, ..."""
    return ", ".join([ev.ENDINGS[run.reason].words + _check_note(run), *addition(run).facts])


def facts(run: FinishedRun) -> list[str]:
    """Return the facts for the header: ending, model, tokens, cost, turns. Unknown facts are omitted."""
    time = f" in {duration(run.seconds)}" if run.seconds >= 0.05 else ""
    words = f"{ev.ENDINGS[run.reason].words}{time}{_check_note(run)}"
    items = [words, *addition(run).facts, _models(run), *header_words(run.settings)]
    if source := replay_source(run):
        items.append(f"replayed from {source}")
    if run.usage.input or run.usage.output:
        items.append(f"{count(run.usage.input)} tokens in, {count(run.usage.output)} out")
        if run.cost is not None and not is_demo(run.model):
            items.append(dollars(run.cost) + (" when recorded" if source else ""))
    if share := _context_share(run):
        items.append(f"{share} % of context")
    turns = max((event.step for event in run.events.of(ev.TurnStarted)), default=0)
    return [*items, plural(turns, "turn")] if turns else items


def _check_note(run: FinishedRun) -> str:
    return ", check failed" if run.failed_check else ""


def trouble(run: FinishedRun) -> list[str]:
    check = f"Check failed: {run.failed_check}" if run.failed_check else ""
    return [*filter(None, (run.error, check))]


def replay_source(run: FinishedRun) -> str:
    """Return the replayed cassette; empty for a run that called its model."""
    return str(run.settings.get("replayed") or "")


def offered_changes(run: FinishedRun) -> tuple[str, list[tuple[str, CellChange]]]:
    """Return a heading, and the changes of cells with their titles: `Cell 3 (accepted)`."""
    decided = {change.id: run.decided.get(change.id) for change in run.changes}
    heading = f"Changes to the notebook that it offer{'ed' if all(decided.values()) else 's'}"
    words = {name: f" ({decision})" if decision else "" for name, decision in decided.items()}
    return heading, [(f"{change.title}{words[change.id]}", change) for change in run.changes]


def _context_share(run: FinishedRun) -> int:
    """Return the percentage of the context window that the last turn filled; 0 if unknown."""
    window: int | None = run.settings.get("window")
    usages = [event.usage for event in run.events.of(ev.TurnFinished)]
    if not window or not usages or _is_sum(run):
        return 0
    return round(100 * (usages[-1].input + usages[-1].output) / window)


def _models(run: FinishedRun) -> str:
    models = {variant.model for variant in run.variants}
    return plural(len(models), "model") if _is_sum(run) and len(models) > 1 else model_label(run.model)


def _is_sum(run: FinishedRun) -> bool:
    """Whether the run's figures are totals over all its variants."""
    return len(run.variants) > 1 and run.usage != run.variants[run.variant].usage


def subscript(run: FinishedRun, path: str, mapping: str = "files") -> str:
    """Return the Python expression of a file: `hero.files["index.html"]`."""
    return f"{run.name}.{mapping}[{json.dumps(path, ensure_ascii=False)}]"


def result_expression(run: FinishedRun) -> str:
    """Return the Python expression of the result in backticks, with its size and a note on unfinished files."""
    if not run.files or run.plain_answer is not None:
        attribute = "text" if run.text else "error" if run.error else "events"
        attribute = attribute if run.plain_answer is None else "answer"
        return f"`{run.name}.{attribute}`{_unfinished_note(run)}"
    path = run.files.entry or next(iter(run.files))
    other_files = len(run.files) - 1
    suffix = f" and {plural(other_files, 'more file')}" if other_files else ""
    return f"`{subscript(run, path)}` ({human_size(run.files.size(path))}){suffix}{_unfinished_note(run)}"


def _unfinished_note(run: FinishedRun) -> str:
    saved_paths = [f"`{path}`" for path in run.files if path in run.files.unfinished]
    lost_texts = lost_files(run.events, run.files)
    notes = [f"{', '.join(saved_paths)} is unfinished"] if saved_paths else []
    if lost_texts:
        expression = subscript(run, next(iter(lost_texts)), "unfinished")
        notes.append(f"unfinished and not kept: `{expression}`")
    return "".join(f"; {note}" for note in notes)


def variant_note(run: FinishedRun, *, picked: bool = False) -> str:
    """Return a note on which variant the variables refer to; empty for a run without variants."""
    if len(run.variants) < 2:
        return ""
    variant = f". Variant {run.variant + 1} of {len(run.variants)}"
    if picked:
        return f"{variant}, as picked"
    succeeded = [index for index, record in enumerate(run.variants) if record.reason == "end_turn"]
    reason = ", the first to succeed" if succeeded[:1] == [run.variant] else ""
    example = 1 if run.variant == 1 else 2
    return f"{variant}{reason}; `{run.name}.pick({example})` selects another"


def variant_lines(run: FinishedRun) -> list[str]:
    if len(run.variants) < 2:
        return []
    return [
        f"Variant {number}: {', '.join(facts(variant))}"
        + (f", {variant.files.size_text(variant.files.entry)}" if variant.files.entry else "")
        + "".join(f". {line}" for line in (variant.error, *addition(variant).lines) if line)
        for number, variant in enumerate(run.variants, 1)
    ]


def ready_line(run: FinishedRun, files_name: str | None, *, picked: bool = False) -> str:
    """Return a line with the variables that the run has set. `files_name` is None if that name was in use."""
    if run.error and not run.files and not run.text:
        line = f"`{run.name}.error` has the details{_unfinished_note(run)}"
    elif not run.files:
        line = f"`{run.name}` is ready: {result_expression(run)}"
    elif files_name is None:
        line = f"`{run.name}` is ready, use `{run.name}.files`: {result_expression(run)}"
    else:
        line = f"`{run.name}` and `{files_name}` are ready: {result_expression(run)}"
    return line + variant_note(run, picked=picked)


def written_prompt(run: FinishedRun) -> str:
    """Return the prompt as the user wrote it in a cell, without the values that replaced `{{name}}`."""
    return str(run.settings.get("cell") or run.prompt)


def run_digest(run: FinishedRun) -> str:
    """Return a hash that identifies the run in a saved output, independent of the picked variant."""
    digest = hashlib.blake2s(digest_size=4)
    for variant in run.variants or (run,):
        for text in (*facts(variant), variant.text, variant.error or ""):
            _update(digest, text)
        for path, content in variant.files.items():
            _update(digest, path)
            _update(digest, content)
    return digest.hexdigest()


def _update(digest: "hashlib.blake2s", content: str | bytes) -> None:
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    digest.update(len(data).to_bytes(8, "big") + data)
