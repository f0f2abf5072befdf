"""Settings for all tests: no key of the person who runs them is ever used, and `make fuzz` looks longer."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.kernels import KEYS

if TYPE_CHECKING:
    from tests.shells import Shell

settings.register_profile("quick", max_examples=60, deadline=None)
settings.register_profile("fuzz", max_examples=5_000, deadline=None)
settings.load_profile("quick")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that need a key set their own."""
    for name in list(os.environ):
        if name.startswith(KEYS):
            monkeypatch.delenv(name)


@pytest.fixture
def shell(tmp_path: Path) -> "Iterator[Shell]":
    """A plain IPython shell with the extension loaded, working in `tmp_path`."""
    from tests.shells import start_shell

    with start_shell(tmp_path) as shell:
        yield shell
