"""Checks whether a cassette matches a request. The user's part of the fingerprint must match; the release's need not.

Built-in texts and tools change with every release, and cassettes outlive releases.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from agent_nb._base.secrets import MASK
from agent_nb._base.text import from_difference
from agent_nb._base.wire import Json
from agent_nb.core.messages import Attachment, Document
from agent_nb.core.run_settings import other_settings
from agent_nb.images.pillow import pixel_digest
from agent_nb.run.run_reader import read_header

_EXCERPT = 48
MOST_FILES = 500
MOST_BYTES = 1_000_000
"""Maximum size of a file's first line."""


def same_text(recorded: str, now: str) -> bool:
    """Whether a text equals the recorded one; a masked secret matches any text."""
    first, *remaining = map(re.escape, recorded.split(MASK))
    if not remaining:
        return recorded == now
    *middle, last = remaining
    parts = "".join(f"(?>.+?{part})" for part in middle)  # atomic groups avoid backtracking with many masks
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
    recorded_images = [image["sha256"] for image in recorded.get("images", ())]
    if recorded_images != [image["sha256"] for image in now["images"]]:
        names = [image["name"] or "an unnamed one" for image in now["images"]] or ["none"]
        yield f"other images or PDFs ({len(recorded_images)} then; now {', '.join(names)})"
    for kind, key in (("file", "files"), ("tool", "tools")):
        for name in changed_names(recorded.get(key, {}), now[key]):
            yield f"another {kind} `{name}`"


def _other_models(recorded: Json, now: Json) -> Iterator[str]:
    recorded_models, models = (half.get("variants") or [half.get("model")] for half in (recorded, now))
    if len(recorded_models) != len(models):
        variants = "one variant" if len(recorded_models) == 1 else f"{len(recorded_models)} variants"
        yield f"{variants}, not {len(models)}"
        return
    for model, current in zip(recorded_models, models, strict=True):
        if current and not same_model(model or "", current):
            yield f"another model (`{model}`, not `{current}`)"
            return


def same_model(recorded: str, name: str) -> bool:
    """Whether a model name matches the recorded one. A vendor alone, such as `openai:`, matches all its models."""
    vendor, _, model = name.strip().partition(":")
    recorded_vendor, _, recorded_model = recorded.partition(":")
    return vendor.lower() == recorded_vendor and (not model or model == recorded_model)


def changed_names(recorded: Json, now: Json) -> list[str]:
    return [name for name in {**recorded, **now} if recorded.get(name) != now.get(name)]


def _excerpts(recorded: str, now: str) -> str:
    texts = from_difference(recorded, now, _EXCERPT, 12)
    then, now = (" ".join(text.split()) for text in texts)
    return f"“{then}” then, “{now}” now"


def normalized(
    now: Json, recorded: Json, images: Sequence[Attachment], originals: Sequence[Attachment]
) -> Json:
    """The request's fingerprint, with recorded entries where only the encoding differs.

    matplotlib writes its version into images, and a new Pillow compresses them differently, so pixels are compared.
    MCP tools are taken from the recording, so that their servers are not needed.
    """
    entries = recorded.get("images", ())
    if len(entries) == len(originals) == len(images):
        pairs = zip(entries, now["images"], map(_same_pixels, originals, images), strict=True)
        now = {**now, "images": [old if is_same else new for old, new, is_same in pairs]}
    then_from, now_from = (
        {name: origin.partition("/")[0] for name, origin in half.get("servers", {}).items()}
        for half in (recorded, now)
    )  # `mcp:weather` for `mcp:weather/forecast`
    shared = {*then_from.values()} & {*now_from.values()}
    tools = {name: tool for name, tool in now["tools"].items() if now_from.get(name) not in shared}
    tools |= {name: recorded["tools"].get(name, "") for name in then_from if then_from[name] in shared}
    return {**now, "tools": tools}


def _same_pixels(recorded: Attachment, now: Attachment) -> bool:
    if isinstance(recorded, Document) or isinstance(now, Document):
        return recorded.data == now.data
    return recorded.data == now.data or pixel_digest(recorded) == pixel_digest(now)


def cassettes_for(prompt: str, folder: Path) -> Iterator[Path]:
    """The cassettes in a folder recorded for this prompt, by name. Only the prompt is compared."""
    try:
        files = sorted(itertools.islice(folder.glob("*.jsonl"), MOST_FILES))
    except OSError:
        return
    for file in files:
        recorded_prompt = (read_header(file, MOST_BYTES) or {}).get("prompt")
        if isinstance(recorded_prompt, str) and same_text(recorded_prompt, prompt):
            yield file
