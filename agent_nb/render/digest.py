"""Which run an output shows: a mark by which the page tells equal cells of two notebooks apart."""

import hashlib

from agent_nb.render.summary import FinishedRun, facts


def run_digest(run: FinishedRun) -> str:
    """A short digest of how the run, or each of its variants, came out: the same for equal runs, also when picked."""
    digest = hashlib.blake2s(digest_size=4)
    for one in run.variants or (run,):
        for text in (*facts(one), one.text, one.error or ""):
            _take(digest, text)
        for path, content in one.files.items():
            _take(digest, path)
            _take(digest, content)
    return digest.hexdigest()


def _take(digest: "hashlib.blake2s", content: str | bytes) -> None:
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    digest.update(len(data).to_bytes(8, "big") + data)
