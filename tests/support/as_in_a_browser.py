"""Runs agents as Python in a browser would: no threads, one process, some packages missing. Prints JSON.

It takes seconds, unlike Pyodide itself, and knows nothing of `fetch`: `tests/hosts/test_pyodide.py` is the real thing.
"""

import asyncio
import json
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import genai_prices  # noqa: F401 - nor must httpx2, which this imports
import IPython  # noqa: F401 - it must not see the other platform

MISSING = ("filelock", "PIL", "google.genai", "httpcore2", "nest_asyncio2", "mcp")


def refuse(thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


async def sentence(work: Any) -> str:
    """Awaits the work and returns the type and the message of its error."""
    try:
        await work
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def leftovers(folder: Path) -> tuple[Path, Path]:
    """Makes the temporary file of another tab that is saving a run, and that of a tab closed meanwhile."""
    folder.mkdir(parents=True)
    young, old = (folder / f".000001-20260101-120000-hero-1.json.abcdefg{number}" for number in (1, 2))
    young.touch()
    old.touch()
    os.utime(old, (0, 0))
    return young, old


async def main() -> dict[str, Any]:
    from agent_nb import Agent, model, replay, tool
    from agent_nb.core.limited import call_within
    from agent_nb.notebook.front_end import is_attended
    from agent_nb.notebook.page.bindings import bind_values
    from agent_nb.notebook.page.calls import call as call_bound
    from agent_nb.providers.scripted import ScriptedProvider, call, text
    from agent_nb.run import Run
    from agent_nb.run.store import RunStore
    from agent_nb.tools.mcp.server import Server
    from agent_nb.tools.mcp.server_config import ServerConfig

    demo = Agent(model("demo:", pace=0))

    @tool
    def where() -> str:
        """Says where it runs."""
        return "on the loop" if threading.current_thread() is threading.main_thread() else "elsewhere"

    async def nested() -> Run:
        return demo.run_sync("A form")

    async def gemini() -> Run:
        return await Agent(model("gemini:", api_key="none")).run("A form")

    recorded = await demo.recording("form.jsonl").run("A form")
    replayed = await Agent(replay("form.jsonl", pace=0)).run("A form")
    script = ScriptedProvider([[call("where", {})], [text("Done.")]])
    used = await Agent(script, tools=[where]).run("Where?")
    runs = await demo.map(["A form", "A game"], save="runs")
    race = await demo.start_variants("A form", variants=2)
    stopped = demo.start("A form")
    stopped.stop()
    store = RunStore(Path.cwd())
    young, old = leftovers(store.folder)
    store.save(recorded)
    return {
        "recorded": recorded.reason,
        "same": recorded.files["index.html"] == replayed.files["index.html"],
        "tool": used.tool_uses[0].result.text,
        "map": [run.reason for run in runs],
        "race": [run.reason for run in race.variants],
        "stopped": (await stopped).reason,
        "saved": len(store.rows()),
        "leftovers": [young.exists(), old.exists()],
        "attended": is_attended(SimpleNamespace(kernel=SimpleNamespace())),
        "bound": await call_bound(bind_values({"where": where})["where"], {}),
        "read": call_within(1, lambda: "inline"),
        "run_sync": await sentence(nested()),
        "image": await sentence(demo.run("This", images=[b"\x89PNG\r\n\x1a\n"])),
        "gemini": await sentence(gemini()),
        "mcp": await sentence(Server(ServerConfig(name="x", command="y")).start()),
    }


if __name__ == "__main__":
    sys.modules.update(dict.fromkeys(MISSING))  # type: ignore[arg-type]
    packages = SimpleNamespace(openai=None)
    sys.modules["pyodide_js"] = SimpleNamespace(lockfile=SimpleNamespace(packages=packages))  # type: ignore[assignment]
    threading.Thread.start = refuse  # type: ignore[method-assign]
    sys.platform = "emscripten"
    print(json.dumps(asyncio.run(main())))
