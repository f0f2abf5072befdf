"""`agent-nb mcp [NOTEBOOK]`: an MCP server over stdin and stdout that leads to a notebook that is lent.

It answers also while nothing is lent: then it has one tool, which says what to do.
"""

import argparse
import contextlib
import http.client
import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from agent_nb._base.mcp import (
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    REFUSED,
    SESSION,
    introduction,
    negotiated,
    rpc,
    rpc_error,
    tool_entry,
    tool_result,
)
from agent_nb._base.text import listed
from agent_nb._base.threads import start_thread
from agent_nb._base.wire import Json, as_object, parse_json
from agent_nb.features.lend.lease import RUNTIME, Lease, leases

MAX_LINE = 10_000_000
MOST_REQUESTS = 32
LOOK_SECONDS = 2.0
"""Seconds between two looks whether other notebooks are lent."""
_SILENCE = 60.0
"""Seconds without a sign of life in an answer, after which the notebook counts as gone."""
NAME = "notebook"
LIST = "lent_notebooks"
_LIST_TOOL = tool_entry(
    LIST,
    "Lists the Jupyter notebooks that the user lends, and says how to get their tools.",
    {"type": "object", "properties": {}},
)
_NONE = (
    "No notebook is lent. In a cell of the open notebook, the user runs `%load_ext agent_nb` and `%agent lend`; then"
    " its tools appear here. If your client does not notice, the user reconnects this server."
)
_GONE = "The notebook is no longer lent: it was taken back, or its kernel ended. `%agent lend` in it lends it again."
INSTRUCTIONS = """\
These tools work in a Jupyter notebook that the user has open, with its variables in memory. Code runs in a branch of \
your own, a copy of the kernel from your first call: the user's variables stay unchanged until the user applies your \
code. Changes of cells are proposals, which the user accepts or refuses in the notebook: never edit its .ipynb file, \
which is open. The user may have to approve a call in the notebook, so a call can take minutes."""


class LostError(Exception):
    """The notebook could not be reached, or has ended the session. Nothing was run."""


class RefusedError(Exception):
    """The notebook takes no more clients."""


