"""A kernel whose SDKs are too old for every vendor. `make test-matrix` runs it with such SDKs."""

import os
import re

import pytest

from agent_nb.providers.requirements import missing
from agent_nb.providers.vendors import VENDORS
from tests.support.kernels import start_kernel
from tests.support.older_sdks import older_sdks


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packages")
    if not missing(VENDORS["openai"]).startswith("pip install -U"):
        older_sdks(folder)
    path = os.pathsep.join((str(folder), os.environ.get("PYTHONPATH", "")))
    home = tmp_path_factory.mktemp("home")
    with start_kernel(home, PYTHONPATH=path, OPENAI_API_KEY="key-of-a-test") as kernel:
        yield kernel


def test_the_demo_and_replays_work(kernel):
    for model in ("demo: --record", "replay:cassettes/page.run.jsonl"):
        answer = kernel.run(f"%%agent page --pace 0 -m {model}\nA form")
        assert answer.status == "ok", answer.errors
        assert "'index.html'" in kernel.value("list(page.files)")


@pytest.mark.parametrize(
    ("vendor", "bound"),
    [("openai", "openai>=3"), ("anthropic", "anthropic>=1"), ("gemini", "google-genai>=3")],
)
def test_a_vendor_names_the_upgrade(kernel, vendor: str, bound: str):
    for cell in (f"%%agent x -m {vendor}:\nA page", *(["%%agent x\nA page"] if vendor == "openai" else [])):
        assert f'`%pip install -U "{bound}"`, then restart the kernel.' in kernel.run(cell).errors
    assert re.search(
        f'{vendor}:.*pip install -U "{bound}": [0-9.]+ is too old',
        kernel.run("%agent models").displays[0]["text/plain"],
    )
