"""Settings for all tests: no key of the person who runs them is ever used, and `make fuzz` looks longer."""

import os

import pytest
from hypothesis import settings

from tests.kernels import KEYS

settings.register_profile("quick", max_examples=60, deadline=None)
settings.register_profile("fuzz", max_examples=5_000, deadline=None)
settings.load_profile("quick")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that need a key set their own."""
    for name in list(os.environ):
        if name.startswith(KEYS):
            monkeypatch.delenv(name)
