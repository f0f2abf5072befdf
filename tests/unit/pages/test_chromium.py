"""When Chromium may be used, and what happens if it does not start. `tests/kernel/test_chromium.py` starts it."""

import os
import shutil
import sys

import pytest

from agent_nb.core.errors import ConfigError
from agent_nb.pages.chromium import ChromiumViewer, installed_viewer
from agent_nb.pages.page_check import CheckRequest, ViewerUnavailableError


def test_root_must_allow_chromium_without_its_sandbox(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("AGENT_NB_CHROMIUM", "true")
    monkeypatch.delenv("AGENT_NB_CHROMIUM_SANDBOX", raising=False)
    with pytest.raises(ConfigError, match="AGENT_NB_CHROMIUM_SANDBOX=off"):
        ChromiumViewer()
    assert installed_viewer() is None
    monkeypatch.setenv("AGENT_NB_CHROMIUM_SANDBOX", "off")
    ChromiumViewer()
    assert installed_viewer() is not None
    with pytest.raises(ConfigError, match="does not work for root"):
        ChromiumViewer(sandbox=True)


@pytest.mark.parametrize("named", ["off", "/nowhere/chromium"])
def test_no_browser_is_no_viewer(monkeypatch, named):
    monkeypatch.setenv("AGENT_NB_CHROMIUM", named)
    monkeypatch.setenv("AGENT_NB_CHROMIUM_SANDBOX", "off")
    assert installed_viewer() is None
    with pytest.raises(ConfigError, match="There is no Chromium"):
        ChromiumViewer(sandbox=False)


def test_without_playwright_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "playwright", None)
    assert installed_viewer() is None
    with pytest.raises(ConfigError, match=r'pip install "agent-nb\[look\]"'):
        ChromiumViewer("chromium", sandbox=False)


async def test_a_browser_that_does_not_start_is_an_error_for_the_model():
    viewer = ChromiumViewer(shutil.which("true"), sandbox=False)
    with pytest.raises(ViewerUnavailableError, match="Chromium did not start"):
        await viewer.check(CheckRequest(files={"index.html": "<h1>Hi</h1>"}, path="index.html"))
