"""The wire server, for tests that ask a provider."""

from collections.abc import AsyncIterator

import pytest

from tests.support.wire import WireServer


@pytest.fixture
async def server() -> AsyncIterator[WireServer]:
    async with WireServer() as server:
        yield server
