"""The site is built once for all tests that open it."""

from pathlib import Path

import pytest

from tests.support.lite import SITE_PYTHON, build_site, serve_site


@pytest.fixture(scope="session")
def site_folder(tmp_path_factory) -> Path:
    if not SITE_PYTHON.exists():
        pytest.skip("needs the environment that `make site` makes")
    folder = tmp_path_factory.mktemp("site") / "built"
    build_site(folder)
    return folder


@pytest.fixture(scope="session")
def site(site_folder):
    with serve_site(site_folder) as address:
        yield address
