"""What the first run needs is imported after `%load_ext`, while nobody waits."""

import pytest

from tests.support.kernels import start_kernel

ENDED = """
import sys, threading
for thread in threading.enumerate():
    if thread.name == "agent_nb preload":
        thread.join()
names = ("agent_nb.notebook.magic.run_cell", "agent_nb.lab.plugin", "agent_nb.lab.cell", "openai", "anthropic")
loaded = [name for name in names if name in sys.modules]
"""
OURS = ["agent_nb.notebook.magic.run_cell", "agent_nb.lab.plugin"]
KEY = "sk-test-0123456789abcdef0123"


@pytest.mark.parametrize(
    ("environment", "attended", "loaded"),
    [
        ({"OPENAI_API_KEY": KEY}, True, [*OURS, "openai"]),
        ({"OPENAI_API_KEY": KEY, "AGENT_NB_MODEL": "demo:"}, True, OURS),
        ({"OPENAI_API_KEY": KEY, "AGENT_NB_MODEL": "nobody:x"}, True, OURS),
        ({"OPENAI_API_KEY": KEY}, False, []),
    ],
)
def test_the_default_model_s_sdk_is_imported_where_somebody_watches(tmp_path, environment, attended, loaded):
    with start_kernel(tmp_path, load=False, **environment) as kernel:
        assert kernel.run("%load_ext agent_nb", stdin=attended).status == "ok"
        kernel.run(ENDED)
        assert kernel.value("loaded") == str(loaded)


def test_a_command_right_after_load_ext_waits_for_the_imports(tmp_path):
    with start_kernel(tmp_path, load=False) as kernel:
        load = kernel.start("%load_ext agent_nb", stdin=True)
        command = kernel.start("%agent runs", stdin=True)
        assert kernel.finish(load).status == "ok"
        cell = kernel.finish(command)
    assert (cell.status, cell.stderr) == ("ok", "")
