"""Runs in branches on a real kernel: nothing of them reaches the session or the page, and nothing is left of them."""

import os
import signal

import pytest

from tests.support.kernels import start_kernel
from tests.support.live_page import Page
from tests.support.processes import ended
from tests.support.waiting import wait_for
from tests.support.wire import Call, Say, reply

BRANCH = "-m openai:gpt-6.1-sol -t kernel --branch --approve auto"


@pytest.fixture
def run(page, run_codes):
    """Runs code in one branch, a call for each text; returns what the model got."""

    def run(*codes: str, options: str = BRANCH) -> list[str]:
        run_codes(f"%%agent ran {options}\nCompute", *codes)
        return list(eval(page.kernel.value("[use.result.text for use in ran.tool_uses]")))

    return run


def printed_numbers(page: Page) -> list[int]:
    """The first line that the running code prints."""
    page.pump(lambda: "\n" in page.live_text())
    return [int(word) for word in page.live_text().split()]


def test_variables_widgets_and_figures_of_the_session_stay_as_they_are(page, run):
    page.kernel.run(
        "import matplotlib.pyplot as plt, ipywidgets\nslider = ipywidgets.IntSlider()\nrows = [1]"
    )
    first, second = run(
        "rows.append(2)\nslider.value = 5; slider.value = 6\nipywidgets.IntSlider()\n"
        "to_file('a.json', rows)\nplt.plot([1, 2]);\n!echo from a shell\n"
        "from jupyter_client.session import Session\nkernel = get_ipython().kernel\n"
        "Session(key=kernel.session.key).send(\n"
        "    kernel.iopub_socket, 'stream', {'name': 'stdout', 'text': 'sent'}, kernel.get_parent());",
        "print(rows, sorted(agent_files))",
    )
    assert first.count("widgets do not work in it") == 1
    assert "[1, 2] ['a.json']" in second
    assert not page.streams
    assert {event["title"] for event in page.of("tool_ready")} == {
        "run Python: runs a shell command: echo from a shell (in a branch)",
        "run Python (in a branch)",
    }
    names = "rows, slider.value, ran.files['a.json'][:1], plt.get_fignums()"
    assert page.kernel.value(names) == "([1], 0, '[', [])"
    assert any("your variables are unchanged" in str(message) for message in page.messages)


def test_eight_variants_and_two_runs_at_once_work_each_in_its_own_branch(page, run, server):
    page.kernel.run("rows = []")
    code = "import os, time\nrows.append(os.getpid()); time.sleep(0.2); print(len(rows), *rows)"
    calls = [reply(Call("run_python", {"code": code}, id=f"c{n}")) for n in range(8)]
    server.forget()
    server.plan(*calls, *[reply(Say("Done.")) for _ in calls])
    page.finish(page.start(f"%%agent ran {BRANCH.replace(' --branch', '')} -n 8\nCompute"))
    texts = eval(page.kernel.value("[v.tool_uses[0].result.text.split() for v in ran.variants]"))
    assert {text[0] for text in texts} == {"1"}
    assert len({text[1] for text in texts}) == 8
    server.forget()
    server.plan(*calls[:2], *[reply(Say("Done.")) for _ in range(2)])
    for name in ("one", "two"):
        page.finish(page.start(f"%%agent {name} {BRANCH} --background\nCompute"))
    page.finish(page.start("await one; await two"))
    assert (
        page.kernel.value("[r.tool_uses[0].result.text[0] for r in (one, two)], rows") == "(['1', '1'], [])"
    )


def test_stop_ends_a_branch_in_c_code_at_once(page, start_codes, run_codes):
    code = "import os, time; print(os.getpid()); time.sleep(1000)"
    cell = start_codes(f"%%agent ran {BRANCH}\nCompute", code)
    (pid,) = printed_numbers(page)
    assert page.command("stop")["ok"]
    page.finish(cell)
    wait_for(lambda: ended(pid))
    assert page.kernel.value("ran.reason") == "'stopped'"
    run_codes(f"%%agent ran {BRANCH} --seconds 1\nCompute", code)
    assert page.kernel.value("ran.reason, any(use.ok for use in ran.tool_uses)") == "('max_seconds', False)"


def test_script_magics_work_in_a_branch_after_the_session_has_used_them(page, run):
    page.kernel.run("%%bash\necho first")
    first, second = run("%%bash\necho 'in a branch'", "%%sh\necho again")
    assert "in a branch" in first
    assert "again" in second
    page.kernel.run("%%bash --out after\necho still")
    assert page.kernel.value("after") == r"'still\n'"


def test_with_data_schema_the_model_gets_names_and_types(page, run):
    page.kernel.run("secret_city = 'Tromso'")
    (text,) = run("town = secret_city + '!'; print(town)", options=f"{BRANCH} --data schema")
    assert "town: str" in text
    assert "Tromso" not in text


