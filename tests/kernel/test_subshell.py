"""JupyterLab sends widget messages to a subshell: another thread, another loop. Stop must work from there."""

import ipykernel
import pytest

from tests.support.kernels import start_kernel
from tests.support.live_page import Page
from tests.support.waiting import PATIENCE
from tests.support.wire import Call, Hold, WireServer, reply


@pytest.mark.skipif(ipykernel.version_info < (7, 0), reason="subshells came with ipykernel 7")
def test_stop_works_from_a_subshell(tmp_path):
    with WireServer.in_thread() as server, start_kernel(tmp_path, **server.as_openai()) as kernel:
        control = kernel.client.control_channel
        control.send(kernel.client.session.msg("create_subshell_request"))
        page = Page(kernel)
        page.subshell = kernel.client.get_control_msg(timeout=PATIENCE)["content"]["subshell_id"]
        server.plan(reply(Call("create_file", '{"path": "index.html", "content": "<h1>Bre'), Hold()))
        cell = page.start("%%agent stopped -m openai:gpt-6.1-sol\nA page")
        page.pump(lambda: page.of("file_delta"))
        assert page.command("stop")["ok"]
        page.finish(cell)
        assert kernel.value("(stopped.reason, stopped.html)") == "('stopped', '<h1>Bre')"
