"""The file by which `agent-nb mcp` finds a notebook that is lent: in Jupyter's runtime folder, for the user alone."""

import contextlib
import hmac
import http.client
import json
import os
import re
import secrets
import socket
import stat
from dataclasses import asdict, dataclass
from pathlib import Path

from agent_nb._base.atomic import read_file, write_atomically
from agent_nb._base.mcp import CHALLENGE, proof
from agent_nb._base.secrets import safe_line
from agent_nb._base.wire import WireError, from_wire, parse_json

PREFIX = "agent_nb-lent-"
RUNTIME = "JUPYTER_RUNTIME_DIR"
_MAX_BYTES = 10_000
_URL = re.compile(r"http://127\.0\.0\.1:(\d{1,5})/mcp")
_PATIENCE = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    name: str
    """The name of its run, such as `lent`."""
    notebook: str
    """The path of the notebook; empty if it is unknown."""
    url: str
    token: str
    machine: str
    """The file may be in a home folder that several machines share."""

    @property
    def port(self) -> int:
        match = _URL.fullmatch(self.url)
        return int(match[1]) if match else 0

    @property
    def title(self) -> str:
        return safe_line(Path(self.notebook).name or f"a notebook, `{self.name}`", 100)

    def is_open(self) -> bool:
        """Whether something listens at its address: if nothing does, the kernel has ended."""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), _PATIENCE):
            return True
        return False

    def is_genuine(self) -> bool:
        """Whether it is the kernel that listens. Another program may have got the port of one that was killed."""
        challenge = secrets.token_hex(16)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        try:
            connection.request("GET", "/mcp", headers={CHALLENGE: challenge})
            answer = connection.getresponse().read(200)
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
        return hmac.compare_digest(answer, proof(self.token, challenge).encode())


def machine() -> str:
    return socket.gethostname()


def folder() -> Path:
    from jupyter_core.paths import jupyter_runtime_dir

    return Path(jupyter_runtime_dir())


def store(lease: Lease) -> Path:
    """Write the file, and return its path; raises `OSError`."""
    path = folder() / f"{PREFIX}{secrets.token_hex(6)}.json"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomically(path, json.dumps(asdict(lease)).encode(), within=None, shared=False)
    return path


def leases() -> list[Lease]:
    """The notebooks that are lent on this machine. Files of kernels that have ended are removed."""
    found = []
    for path in sorted(folder().glob(f"{PREFIX}*.json")):
        if (lease := _read(path)) is None or lease.machine != machine():
            continue
        if lease.is_open():
            found.append(lease)
        else:
            with contextlib.suppress(OSError):
                path.unlink()
    return sorted(found, key=lambda lease: (lease.notebook, lease.url))


def _read(path: Path) -> Lease | None:
    """The lease in a file; None if it is damaged, or if others could read or have written it."""
    try:
        status = path.lstat()
        is_private = os.name != "posix" or (status.st_uid == os.getuid() and not status.st_mode & 0o077)
        if not stat.S_ISREG(status.st_mode) or not is_private:
            return None
        lease: Lease = from_wire(Lease, parse_json(read_file(path, _MAX_BYTES)))
    except (OSError, WireError):
        return None
    return lease if 0 < lease.port < 65536 else None
