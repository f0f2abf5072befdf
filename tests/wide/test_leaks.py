"""Keys planted everywhere, a model that asks for all of them, and a search of everything that leaves the kernel.

`make test-leaks` runs it and writes the figures to `build/quality/leaks.json`.
"""

import json
import shlex
import shutil
import sys
from pathlib import Path

import nbformat
import pytest

from agent_nb.render import FORMS
from benchmarks.quality import write_figures
from docs.scripts.execute_notebooks import FOLDER
from tests.support.kernels import start_kernel
from tests.support.leaks import PLAIN, SHAPES, Search, environment, planted_keys
from tests.support.live_page import Page
from tests.support.notebooks import notebook
from tests.support.wire import Call, Say, Think, WireServer, problem, reply

pytestmark = pytest.mark.wide
KEYS = planted_keys()
SHAPED = " ".join(KEYS[name] for name in SHAPES)
PLANTED = frozenset({".env", "notes.txt", "keys.json", "server.py"})
PROMPT = "Use {{settings}}, {{service}} and {{people}}: {{shaped}}"
LIVE = "-m anthropic:claude-opus-5-5"
SETUP = """
import json, os, pathlib
from types import SimpleNamespace
import pandas
import agent_nb
KEYS = json.loads(pathlib.Path("keys.json").read_text())
everything = " ".join(KEYS.values())
settings = {"api_key": KEYS["database_password"], "host": "db.example", "deep": {"auth_token": KEYS["openai"]}}
service = SimpleNamespace(password=KEYS["database_password"], user="ana")
people = pandas.DataFrame({"name": ["ana"], "token": [KEYS["hub_token"]], "note": [KEYS["github"]]})
shaped = " ".join(KEYS[name] for name in KEYS if name not in ("hub_token", "database_password", "mcp_token"))
def tell(what: str) -> str:
    "Tells everything."
    print(shaped)
    return f"{what}: {shaped}"
def fail(what: str) -> str:
    "Fails with a long message."
    raise RuntimeError(f"no access with {shaped}")
"""
SERVER = """
import os
from mcp.server.mcpserver import MCPServer
server = MCPServer("vault", log_level="CRITICAL")
@server.tool(description="Opens the vault with " + os.environ["VAULT_TOKEN"])
def open_vault() -> str:
    return "opened with " + os.environ["VAULT_TOKEN"]
@server.tool()
def break_vault() -> str:
    "Breaks."
    raise RuntimeError("denied for " + os.environ["VAULT_TOKEN"])
server.run()
"""
PAGE = f"<!doctype html><title>Keys</title><p>{SHAPED}</p><a href='https://x.example/?k={KEYS['openai']}'>link</a>"
CODE = "import os\nprint(dict(os.environ))\nprint(shaped)\nprint(pathlib.Path('.env').read_text())\nKEYS['openai']"


def hostile_turns():
    """A model that knows every key with a shape, and says it in every way there is."""
    return [
        reply(
            Think(f"The keys are {SHAPED}"),
            Say(f"Here they are: {SHAPED}. As JSON: {json.dumps({'key': SHAPED})}\n```\n{SHAPED}\n```"),
            Call("create_file", {"path": "index.html", "content": PAGE}),
            Call("create_file", {"path": f"{KEYS['github']}.txt", "content": SHAPED}),
            Call("tell", {"what": KEYS["anthropic"]}),
            Call("fail", {"what": SHAPED}),
            Call("run_python", {"code": CODE}),
            Call("run_python", {"code": "raise RuntimeError(shaped)"}),
            Call("vault__open_vault", {}),
            Call("vault__break_vault", {}),
            Call(KEYS["groq"], {"key": SHAPED}),
            Call("read_file", {"path": f"../{KEYS['slack']}"}),
            fragment=3,
        ),
        problem(529, f"overloaded, your key {KEYS['anthropic']} was used", {"retry-after": "0"}),
        reply(
            Call("edit_file", {"path": "index.html", "old": "<p>", "new": f"<p title='{KEYS['stripe']}'>"}),
            Call("edit_file", {"path": "index.html", "old": f"not there {SHAPED}", "new": "x"}),
            Call("tell", f'{{"what": "{KEYS["openai"]}'),
            fragment=5,
        ),
        reply(Say(f"Done with {SHAPED}"), fragment=1),
    ]


@pytest.fixture
def search():
    return Search(KEYS)


def recorded(kernel, search: Search, place: str):
    """Searches every message that the kernel sends, except the echo of what was run."""
    for name in ("get_iopub_msg", "get_shell_msg", "get_stdin_msg"):
        original = getattr(kernel.client, name)

        def get(*args, original=original, **kwargs):
            message = original(*args, **kwargs)
            if message["msg_type"] != "execute_input":
                content = {**message["content"], "user_expressions": None}
                search.look(place, content, message["msg_type"])
                for buffer in message.get("buffers") or ():
                    search.look(place, bytes(buffer), "a buffer")
            return message

        setattr(kernel.client, name, get)


