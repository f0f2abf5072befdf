"""The facts needed to cite and reproduce a run, and the statement on the use of models made from them."""

import functools
import json
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from agent_nb._base.secrets import Masked, safe_text
from agent_nb._base.text import change_texts, fenced, on_one_line, plural, sha256
from agent_nb._base.wire import Json, to_wire
from agent_nb.core.events import ApprovalResolved, TurnFinished
from agent_nb.core.messages import sent_fields
from agent_nb.core.run_settings import SETTINGS
from agent_nb.render.answers import entry_text
from agent_nb.render.safe_markdown import as_text, code_span
from agent_nb.render.shown import addition
from agent_nb.render.summary import offered_changes
from agent_nb.run.record import RunRecord

_PACKAGES = ("agent-nb", "openai", "anthropic", "google-genai", "genai-prices")
_HEAD = "# Use of generative AI\n\n[Write: who used the models, for what, and who answers for the content.]"
_COLUMNS = ("run", "model", "as the vendor named it", "began (UTC)", "ended (UTC)", "outcome", "options")
_OPTIONS = [name for name, row in SETTINGS.items() if "statement" in row.listed_in]


def manifest_of(run: RunRecord) -> Json:
    facts: Json = {
        "model": run.model,
        "model_returned": model_returned(run),
        "reason": run.reason,
        "answer": run.plain_answer,
        "started": run.started.isoformat() if run.started else None,
        "ended": run.ended.isoformat() if run.ended else None,
        "settings": run.settings,
        "prompt": run.prompt,
        "ran_unasked": len(run.code_calls - {event.call_id for event in run.events.of(ApprovalResolved)}),
        "not_computed": [*run.unsupported],
        "approvals": [_approval(event) for event in run.events.of(ApprovalResolved)],
        "edited_by_hand": _edited(run),
        "prompt_sha256": _hash(run.prompt),
        "system_sha256": _hash(run.system),
        "tools_sha256": {tool.name: _hash(to_wire(tool)) for tool in run.tools},
        "messages_sha256": _hash([[*map(sent_fields, message.parts)] for message in run.messages]),
        "files_sha256": {path: _hash(content) for path, content in run.files.items()},
        "usage": to_wire(run.usage),
        "cost": run.cost,
        "seconds": run.seconds,
        "versions": {**package_versions()},
    }
    return change_texts(facts, safe_text)  # type: ignore[no-any-return]


def _approval(event: ApprovalResolved) -> Json:
    edited = event.executed is not None and event.executed != event.proposed
    return {"call": event.call_id, "approved": event.approved, "by": event.by, "edited": edited}


def _edited(run: RunRecord) -> list[str]:
    original = run.original_files
    return sorted(path for path in {*original, *run.files} if original.get(path) != run.files.get(path))


def model_returned(run: RunRecord) -> str:
    names = [event.model for event in run.events.of(TurnFinished) if event.model]
    return names[-1] if names else run.model


def _hash(value: Any) -> str:
    return sha256(value if isinstance(value, str | bytes) else json.dumps(value, sort_keys=True))


@functools.cache
def package_versions() -> Mapping[str, str]:
    """Cached at the first run: packages upgraded later are not loaded until the kernel restarts."""
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def statement_of(runs: Iterable[RunRecord]) -> Masked:
    """The statement in Markdown. The variants of a run are listed separately."""
    entries = [
        (_text(f"{run.name}, variant {number}" if run.variants else run.name), variant, manifest_of(variant))
        for run in runs
        for number, variant in enumerate(run.variants or (run,), 1)
    ]
    versions = ", ".join(f"{name} {number}" for name, number in package_versions().items())
    rows = [_COLUMNS, ["---"] * len(_COLUMNS), *(_row(name, run, facts) for name, run, facts in entries)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    parts = [_HEAD, "## Models", table, f"This statement was written with {versions}.", "## Results"]
    parts += [f"### {name}\n\n{_result(run, facts)}" for name, run, facts in entries]
    parts += ["## Appendix: prompts and answers"]
    parts += [f"### {name}\n\n{_wording(run)}" for name, run, _ in entries]
    return safe_text("\n\n".join(parts) + "\n")


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
    hashes, (heading, offered) = facts["files_sha256"], offered_changes(run)
    lines = [
        "[Write: what it is used for.]",
        *(f"File {code_span(path)}, SHA-256 `{digest}`." for path, digest in hashes.items()),
        f"Edited by hand after the run: {', '.join(map(code_span, facts['edited_by_hand'])) or 'nothing'}.",
        *([f"Answer: {code_span(entry_text(run.plain_answer))}."] if run.settings.get("answer") else []),
        *(
            [f"Code that ran without asking: {plural(count, 'call')}."]
            if (count := facts["ran_unasked"])
            else []
        ),
        _approvals(facts["approvals"]),
        *([f"{heading}: {_text('; '.join(title for title, _ in offered))}."] if offered else []),
        *(f"{_text(line)}." for line in addition(run).lines),
        f"Page checks by the model: {len(run.checks)}, "
        f"with console errors: {sum(bool(check.errors) for check in run.checks)}.",
        *([f"A check failed: {_text(run.failed_check)}"] if run.failed_check else []),
        "[Write: how a person checked it.]",
    ]
    return "\n".join(f"- {line}" for line in lines)


def _approvals(approvals: list[Json]) -> str:
    if not approvals:
        return "No tool call was submitted for approval."
    approved = [approval for approval in approvals if approval["approved"]]
    edited = sum(approval["edited"] for approval in approved)
    who = _text(", ".join(sorted({str(approval["by"]) for approval in approvals})))
    return (
        f"Tool calls approved: {len(approved)}, {edited} of them edited; denied: {len(approvals) - len(approved)} "
        f"(decided by: {who})."
    )


def _text(text: str) -> str:
    return as_text(on_one_line(text), in_table=True)


def _wording(run: RunRecord) -> str:
    answers = [message.text for message in run.own_messages if message.role == "assistant" and message.text]
    answer = "\n\n".join(answers)
    block = fenced(answer) if answer else "The model wrote no text."
    return f"Prompt:\n\n{fenced(run.prompt)}\n\nAnswer:\n\n{block}"
