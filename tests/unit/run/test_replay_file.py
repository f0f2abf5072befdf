"""A run as one HTML file that replays it."""

import base64
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from agent_nb import Agent, model
from agent_nb._base.secrets import register
from agent_nb._base.wire import to_wire
from agent_nb.core.errors import ConfigError
from agent_nb.providers.scripted import call, text, think
from agent_nb.render import HTML
from agent_nb.run.replay_file import SCRIPT, replay_html
from tests.support.scripts import run_script, write

pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="needs the built page: `make build`")

KEY = "sk-ant-api03-" + "x9-Y" * 8
KNOWN = 'my "own" secret & more'
HOSTILE = "<!doctype html><!-- <script> --><p>a</p><script>top.x = '</script><!--'</script></SCRIPT >\u2028"


class Scripts(HTMLParser):
    """The attributes and texts of the script elements, as a browser would split them."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.found: list[tuple[dict[str, str | None], str]] = []
        self.tags: list[str] = []
        self.feed(document)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag == "script":
            self.found.append((dict(attrs), ""))

    def handle_data(self, data):
        if self.tags[-1:] == ["script"]:
            attributes, text = self.found[-1]
            self.found[-1] = attributes, text + data

    def handle_endtag(self, tag):
        self.tags.append(f"/{tag}")


def record_of(document: str) -> dict:
    scripts = Scripts(document)
    (data, data_text), (module, _) = scripts.found
    assert data == {"type": "application/json"}
    assert module == {"type": "module"}
    return json.loads(data_text)


def requests_of(record: dict, variant: int = 0) -> list[dict]:
    pool, turns = record["requests"]["pool"], record["requests"]["turns"][variant]
    return [
        {name: pool[place] for name, place in turn["fields"].items()}
        | {"messages": [pool[place] for place in turn["messages"]]}
        for turn in turns.values()
    ]


async def run_of(*turns, **material):
    return await run_script(*turns, [text("Done.")], prompt="go", **material)


async def test_the_file_has_the_events_the_requests_and_the_binary_files():
    run = await run_of(
        [write("index.html", "<h1>Hi</h1>")],
        [call("delete_file", {"path": "logo.png"})],
        files={"logo.png": b"\x89PNG\r\n\x1a\n"},
    )
    changed = run.with_files({"logo.png": b"\x89PNG by hand"})
    record = record_of(replay_html(changed))
    assert requests_of(record) == [run.request(step) for step in (1, 2, 3)]
    assert [turn["known"] for turn in record["requests"]["turns"][0].values()] == [0, 1, 3]
    (image,) = record["files"][0]
    assert (image["path"], image["version"], image["media_type"]) == ("logo.png", 1, "image/png")
    assert base64.b64decode(image["base64"]) == b"\x89PNG\r\n\x1a\n"
    types = [event["type"] for event in record["batch"]["events"]]
    assert (types[0], types[-1]) == ("run_started", "run_finished")


async def test_every_variant_has_its_own_requests():
    one, two = [await run_of([write("index.html", page)]) for page in ("<h1>1</h1>", "<h1>2</h1>")]
    two = replace(two, events=tuple(replace(event, variant=1) for event in two.events))
    record = record_of(replay_html(replace(one, variants=(one, two))))
    assert requests_of(record, 1) == [two.request(1), two.request(2)] != requests_of(record, 0)
    assert {event.get("variant", 0) for event in record["batch"]["events"]} == {0, 1}


async def test_hostile_contents_end_no_script():
    path = "a" * 150 + "</script><img src=x>.html"
    run = await run_of([write("index.html", HOSTILE), write(path, HOSTILE)])
    run = run.annotate("end", HOSTILE, ask=HOSTILE, choices=[HOSTILE, "</script>"], answer=1)
    document = replay_html(replace(run, name="</title><b>", prompt=HOSTILE))
    assert Scripts(document).tags == [
        *("html", "head", *["meta"] * 4, "title", "/title", "style", "/style", "/head"),
        *("body", "h1", "/h1", "main", "p", "/p", "/main", "script", "/script", "script", "/script"),
        *("/body", "/html"),
    ]
    record = record_of(document)
    written = [event for event in record["batch"]["events"] if event["type"] == "file_delta"]
    assert "".join(event["text"] for event in written if event["path"] == "index.html") == HOSTILE
    (note,) = record["batch"]["meta"]["annotations"]
    assert (note["text"], note["ask"], note["choices"][0], note["answer"]) == (HOSTILE,) * 4


@pytest.mark.parametrize("fragment", [1, 5, None])
async def test_the_file_holds_no_secret(fragment):
    register(KNOWN)
    page = f"<p>\n{KEY}</p> {KNOWN} <b>after</b>"
    run = await run_of(
        [think(f"I saw {KEY}", fragment=fragment), write("index.html", page, fragment=fragment)],
        [text(f"Yours is {KEY}, not {KNOWN}.", fragment=fragment), write(f"{KEY}.txt", "x")],
        files={"a.txt": KNOWN, f"{KEY}.bin": b"\xff"},
    )
    run = run.annotate("end", f"Note {KEY}", ask=KNOWN, choices=[KEY, "none"], answer=1)
    document = replay_html(replace(run, prompt=f"Use {KEY}", failed_check=KEY, name=KEY))
    for one in (document, json.dumps(record_of(document), ensure_ascii=False)):
        assert KEY not in one
        assert json.dumps(KNOWN)[1:-1] not in one


async def test_a_file_that_names_no_library_may_load_nothing():
    closed = replay_html(await run_of([write("index.html", "<h1>Hi</h1>")]))
    policy = re.search('Content-Security-Policy" content="([^"]+)"', closed)[1]
    assert "https:" not in policy
    assert "connect-src 'none'" in policy
    address = "https://cdn.jsdelivr.net/npm/vue@3.5.45/dist/vue.global.prod.js"
    other = "https://example.com/x.js"
    page = f'<script src="{address}"></script><script src="{other}"></script>'
    named = re.search('Policy" content="([^"]+)"', replay_html(await run_of([write("index.html", page)])))[1]
    assert re.findall(r"https:[^\s;]+", named) == [address]


@pytest.mark.parametrize("prompt", ["A landing page for a bakery", "A dashboard", "A form"])
async def test_the_file_is_hardly_larger_than_its_parts(prompt):
    run = await Agent(model("demo:", pace=0)).run(prompt)
    run = await Agent(model("demo:", pace=0)).run("Make it darker", base=run)
    run = run.annotate("turn 2", "It edits the page.").annotate(
        "end", ask="Why?", choices=["a", "b"], answer=1
    )
    events = len(json.dumps(to_wire(run.events), ensure_ascii=False).encode())
    assert len(replay_html(run).encode()) <= 1.2 * (SCRIPT.stat().st_size + events)


async def test_answers_are_stored_under_the_content_of_the_file():
    run = await run_of()
    noted = run.annotate("end", ask="Why?", choices=["a", "b"])
    digests = [record_of(replay_html(one))["batch"]["meta"]["digest"] for one in (noted, noted, run)]
    assert digests[0] == digests[1] != digests[2]


async def test_a_run_without_events_is_refused():
    run = replace(await run_of(), events=())
    with pytest.raises(ConfigError, match="has no events to replay"):
        replay_html(run)


def test_a_cell_is_exported_with_its_prompt_as_it_was_written(shell):
    shell.run("orders = {'paris': [4, 5]}")
    ran = shell.run(f"%%agent data -m demo: --plain --pace 0\nDraw {{{{orders}}}} & more, {KEY}")
    assert ran.ok, ran.stderr
    run = shell.names["data"]
    assert "paris" in run.prompt
    for page in (replay_html(run), HTML.render(run)):
        heading = page.partition("<body>")[2].partition("\n")[0]
        assert "Draw {{orders}} &amp; more, " in heading
        assert "paris" not in heading
        assert KEY not in heading
