"""The page of figures: what was measured becomes tables, what was not says how to measure it."""

# ruff: noqa: E501 - tables are easier to read in long lines

import json

from docs.scripts.quality import SECTIONS, pages, tables
from tests.support import ROOT


def test_figures_become_tables():
    figures = {
        "cpu": {
            "anthropic": {"SDK": {"seconds": {"50": 0.5, "400": 4.0}, "times": 1.0}, "ours": {"seconds": {"50": 0.2, "400": 2.5}, "times": 0.6}}
        },
        "rows": [{"fault": "cut | torn", "runs": 23, "whole": True}, {"fault": "stall", "runs": 7, "whole": None}],
        "bytes": 8,
    }  # fmt: skip
    assert list(tables({"cpu": figures["cpu"]})) == [
        "**cpu / anthropic**",
        "|  | seconds 50 | seconds 400 | times |\n|---|---:|---:|---:|\n| SDK | 0.5 | 4 | 1 |\n| ours | 0.2 | 2.5 | 0.6 |",
    ]
    (title, table) = tables({"rows": figures["rows"]})
    assert title == "**rows**"
    assert table.splitlines()[2:] == ["| cut \\| torn | 23 | yes |", "| stall | 7 | not measured |"]
    assert list(tables({"bytes": 8, "ms": [1.5, 2]})) == ["| bytes | ms |\n|---:|---|\n| 8 | 1.5, 2 |"]


def test_many_figures_of_a_row_become_a_list():
    (table,) = tables({str(number): number for number in range(12)})
    assert table.startswith("| figure | value |\n|---:|---:|\n| 0 | 0 |")


def test_goals_say_what_holds(tmp_path):
    figures = {
        "leaks": {"found": 0},
        "magic": [{"load_cpu_ms": 17.0}, {"load_cpu_ms": 26.0}],
        "faults": {"runs": [{"violations": 0, "other_answer": 2}, {"violations": 0, "other_answer": 1}]},
    }
    for name, measured in figures.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({"date": "2026-11-16", "figures": measured}))
    text = "\n".join(pages(tmp_path).values())
    assert "| Planted keys found in what leaves the kernel | 0 | 0 | yes |" in text
    assert "| `%load_ext`, ms of processor time | 25 | 26 | **no** |" in text
    assert "| Runs with a fault that end with other files and no error | 32 | 3 | yes |" in text
    assert "| The same: Chat Completions | 0.2 |  | not measured |" in text


def test_missing_and_broken_figures_say_how_to_measure(tmp_path):
    (tmp_path / "leaks.json").write_text("{")
    (tmp_path / "supply.json").write_text(json.dumps({"figures": {}}))
    (tmp_path / "idle.json").write_text(
        json.dumps(
            {
                "date": "2026-11-15T23:12:28+00:00",
                "command": "python -m benchmarks.bench_idle",
                "figures": {"runs": 3},
            }
        )
    )
    text = "\n".join(pages(tmp_path).values())
    assert text.count("Not measured.") == len(SECTIONS) - 3
    assert "The figures cannot be read. `make test-leaks` writes them anew." in text
    assert "The figures cannot be read. `make supply-chain` writes them anew." in text
    assert "`python -m benchmarks.bench_idle`, 2026-11-15 23:12 UTC, machine not known." in text


def test_every_command_is_a_target():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [command for _, _, command, _ in SECTIONS if f"\n{command.split()[1]}:" not in makefile] == []
