"""Maps protocol messages to our types: tool calls merged from updates, usage, text, permission options."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from textwrap import dedent
from typing import Any, get_args

from agent_nb._base.text import printable_line
from agent_nb._base.wire import Json, as_object
from agent_nb.core.events import PlanEntry, PlanStatus, Reason
from agent_nb.core.messages import Usage
from agent_nb.engine.tool_runner import one_line
from agent_nb.files.diffs import unified_diff
from agent_nb.providers.prices import count

SERVER = "agent_nb"
"""Name of our MCP server for agents."""
KINDS = ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other")
QUIET_KINDS = ("read", "search", "think", "fetch", "switch_mode")
"""Kinds of calls that change no files."""
PATH_NAMES = ("path", "file_path", "filePath", "filepath")
EDIT_NAMES = (("old_string", "new_string"), ("oldString", "newString"))
"""Names that agents use in the input of an edit."""
COMMAND_NAMES = frozenset(("command", "cmd"))
REASONS: Mapping[str, Reason] = {
    "end_turn": "end_turn",
    "max_tokens": "max_tokens",
    "max_turn_requests": "max_steps",
    "refusal": "refusal",
}
"""Other reasons, such as Codex's `cancelled` after a denied call, count as the end of the turn."""
MAX_ENTRIES = 50
"""Maximum number of entries of a plan."""


@dataclass(slots=True)
class AgentCall:
    """A tool call of the agent, merged from its updates and questions."""

    id: str
    """Event id."""
    fields: Json = field(default_factory=dict)
    state: str = "ours"
    """`ours` for a call of our tools, which have their own events, else `started`, `ready`, `running` or `ended`."""
    since: float = 0.0

    def merge(self, fields: Json) -> None:
        """Merge an update. Empty fields are ignored: Codex sends them when it asks for approval.

        Inputs are joined: a question of opencode has the command, and an earlier update its folder.
        """
        changes = {name: value for name, value in fields.items() if value not in (None, "", [], {})}
        if isinstance(changes.get("rawInput"), dict):
            changes["rawInput"] = as_object(self.fields.get("rawInput")) | changes["rawInput"]
        self.fields |= changes

    @property
    def kind(self) -> str:
        kind = self.fields.get("kind")
        return kind if kind in KINDS else "other"

    @property
    def title(self) -> str:
        return str(self.fields.get("title") or self.kind)

    @property
    def diffs(self) -> list[Json]:
        return [block for block in objects_in(self.fields.get("content")) if block.get("type") == "diff"]

    def is_edit_in(self, contains: Callable[[str], bool]) -> bool:
        """Whether it only edits files in a folder. Any text beside the diffs could be a command."""
        beside = [value for name, value in self.arguments().items() if name not in ("path", "diff")]
        return (
            self.kind == "edit"
            and bool(self.diffs)
            and all(contains(str(diff.get("path"))) for diff in self.diffs)
            and not any(isinstance(value, str | list | dict) for value in beside)
        )

    @property
    def text(self) -> str:
        """The call's output so far."""
        blocks = (block for block in objects_in(self.fields.get("content")) if block.get("type") == "content")
        return "\n".join(filter(None, map(text_in, blocks)))

    def arguments(self, folder: str = "", *, asks: bool = True) -> Json:
        """Return the input that the user approves and that "always" compares, with all texts of a question.

        The title is left out as a mere heading, unless the agent puts the command or the input there.
        """
        beside = self._beside_diffs
        shown = self._changes(folder) if self.diffs else {}
        is_heading = shown or (beside and one_line(self.title) == self.title)
        if self.kind == "execute" and not as_object(beside).get("command"):
            shown["command"] = self.title
        elif asks and not is_heading:
            shown["title"] = self.title
        details = self._details([*shown.values(), *as_object(beside).values()]) if asks else {}
        if not isinstance(beside, dict) or beside.keys() & {*shown, *details}:
            beside = {"input": beside}
        return shown | beside | details

    def _details(self, shown: list[Any]) -> Json:
        """Texts and paths of a question that are not among the values shown."""
        shown = [*shown, *(diff.get("path") for diff in self.diffs)]
        paths = [location.get("path") for location in objects_in(self.fields.get("locations"))]
        details = {"details": self.text, "locations": [path for path in paths if path not in shown]}
        return {name: value for name, value in details.items() if value and value not in shown}

    def _changes(self, folder: str) -> Json:
        """The changed files, by their paths in the folder."""
        paths = [str(diff.get("path") or "file").removeprefix(f"{folder}/") for diff in self.diffs]
        diffs = map(_unified, self.diffs, paths)
        return {"path": ", ".join(dict.fromkeys(paths)), "diff": "".join(diffs)}

    @property
    def _beside_diffs(self) -> Any:
        """The input without what its diffs show: their paths and texts, or the same change as a patch."""
        raw_input = self.fields.get("rawInput", {})
        if not isinstance(raw_input, dict):
            return raw_input
        shown: set[str] = set()
        for diff in self.diffs:
            old, new = _texts(diff)
            if old == new:  # an empty diff shows nothing
                continue
            shown |= {name for name in PATH_NAMES if raw_input.get(name) == diff.get("path")}
            shown |= {"content"} if raw_input.get("content") == new else set()
            for names in EDIT_NAMES:
                before, after = (str(raw_input.get(name)) for name in names)
                shown |= {*names} if old.replace(before, after, 1) == new else set()
            shown |= {"diff"} if _is_patch_of(diff, str(raw_input.get("diff"))) else set()
        return {name: value for name, value in raw_input.items() if name not in shown}

    def is_ours(self, patterns: Mapping[str, str], tools: Iterable[str]) -> bool:
        """Whether the agent's own fields name one of our tools; never for a call with a command or a diff."""
        if not patterns or self.diffs or not COMMAND_NAMES.isdisjoint(as_object(self.fields.get("rawInput"))):
            return False
        values = [(self._field(path), pattern) for path, pattern in patterns.items()]
        return any(
            all(fnmatchcase(value, pattern.format(server=SERVER, tool=tool)) for value, pattern in values)
            for tool in tools
        )

    def _field(self, path: str) -> str:
        value: Any = self.fields
        for name in path.split("."):
            value = as_object(value).get(name)
        return str(value)


