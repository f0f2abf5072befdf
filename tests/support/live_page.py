"""A page without a browser: it speaks the hub's protocol over a real comm."""

import itertools
import time

from tests.support.kernels import PATIENCE, Kernel


class Page:
    """A page's end of the comm: sends commands, gathers what the hub sends."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.comm = ""
        self.messages: list[dict] = []
        self.displays: list[dict] = []
        self.updates: list[dict] = []
        self.updated_after = 0
        """How many messages came before the newest update."""
        self.streams: dict[str, str] = {}
        """What the cells printed, by stream."""
        self.idle: set[str] = set()
        self._earlier: set[str] = set()
        """Ids of the runs of earlier cells, which may still send something."""
        self.subshell: str | None = None
        self._ids = itertools.count(1)

    def pump(self, until) -> None:
        """Reads messages until `until()` holds."""
        deadline = time.monotonic() + PATIENCE
        while not until():
            assert time.monotonic() < deadline, "it did not happen"
            message = self.kernel.client.get_iopub_msg(timeout=PATIENCE)
            content = message["content"]
            match message["msg_type"]:
                case "comm_open" if "anywidget" in str(content["data"].get("state", {}).get("_model_module")):
                    self.comm = content["comm_id"]
                case "comm_msg" if (
                    content["comm_id"] == self.comm and content["data"].get("method") == "custom"
                ):
                    self._take(content["data"]["content"])
                case "display_data":
                    self.displays.append(content["data"])
                case "update_display_data":
                    self.updates.append(content["data"])
                    self.updated_after = len(self.messages)
                case "stream":
                    printed = self.streams.get(content["name"], "")
                    self.streams[content["name"]] = printed + content["text"]
                case "status" if content["execution_state"] == "idle":
                    self.idle.add(message["parent_header"].get("msg_id", ""))

    def _take(self, message: dict) -> None:
        if message["kind"] == "answer" or message.get("run_id") not in self._earlier:
            self.messages.append(message)

    def command(self, command: str, client: str = "page-1", **fields) -> dict:
        """Sends a command and waits for its answer."""
        return self.answer_to(self.send(command, client, **fields))

    def send(self, command: str, client: str = "page-1", **fields) -> str:
        """Sends a command, about the newest run unless it has a key; returns its id."""
        number = f"{client}-{next(self._ids)}"
        address = {} if "key" in fields else {"run_id": self.batches[-1]["run_id"]}
        content = {"kind": "command", "id": number, "client": client, "command": command, **address, **fields}
        session = self.kernel.client.session
        data = {"method": "custom", "content": content}
        message = session.msg("comm_msg", {"comm_id": self.comm, "data": data})
        message["header"]["subshell_id"] = self.subshell
        if client != "page-1":  # which is the one that executes the cells
            message["header"]["session"] = client
        self.kernel.client.shell_channel.send(message)
        return number

    def answer_to(self, number: str) -> dict:
        self.pump(lambda: any(m.get("kind") == "answer" and m["id"] == number for m in self.messages))
        return next(m for m in self.messages if m.get("kind") == "answer" and m["id"] == number)

    def question(self, client: str = "page-1") -> dict:
        """Says hello and waits until the run asks; returns the request."""
        self.pump(lambda: self.batches)
        self.command("hello", client=client)
        self.pump(lambda: self.of("approval_requested"))
        return self.of("approval_requested")[-1]

    def close(self) -> None:
        """Closes the comm, as a front end without widgets does."""
        message = self.kernel.client.session.msg("comm_close", {"comm_id": self.comm, "data": {}})
        self.kernel.client.shell_channel.send(message)

    def start(self, code: str, *, stdin: bool = True) -> str:
        self._earlier |= {message["run_id"] for message in self.messages if "run_id" in message}
        self.messages.clear()
        self.displays.clear()
        self.updates.clear()
        self.streams.clear()
        return self.kernel.start(code, stdin=stdin)

    def finish(self, cell: str) -> None:
        self.pump(lambda: cell in self.idle)

    @property
    def batches(self) -> list[dict]:
        return [message for message in self.messages if message["kind"] == "batch"]

    def of(self, kind: str) -> list[dict]:
        return [event for event in self.events() if event["type"] == kind]

    def live_text(self) -> str:
        """What the card shows while code runs."""
        outputs = [event.get("output") or {} for event in self.of("tool_progress")]
        return "".join(output.get("text/plain", "") for output in outputs)

    def events(self) -> list[dict]:
        """The events as a page has them: what is sent again from the first event replaces what came before."""
        runs: dict[str, list[dict]] = {}
        for batch in self.batches:
            earlier = [] if batch["first"] == 1 else runs.get(batch["run_id"], [])
            runs[batch["run_id"]] = [*earlier, *batch["events"]]
        return [event for events in runs.values() for event in events]
