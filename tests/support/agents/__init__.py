"""Outside agents for the tests: a scripted one, with faults, recordings of real ones, and real ones."""

from tests.support import ROOT

FAKE = str(ROOT / "tests/support/agents/fake.py")
