"""The wire server, for tests that ask a provider, and a demo model with long fragments."""

import re
from collections.abc import AsyncIterator, Iterator

import pytest

from agent_nb._base.secrets import registered
from agent_nb.demo import provider
from tests.support.wire import WireServer


@pytest.fixture
async def server() -> AsyncIterator[WireServer]:
    async with WireServer() as server:
        yield server


@pytest.fixture(autouse=True)
def own_secrets() -> Iterator[None]:
    """What one test registers as a secret is none in the next."""
    before = set(registered)
    yield
    registered.intersection_update(before)


@pytest.fixture(scope="session", autouse=True)
def long_fragments() -> Iterator[re.Pattern[str]]:
    """The demo's own fragments take most of the time of a run, so most tests have longer ones."""
    short = provider._FRAGMENT
    provider._FRAGMENT = re.compile(r".{1,479}(?:\s|$)|.{1,480}", re.DOTALL)
    yield short
    provider._FRAGMENT = short


@pytest.fixture
def short_fragments(long_fragments: re.Pattern[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """For one test, those that users see."""
    monkeypatch.setattr(provider, "_FRAGMENT", long_fragments)
