"""A statement on the use of models, as journals and reproducibility rules ask for: what runs know, and named blanks."""

from collections.abc import Iterable

from agent_nb._base.secrets import masked_line, safe_text
from agent_nb._base.text import fenced
from agent_nb._base.wire import Json
from agent_nb.render.markdown_writer import as_text, code_span
from agent_nb.run.manifest import manifest_of, package_versions
from agent_nb.run.record import RunRecord
from agent_nb.run_settings import SETTINGS

_HEAD = "# Use of generative AI\n\n[Write: who used the models, for what, and who answers for the content.]"
_COLUMNS = ("run", "model", "as the vendor named it", "began (UTC)", "ended (UTC)", "outcome", "options")
_OPTIONS = [name for name, row in SETTINGS.items() if "statement" in row.listed_in]


def statement_of(runs: Iterable[RunRecord]) -> str:
    """The statement in Markdown. The variants of a run are listed separately."""
    told = [
        (_text(f"{run.name}, variant {number}" if run.variants else run.name), one, manifest_of(one))
        for run in runs
        for number, one in enumerate(run.variants or (run,), 1)
    ]
    versions = ", ".join(f"{name} {number}" for name, number in package_versions().items())
    rows = [_COLUMNS, ["---"] * len(_COLUMNS), *(_row(name, run, facts) for name, run, facts in told)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    parts = [_HEAD, "## Models", table, f"This statement was written with {versions}.", "## Results"]
    parts += [f"### {name}\n\n{_result(run, facts)}" for name, run, facts in told]
    parts += ["## Appendix: prompts and answers"]
    parts += [f"### {name}\n\n{_wording(run)}" for name, run, _ in told]
    return "\n\n".join(parts) + "\n"


def _row(name: str, run: RunRecord, facts: Json) -> list[str]:
    if run.model.startswith("demo:"):
        returned, blank = "none: templates of the demo, no language model", "not dated"
    else:
        returned, blank = str(facts["model_returned"]), "[Write: the run has no date]"
    dates = [f"{date:%Y-%m-%d %H:%M:%S}" if date else blank for date in (run.started, run.ended)]
    options = ", ".join(f"{name} {run.settings[name]}" for name in _OPTIONS if run.settings.get(name))
    settings = options or "the vendor's defaults"
    return [name, _text(run.model), _text(returned), *dates, run.reason, _text(settings)]


def _result(run: RunRecord, facts: Json) -> str:
    hashes = facts["files_sha256"]
    lines = [
        "[Write: what it is used for.]",
        *(f"File {code_span(path)}, SHA-256 `{digest}`." for path, digest in hashes.items()),
        f"Edited by hand after the run: {', '.join(map(code_span, facts['edited_by_hand'])) or 'nothing'}.",
        _approvals(facts["approvals"]),
        f"Looks of the model at the page: {len(run.checks)}, "
        f"with errors in the console: {sum(bool(check.errors) for check in run.checks)}.",
        *([f"A check failed: {_text(run.failed_check)}"] if run.failed_check else []),
        "[Write: how a person checked it.]",
    ]
    return "\n".join(f"- {line}" for line in lines)


def _approvals(given: list[Json]) -> str:
    if not given:
        return "No tool call was put to anybody for approval."
    approved = [each for each in given if each["approved"]]
    edited = sum(each["edited"] for each in approved)
    who = _text(", ".join(sorted({str(each["by"]) for each in given})))
    return (
        f"Tool calls approved: {len(approved)}, {edited} of them edited; denied: {len(given) - len(approved)} "
        f"(decided by: {who})."
    )


def _text(text: str) -> str:
    return as_text(masked_line(text), in_table=True)


def _wording(run: RunRecord) -> str:
    answers = [message.text for message in run.own_messages if message.role == "assistant" and message.text]
    answer = "\n\n".join(answers)
    shown = fenced(safe_text(answer)) if answer else "The model wrote no text."
    return f"Prompt:\n\n{fenced(safe_text(run.prompt))}\n\nAnswer:\n\n{shown}"
