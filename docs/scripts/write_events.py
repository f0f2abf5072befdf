"""`python -m docs.scripts.write_events` writes `js/src/run/events.ts`, what the page shares with the kernel, and
`agent_nb/run/feature_values.py`, what runs have of features, for type checkers.
"""

import types
import typing
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from agent_nb.core import errors, events, messages
from agent_nb.core.annotations import Annotation
from agent_nb.core.events import ENDINGS, Tone
from agent_nb.core.feature import features, value_types
from agent_nb.core.run_settings import BoundKind
from agent_nb.engine.feature_code import FeatureCode
from agent_nb.engine.parts import code_of
from agent_nb.files.cell_changes import CellAction, CellChange, CellType
from agent_nb.render.shown import ShownFeatures
from agent_nb.run.protocol import BoundName, ChangeDecision, Decided, Meta, Ready, Repeat

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "js" / "src" / "run" / "events.ts"
VALUES = ROOT / "agent_nb" / "run" / "feature_values.py"
WIDTH = 110
HEADER = """\
// Written by `make events` from `core/events.py`, `run/protocol.py` and the features in `agent_nb/`. Do not edit.

export type Json = Record<string, unknown>;
export type MimeBundle = Json;
/** Replace `count` lines from line `start` (0-based) by `text`. */
export type LinePatch = [start: number, count: number, text: string];
"""
ALIASES = {
    "Reason": events.Reason,
    "Stop": events.Stop,
    "FileAction": events.FileAction,
    "WhyCompacted": events.WhyCompacted,
    "Decider": events.Decider,
    "PlanStatus": events.PlanStatus,
    "ToolErrorCode": errors.ToolErrorCode,
    "BoundKind": BoundKind,
    "CellAction": CellAction,
    "CellType": CellType,
    "ChangeDecision": ChangeDecision,
}
PLAIN: dict[Any, str] = {str: "string", int: "number", float: "number", bool: "boolean", bytes: "string"}
PLAIN[Any] = "unknown"
NAMED: list[tuple[Any, str]] = [
    (events.Json, "Json"),
    (events.MimeBundle, "MimeBundle"),
    (events.LinePatch, "LinePatch"),
    (ShownFeatures, "ShownFeatures"),
]


def ts_type(kind: Any) -> str:
    """The TypeScript name of a field's declared type."""
    for known, name in [*NAMED, *((alias, name) for name, alias in ALIASES.items())]:
        if kind == known:
            return name
    if kind in PLAIN:
        return PLAIN[kind]
    if kind is type(None):
        return "null"
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(ts_type(argument) for argument in _flat(kind))
    if origin is tuple and arguments[1] is Ellipsis:
        return f"{ts_type(arguments[0])}[]"
    if is_dataclass(kind):
        return kind.__name__
    raise TypeError(f"no TypeScript form for {kind!r}")


def _flat(kind: Any) -> list[Any]:
    """The members of a union, with a `Literal` alias among them kept whole."""
    for alias in ALIASES.values():
        if kind == alias | None:
            return [alias, type(None)]
    return list(typing.get_args(kind))


def union(name: str, options: list[str]) -> str:
    line = f"export type {name} = {' | '.join(options)};"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"export type {name} =", *(f"\t| {option}" for option in options)]) + ";"


def interface(kind: type, *, base: str = "", tag: str = "") -> str:
    inherited = {field.name for field in fields(events.BaseEvent)} if base else set()
    hints = typing.get_type_hints(kind)
    lines = [f'\ttype: "{tag}";'] if tag else []
    lines += [f"\t{f.name}: {ts_type(hints[f.name])};" for f in fields(kind) if f.name not in inherited]
    return "\n".join([f"export interface {kind.__name__}{base} {{", *lines, "}"])


def shown_types() -> dict[str, type]:
    """The dataclass that each built-in feature shows on the page, by the feature's name."""
    hooks = {feature.name: type(code_of(feature)).shown for feature in features()}
    shown = {name: hook for name, hook in hooks.items() if hook is not FeatureCode.shown}
    return {name: typing.get_args(typing.get_type_hints(hook)["return"])[0] for name, hook in shown.items()}


def _of_features() -> list[str]:
    shown = shown_types()
    rows = [f"\t{name}: {kind.__name__};" for name, kind in shown.items()]
    values = "{ [Name in keyof FeatureData]?: Record<number, FeatureData[Name]> }"
    kinds = dict.fromkeys(kind for value in shown.values() for kind in _parts(value))
    return [
        *map(interface, kinds),
        "\n".join(["export interface FeatureData {", *rows, "}"]),
        f"/** By feature and variant. */\nexport type ShownFeatures = {values};",
    ]


def _parts(kind: Any) -> Iterator[type]:
    """The dataclasses in the fields of a dataclass, then itself."""
    for inner in typing.get_args(kind):
        yield from _parts(inner)
    if is_dataclass(kind):
        for hint in typing.get_type_hints(kind).values():
            yield from _parts(hint)
        yield typing.cast("type", kind)


def _endings() -> str:
    tones = union("Tone", [f'"{tone}"' for tone in typing.get_args(Tone)])
    rows = [
        f'\t{reason}: {{ words: "{each.words}", tone: "{each.tone}" }},' for reason, each in ENDINGS.items()
    ]
    table = ["export const ENDINGS: Record<Reason, { words: string; tone: Tone }> = {", *rows, "};"]
    return "\n".join([tones, *table])


def typescript() -> str:
    """What `js/src/run/events.ts` should contain."""
    kinds = [kind for kind in typing.get_args(events.Event) if kind is not events.MessageAdded]  # never sent
    literals = [union(name, [f'"{v}"' for v in typing.get_args(alias)]) for name, alias in ALIASES.items()]
    blocks = [
        HEADER.rstrip("\n"),
        "\n".join(literals),
        interface(messages.Usage),
        interface(events.Thumbnail),
        interface(events.PlanEntry),
        interface(events.BaseEvent),
        *(interface(kind, base=" extends BaseEvent", tag=kind.type) for kind in kinds),
        union("Event", [kind.__name__ for kind in kinds]),
        interface(Annotation),
        *_of_features(),
        interface(Repeat),
        interface(BoundName),
        interface(CellChange),
        interface(Decided),
        interface(Meta),
        interface(Ready),
        _endings(),
    ]
    return "\n\n".join(blocks) + "\n"


def feature_values(types: dict[str, str]) -> str:
    """What `agent_nb/run/feature_values.py` should contain."""
    head = '"""Written by `make events` from the declarations of `agent_nb/features/`. Do not edit."""'
    lines = [f"    {name}: {kind}" for name, kind in types.items()]
    about = '    """The values of features, which `Run.__getattr__` reads."""'
    imports = ["from typing import Any", ""] if "Any" in types.values() else []
    return "\n".join(
        [head, "", *imports, "", "class FeatureValues:", about, *(["", *lines] if lines else []), ""]
    )


if __name__ == "__main__":
    VALUES.write_text(feature_values(value_types()), encoding="utf-8")
    TARGET.write_text(typescript(), encoding="utf-8")
