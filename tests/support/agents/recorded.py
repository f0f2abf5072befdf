"""An agent that says what a real one has said: `recorded.py FILE`. Long texts in the recordings are cut.

A recording begins with the prompt. Where the client had answered a question, it waits for the answer.
"""

import json
import sys
from pathlib import Path

MODES = [{"id": "default"}, {"id": "read-only"}]


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def main():
    about, *messages = map(json.loads, Path(sys.argv[1]).read_text(encoding="utf-8").splitlines())
    capabilities = {"promptCapabilities": {"image": True}, "mcpCapabilities": {"http": True}}
    results = {
        "initialize": {"protocolVersion": 1, "agentInfo": about["info"], "agentCapabilities": capabilities},
        "session/new": {"sessionId": "s1", "modes": {"availableModes": MODES, "currentModeId": "default"}},
    }
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "session/prompt":
            play(message["id"], messages)
        elif "id" in message and "method" in message:
            send({"id": message["id"], "result": results.get(message["method"], {})})


def play(number, messages):
    recorded = messages[0]["->"]["id"]
    for message in messages[1:]:
        if said := message.get("<-"):
            is_end = said.get("id") == recorded and "method" not in said
            send({**said, "id": number} if is_end else said)
        elif "result" in message["->"]:
            sys.stdin.readline()


if __name__ == "__main__":
    main()
