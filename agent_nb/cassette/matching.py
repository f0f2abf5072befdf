"""Whether a cassette is for a request: its fingerprint must match, that of the release is only noted.

Built-in texts and tools change with every release, and cassettes outlive those.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from agent_nb._base.secrets import MASK
from agent_nb._base.text import from_difference
from agent_nb._base.wire import Json
from agent_nb.images.pillow import pixel_digest
from agent_nb.messages import Image
from agent_nb.run.run_reader import read_header
from agent_nb.run_settings import other_settings

_EXCERPT = 48
MOST_FILES = 500
MOST_BYTES = 1_000_000
"""Of the first line of a file."""


def same_text(recorded: str, now: str) -> bool:
    """Whether a text is the recorded one; a masked secret matches any text."""
    first, *others = map(re.escape, recorded.split(MASK))
    if not others:
        return recorded == now
    *middle, last = others
    parts = "".join(f"(?>.+?{part})" for part in middle)  # atomic, so that many masks take no longer
    return re.fullmatch(f"{first}{parts}.+{last}", now, re.DOTALL) is not None


def differences(recorded: Json, now: Json) -> Iterator[str]:
    if not same_text(recorded.get("prompt", ""), now["prompt"]):
        yield f"another prompt ({_excerpts(recorded.get('prompt', ''), now['prompt'])})"
    yield from _other_models(recorded, now)
    if not same_text(recorded.get("system", ""), now["system"]):
        yield f"another system text of yours ({_excerpts(recorded.get('system', ''), now['system'])})"
    yield from other_settings(recorded, now)
    if recorded.get("history", "") != now["history"]:
        yield "another conversation before this prompt"
    before = [image["sha256"] for image in recorded.get("images", ())]
    if before != [image["sha256"] for image in now["images"]]:
        names = [image["name"] or "an unnamed one" for image in now["images"]] or ["none"]
        yield f"other images ({len(before)} then; now {', '.join(names)})"
    for what, key in (("file", "files"), ("tool", "tools")):
        for name in changed(recorded.get(key, {}), now[key]):
            yield f"another {what} `{name}`"


def _other_models(recorded: Json, now: Json) -> Iterator[str]:
    before, wanted = (half.get("variants") or [half.get("model")] for half in (recorded, now))
    if len(before) != len(wanted):
        variants = "one variant" if len(before) == 1 else f"{len(before)} variants"
        yield f"{variants}, not {len(wanted)}"
        return
    for model, named in zip(before, wanted, strict=True):
        if named and not same_model(model or "", named):
            yield f"another model (`{model}`, not `{named}`)"
            return


def same_model(recorded: str, named: str) -> bool:
    """Whether a named model is the recorded one. A name without a model, such as `openai:`, fits all of a vendor."""
    vendor, _, model = named.strip().partition(":")
    recorded_vendor, _, recorded_model = recorded.partition(":")
    return vendor.lower() == recorded_vendor and (not model or model == recorded_model)


def changed(before: Json, now: Json) -> list[str]:
    return [name for name in {**before, **now} if before.get(name) != now.get(name)]


def _excerpts(before: str, now: str) -> str:
    texts = from_difference(before, now, _EXCERPT, 12)
    then, now = (" ".join(text.split()) for text in texts)
    return f"“{then}” then, “{now}” now"


def as_recorded(now: Json, recorded: Json, images: Sequence[Image], before: Sequence[Image]) -> Json:
    """The fingerprint of a request, with what was recorded where only the way it is written differs.

    matplotlib writes its version into images, and a new Pillow compresses them differently, so pixels are compared.
    The tools of MCP servers are those of the recording, so that the servers are not needed.
    """
    entries = recorded.get("images", ())
    if len(entries) == len(before) == len(images):
        pairs = zip(entries, now["images"], map(_same_pixels, before, images), strict=True)
        now = {**now, "images": [old if is_same else new for old, new, is_same in pairs]}
    servers = [{_server(origin) for origin in each.get("servers", {}).values()} for each in (recorded, now)]
    shared = servers[0] & servers[1]
    own = now.get("servers", {})
    tools = {name: tool for name, tool in now["tools"].items() if _server(own.get(name, "")) not in shared}
    known = recorded.get("servers", {})
    tools |= {
        name: recorded["tools"].get(name, "") for name, origin in known.items() if _server(origin) in shared
    }
    return {**now, "tools": tools}


def _same_pixels(before: Image, now: Image) -> bool:
    return before.data == now.data or pixel_digest(before) == pixel_digest(now)


def _server(origin: str) -> str:
    """`mcp:weather` for `mcp:weather/forecast`"""
    return origin.partition("/")[0]


def cassettes_for(prompt: str, folder: Path) -> Iterator[Path]:
    """The cassettes in a folder that were recorded for this prompt, by name. Whether they fit is not checked."""
    try:
        files = sorted(itertools.islice(folder.glob("*.jsonl"), MOST_FILES))
    except OSError:
        return
    for file in files:
        recorded = (read_header(file, MOST_BYTES) or {}).get("prompt")
        if isinstance(recorded, str) and same_text(recorded, prompt):
            yield file
