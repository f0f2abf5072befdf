"""A vendor for cells that name a model of Anthropic."""

from collections.abc import Iterator

import pytest

from tests.support.wire import WireServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[WireServer]:
    with WireServer.in_thread() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test-key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url("anthropic_messages"))
        yield server
