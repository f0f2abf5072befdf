"""A run as one HTML file that replays it without a kernel.

The file contains the page's code, the events as sent to a live page, and the data that page would request from the
kernel: the request of each turn and the binary files. It has the content security policy of a generated page, so it
has no network access except for the files of the run's stack.
"""

import base64
import html
import json
import os
import re
import tempfile
import webbrowser
from functools import cache
from pathlib import Path
from typing import Any

from agent_nb._base.atomic import write_atomically
from agent_nb._base.bundles import bundle
from agent_nb._base.constants import is_demo
from agent_nb._base.secrets import MaskedJson, for_page
from agent_nb._base.text import on_one_line, sha256
from agent_nb._base.wire import Json, to_wire
from agent_nb.core.errors import ConfigError
from agent_nb.core.events import FileChanged, TurnStarted
from agent_nb.core.run_settings import header_words
from agent_nb.files import media_type
from agent_nb.pages.policy import policy_for
from agent_nb.render import to_page
from agent_nb.render.frozen import saved_values
from agent_nb.render.shown import shown_features
from agent_nb.render.summary import written_prompt
from agent_nb.run.protocol import Encoder, Meta, bound_names, decided_rows
from agent_nb.run.record import RunRecord, all_events
from agent_nb.run.turn_requests import known_messages, request_of

SCRIPT = bundle("replay")
_ENDS_SCRIPT = re.compile("<(?=!--|/script)", re.IGNORECASE)
"""Text that would end a script element or hide its end."""
_STYLE = (
    ":root{color-scheme:light dark}body{margin:0;padding:16px;font:14px/1.5 system-ui,sans-serif;"
    "box-sizing:border-box;display:flex;flex-direction:column;"
    "color:light-dark(#222,#e4e4e4);background:light-dark(#fff,#111)}"
    "h1{margin:0 0 12px;font-size:14px;font-weight:400;max-height:6em;overflow:auto;white-space:pre-wrap;"
    "flex:none;overflow-wrap:anywhere}main{flex:1;min-height:320px}"
    "@media screen{body{height:100vh}}"
)


def replay_html(run: RunRecord) -> str:
    if not run.events:
        raise ConfigError(f"`{run.name}` has no events to replay.")
    if not SCRIPT.exists():
        raise ConfigError("The page's code was not built. In a source tree, `make build` does that.")
    record, prompt = _record(run)
    data = _ENDS_SCRIPT.sub(r"\\u003c", json.dumps(record, ensure_ascii=False))
    script = _ENDS_SCRIPT.sub(r"\\x3c", SCRIPT.read_text(encoding="utf-8"))
    title = html.escape(f"{record['batch']['meta']['name']}: {on_one_line(prompt)}"[:120])
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy_for(data)}">'
        '<meta http-equiv="x-dns-prefetch-control" content="off">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head>\n"
        f'<body><h1 tabindex="0">{html.escape(prompt)}</h1>\n'
        "<main><p>This replay needs JavaScript. In JupyterLab, press “Trust HTML” above.</p></main>\n"
        f'<script type="application/json">{data}</script>\n'
        f'<script type="module">{script}</script></body></html>\n'
    )


def _record(run: RunRecord) -> tuple[MaskedJson, str]:
    """Return what the page's code reads, and the prompt, masked."""
    events = Encoder().encode(all_events(run))
    variants = run.variants or (run,)
    models = dict.fromkeys(variant.model for variant in variants)
    meta = Meta(
        key=run.key,
        name=run.name,
        model=", ".join(models),
        demo=all(map(is_demo, models)),
        about=header_words(run.settings),
        failed_check=run.failed_check,
        annotations=run.annotations,
        decided=decided_rows(run.decided),
        bound=bound_names(run.settings),
        features=shown_features(run),
    )
    batch = {"run_id": run.id, "first": 1, "last": len(events), "events": events, "meta": to_wire(meta)}
    record = for_page(
        {
            "batch": {"kind": "batch", **batch},
            "requests": _requests(variants),
            "files": [_binary_files(variant) for variant in variants],
            "bound": [dict(saved_values(variant)) for variant in variants],
            "prompt": written_prompt(run),
        }
    )
    prompt: str = record.pop("prompt")
    # Key under which the reader's answers are stored.
    record["batch"]["meta"]["digest"] = sha256(json.dumps(record, sort_keys=True))[:16]
    return record, prompt


def _requests(variants: tuple[RunRecord, ...]) -> Json:
    """The requests of all turns. Values are pooled, because each turn repeats the earlier ones."""
    pool: dict[str, int] = {}

    def index_of(value: Any) -> int:
        return pool.setdefault(json.dumps(value, ensure_ascii=False), len(pool))

    def pooled_request(run: RunRecord, step: int) -> Json:
        request = request_of(run, step)
        messages = [index_of(message) for message in request.pop("messages")]
        fields = {name: index_of(value) for name, value in request.items()}
        return {"fields": fields, "messages": messages, "known": known_messages(run, step)}

    turns = [
        {str(event.step): pooled_request(run, event.step) for event in run.events.of(TurnStarted)}
        for run in variants
    ]
    return {"pool": [json.loads(value) for value in pool], "turns": turns}


def _binary_files(run: RunRecord) -> list[Json]:
    files, rows = run.original_files, []
    for path in dict.fromkeys(event.path for event in run.events.of(FileChanged)):
        versions = files.versions(path)
        for number, content in enumerate(versions, files.version(path) - len(versions) + 1):
            if isinstance(content, bytes):
                data = base64.b64encode(content).decode()
                kind = media_type(path, content)
                rows.append({"path": path, "version": number, "media_type": kind, "base64": data})
    return rows


def open_page(run: RunRecord) -> Path:
    page = to_page(run)
    if page is None:
        raise ConfigError(f"`{run.name}` has no page to open: {', '.join(run.files) or 'no files'}.")
    browser = _browser()
    if browser is None:
        raise ConfigError(
            f"There is no browser on the machine that runs Python. `{run.name}.files.save('site')` writes the files "
            "to a folder; in a notebook, the output of the cell shows the page."
        )
    folder = Path(_folder().name)
    path = folder / f"{run.name}-{run.id}.html"
    write_atomically(path, page.encode("utf-8", "replace"), within=folder)
    browser.open(path.as_uri())
    return path


def _browser() -> webbrowser.BaseBrowser | None:
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return None
    # Without a display, Python finds text browsers, which would block the kernel's terminal.
    is_text_browser = type(browser) is webbrowser.GenericBrowser and "BROWSER" not in os.environ
    return None if is_text_browser else browser


@cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="agent_nb-", ignore_cleanup_errors=True)
