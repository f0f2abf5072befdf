"""Record a run, play it again with no key and no network. The file format is described in docs/cassettes.md."""

from agent_nb.cassette.fingerprint import differences, ours_of, same_model, yours_of
from agent_nb.cassette.player import ReplayProvider, as_recorded, replay
from agent_nb.cassette.reader import AGAIN, locate, read_cassette
from agent_nb.cassette.recorder import Recorder
from agent_nb.cassette.recording import Recording, Target

__all__ = [
    "AGAIN",
    "Recorder",
    "Recording",
    "ReplayProvider",
    "Target",
    "as_recorded",
    "differences",
    "locate",
    "ours_of",
    "read_cassette",
    "replay",
    "same_model",
    "yours_of",
]
