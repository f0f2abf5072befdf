"""Apply on a real kernel, whose loop runs while `apply` waits."""

import pytest

BRANCH = "-m openai:gpt-6.1-sol -t kernel"
pytestmark = pytest.mark.usefixtures("patient")


def test_apply_undo_and_interrupt_in_a_cell(page, run_codes):
    kernel = page.kernel
    kernel.run("rows = [1]; slow = False")
    code = "import asyncio, time\nwhile slow: await asyncio.sleep(0.01)"
    run_codes(
        f"%%agent look {BRANCH} --branch --approve auto\nCompute", "rows.append(2)\ntotal = sum(rows)", code
    )
    assert kernel.value("rows, 'total' in globals()") == "([1], False)"
    applied = kernel.run("look.apply()")
    said = "2 calls ran in this session. Set total, asyncio, time. rows: 1 item → 2 items."
    assert said in applied.result["text/plain"]
    assert kernel.value("rows, total") == "([1, 2], 3)"
    assert "Removed: total, asyncio, time" in kernel.value("look.unapply()")
    for waits in ("await asyncio.sleep(0.01)", "time.sleep(0.01)"):
        code = f"import asyncio, time\nmark.touch() if slow else None\nwhile slow: {waits}"
        kernel.run("import pathlib; mark = pathlib.Path('mark'); mark.unlink(missing_ok=True); slow = False")
        run_codes(f"%%agent look {BRANCH} --branch --approve auto\nCompute", "first = 1", code)
        kernel.run("slow = True")
        cell = kernel.start(
            "import threading, os, signal, time\n"
            "def stop():\n"
            "    while not mark.exists(): time.sleep(0.01)\n"
            "    os.kill(os.getpid(), signal.SIGINT)\n"
            "threading.Thread(target=stop).start()\nlook.apply(anyway=True)"
        )
        errors = kernel.finish(cell).errors
        assert "Call 2 of 2 of `look` was interrupted. The later ones did not run. Set first" in errors
        assert "Removed: first" in kernel.value("look.unapply()")
        assert "has not been applied" in kernel.run("look.unapply()").errors
