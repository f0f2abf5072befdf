"""The facts needed to cite and to reproduce a run: model, dates, settings, prompt, approvals, hashes, versions."""

import functools
import json
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from agent_nb._base.secrets import safe_text
from agent_nb._base.text import sha256
from agent_nb._base.wire import Json, to_wire
from agent_nb.events import ApprovalResolved, TurnFinished
from agent_nb.run.record import RunRecord

_PACKAGES = ("agent-nb", "openai", "anthropic", "google-genai", "genai-prices")


def manifest_of(run: RunRecord) -> Json:
    return {
        "model": run.model,
        "model_returned": model_returned(run),
        "reason": run.reason,
        "started": run.started.isoformat() if run.started else None,
        "ended": run.ended.isoformat() if run.ended else None,
        "settings": run.settings,
        "prompt": safe_text(run.prompt),
        "approvals": [_approval(event) for event in run.events.of(ApprovalResolved)],
        "edited_by_hand": _edited(run),
        "prompt_sha256": _hash(run.prompt),
        "system_sha256": _hash(run.system),
        "tools_sha256": {tool.name: _hash(to_wire(tool)) for tool in run.tools},
        "messages_sha256": _hash([to_wire(message.parts) for message in run.messages]),
        "files_sha256": {path: _hash(content) for path, content in run.files.items()},
        "usage": to_wire(run.usage),
        "cost": run.cost,
        "seconds": run.seconds,
        "versions": package_versions(),
    }


def _approval(event: ApprovalResolved) -> Json:
    edited = event.executed is not None and event.executed != event.proposed
    return {"call": event.call_id, "approved": event.approved, "by": event.by, "edited": edited}


def _edited(run: RunRecord) -> list[str]:
    given = run.files if run.given_files is None else run.given_files
    return sorted(path for path in {*given, *run.files} if given.get(path) != run.files.get(path))


def model_returned(run: RunRecord) -> str:
    names = [event.model for event in run.events.of(TurnFinished) if event.model]
    return names[-1] if names else run.model


def _hash(value: Any) -> str:
    return sha256(value if isinstance(value, str | bytes) else json.dumps(value, sort_keys=True))


def package_versions() -> dict[str, str]:
    return dict(_versions())


@functools.cache
def _versions() -> dict[str, str]:
    """As of the first run: a package that is upgraded later is not loaded before the kernel restarts."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
