"""`python -m docs.scripts.clean_clone` runs `make test` in three clones of this repository, and prints the outcomes.

One is in a folder called `agent_nb`, one in a folder with a space and an umlaut, and one is tested by a user who is not
root: the user of this process, or `nobody`. Arguments choose among them. A clone has what is committed, and makes its
own environment with the `PYTHON` of this process's environment, or with the first that the user can start.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDERS = {"name": "agent_nb", "space": "a bücher x", "user": "not_root"}
LOGS = ROOT / "build" / "clean-clone"
_OWN = ("VIRTUAL_ENV", "PYTHON", "MAKE", "MFLAGS", "PYTEST")
"""First words of variables that belong to this process."""
_CAN_MAKE = "import ensurepip, sys; assert sys.version_info >= (3, 11)"


def user_of(name: str) -> dict[str, Any]:
    """How `subprocess` starts a program for this clone."""
    if name != "user" or os.geteuid():
        return {}
    from pwd import getpwnam

    nobody = getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def find_python(user: dict[str, Any]) -> str:
    for path in filter(None, (os.environ.get("PYTHON"), sys._base_executable, "/usr/bin/python3")):
        try:
            subprocess.run([path, "-c", _CAN_MAKE], cwd="/", check=True, capture_output=True, **user)
        except (OSError, subprocess.CalledProcessError):
            continue
        return path
    raise SystemExit("Set PYTHON to a Python 3.11 or later that this user can start.")


def make_test(name: str, room: Path) -> bool:
    """Runs `make test` in a new clone; returns whether it was green."""
    user, clone, home = user_of(name), room / FOLDERS[name], room / "home"
    python = find_python(user)
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], check=True)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(_OWN)}
    if user:
        home.mkdir()
        room.chmod(0o755)
        subprocess.run(["chown", "-R", f"{user['user']}:{user['group']}", clone, home], check=True)
        environment |= {"HOME": str(home), "USER": "nobody", "LOGNAME": "nobody"}
    LOGS.mkdir(parents=True, exist_ok=True)
    with (LOGS / f"{name}.log").open("wb") as log:
        done = subprocess.run(
            ["make", "test", f"PYTHON={python}"],
            cwd=clone,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
            **user,
        )
    return done.returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(FOLDERS)}; all without one")
    names = parser.parse_args().names or [*FOLDERS]
    if unknown := {*names} - {*FOLDERS}:
        parser.error(f"There is no {', '.join(unknown)}.")
    red = []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="clone-", ignore_cleanup_errors=True) as room:
            since = time.monotonic()
            is_green = make_test(name, Path(room))
        red += [] if is_green else [name]
        outcome = "green" if is_green else f"RED, see {LOGS.relative_to(ROOT) / name}.log"
        print(f"{FOLDERS[name]!r}: {outcome}, {time.monotonic() - since:.0f} s", flush=True)
    sys.exit(bool(red))


if __name__ == "__main__":
    main()
