"""`make try MODEL=vendor:model` runs one small prompt with your own key and shows what goes over the wire.

It prints each request as it is sent, without its headers and with secrets masked, and the status, the timings,
the pieces, the tokens and the cost of the answer. Nothing is saved.
"""

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from agent_nb import Agent, Limits, Run, model
from agent_nb._base.secrets import mask, mask_json
from agent_nb.core.errors import AgentError
from agent_nb.providers.base import Piece, Provider, Request, Turn
from agent_nb.providers.http import shared_client
from agent_nb.providers.streaming import VendorProvider
from agent_nb.tools.file_tools import FILE_TOOLS

if TYPE_CHECKING:
    import httpx2

PROMPT = "Create hello.txt with the one line `Hello`. Then answer with one short sentence."
LIMITS = Limits(steps=5, seconds=300)


class Watched(Provider):
    """A provider that prints its requests and what came back."""

    def __init__(self, provider: Provider) -> None:
        self.provider, self.name = provider, provider.name
        self.__dict__.update({name: getattr(provider, name) for name in Provider.__annotations__})
        self.new_clock, self.left_out, self.close = provider.new_clock, provider.left_out, provider.close  # type: ignore[method-assign]
        self.sent = 0.0
        self._client: httpx2.AsyncClient | None = None

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        await self._watch()
        self.sent = time.monotonic()
        first = 0.0
        kinds: Counter[str] = Counter()
        try:
            async with aclosing(self.provider.stream(request)) as pieces:
                async for piece in pieces:
                    name = type(piece).__name__
                    if name not in ("Accepted", "Turn"):
                        first = first or self._seconds()
                        kinds[name] += 1
                    if isinstance(piece, Turn):
                        _show_turn(piece, kinds, first, self._seconds())
                    yield piece
        except AgentError as error:
            show(f"Failed after {self._seconds():.2f} s: {error}")
            raise

    async def _watch(self) -> None:
        """Has the HTTP client report its requests and responses. Models without a server have none."""
        if not isinstance(self.provider, VendorProvider):
            return
        client = await shared_client(self.provider)
        if client is not self._client:
            self._client = client
            client.event_hooks["request"].append(self._on_request)
            client.event_hooks["response"].append(self._on_response)

    async def _on_request(self, request: "httpx2.Request") -> None:
        body = await request.aread()
        self.sent = time.monotonic()
        show(f"\n{request.method} {request.url}")
        show(json.dumps(mask_json(json.loads(body)), indent=2, ensure_ascii=False))

    async def _on_response(self, response: "httpx2.Response") -> None:
        show(f"\nStatus {response.status_code}; headers after {self._seconds():.2f} s")

    def _seconds(self) -> float:
        return time.monotonic() - self.sent


def _show_turn(turn: Turn, kinds: Counter[str], first: float, total: float) -> None:
    usage = turn.usage
    pieces = ", ".join(f"{count} {name}" for name, count in kinds.items())
    show(f"First piece after {first:.2f} s, all after {total:.2f} s: {pieces or 'no pieces'}")
    show(
        f"Model {turn.model}, stop {turn.stop}; tokens: {usage.input} input ({usage.cached_read} from the cache), "
        f"{usage.output} output ({usage.reasoning} reasoning)"
    )


def show(text: str) -> None:
    print(mask(text), flush=True)


async def try_model(name: str, **settings: Any) -> Run:
    """One run that is printed as it happens."""
    provider = model(name, **settings)
    try:
        return await Agent(Watched(provider), tools=FILE_TOOLS, limits=LIMITS).run(PROMPT)
    finally:
        await provider.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="try_model", description=__doc__)
    parser.add_argument("model", help="such as gemini:gemini-4-argon")
    parser.add_argument("--effort", help="how hard the model thinks")
    parser.add_argument("--api", help="another wire protocol of the vendor, such as generate_content")
    given = vars(parser.parse_args())
    try:
        run = asyncio.run(try_model(given.pop("model"), **{key: one for key, one in given.items() if one}))
    except AgentError as error:
        sys.exit(mask(str(error)))
    cost = "unknown" if run.cost is None else f"${run.cost:.6f}"
    show(f"\nThe run ended with {run.reason}. Files: {', '.join(run.files) or 'none'}. Cost: {cost}.")
    if run.reason != "end_turn":
        sys.exit(1)


if __name__ == "__main__":
    main()
