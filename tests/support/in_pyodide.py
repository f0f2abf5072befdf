"""What `tests/hosts/test_pyodide.py` runs in Pyodide."""

import json
import os
import sys
from typing import Any

from agent_nb import Agent, Run, model, replay, tool
from agent_nb.core.events import TextDelta


@tool
def double(number: int) -> int:
    """Doubles a number."""
    return 2 * number


async def stopped_in_mid_stream(agent: Agent) -> Run:
    handle = agent.start("Wait")
    async for event in handle:
        if isinstance(event, TextDelta):
            break
    handle.stop()
    return await handle


async def main(root: str) -> str:
    os.chdir("/home")
    found: dict[str, Any] = {"platform": sys.platform}
    demo = Agent(model("demo:", pace=0))
    recorded = await demo.recording("form.jsonl").run("A form")
    replayed = await Agent(replay("form.jsonl", pace=0)).run("A form")
    found["replayed"] = replayed.files["index.html"] == recorded.files["index.html"]
    found["variants"] = [run.reason for run in (await demo.start_variants("A form", variants=2)).variants]
    found["map"] = [run.reason for run in await demo.map(["A form", "A game"], save="runs")]
    for name, address in (("anthropic:", root), ("openai:", f"{root}/v1"), ("chat:local", f"{root}/v1")):
        agent = Agent(model(name, api_key="none", base_url=address), tools=[double])
        run, stopped = await agent.run("Double 21"), await stopped_in_mid_stream(agent)
        found[name] = [run.reason, run.text, run.tool_uses[0].result.text, stopped.reason, stopped.text]
    nobody = Agent(model("chat:local", base_url="http://127.0.0.1:9/v1"))
    found["nobody"] = (await nobody.run("Hello?")).error
    return json.dumps(found)
