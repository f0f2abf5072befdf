"""`python -m docs.scripts.quality` writes `docs/internals/quality.md` and its tables from the figures in `build/quality/`.

The commands that measure leave the figures there. What was not measured is a line with the command that would do it.
"""

# ruff: noqa: E501 - tables are easier to read in long lines

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.quality import FOLDER
from tests.support import ROOT

DOCS = ROOT / "docs" / "internals"
MOST_COLUMNS = 9
"""A row with more figures is shown as a list."""

SECTIONS: tuple[tuple[str, str, str, str], ...] = (
    ("providers", "Streaming", "make bench", "Processor time of a run as a multiple of the plain SDK's, and of other libraries on the same answers; `exponent` is how it grows with the length (1 is linear)."),
    ("variants", "Variants at once", "make bench", "The time of several variants as a multiple of the slowest one alone."),
    ("many", "Many runs", "make bench", "`agent.map` against runs one by one, and runs at once in one kernel."),
    ("executor", "Other machines", "make bench BENCH=executor", "`agent.map(executor=)` over processes, Dask and ipyparallel."),
    ("magic", "Loading", "make bench", "`%load_ext`, and the longest time that the kernel's loop stood still in the first two runs."),
    ("notebook", "Notebook", "make bench", "The first run in a fresh kernel, and a notebook of finished runs."),
    ("widget", "Widget", "make bench", "What is sent to the page, what is saved, and what the page does with it."),
    ("first_second", "First second", "make bench", "What the preview shows while a page streams."),
    ("bound", "Bound pages", "make bench", "A table from `run.page.x = frame` to the page's callback, and the round trip of a call, beside a plain anywidget with the same data."),
    ("arrangements", "Variants on the page", "make bench", "Eight variants streaming on one page."),
    ("idle", "Idle", "make bench", "A page with finished runs, left alone."),
    ("class", "A class", "make bench", "Thirty kernels on one machine with a demo run each, all started in the same moment; their memory beside ipywidgets alone."),
    ("faults", "Faults", "make test-faults", "A fault at every event of a run, for every protocol; killed kernels, a full disk, a clock set back. `other answer` counts fragments of arguments that came twice or swapped in protocols where they have no number, which no client can notice: only a faulty proxy could do that (`docs/internals/models.md`)."),
    ("soak", "Soak", "make soak", "What grows over many runs in one kernel with the page open, outputs that are closed, and a long notebook that scrolls."),
    ("leaks", "Leaks", "make test-leaks", "Planted keys, a model that asks for them, and a search of everything that leaves the kernel."),
    ("supply", "Supply chain", "make supply-chain", "What comes with the package."),
)  # fmt: skip
"""The name of the figures, the title, the command that measures, and what is measured."""

GOALS: tuple[tuple[str, str, float], ...] = (
    ("Processor time of a run, times the SDK's: Anthropic", "providers/cpu/anthropic_messages/agent_nb/times_sdk", 0.6),
    ("The same: OpenAI Responses", "providers/cpu/responses/agent_nb/times_sdk", 0.25),
    ("The same: Chat Completions", "providers/cpu/chat/agent_nb/times_sdk", 0.2),
    ("Its growth exponent: Anthropic", "providers/cpu/anthropic_messages/agent_nb/exponent", 1.0),
    ("Peak memory of a run, bytes per character: Anthropic", "providers/peak_bytes_per_character/anthropic_messages", 10),
    ("Cancel to closed socket, ms: Anthropic", "providers/cancel_ms/anthropic_messages", 100),
    ("`%load_ext`, ms of processor time", "magic/*/load_cpu_ms", 25),
    ("The page gets the oldest fragment after, ms, 95 %", "widget/oldest fragment arrives after, p95 (ms)", 100),
    ("The same with 100 runs at once, for those on screen", "notebook/runs_at_once/lag_p95_ms", 100),
    ("First word of the first run in a kernel, a vendor's over the demo's", "notebook/ratios/vendor_first_over_demo_first", 1.5),
    ("The same, the demo's first over its next", "notebook/ratios/demo_first_over_next", 1.7),
    ("50 finished runs opened, over 50 lines of HTML", "notebook/ratios/opened_over_plain", 1.2),
    ("The longest task of that", "notebook/ratios/longest_task_over_plain", 1.2),
    ("Saved output of a run, bytes", "notebook/saved_size/saved_bytes", 14_000),
    ("100,000 rows to a bound page's callback, times a plain anywidget", "bound/times the plain widget's", 1.3),
    ("8 variants on Gemini, times one alone", "variants/interactions/times_one_alone", 1.15),
    ("Memory of a kernel after a run, MB over one with ipywidgets, 30 at once", "class/after_a_run_over_ipywidgets_mb", 60),
    ("Nodes that a closed output leaves on the page", "soak/1000 outputs opened and closed/page/growth_per_output/nodes", 0),
    ("A frame of 200 finished runs scrolled with the widget on the page, ms, 95 %", "soak/a notebook of 200 outputs scrolled again/finished_runs_with_widget/frame_ms_p95", 25),
    ("Runs with a fault that break a rule", "faults/runs/*/violations", 0),
    ("Runs with a fault that end with other files and no error", "faults/runs/*/other_answer", 32),
    ("Planted keys found in what leaves the kernel", "leaks/found", 0),
)  # fmt: skip
"""What is measured, where its figure is (`*` is the sum of all rows, or their greatest), and the most it should be."""
GREATEST = ("load_cpu_ms",)

