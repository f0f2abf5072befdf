"""The facts needed to cite and reproduce a run, and the statement on the use of models made from them."""

import functools
import json
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from agent_nb._base.secrets import safe_text
from agent_nb._base.text import change_texts, sha256
from agent_nb._base.wire import Json, to_wire
from agent_nb.core.events import ApprovalResolved, TurnFinished
from agent_nb.core.messages import sent_fields
from agent_nb.run.record import RunRecord

_PACKAGES = ("agent-nb", "openai", "anthropic", "google-genai", "genai-prices")


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