class NotebookSession:
    """A session with a notebook's server. The messages of one request are read where it was made."""

    def __init__(self, lease: Lease, about: Json) -> None:
        self.lease = lease
        self._headers = {
            "Authorization": f"Bearer {lease.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        if not lease.is_genuine():
            raise LostError
        answers = [*self.ask(rpc(id="bridge", method="initialize", params=about))]
        if not answers or "result" not in answers[-1]:
            error = as_object(as_object(answers[-1] if answers else {}).get("error"))
            raise RefusedError(str(error.get("message") or "The notebook did not answer."))

    def ask(self, message: Json) -> Iterator[Json]:
        """Send a message, and yield what is answered: progress, then the result."""
        connection = http.client.HTTPConnection("127.0.0.1", self.lease.port, timeout=_SILENCE)
        try:
            connection.request("POST", "/mcp", json.dumps(message), self._headers)
            response = connection.getresponse()
            if response.status in (401, 404, 503):
                raise LostError
            if session := response.headers.get(SESSION):
                self._headers[SESSION] = session
            is_stream = response.headers.get_content_type() == "text/event-stream"
            parts = iter(lambda: response.readline(MAX_LINE), b"") if is_stream else [response.read(MAX_LINE)]
            for part in parts:
                if isinstance(answer := parse_json(part.removeprefix(b"data:")), dict):
                    yield answer
        except ConnectionRefusedError:
            raise LostError from None
        finally:
            connection.close()

    def leave(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.lease.port, timeout=2)
        with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
            connection.request("DELETE", "/mcp", headers=self._headers)
            connection.getresponse()


class Bridge:
    def __init__(self, wanted: str, source: BinaryIO, target: BinaryIO) -> None:
        self._wanted, self._source, self._target = wanted, source, target
        self._about: Json = {}
        """What the client has said about itself, once it has."""
        self._session: NotebookSession | None = None
        self._connecting, self._writing = threading.Lock(), threading.Lock()
        self._open = threading.BoundedSemaphore(MOST_REQUESTS)
        self._seen: set[str] = set()
        """The addresses of the notebooks that were lent at the last look."""

    def run(self) -> None:
        """Answer until the client closes its end."""
        self._seen = {lease.url for lease in leases()}
        start_thread("lent notebooks", self._watch)
        while line := self._source.readline(MAX_LINE):
            message = parse_json(line)
            if isinstance(message, dict) and isinstance(message.get("method"), str):
                self._receive(message)
            elif not isinstance(message, dict):
                self._send(rpc_error(None, PARSE_ERROR, "This is not one JSON-RPC message."))
        if self._session:
            self._session.leave()

    def _receive(self, message: Json) -> None:
        if "id" not in message:
            start_thread("notification", lambda: self._note(message))
        elif self._open.acquire(blocking=False):
            start_thread("request", lambda: self._answer(message))
        else:
            text = f"At most {MOST_REQUESTS} requests may be open."
            self._send(rpc_error(message["id"], REFUSED, text))

    def _send(self, message: Json) -> None:
        with self._writing:
            self._target.write(json.dumps(message).encode() + b"\n")
            self._target.flush()

    def _note(self, message: Json) -> None:
        if (session := self._session) and message["method"] == "notifications/cancelled":
            with contextlib.suppress(LostError, OSError, http.client.HTTPException):
                list(session.ask(message))

    def _answer(self, message: Json) -> None:
        number, params = message["id"], as_object(message.get("params"))
        try:
            if message["method"] == "initialize":
                self._about = {**params, "protocolVersion": negotiated(params)}
                result = introduction(NAME, params, INSTRUCTIONS, list_changes=True)
            elif message["method"] == "ping":
                result = {}
            elif params.get("name") == LIST:
                result = tool_result(self._listed())
            else:
                self._lead(message)
                return
            self._send(rpc(id=number, result=result))
        except BrokenPipeError:  # the client has gone
            os._exit(0)
        finally:
            self._open.release()

    def _lead(self, message: Json) -> None:
        """Pass a request on. One that has not reached the notebook is tried once more, with a new session."""
        number = message["id"]
        try:
            for is_last in (False, True):
                try:
                    session = self._connected()
                    for answer in session.ask(message) if session else [self._alone(message)]:
                        self._send(answer)
                    return
                except LostError:
                    self._session = None
                    if is_last:
                        raise
        except RefusedError as error:
            self._send(_failed(message, str(error)))
        except LostError:
            self._send(_failed(message, _GONE))
        except (OSError, http.client.HTTPException):
            self._session = None
            self._send(rpc_error(number, REFUSED, f"The connection was lost during the call. {_GONE}"))

    def _connected(self) -> NotebookSession | None:
        """The session with the notebook; None if there is no notebook to choose, or the client has no name yet."""
        with self._connecting:
            if self._session is None and self._about and (lease := self._chosen()):
                self._session = NotebookSession(lease, self._about)
            return self._session

    def _chosen(self) -> Lease | None:
        lent = self._lent()
        return lent[0] if len(lent) == 1 else None

    def _lent(self) -> list[Lease]:
        """The notebooks that may be meant."""
        lent, path = leases(), os.path.realpath(self._wanted)
        if not self._wanted:
            return lent
        exact = [lease for lease in lent if os.path.realpath(lease.notebook) == path]
        named = [lease for lease in lent if self._wanted in (lease.title, Path(lease.title).stem, lease.name)]
        return exact or named

    def _alone(self, message: Json) -> Json:
        """The answer without a notebook."""
        if message["method"] == "tools/list":
            return rpc(id=message["id"], result={"tools": [_LIST_TOOL]})
        if message["method"] == "tools/call":
            return _failed(message, self._listed())
        return rpc_error(message["id"], METHOD_NOT_FOUND, "Method not found")

    def _listed(self) -> str:
        if session := self._session:
            return f"{session.lease.title} is lent, and this server has its tools."
        lent = self._lent()
        if not lent:
            others = listed([lease.title for lease in leases()])
            return f"{self._wanted} is not lent. Lent are: {others}." if others else _NONE
        if len(lent) == 1:
            return f"{lent[0].title} is lent. List the tools of this server again."
        rows = "\n".join(f"- {lease.notebook or lease.title}" for lease in lent)
        return f"Several notebooks are lent:\n{rows}\nThe user names one: `agent-nb mcp NOTEBOOK` starts this server."

    def _watch(self) -> None:
        """Tell the client if other notebooks are lent than before."""
        while True:
            time.sleep(LOOK_SECONDS)
            urls = {lease.url for lease in leases()}
            if self._session and self._session.lease.url not in urls:
                self._session = None
            if urls != self._seen:
                self._seen = urls
                if self._about:
                    self._send(rpc(method="notifications/tools/list_changed"))


def _failed(message: Json, text: str) -> Json:
    if message["method"] == "tools/call":
        return rpc(id=message["id"], result=tool_result(text, ok=False))
    return rpc_error(message["id"], REFUSED, text)


def serve(host: object, words: Sequence[str]) -> Any:
    """`agent-nb mcp [NOTEBOOK]`. Some clients pass no variables on, so the folder of leases may be named."""
    parser = argparse.ArgumentParser(prog="agent-nb mcp", description=__doc__)
    parser.add_argument("notebook", nargs="?", default="", help="its file, if several are lent")
    parser.add_argument("--folder", help="Jupyter's runtime folder, if it is not the default one")
    arguments = parser.parse_args(words)
    if arguments.folder:
        os.environ[RUNTIME] = arguments.folder
    target = sys.stdout.buffer
    sys.stdout = sys.stderr  # what else is printed is no message
    Bridge(arguments.notebook, sys.stdin.buffer, target).run()