def objects_in(value: Any) -> list[Json]:
    """The JSON objects in a list; none if it is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _texts(diff: Json) -> tuple[str, str]:
    return str(diff.get("oldText") or ""), str(diff.get("newText") or "")


def _unified(diff: Json, path: str) -> str:
    return unified_diff(*_texts(diff), path)


def _is_patch_of(diff: Json, patch: str) -> bool:
    """Whether a patch names the file of a diff and no other, and changes the same lines."""
    header, names = (
        patch.partition("\n@@")[0],
        [f"{mark} {diff.get('path')}" for mark in ("Index:", "---", "+++")],
    )
    is_same_file = all(line.rstrip() in names or not line.strip("=") for line in header.split("\n"))
    return is_same_file and _changed_lines(patch) == _changed_lines(_unified(diff, ""))


def _changed_lines(patch: str) -> list[tuple[str, str]]:
    """The changed lines without the indentation that all of them have, which opencode removes."""
    changed = [line for line in patch.partition("\n@@")[2].split("\n") if line.startswith(("+", "-"))]
    texts = dedent("\n".join(line[1:] for line in changed)).split("\n")
    return [(line[0], text.rstrip()) for line, text in zip(changed, texts, strict=False)]


def text_in(update: Json) -> str:
    """The text of an update or of a block of a call's output."""
    content = as_object(update.get("content"))
    return str(content.get("text") or "") if content.get("type") == "text" else ""


def option_of(options: Any, *, allow: bool) -> Json:
    """The outcome of a permission request. Options are selected by kind, because their order varies."""
    kinds = ("allow_once",) if allow else ("reject_once", "reject_always")
    rows = objects_in(options)
    chosen = next((row for kind in kinds for row in rows if row.get("kind") == kind), None)
    return {"outcome": "selected", "optionId": chosen.get("optionId")} if chosen else {"outcome": "cancelled"}


def plan_of(update: Json, relative: Callable[[str], str]) -> tuple[PlanEntry, ...]:
    """The first entries of a plan, with `relative` applied to their texts."""
    statuses: dict[Any, PlanStatus] = {status: status for status in get_args(PlanStatus)}
    return tuple(
        PlanEntry(
            text=one_line(printable_line(relative(str(entry.get("content"))))),
            status=statuses.get(str(entry.get("status")), "pending"),
        )
        for entry in objects_in(update.get("entries"))[:MAX_ENTRIES]
    )


def usage_of(result: Json) -> Usage:
    """Token usage of a prompt; zero if the agent does not report it."""
    usage = result.get("usage")
    if isinstance(usage, dict):
        uncached, cached_read, cached_write, total, output = (
            count(usage.get(f"{name}Tokens"))
            for name in ("input", "cachedRead", "cachedWrite", "total", "output")
        )
        all_input = uncached + cached_read + cached_write
        return Usage(
            input=all_input,
            cached_read=cached_read,
            cached_write=cached_write,
            output=max(output, total - all_input),  # some count thinking separately
            reasoning=count(usage.get("thoughtTokens")),
        )
    counts = as_object(as_object(as_object(result.get("_meta")).get("quota")).get("token_count"))
    return Usage(input=count(counts.get("input_tokens")), output=count(counts.get("output_tokens")))


def cost_of(update: Json) -> float | None:
    """Cost of the session so far in US dollars, or None if not reported."""
    cost = as_object(update.get("cost"))
    amount = cost.get("amount")
    if cost.get("currency") != "USD" or not isinstance(amount, int | float):
        return None
    return float(amount) if 0 <= amount < math.inf else None


def offered_models(response: Json) -> tuple[str, dict[str, str]]:
    """The option that sets the model of a session, and the models by id with their names.

    Without such an option, `session/set_model` sets the model. Some agents have both: the option is used, because
    Codex puts an effort into the ids of its `models`.
    """
    for option in objects_in(response.get("configOptions")):
        if option.get("category") == "model":
            return str(option.get("id")), _names(option.get("options"), "value")
    return "", _names(as_object(response.get("models")).get("availableModels"), "modelId")


def _names(models: Any, key: str) -> dict[str, str]:
    return {str(model[key]): str(model.get("name") or "") for model in objects_in(models) if model.get(key)}