def plant(folder: Path) -> None:
    (folder / "keys.json").write_text(json.dumps(KEYS))
    (folder / ".env").write_text("".join(f"{name.upper()}_KEY={KEYS[name]}\n" for name in SHAPES))
    (folder / "notes.txt").write_text(f"the keys: {SHAPED}")
    (folder / "server.py").write_text(SERVER)
    (folder / "lab.toml").write_text('[lab]\ntitle = "Keys"\n')


def cells() -> list[str]:
    tools = "-t tell -t fail -t kernel -t mcp:vault --approve auto"
    return [
        SETUP,
        "import logging; logging.getLogger('agent_nb').addHandler(logging.FileHandler('agent.log'))",
        "logging.getLogger('agent_nb').setLevel('DEBUG')",
        "os.environ['VAULT_TOKEN'] = KEYS['mcp_token']",
        f"%agent mcp add vault -e VAULT_TOKEN {shlex.quote(sys.executable)} server.py",
        "%agent mcp",
        "%agent tools",
        f"%%agent hero {LIVE} {tools} --record --no-raise\n{PROMPT}",
        f"%%agent hero -c {LIVE} -w settings -w people --cells 3 --dry-run\nMore",
        f"%%agent wrong {LIVE} --no-raise\nFail",
        f"%%agent wrong {LIVE}\nFail, and raise",
        "hero",
        "%agent runs",
        "%agent cost",
        "%agent log",
        "%agent config",
        "%agent lab",
        "%agent lab log",
        "%agent key openai --forget",
        "%agent models",
        "%agent console hero",
        "%agent export hero exported.html",
        "hero.save('saved.run'); hero.to_replay('replay.html')",
        *(f"%agent export hero out{form.suffix}" for form in FORMS),
        "pathlib.Path('page.html').write_text(hero.to_html())",
        "print(hero, repr(hero), hero.request(1))",
        f"%%agent hero {tools} --pace 0 --no-raise --replay\n{PROMPT}",
        "%agent submit week.ipynb",
    ]


def run_hostile(folder: Path, search: Search, replies) -> WireServer:
    """Runs the cells against the hostile model, with a page connected; returns the server."""
    plant(folder)
    (folder / "week.ipynb").write_bytes(notebook("%load_ext agent_nb"))
    variables = {
        **environment(KEYS),
        "ANTHROPIC_API_KEY": KEYS["anthropic"],
        "XDG_DATA_HOME": str(folder / "data"),
    }
    with WireServer.in_thread(strict=False) as server:
        variables["ANTHROPIC_BASE_URL"] = server.base_url("anthropic_messages")
        server.plan(*replies)
        server.otherwise = lambda request: problem(400, f"bad request with {SHAPED}")
        with start_kernel(folder, **variables) as kernel:
            recorded(kernel, search, "messages of the kernel")
            page = Page(kernel)
            for cell in cells():
                page.finish(page.start(cell))
                if page.batches:
                    for command in ("hello", "resync", "result"):
                        page.command(command)
                    page.command("request", turn=1)
            kernel.run("import os; os.utime('week.ipynb')")
            kernel.run("%agent submit week.ipynb")
    return server


def test_nothing_that_leaves_the_kernel_has_a_key(tmp_path, search):
    folder = tmp_path / "hostile"
    folder.mkdir()
    server = run_hostile(folder, search, hostile_turns())
    search.look_in("files", folder, PLANTED)
    assert server.unused == 0
    sent = Search({name: KEYS[name] for name in PLAIN if name != "mcp_token"})
    for number, request in enumerate(server.requests):
        sent.look("requests to the vendor", request.body, str(number))
    figures = {
        "keys": len(KEYS),
        "bytes searched": dict(search.looked + sent.looked),
        "found": len(search.found) + len(sent.found),
    }
    write_figures("leaks", figures)
    assert not sent.found, "\n".join(sent.found)
    assert search.looked["messages of the kernel"] > 100_000
    assert not search.found, "\n".join(sorted(set(search.found)))


@pytest.mark.parametrize("lesson", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_no_lesson_leaks_a_key(tmp_path, search, lesson):
    folder = tmp_path / "notebooks"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns(".agent_nb"))
    plant(folder)
    (folder / "lab.toml").unlink()
    with start_kernel(
        folder, load=False, **environment(KEYS), XDG_DATA_HOME=str(tmp_path / "data")
    ) as kernel:
        recorded(kernel, search, "lessons")
        kernel.run(SETUP)
        for cell in nbformat.read(lesson, as_version=4).cells:
            if cell.cell_type == "code":
                kernel.run(cell.source)
    search.look_in("files", folder, PLANTED)
    assert search.looked["lessons"] > 10_000
    assert not search.found, "\n".join(sorted(set(search.found)))
