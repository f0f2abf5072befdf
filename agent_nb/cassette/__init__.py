"""Record a run, play it again with no key and no network. The file format is described in docs/cassettes.md."""

from agent_nb.cassette.matching import cassettes_for
from agent_nb.cassette.player import ReplayProvider, replay
from agent_nb.cassette.reader import AGAIN, locate
from agent_nb.cassette.recorder import record
from agent_nb.cassette.recording import Target

__all__ = [
    "AGAIN",
    "ReplayProvider",
    "Target",
    "cassettes_for",
    "locate",
    "record",
    "replay",
]
