"""Real agents, from npm into a cache outside the repository, which talk to the server of the tests.

python -m tests.support.agents.real      # installs them
"""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from agent_nb.acp.folder import cache_folder
from tests.support.wire import Reply, Request, WireServer, json_reply

PACKAGES = (
    "@google/gemini-cli@0.61.0",
    "@zed-industries/codex-acp@0.16.0",
    "@openai/codex@0.169.0",
    "@anthropic-ai/claude-code@2.1.197",
)
"""Pinned: what agents ask and tell changes between minor versions."""
CACHE = Path(os.environ.get("AGENT_NB_AGENTS") or Path.home() / ".cache" / "agent_nb-agents")
KEY = "key-of-the-tests-0123456789"
_ROUTE = {"reasoning": "simple", "model_choice": "flash", "complexity_reasoning": "", "complexity_score": 10}
_CODEX = """model = "gpt-5.1-codex"
model_provider = "wire"
[model_providers.wire]
name = "wire"
base_url = "http://127.0.0.1:{port}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
"""


def install() -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    done = CACHE / "installed.json"
    if not done.exists() or json.loads(done.read_text()) != [*PACKAGES]:
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(CACHE), *PACKAGES]
        subprocess.run(command, check=True)
        program = CACHE / "node_modules" / "@anthropic-ai" / "claude-code" / "install.cjs"
        subprocess.run(["node", str(program)], check=True, cwd=program.parent)  # npm may not run it
        done.write_text(json.dumps(PACKAGES))


def environment(server: WireServer, home: Path) -> dict[str, str]:
    """Variables with which both agents use the server, and nothing of the user's own."""
    codex = home / "codex"
    codex.mkdir(parents=True, exist_ok=True)
    (codex / "config.toml").write_text(_CODEX.format(port=server.port))
    return {
        "HOME": str(home),
        "PATH": os.pathsep.join([str(CACHE / "node_modules" / ".bin"), os.environ["PATH"]]),
        "GEMINI_API_KEY": KEY,
        "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{server.port}",
        "OPENAI_API_KEY": KEY,
        "CODEX_HOME": str(codex),
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.port}",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "ENABLE_TOOL_SEARCH": "false",
    }


def in_order(*replies: Reply | Callable[[Path], Reply]) -> Callable[[Request], Reply]:
    """Answers for `server.otherwise`. Each may depend on the agent's folder; the last one is repeated.

    Gemini CLI asks a small model first how hard the prompt is.
    """
    left = [*replies]

    def answer(request: Request) -> Reply:
        if ":generateContent" in request.path:
            parts = [{"text": json.dumps(_ROUTE)}]
            return json_reply({"candidates": [{"content": {"role": "model", "parts": parts}}]})
        reply = left.pop(0) if len(left) > 1 else left[0]
        [folder] = cache_folder().iterdir()
        return reply(folder) if callable(reply) else reply

    return answer


if __name__ == "__main__":
    install()
