"""A client of a notebook that is lent, which waits for its answers."""

from collections.abc import Callable
from itertools import count
from typing import Any

from agent_nb._base import mcp
from agent_nb._base.threads import start_thread
from agent_nb.features.lend.bridge import NotebookSession
from agent_nb.features.lend.lease import Lease
from tests.support.waiting import wait_for


class LentClient:
    def __init__(self, lease: Lease, name: str) -> None:
        self.session = NotebookSession(lease, {"clientInfo": {"name": name}})
        self.numbers = count(1)
        self.told: list[str] = []
        """What its calls have reported while they ran."""

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        answer: dict[str, Any] = {}
        for answer in self.session.ask(mcp.rpc(id=next(self.numbers), method=method, params=params)):
            self.told += [answer["params"]["message"]] if "params" in answer else []
        return answer.get("result", {"content": [{"text": f"no result: {answer}"}]})  # type: ignore[no-any-return]

    def call(self, name: str, **arguments: Any) -> str:
        result = self.ask("tools/call", name=name, arguments=arguments, _meta={"progressToken": 1})
        return str(result["content"][0]["text"])

    def run(self, code: str) -> str:
        return self.call("run_python", code=code)

    def start(self, name: str, wait: Callable[[Callable[[], object]], None] = wait_for, **arguments: Any):
        """Call in a thread; what it returns waits for the result."""
        results: list[str] = []
        start_thread("client", lambda: results.append(self.call(name, **arguments)))

        def result() -> str:
            wait(lambda: results)
            return results[0]

        return result
