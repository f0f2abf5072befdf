"""`python -m docs.scripts.record_agent` writes the cassette of lesson 08: Gemini CLI makes a page and asks first.

The agent is the real one, which `make test-agents` installs; its model is scripted, and the lesson says so.
"""

# ruff: noqa: E501 - words and pages are written as they are sent

import asyncio
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from agent_nb import Agent
from agent_nb.core.events import ApprovalRequested
from agent_nb.engine.approval import Answer
from docs.scripts.execute_notebooks import FOLDER
from tests.support.agents.real import environment, in_order, install
from tests.support.wire import Call, Pause, Say, Think, Tokens, WireServer, reply

PACE: dict[str, Any] = {"fragment": 12, "gap": 0.03}
CASSETTE = FOLDER / "cassettes" / "tides.run.jsonl"
PROMPT = "A page that explains the tides to children, with one picture."
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Why the sea comes and goes</title>
<style>
body { margin: 0 auto; padding: 2.5rem 1.25rem; max-width: 36rem; font: 1.15rem/1.6 system-ui, sans-serif; color: #12303f; background: #f1f9fc; }
h1 { color: #0b6685; }
figure { margin: 2rem 0; }
svg { width: 100%; height: auto; }
</style>
</head>
<body>
<h1>Why the sea comes and goes</h1>
<p>Twice a day the sea climbs up the beach, and twice a day it goes back. The Moon does that.</p>
<figure>
<svg viewBox="0 0 320 120" role="img" aria-label="The Moon pulls the water of the Earth towards itself">
<ellipse cx="110" cy="60" rx="70" ry="44" fill="#8fd0e8"/>
<circle cx="110" cy="60" r="40" fill="#4f8a4c"/>
<circle cx="280" cy="60" r="14" fill="#c9c4b3"/>
</svg>
</figure>
<p>The Moon pulls at everything on Earth. Rock hardly moves, but water does: it piles up towards the Moon.</p>
</body>
</html>
"""
OLD = "it piles up towards the Moon.</p>"
NEW = "it piles up towards the Moon, and on the far side too. The Earth turns below these two hills of water, so every beach meets both of them once a day.</p>"


async def main() -> None:
    install()
    home = Path(tempfile.mkdtemp(dir=FOLDER.parent / "build"))
    async with WireServer(strict=False) as server:
        os.environ.update(environment(server, home), XDG_CACHE_HOME=str(home / "cache"))
        server.otherwise = in_order(
            lambda folder: reply(Pause(0.5), Think("One page for children: short sentences, one drawing."), Say("I write the page, with a drawing of the Earth, its water and the Moon."), Call("write_file", {"file_path": str(folder / "index.html"), "content": PAGE}), Tokens(input=5210, output=702, reasoning=18), **PACE),
            lambda folder: reply(Pause(0.5), Say("Twice a day is not explained yet."), Call("replace", {"file_path": str(folder / "index.html"), "instruction": "Explain the second tide.", "old_string": OLD, "new_string": NEW}), Tokens(input=6020, output=133), **PACE),
            reply(Pause(0.4), Say("`index.html` explains the tides in three short paragraphs and one drawing, also why there are two a day."), Tokens(input=6260, output=41), **PACE),
        )  # fmt: skip
        handle = Agent("acp:gemini").recording(CASSETTE).start(PROMPT)
        handle.approve_with(_approve)
        run = await handle
    shutil.rmtree(home, ignore_errors=True)
    run.raise_for_failure()
    assert len(run.files.versions("index.html")) == 2
    assert str(home) not in CASSETTE.read_text(encoding="utf-8")
    print(f"{CASSETTE.name}: {run.reason}, {run.seconds:.1f} s, {run.usage}")


async def _approve(request: ApprovalRequested) -> Answer:
    await asyncio.sleep(1)
    return Answer(True)


if __name__ == "__main__":
    asyncio.run(main())