LIMITS = (
    "**Opening 50 finished runs** takes JupyterLab 2 to 3 times as long as 50 lines of HTML. Before it shows a notebook, its table of contents sanitises every HTML output in one task: 329 of the 544 ms of that task, against 49 of 191 ms with lines of HTML. Without page, code and styles, 3.5 KB of transcript for each run still take 150 ms.",
    "**Scrolling saved runs without a kernel** is bound by drawing sandboxed frames: 3 to 4 times plain HTML at the median. Where the widget is on the page, pages of a dozen runs or more are loaded within 500 pixels of the screen only; elsewhere the page's text stands in its place, at the same height. With 200 outputs, a frame of the screen then took 17 ms at the median and 17 to 33 at 95 % in quiet minutes of a shared machine, 33 and 50 to 83 in busy ones (plain HTML 17 and 17 to 50). Without the widget it took 100 to 125 and 200 to 298.",
    "**Saved output**: about 30 KB for a page of 9. The page is in it twice, as a frame and as code (17), because many places show no frames: GitHub, untrusted notebooks, diffs. The style sheet takes 5.5, the transcript 3, the script and the policy that close the page 3. Notebooks have no place that outputs share.",
    "**Processor time** as a multiple of the SDK's was measured on an Arm server. On a shared x86 machine Anthropic took 0.56 to 0.79 in seven runs, Responses 0.19 to 0.45 in five, Chat Completions 0.23 to 0.32 in five.",
    "**8 variants on Gemini** took 1.12 to 1.24 times one alone in five runs: the SDK builds two pydantic classes for each request, on the loop, about 11 ms.",
    "**A live lesson in the browser tab** (20 s first and 8 again were wanted): in Chromium, on a quiet machine, the first run came after 17.5 and 22 s, again after 19 and 20. The start takes 10 s of processor time: Pyodide itself 4, unpacking 37 wheels 1.7, importing IPython and its kernel 2.7, agent_nb and a run 1.3. A second visit downloads nothing, so 8 s would take a snapshot of Python's memory, and Pyodide's cannot hold loaded packages yet (pyodide issues 6418, 6254).",
    "**The first run in the same moment as `%load_ext`**: both goals are met when the cell is run a few seconds later. In one go with `%load_ext`, a vendor's first word comes after 2.7 and 2.8 times the demo's, and the demo's first after 2.2 to 2.9 times its next: the SDK's import takes 1 to 3 s of processor time.",
    "**`make test`** (7 minutes wanted) took 7:04 and 7:26 with everything installed, on two cores. It is about 800 s of processor time.",
    "**A page left alone**: V8 collects garbage about 20 and 30 s after 60 finished runs are loaded, with 0.3 s of processor time together, and then no more. The bench leaves these two out (`--no-memory-reducer`), since they are part of loading a page.",
)  # fmt: skip
"""What a goal cannot reach, and why."""


def pages(folder: Path) -> dict[str, str]:
    """The page of goals, and one for each table, by their paths below `docs/internals/`."""
    tables = {
        f"quality/{name}.md": "\n\n".join([f"# {title}", what, *_section(folder / f"{name}.json", command)])
        + "\n"
        for name, title, command, what in SECTIONS
    }
    return {"quality.md": _overview(folder), **tables}


def _overview(folder: Path) -> str:
    parts = [
        "# Quality",
        "What was measured, with the command that measures it again. Made from those figures by `make quality`; do not edit."
        " No vendor was called: models are played by a server on the same machine that speaks the vendors' protocols.",
    ]
    parts += ["## Goals", "The most that was wanted, and what was measured.", _goals(folder)]
    parts += ["## Limits", "\n".join(f"- {limit}" for limit in LIMITS)]
    rows = [
        [f"[{title}](quality/{name}.md)", what, f"`{command}`"] for name, title, command, what in SECTIONS
    ]
    parts += ["## Tables", _table(["table", "what is measured", "command"], rows)]
    return "\n\n".join(parts) + "\n"


