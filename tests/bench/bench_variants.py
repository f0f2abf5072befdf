"""How long eight variants take at once, against one alone: real SDKs over real sockets.

python -m tests.bench.bench_variants
"""

import asyncio
import json
import time

from agent_nb import Agent
from tests.wire import Call, Pause, Say, Tokens, WireServer, reply
from tests.wire.cases import CASE
from tests.wire.server import Request
from tests.wire.steps import Reply

PAGE = "<!doctype html>\n" + "<p>Fresh bread from the oven, every morning at six.</p>\n" * 400
VENDORS = ("anthropic", "openai", "chat")


def answer(request: Request) -> Reply:
    """A model that says 100 words a second for two seconds, then writes a page of 22 KB, then sums up."""
    if "call_page" in json.dumps(request.body):
        return reply(Say("The page is ready."), Tokens())
    words = [step for _ in range(100) for step in (Say("warm bread "), Pause(0.02))]
    return reply(
        *words, Call("create_file", {"path": "index.html", "content": PAGE}, id="call_page"), Tokens()
    )


async def seconds(server: WireServer, models: tuple[str, ...], variants: int) -> float:
    providers = [CASE[name].provider(server) for name in models]
    start = time.perf_counter()
    run = await Agent(providers[0]).race("A page", models=providers, variants=variants)
    taken = time.perf_counter() - start
    assert all(one.html == PAGE for one in run.variants or (run,)), [one.reason for one in run.variants]
    return taken


async def measure(server: WireServer) -> None:
    for name in VENDORS:
        await seconds(server, (name,), 1)
        alone = await seconds(server, (name,), 1)
        together = await seconds(server, (name,), 8)
        print(f"  {name}: one {alone:.2f} s, eight at once {together:.2f} s, ratio {together / alone:.2f}")
    slowest = max([await seconds(server, (name,), 1) for name in VENDORS])
    together = await seconds(server, VENDORS, 2)
    print(f"  three vendors, two each: slowest alone {slowest:.2f} s, ratio {together / slowest:.2f}")


def main() -> None:
    print("Variants at once: total time against the slowest alone (close to 1)")
    with WireServer.in_thread() as server:
        server.otherwise = answer
        asyncio.run(measure(server))


if __name__ == "__main__":
    main()
