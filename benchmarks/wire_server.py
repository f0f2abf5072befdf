"""`python -m benchmarks.wire_server` runs the server by itself and prints its address as one line of JSON.

It plays a model that builds a page: it answers a request without tool results with thinking and a
`create_file` call, and one with results with a summary. `--kb` sets the page's size; a model named `page-400`
asks for 400 KB. `--gap` slows it down to the pace of a model. It ends when its standard input closes,
so it cannot outlive the program that started it.
"""

import argparse
import asyncio
import json
import re
import sys
from typing import Any

from tests.support.wire import Call, Reply, Request, Say, Think, Tokens, WireServer, reply
from tests.support.wire.dialects import DIALECTS, model_of

_LINE = '<li class="bread">Pain au levain, « à l’ancienne », 3 €</li>\n'


def page_of(size: int) -> str:
    head, tail = "<!doctype html>\n<title>Bakery</title>\n<ul>\n", "</ul>\n"
    lines = max(1, (size - len(head) - len(tail)) // len(_LINE))
    return head + _LINE * lines + tail


def answer(request: Request, size: int, **pacing: Any) -> Reply:
    if '"tool_result"' in (text := json.dumps(request.body)) or re.search(
        r'"function_?[cC]?all_output"|"role": "tool"|"function_result"|"functionResponse"', text
    ):
        return reply(Say("The page is ready."), Tokens(input=1200, output=8), **pacing)
    named = re.search(r"page-(\d+)$", model_of(request.path, request.body))
    content = page_of(int(named[1]) * 1000 if named else size)
    call = Call("create_file", {"path": "index.html", "content": content}, id="call_page")
    thought = Think("A bakery page: warm colours, a list of breads, opening hours.")
    return reply(thought, Say("I write the page."), call, Tokens(input=900, output=400), **pacing)


async def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.wire_server", description=__doc__)
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--kb", type=int, default=4, help="the page's size in thousands of characters")
    options.add_argument("--fragment", type=int, default=20, help="characters per delta")
    options.add_argument("--gap", type=float, default=0.0, help="seconds between two deltas")
    chosen = options.parse_args()
    server = WireServer()
    pacing = {"fragment": chosen.fragment, "gap": chosen.gap}
    server.otherwise = lambda request: answer(request, chosen.kb * 1000, **pacing)
    await server.start(chosen.port)
    addresses = {protocol: server.base_url(protocol) for protocol in DIALECTS}
    print(json.dumps({"port": server.port, "base_url": addresses}), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await server.stop()


if __name__ == "__main__":
    asyncio.run(main())
