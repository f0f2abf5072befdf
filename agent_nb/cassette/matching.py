"""Whether a cassette is for a request: its fingerprint must match, that of the release is only noted.

Built-in texts and tools change with every release, and cassettes outlive those.
"""

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from agent_nb._base.secrets import MASK
from agent_nb._base.text import from_difference
from agent_nb._base.wire import Json
from agent_nb.engine.fingerprint import digest, tool_digest
from agent_nb.engine.run_config import RunConfig
from agent_nb.images.pillow import pixel_digest
from agent_nb.messages import Image
from agent_nb.prompts import CHANGE_FROM_IMAGE, FROM_IMAGE, STACKS, prompt_text
from agent_nb.run.manifest import package_versions
from agent_nb.tools import Toolbox
from agent_nb.tools.preview_tools import CHECK_PREVIEW

_EXCERPT = 48
"""Characters of a text that are shown."""
MOST_FILES = 500
MOST_BYTES = 1_000_000
"""Of a line that is read."""


def release_fingerprint(config: RunConfig) -> Json:
    """The built-in texts and tools of this release, and the versions of the packages it used."""
    looking = "look" if CHECK_PREVIEW in config.toolbox else "no_look"
    texts = ["system", looking, "sum_up", FROM_IMAGE, CHANGE_FROM_IMAGE]
    if (stack := config.settings.get("stack")) in STACKS:
        texts.append(f"stacks/{stack}")
    tools = [tool for tool in Toolbox.default() if tool.name in config.toolbox]
    return {
        "prompts": {name: digest(prompt_text(name)) for name in texts},
        "tools": {tool.name: tool_digest(tool) for tool in tools},
        "versions": package_versions(),
    }


def same_text(recorded: str, now: str) -> bool:
    """Whether a text is the recorded one; a masked secret matches any text."""
    if recorded == now or MASK not in recorded:
        return recorded == now
    return re.fullmatch(".+?".join(map(re.escape, recorded.split(MASK))), now, re.DOTALL) is not None


def differences(recorded: Json, now: Json) -> Iterator[str]:
    """How a request differs from the recorded one, in a few words each; none if the cassette may play."""
    if not same_text(recorded.get("prompt", ""), now["prompt"]):
        yield f"another prompt ({_excerpts(recorded.get('prompt', ''), now['prompt'])})"
    yield from _other_models(recorded, now)
    if not same_text(recorded.get("system", ""), now["system"]):
        yield f"another system text of yours ({_excerpts(recorded.get('system', ''), now['system'])})"
    stacks = recorded.get("stack", "none"), now.get("stack", "none")
    if stacks[0] != stacks[1]:
        yield f"another stack (`{stacks[0]}` then, `{stacks[1]}` now)"
    if recorded.get("compact", False) != now.get("compact", False):
        yield f"{'' if recorded.get('compact') else 'no '}`--compact`"
    if recorded.get("data") != now.get("data"):
        yield f"{'' if recorded.get('data') else 'no '}`--data schema`"
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
    """Both texts, from where they begin to differ."""
    texts = from_difference(before, now, _EXCERPT, 12)
    then, now = (" ".join(text.split()) for text in texts)
    return f"“{then}” then, “{now}” now"


def with_pixels(fingerprint: Json, images: Sequence[Image]) -> Json:
    """The fingerprint with digests of the images' pixels, which outlast those of their bytes.

    matplotlib writes its version into images, and a new Pillow compresses them differently.
    """
    pairs = zip(fingerprint["images"], images, strict=True)
    return {
        **fingerprint,
        "images": [{**entry, "pixels": pixel_digest(image)} for entry, image in pairs],
    }


def as_recorded(fingerprint: Json, recorded: Json, images: Sequence[Image]) -> Json:
    """The fingerprint of a request, with the recorded digests of the images that have the same pixels."""
    before = recorded.get("images", ())
    if len(before) != len(images):
        return fingerprint
    entries = zip(fingerprint["images"], before, images, strict=True)
    return {
        **fingerprint,
        "images": [
            {**entry, "sha256": old["sha256"]} if _same_pixels(entry, old, image) else entry
            for entry, old, image in entries
        ],
    }


def _same_pixels(entry: Json, recorded: Json, image: Image) -> bool:
    if recorded["sha256"] == entry["sha256"] or "pixels" not in recorded:
        return False  # nothing to replace
    return bool(recorded["pixels"] == pixel_digest(image))


def cassettes_for(prompt: str, folder: Path) -> Iterator[Path]:
    """The cassettes in a folder that were recorded for this prompt, by name. Whether they fit is not checked."""
    try:
        files = sorted(itertools.islice(folder.glob("*.jsonl"), MOST_FILES))
    except OSError:
        return
    for file in files:
        recorded = _prompt_of(file)
        if recorded is not None and same_text(recorded, prompt):
            yield file


def _prompt_of(file: Path) -> str | None:
    """The prompt of a cassette; None if the file is none."""
    try:
        if not file.is_file():
            return None
        with file.open("rb") as stream:
            stream.readline(MOST_BYTES)
            prompt = json.loads(stream.readline(MOST_BYTES))["yours"]["prompt"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return prompt if isinstance(prompt, str) else None
