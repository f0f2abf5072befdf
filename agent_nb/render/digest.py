"""A digest that identifies the run in a saved output, even if another notebook has the same cell."""

import hashlib
from typing import TYPE_CHECKING

from agent_nb.render.summary import facts

if TYPE_CHECKING:
    from agent_nb.run.record import RunRecord


def run_digest(run: "RunRecord") -> str:
    """Equal runs have equal digests. Picking another variant does not change it."""
    digest = hashlib.blake2s(digest_size=4)
    for one in run.variants or (run,):
        for text in (*facts(one), one.text, one.error or ""):
            _update(digest, text)
        for path, content in one.files.items():
            _update(digest, path)
            _update(digest, content)
    return digest.hexdigest()


def _update(digest: "hashlib.blake2s", content: str | bytes) -> None:
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    digest.update(len(data).to_bytes(8, "big") + data)