def test_a_run_on_another_thread_or_inside_the_running_loop_has_a_branch(page, server):
    server.forget()
    server.plan(reply(Call("run_python", {"code": "print(rows)"})), reply(Say("Done.")))
    page.kernel.run(
        "import asyncio, threading\nfrom agent_nb import Agent, kernel_tools\nrows = ['here']\n"
        "agent = Agent('openai:gpt-6.1-sol', tools=kernel_tools(), approve='auto', branch=True)\n"
        "results = []\n"
        "thread = threading.Thread(target=lambda: results.append(asyncio.run(agent.run('go'))))\nthread.start()"
    )
    page.kernel.run("while thread.is_alive(): await asyncio.sleep(0.05)")
    assert "here" in page.kernel.value("results[0].tool_uses[0].result.text")
    server.plan(
        reply(Call("run_python", {"code": "await asyncio.sleep(0); print(rows)"})), reply(Say("Done."))
    )
    assert "here" in page.kernel.value("agent.run_sync('go').tool_uses[0].result.text")


def test_polars_is_said_to_hang(page, run):
    pytest.importorskip("polars")
    page.kernel.run(
        "import polars\ntable = polars.DataFrame({'a': [1, 1, 2] * 1000, 'b': 3000 * [1]})\n"
        "_ = table.group_by('a').sum()\n%config AgentMagics.python_seconds = 2"
    )
    first, second = run("print('x')", "table.lazy().group_by('a').agg(polars.col('b').sum()).collect()")
    assert "polars was loaded before the branch was made" in first
    assert "polars was loaded before" in second or "shape: (2, 2)" in second


def test_a_killed_kernel_leaves_no_process(tmp_path, server, vendor):
    with start_kernel(tmp_path, **vendor) as kernel:
        page = Page(kernel)
        server.forget()
        code = (
            "import os, subprocess, time\n"
            "reading, writing = os.pipe()\n"
            "if not (first := os.fork()):\n"
            "    os.setsid()\n"
            "    if os.fork(): os._exit(0)\n"
            "    os.environ.clear(); os.write(writing, str(os.getpid()).encode()); os.closerange(0, 256)\n"
            "    time.sleep(1000)\n"
            "os.waitpid(first, 0); daemon = int(os.read(reading, 99))\n"
            "pids = [subprocess.Popen(['sleep', '1000'], start_new_session=new).pid for new in (False, True)]\n"
            "print(os.getpid(), daemon, *pids)\ntime.sleep(1000)"
        )
        page.kernel.run("import multiprocessing; pool = multiprocessing.get_context('fork').Pool(1)")
        server.plan(reply(Call("run_python", {"code": code})))
        page.start(f"%%agent ran {BRANCH}\nCompute")
        pids = printed_numbers(page)
        assert len(pids) == 4
        kernel.manager.provisioner.process.kill()
        for pid in pids:
            wait_for(lambda: ended(pid))  # noqa: B023


def test_follow_ups_work_in_copies_of_kept_branches_and_wait_for_none_of_their_threads(page, run):
    again = "-m openai:gpt-6.1-sol -t kernel --approve auto --from"
    page.kernel.run("rows = [1]\n%config AgentMagics.branches = 2")
    run("import threading, time\nthreading.Thread(target=time.sleep, args=[1000]).start(); rows.append(2)")
    page.kernel.run("first = ran")
    assert run("rows.append(3); print(rows)", options=f"{again} first")[0][:9] == "[1, 2, 3]"
    page.kernel.run("second = ran")
    assert run("print(rows)", options=f"{again} second")[0][:9] == "[1, 2, 3]"
    assert run("print(rows)", options=f"{again} first")[0][:3] == "[1]"
    assert any("The branch of `ran` has ended" in str(message) for message in page.messages)
    page.kernel.run("second.apply()")
    assert page.kernel.value("rows") == "[1, 2, 3]"


@pytest.mark.parametrize("how", ["killed", "restarted", "shut down"])
def test_kept_branches_end_with_the_kernel(tmp_path, server, vendor, how):
    with start_kernel(tmp_path, **vendor) as kernel:
        page, options = Page(kernel), "--branch"
        code = (
            "import os, subprocess\n"
            "program = subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
            "print(os.getpid(), program.pid)"
        )
        kernel.run("from agent_nb.notebook.kernel_tools import kept_branches; kept_branches.IDLE_SECONDS = 0")
        pids = []
        for _ in range(4):  # the first, of which the others are copies, has ended
            server.forget()
            server.plan(reply(Call("run_python", {"code": code})), reply(Say("Done.")))
            page.finish(page.start(f"%%agent ran {BRANCH} {options}\nCompute"))
            pids.append([*map(int, eval(kernel.value("ran.tool_uses[0].result.text")).split()[:2])])
            options = "--from ran"
        for pid in pids[0]:
            wait_for(lambda: ended(pid))  # noqa: B023
        assert not any(map(ended, (pid for pair in pids[1:] for pid in pair)))
        kernel.run("import multiprocessing; pool = multiprocessing.get_context('fork').Pool(1)")
        (worker,) = eval(kernel.value("[process.pid for process in pool._pool]"))
        if how == "killed":
            kernel.manager.provisioner.process.kill()
        elif how == "restarted":
            kernel.restart()
        else:
            kernel.manager.shutdown_kernel()
        for pid in (pid for pair in pids for pid in pair):
            wait_for(lambda: ended(pid))  # noqa: B023
        if not ended(worker):
            os.kill(worker, signal.SIGKILL)
