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


WIDE = {
    "test_demo_pages_browser",
    "test_image_lab",
    "test_render_access",
    "test_scrubber_browser",
    "test_stacks_browser",
    "test_variants_browser",
}
"""Many looks at things that other files look at once; `make test-wide` runs them."""
SLOW_FIRST = ("test_widget_lab", "_lab", "_browser", "_access", "_security", "test_train", "test_bar")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that start a JupyterLab or a browser come first, so that no worker ends with one of them alone."""

    def rank(item: pytest.Item) -> int:
        name = item.path.stem
        return next((place for place, part in enumerate(SLOW_FIRST) if part in name), len(SLOW_FIRST))

    items.sort(key=rank)
    for item in items:
        if item.path.stem in WIDE:
            item.add_marker("wide")


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
