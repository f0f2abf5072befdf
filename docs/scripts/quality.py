"""`python -m docs.scripts.quality` writes `docs/internals/quality.md` and its tables from the figures in `build/quality/`.

The commands that measure leave the figures there. What was not measured in this version is a line with the command
that would do it.
"""

# ruff: noqa: E501 - tables are easier to read in long lines

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.quality import FOLDER, GOALS, figure, read_record, source_commit
from tests.support import ROOT

DOCS = ROOT / "docs" / "internals"
NOT_MEASURED = "not measured in this version"
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

LIMITS = (
    "**Opening 50 finished runs** takes JupyterLab 2 to 3 times as long as 50 lines of HTML. Before it shows a notebook, its table of contents sanitises every HTML output in one task: 329 of the 544 ms of that task, against 49 of 191 ms with lines of HTML. Without page, code and styles, 3.5 KB of transcript for each run still take 150 ms.",
    "**Scrolling saved runs without a kernel** is bound by drawing sandboxed frames: 3 to 4 times plain HTML at the median. Where the widget is on the page, pages of a dozen runs or more are loaded within 500 pixels of the screen only; elsewhere the page's text stands in its place, at the same height. With 200 outputs, a frame of the screen then took 17 ms at the median and 17 to 33 at 95 % in quiet minutes of a shared machine, 33 and 50 to 83 in busy ones (plain HTML 17 and 17 to 50). Without the widget it took 100 to 125 and 200 to 298.",
    "**Saved output**: about 30 KB for a page of 9. The page is in it twice, as a frame and as code (17), because many places show no frames: GitHub, untrusted notebooks, diffs. The style sheet takes 5.5, the transcript 3, the script and the policy that close the page 3. Notebooks have no place that outputs share.",
    "**Processor time** as a multiple of the SDK's depends on how busy the machine is. In five rounds at 100 KB on two shared Arm cores (load 5 to 9), Anthropic took 0.43 to 0.74 (median 0.47), Responses 0.12 to 0.23 (0.22), Chat Completions 0.11 to 0.25 (0.13).",
    "**`%load_ext`** took 9.0 to 22.8 ms of processor time in six kernels one after another, on a machine that others share: 20 modules. The options and the features are imported with the first cell.",
    "**8 variants on Gemini** took 1.12 to 1.24 times one alone in five runs: the SDK builds two pydantic classes for each request, on the loop, about 11 ms.",
    "**A live lesson in the browser tab** (20 s first and 8 again were wanted): in Chromium, on a quiet machine, the first run came after 17.5 and 22 s, again after 19 and 20. The start takes 10 s of processor time: Pyodide itself 4, unpacking 37 wheels 1.7, importing IPython and its kernel 2.7, agent_nb and a run 1.3. A second visit downloads nothing, so 8 s would take a snapshot of Python's memory, and Pyodide's cannot hold loaded packages yet (pyodide issues 6418, 6254).",
    "**The first run in the same moment as `%load_ext`**: both goals are met when the cell is run a few seconds later. In one go with `%load_ext`, a vendor's first word comes after 2.7 and 2.8 times the demo's, and the demo's first after 2.2 to 2.9 times its next: the SDK's import takes 1 to 3 s of processor time.",
    "**A page left alone**: V8 collects garbage about 20 and 30 s after 60 finished runs are loaded, with 0.3 s of processor time together, and then no more. The bench leaves these two out (`--no-memory-reducer`), since they are part of loading a page.",
)  # fmt: skip
"""What a goal cannot reach, and why."""


def pages(folder: Path) -> dict[str, str]:
    """The page of goals, and one for each table, by their paths below `docs/internals/`."""
    tables = {
        f"quality/{name}.md": "\n\n".join([f"# {title}", what, *_section(folder, name, command)]) + "\n"
        for name, title, command, what in SECTIONS
    }
    return {"quality.md": _overview(folder), **tables}


def _overview(folder: Path) -> str:
    commit = source_commit()
    parts = [
        "# Quality",
        "What was measured, with the command that measures it again. Made from those figures by `make quality`; do not edit."
        " No vendor was called: models are played by a server on the same machine that speaks the vendors' protocols.",
        f"The sources are those of {f'commit `{commit[:12]}`' if commit else 'no commit'}. Figures of others are not shown.",
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
    for where, (most, what) in GOALS.items():
        value = figure(folder, where)
        verdict = NOT_MEASURED if value is None else "yes" if value <= most else "**no**"
        rows.append([what, _shown(most), "" if value is None else _shown(value), verdict])
    return _table(["", "at most", "measured", "holds"], rows)


def _section(folder: Path, name: str, command: str) -> Iterator[str]:
    record = read_record(folder, name)
    if record is None:
        yield f"{NOT_MEASURED.capitalize()}. `{command}` does it."
        return
    date, machine = record["date"][:16].replace("T", " "), record["machine"]
    yield (
        f"`{record['command']}` at commit `{record['commit'][:12]}` of version {record['version']}, {date} UTC,"
        f" {machine['cores']} cores, {machine['cpu']}, {machine['system']}, Python {machine['python']},"
        f" load of the machine {record['load'][0]}."
    )
    yield from tables(record["figures"])


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
