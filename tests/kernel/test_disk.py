"""Folders that cannot be written: the run is there, and a sentence says what was not saved."""

import sys

import pytest

from tests.support.kernels import start_kernel

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="uses /proc")

CELL = "%%agent hero -m demo: --pace 0 --plain --save site --record\nA form"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    with start_kernel(tmp_path_factory.mktemp("disk")) as kernel:
        kernel.run("import os")
        yield kernel


def move(kernel, folder) -> None:
    assert kernel.run(f"os.chdir({str(folder)!r})\n%reload_ext agent_nb").status == "ok"


def test_a_read_only_folder_costs_only_what_is_saved(kernel):
    move(kernel, "/proc")  # where not even root can make a folder
    cell = kernel.run(CELL)
    assert kernel.value("hero.reason, list(hero.files)") == "('end_turn', ['index.html'])"
    assert "The run could not be saved in .agent_nb: No such file or directory." in cell.stdout
    assert (
        "Not recorded: 'cassettes/hero.run.jsonl' cannot be written: No such file or directory."
        in cell.stdout
    )
    assert "Not recorded" not in cell.stderr, "it is said once"
    assert "SaveFailed: 'site' could not be written: No such file or directory." in cell.errors
    assert "Traceback" not in cell.errors
    assert kernel.run("%agent runs").status == "ok"


def test_a_folder_behind_a_symlink_is_used(kernel, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    move(kernel, tmp_path / "link")
    assert kernel.run(CELL).status == "ok"
    assert "(offline demo model, replayed)" in kernel.run("%%agent hero --plain --replay\nA form").stdout
    assert kernel.run("%agent load hero").status == "ok"
    assert (tmp_path / "real" / "site" / "index.html").is_file()
