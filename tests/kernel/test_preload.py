"""What the first run needs is imported after `%load_ext`, while nobody waits."""

from tests.support.kernels import start_kernel

ENDED = """
import sys, threading
for thread in threading.enumerate():
    if thread.name == "agent_nb preload":
        thread.join()
ours = ("notebook.magic.run_cell", "classroom.plugin", "classroom.cell")
names = (*(f"agent_nb.{name}" for name in ours), "openai", "anthropic")
loaded = [name for name in names if name in sys.modules]
"""
OURS = ["agent_nb.notebook.magic.run_cell", "agent_nb.classroom.plugin"]
KEY = "sk-test-0123456789abcdef0123"


def test_the_default_model_s_sdk_is_imported_where_somebody_watches(tmp_path):
    with start_kernel(tmp_path, load=False, OPENAI_API_KEY=KEY) as kernel:
        kernel.run("import os")
        for attended, model, loaded in (
            (False, "", []),
            (True, "demo:", OURS),
            (True, "nobody:x", OURS),
            (True, "", [*OURS, "openai"]),
        ):
            kernel.run(f"os.environ['AGENT_NB_MODEL'] = {model!r}")
            assert kernel.run("%reload_ext agent_nb", stdin=attended).status == "ok"
            kernel.run(ENDED)
            assert kernel.value("loaded") == str(loaded)


def test_a_command_right_after_load_ext_waits_for_the_imports(tmp_path):
    with start_kernel(tmp_path, load=False) as kernel:
        load = kernel.start("%load_ext agent_nb", stdin=True)
        command = kernel.start("%agent runs", stdin=True)
        assert kernel.finish(load).status == "ok"
        cell = kernel.finish(command)
    assert (cell.status, cell.stderr) == ("ok", "")


WATCH = """
import sys, threading

imported_on_loop = []

class Watcher:
    def find_spec(self, name, path=None, target=None):
        if threading.current_thread() is threading.main_thread():
            imported_on_loop.append(name)

sys.meta_path.insert(0, Watcher())
"""


def test_a_first_run_imports_the_engine_off_the_loop(tmp_path):
    with start_kernel(tmp_path) as kernel:
        kernel.run(WATCH)
        assert kernel.run("%%agent hero -m demo: --pace 0\nA page").status == "ok"
        assert "agent_nb.features.prompt.cell" in kernel.value("imported_on_loop")
        assert "agent_nb.engine" not in kernel.value("imported_on_loop")
