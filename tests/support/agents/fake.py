"""An agent that does what a script says, over stdin and stdout: `fake.py SCRIPT [FAULT@NUMBER]`.

A script is JSON: `initialize`, `new` and other methods by name (results, or `{"error": ...}`), and `prompts`, a list of
steps for each prompt.
`$FOLDER` in it is the agent's folder.
A fault happens at the message of this number that it sends, counted from 0. It imports nothing of the package,
and at first nothing that takes time: a hundred of them are started.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

OPTIONS = [
    {"optionId": "for-ever", "name": "Always", "kind": "allow_always"},
    {"optionId": "this-time", "name": "Yes", "kind": "allow_once"},
    {"optionId": "never", "name": "No", "kind": "reject_once"},
]
INITIALIZE = {
    "protocolVersion": 1,
    "agentInfo": {"name": "fake-agent", "title": "Fake", "version": "1.2.3"},
    "agentCapabilities": {"promptCapabilities": {"image": True}, "mcpCapabilities": {"http": True}},
    "authMethods": [{"id": "key", "name": "A key"}],
}


class Fake:
    def __init__(self, script, fault):
        self.script, self.prompts = script, list(script.get("prompts", []))
        self.fault, _, number = fault.partition("@")
        self.faulty = int(number or -1)
        self.sent = 0
        self.lock = threading.Lock()
        self.answers = {}
        self.arrived = threading.Condition()
        self.cancelled = threading.Event()
        self.servers = []
        self.log = Path(script["log"]) if "log" in script else None

    def write(self, line):
        with self.lock:
            if self.sent == self.faulty:
                self.break_down()
            self.sent += 1
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    def break_down(self):
        match self.fault:
            case "dies":
                sys.stderr.write("out of memory\n")
                sys.stderr.flush()
                os._exit(7)
            case "hangs":
                time.sleep(3600)
            case "odd":
                lines = (
                    "plain text",
                    "12345",
                    "[1]",
                    '"text"',
                    "{",
                    '{"jsonrpc": "2.0"}',
                    '{"id": 99, "result": 1}',
                    '{"id": [], "result": 1}',
                    '{"id": {}, "method": "session/request_permission"}',
                    '{"method": "$/cancel_request", "params": {"requestId": []}}',
                    "",
                )
                for line in lines:
                    sys.stdout.write(line + "\n")
                update = {"sessionUpdate": "weather", "sky": "clear"}
                for message in (
                    {"method": "_vendor/news", "params": 5},
                    {"method": "session/update", "params": {}},
                    {"method": "session/update", "params": {"sessionId": "s1", "update": update}},
                    {"id": "x", "method": "terminal/create", "params": {}},
                ):
                    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
                for _ in range(4000):
                    sys.stderr.write(f"{'a line that nobody reads' * 5}\n")
                sys.stderr.flush()
            case "closes":
                sys.stdout.flush()
                os.close(1)
                time.sleep(3600)

    def send(self, **message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}))

    def update(self, update, **fields):
        update = {"sessionUpdate": update, **fields}
        self.send(method="session/update", params={"sessionId": "s1", "update": update})

    def note(self, **seen):
        if self.log:
            with self.log.open("a") as log:
                log.write(json.dumps(seen) + "\n")

    def run(self):
        for line in sys.stdin:
            message = json.loads(line)
            self.note(received=message)
            if "method" not in message:
                with self.arrived:
                    self.answers[message["id"]] = message
                    self.arrived.notify_all()
                continue
            self.receive(message)
        if not self.script.get("ignores_end"):
            os._exit(0)
        time.sleep(3600)

    def receive(self, message):
        match message["method"]:
            case "initialize":
                self.reply(message, self.script.get("initialize", INITIALIZE))
            case "session/new":
                self.servers = message["params"]["mcpServers"]
                self.reply(message, self.script.get("new", {"sessionId": "s1"}))
            case "session/prompt":
                self.cancelled.clear()
                threading.Thread(target=self.prompt, args=(message,), daemon=True).start()
            case "session/cancel":
                if not self.script.get("ignores_cancel"):
                    self.cancelled.set()
            case _:
                self.reply(message, self.script.get(message["method"], {}))

    def reply(self, message, result):
        content = result if "error" in result else {"result": result}
        self.send(id=message["id"], **content)

    def prompt(self, message):
        try:
            self.play(message)
        except BaseException as error:
            sys.stderr.write(f"the script failed: {error!r}\n")
            sys.stderr.flush()
            os._exit(9)

    def play(self, message):
        steps = self.prompts.pop(0) if self.prompts else [{"say": "Nothing to do."}]
        end = {"stopReason": "end_turn"}
        for step in steps:
            # The cancellation may come before the wait for it.
            if self.cancelled.is_set() and "hold" not in step:
                break
            end = self.step(step) or end
        self.reply(message, {"stopReason": "cancelled"} if self.cancelled.is_set() else end)

    def step(self, step):
        """A step is an object whose first key names one of the methods below."""
        name, *_ = step
        return getattr(self, f"do_{name}")(**step)

    def do_say(self, say):
        self.update("agent_message_chunk", content={"type": "text", "text": say})

    def do_think(self, think):
        self.update("agent_thought_chunk", content={"type": "text", "text": think})

    do_update = update

    def do_disk(self, disk, text):
        Path(disk).parent.mkdir(parents=True, exist_ok=True)
        Path(disk).write_text(text)

    def do_link(self, link, to):
        os.symlink(to, link)

    def do_delete(self, delete):
        os.unlink(delete)

    def do_flood(self, flood):
        """Talks without a pause, and does not listen."""
        while True:
            self.do_say(flood)

    def do_hold(self, hold, then=()):
        """Waits until it is cancelled, and then does more."""
        self.cancelled.wait(3600)
        for step in then:
            self.step(step)

    def do_child(self, child):
        """Starts a process in a group of its own, as agents do for commands."""
        import subprocess

        self.note(child=subprocess.Popen(["sleep", "3600"], start_new_session=True).pid)

    def do_launcher(self, launcher):
        """Ends, while a child holds the pipes."""
        import subprocess

        self.note(child=subprocess.Popen(["sleep", "3600"]).pid)
        os._exit(3)

    def do_environment(self, environment):
        self.note(environment={name: os.environ.get(name) for name in environment}, folder=os.getcwd())

    def do_end(self, end):
        return end

    def do_edit(self, edit, text):
        """Asks for a file as Gemini CLI does, writes it, and says so."""
        old = Path(edit).read_text() if Path(edit).exists() else ""
        diff = {"type": "diff", "path": os.path.abspath(edit), "oldText": old, "newText": text}
        call = {
            "toolCallId": f"edit-{self.sent}",
            "title": f"Writing to {edit}",
            "kind": "edit",
            "content": [diff],
        }
        self.do_ask(call, [{"disk": edit, "text": text}])

    def do_ask(self, ask, then, options=OPTIONS):
        number = f"q{self.sent}"
        params = {"sessionId": "s1", "toolCall": ask, "options": options}
        self.send(id=number, method="session/request_permission", params=params)
        with self.arrived:
            self.arrived.wait_for(lambda: number in self.answers)
        outcome = self.answers[number].get("result", {}).get("outcome", {})
        self.note(outcome=outcome)
        if outcome.get("optionId") in ("this-time", "for-ever"):
            for step in then:
                self.step(step)
            self.update("tool_call_update", toolCallId=ask["toolCallId"], status="completed")

    def do_tool(self, tool, args):
        """Calls a tool of the MCP server that it was offered, as Gemini CLI does: it asks first."""
        import urllib.request

        [server] = self.servers
        native = f"mcp_{server['name']}_{tool}__{self.sent}"
        title = f"{tool} ({server['name']} MCP Server)"
        self.do_ask({"toolCallId": native, "title": title, "kind": "other"}, [])
        headers = {header["name"]: header["value"] for header in server["headers"]}
        for method, params in (
            ("initialize", {}),
            ("tools/list", {}),
            ("tools/call", {"name": tool, "arguments": args}),
        ):
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
            request = urllib.request.Request(
                server["url"], body, {**headers, "Content-Type": "application/json"}
            )
            try:
                with urllib.request.urlopen(request) as response:
                    answer = json.loads(response.read())
            except (OSError, ValueError) as error:
                answer = {"refused": str(error)}
        self.note(tool=answer)


if __name__ == "__main__":
    script = Path(sys.argv[1]).read_text().replace("$FOLDER", os.getcwd())
    Fake(json.loads(script), (sys.argv[2:] or [""])[0]).run()
