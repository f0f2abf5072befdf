"""What a cassette was recorded for: the person's half, which must match, and ours, which is only noted.

The person's half says in plain words what differs. Ours changes with every release, and cassettes outlive those.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from agent_nb._base.secrets import MASK, mask, mask_json
from agent_nb._base.wire import Json
from agent_nb.engine.opening import Opening
from agent_nb.engine.setup import Setup
from agent_nb.messages import Message, Text, ToolCall
from agent_nb.prompts import CHANGE_FROM_IMAGE, FROM_IMAGE, is_about_images, prompt_text
from agent_nb.run.manifest import package_versions
from agent_nb.tools import Tool, Toolbox

_DIGITS = 16
_SHOWN = 48
"""Characters of a text that a message shows."""


def yours_of(opening: Opening, setups: Sequence[Setup], own_system: str) -> Json:
    """The person's half: prompt, model, own system text, pictures, files, own tools, the conversation before.

    One setup for each variant; they differ in the model alone.
    """
    setup = setups[0]
    yours: Json = {
        "prompt": opening.prompt,
        "model": setup.provider.name,
        "system": own_system,
        "images": [{"name": image.name, "sha256": digest(image.data)} for image in opening.images],
        "files": {path: digest(content) for path, content in (opening.files or {}).items()},
        "tools": {tool.name: digest(_spec(tool)) for tool in setup.toolbox.own},
        "history": digest([_said(message) for message in opening.history if not _is_ours(message)])
        if opening.history
        else "",
    }
    if len(setups) > 1:
        yours["variants"] = [each.provider.name for each in setups]
    return mask_json(yours)  # type: ignore[no-any-return]


def ours_of(setup: Setup) -> Json:
    """Our half: the built-in texts and tools, and the versions of what was installed."""
    texts = ["system", "sum_up", FROM_IMAGE, CHANGE_FROM_IMAGE]
    if stack := setup.settings.get("stack"):
        texts.append(f"stacks/{stack}")
    return {
        "prompts": {name: digest(prompt_text(name)) for name in texts},
        "tools": {tool.name: digest(_spec(tool)) for tool in Toolbox.default() if tool.name in setup.toolbox},
        "versions": package_versions(),
    }


def differences(recorded: Json, now: Json) -> list[str]:
    """What is not as it was when recorded, each in a few words; empty when the cassette may play."""
    return list(_differences(recorded, now))


def _differences(recorded: Json, now: Json) -> Iterator[str]:
    if not _same_text(recorded.get("prompt", ""), now["prompt"]):
        yield f"another prompt ({_shown(recorded.get('prompt', ''), now['prompt'])})"
    yield from _other_models(recorded, now)
    if not _same_text(recorded.get("system", ""), now["system"]):
        yield f"another system text of yours ({_shown(recorded.get('system', ''), now['system'])})"
    stacks = recorded.get("stack", "none"), now.get("stack", "none")
    if stacks[0] != stacks[1]:
        yield f"another stack (`{stacks[0]}` then, `{stacks[1]}` now)"
    if recorded.get("history", "") != now["history"]:
        yield "another conversation before it"
    before = [image["sha256"] for image in recorded.get("images", ())]
    if before != [image["sha256"] for image in now["images"]]:
        names = [image["name"] or "one without a name" for image in now["images"]] or ["none"]
        yield f"other pictures ({len(before)} then; now {', '.join(names)})"
    for what, key in (("file", "files"), ("tool", "tools")):
        for name in _changed(recorded.get(key, {}), now[key]):
            yield f"another {what} `{name}`"


def _other_models(recorded: Json, now: Json) -> Iterator[str]:
    before, wanted = (half.get("variants") or [half.get("model")] for half in (recorded, now))
    if len(before) != len(wanted):
        yield f"{_counted(len(before))}, not {len(wanted)}"
        return
    for model, named in zip(before, wanted, strict=True):
        if named and not same_model(model or "", named):
            yield f"another model (`{model}`, not `{named}`)"
            return


def _counted(variants: int) -> str:
    return "one variant" if variants == 1 else f"{variants} variants"


def same_model(recorded: str, named: str) -> bool:
    """Whether a named model is the recorded one; a name that ends in a colon leaves the model open."""
    vendor, _, model = named.strip().partition(":")
    recorded_vendor, _, recorded_model = recorded.partition(":")
    return vendor.lower() == recorded_vendor and (not model or model == recorded_model)


def digest(value: Any) -> str:
    """A short hash of bytes or of anything JSON can say."""
    data = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def _spec(tool: Tool) -> Json:
    return {"description": tool.spec.description, "schema": tool.spec.schema}


def _is_ours(message: Message) -> bool:
    """Results of tools and our own words may read differently in another release."""
    return message.role == "tool" or (message.role == "user" and message.text == prompt_text("sum_up"))


def _said(message: Message) -> list[Any]:
    said: list[Any] = [message.role]
    for part in message.parts:
        match part:
            case Text(text):
                said += [] if is_about_images(text) else [mask(text)]
            case ToolCall(name=name, arguments=arguments):
                said.append([name, mask(arguments)])
            case _:
                pass
    return said


def _changed(before: Json, now: Json) -> list[str]:
    return [name for name in {**before, **now} if before.get(name) != now.get(name)]


def _same_text(recorded: str, now: str) -> bool:
    """A secret that was masked matches whatever stands there now."""
    if recorded == now or MASK not in recorded:
        return recorded == now
    return re.fullmatch(".+?".join(map(re.escape, recorded.split(MASK))), now, re.DOTALL) is not None


def _shown(before: str, now: str) -> str:
    """Both texts from where they part."""
    start = next((i for i, pair in enumerate(zip(before, now, strict=False)) if pair[0] != pair[1]), None)
    if start is None:
        start = min(len(before), len(now))
    start = max(0, start - 12)
    return f"“{_excerpt(before, start)}” then, “{_excerpt(now, start)}” now"


def _excerpt(text: str, start: int) -> str:
    part = " ".join(text[start : start + _SHOWN].split())
    return ("…" if start else "") + part + ("…" if start + _SHOWN < len(text) else "")
