"""Record a run, play it again with no key and no network. docs/internals/run-file.md describes the file."""

from agent_nb.cassette.matching import cassettes_for
from agent_nb.cassette.player import AGAIN, ReplayProvider, locate, replay
from agent_nb.cassette.recording import CassetteRecording

__all__ = [
    "AGAIN",
    "CassetteRecording",
    "ReplayProvider",
    "cassettes_for",
    "locate",
    "replay",
]
