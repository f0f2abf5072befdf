"""Where the tests record a cassette."""

from pathlib import Path

import pytest


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "cassettes" / "hero.run.jsonl"