def _goals(folder: Path) -> str:
    rows = []
    for what, where, most in GOALS:
        found = _figure(folder, *where.split("/"))
        verdict = "not measured" if found is None else "yes" if found <= most else "**no**"
        rows.append([what, _shown(most), "" if found is None else _shown(found), verdict])
    return _table(["", "at most", "measured", "holds"], rows)


def _figure(folder: Path, name: str, *keys: str) -> float | None:
    """The number that these keys lead to in the figures of this name; None if there is none."""
    try:
        value = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))["figures"]
        for place, key in enumerate(keys):
            if key == "*":
                return (max if keys[-1] in GREATEST else sum)(each[keys[place + 1]] for each in value)
            value = value[key]
        return float(value)
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _section(path: Path, command: str) -> Iterator[str]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        date, figures = str(record["date"]), record["figures"]
    except FileNotFoundError:
        yield f"Not measured. `{command}` does it."
        return
    except (ValueError, LookupError, TypeError):
        yield f"The figures cannot be read. `{command}` writes them anew."
        return
    load = record.get("load")
    busy = f", load of the machine {load[0]}" if load else ""
    measured_by = record.get("command", command)
    yield f"`{measured_by}`, {date[:16].replace('T', ' ')} UTC, {_machine(record.get('machine'))}{busy}."
    yield from tables(figures)


def _machine(machine: Any) -> str:
    if not isinstance(machine, Mapping):
        return str(machine or "machine not known")
    parts = [f"{machine.get('cores')} cores", machine.get("cpu"), machine.get("system")]
    return ", ".join(str(part) for part in (*parts, f"Python {machine.get('python')}") if part)


def tables(figures: Any) -> Iterator[str]:
    """Nested figures as Markdown tables: one for all rows that stand under the same label."""
    groups: dict[tuple[str, tuple[str, ...]], list[tuple[str, dict[str, str]]]] = {}
    for labels, row in _rows(figures, ()):
        place = " / ".join(labels[:-1]), tuple(row)
        groups.setdefault(place, []).append((_readable(labels[-1]), row))
    for (title, columns), rows in groups.items():
        if title:
            yield f"**{_readable(title)}**"
        if len(columns) > MOST_COLUMNS:
            for label, row in rows:
                yield _table([label or "figure", "value"], [[_readable(name), row[name]] for name in row])
        elif any(label for label, _ in rows):
            yield _table(["", *columns], [[label, *row.values()] for label, row in rows])
        else:
            yield _table([*columns], [[*row.values()] for _, row in rows])


def _rows(value: Any, labels: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], dict[str, str]]]:
    """Where there are numbers or texts, everything below is one row; above, the labels go on."""
    if isinstance(value, list):
        for number, each in enumerate(value, 1):
            row = dict(_flat(each))
            yield (*labels, "" if isinstance(each, Mapping) else str(number)), row
    elif isinstance(value, Mapping) and any(_is_plain(each) for each in value.values()):
        yield labels or ("",), dict(_flat(value))
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from _rows(each, (*labels, str(name)))
    else:
        yield labels or ("",), dict(_flat(value))


def _is_plain(value: Any) -> bool:
    return not isinstance(value, Mapping) and not (
        isinstance(value, list) and any(isinstance(each, Mapping) for each in value)
    )


def _flat(value: Any, label: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _flat(each, f"{label} {name}".strip())
    elif isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
        for number, each in enumerate(value, 1):
            yield from _flat(each, f"{label} {number}".strip())
    else:
        yield label or "value", _shown(value)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "not measured"}[value]
    return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)


def _table(columns: list[str], rows: list[list[str]]) -> str:
    numeric = [all(_is_number(row[index]) for row in rows) for index in range(len(columns))]
    lines = [columns_line([_readable(name) for name in columns])]
    lines.append("|" + "|".join("---:" if number else "---" for number in numeric) + "|")
    return "\n".join([*lines, *(columns_line(row) for row in rows)])


def columns_line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _is_number(text: str) -> bool:
    return not text or text.replace(".", "", 1).replace("-", "", 1).isdigit()


def _readable(name: str) -> str:
    return name.replace("_", " ")


if __name__ == "__main__":
    for name, text in pages(FOLDER).items():
        (DOCS / name).write_text(text, encoding="utf-8")
    print("Wrote docs/internals/quality.md and docs/internals/quality/.")
