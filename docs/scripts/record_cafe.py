"""`python -m docs.scripts.record_cafe` writes the cassette of lesson 12: a model computes with the notebook's data.

No vendor is asked: the real SDK talks to the loopback server. The cell runs in a real kernel with the lesson's data
frame, so the results of the tools are real. The model's words, its code and its token counts are made up, and the
lesson says so. Only what it costs is calculated from the price tables.
"""

# ruff: noqa: E501 - words are written as they are sent

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from docs.scripts.execute_notebooks import FOLDER
from tests.support import ROOT
from tests.support.kernels import Kernel, start_kernel
from tests.support.wire import Call, Pause, Reply, Say, Think, Tokens, WireServer, reply
from tests.support.wire.server import Request

PAGE = ROOT / "tests" / "support" / "pages" / "cafe" / "index.html"
PACE: dict[str, Any] = {"fragment": 18, "gap": 0.025}
"""Characters of a delta and seconds between two: fast for a model, slow enough to follow."""

COMPUTE = """\
week = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
daily = sales.groupby("day")["units"].sum()
per_day = daily.groupby(daily.index.day_name()).mean().reindex(week).round(0)
products = sales.groupby("product")[["units", "revenue"]].sum().sort_values("revenue", ascending=False)
weekend = sales.assign(weekend=sales["day"].dt.day_of_week >= 5).groupby("weekend")["units"].mean().round(1)
print(per_day.to_string(), products.to_string(), weekend.to_string(), sep="\\n\\n")"""
DRAW = """\
import matplotlib.pyplot as plt

to_file("data.json", products)
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 2.6), dpi=80, layout="constrained")
per_day.plot.bar(ax=left, title="Units on an average day", xlabel="", color="peru")
products["revenue"][::-1].plot.barh(ax=right, title="Revenue in May, euros", ylabel="", color="peru");"""
NUMBERS = f"""\
import json
{COMPUTE.rpartition(chr(10))[0]}
print(json.dumps([per_day.to_dict(), products["revenue"].to_dict(), [*weekend]]))"""
"""What the page shows, computed by the same lines."""


def page_from(per_day: dict[str, float], revenue: dict[str, float], mean: list[float]) -> str:
    first, least = next(iter(revenue)), min(revenue.values())
    slots = {
        "lede": f"A product sells {mean[1] / mean[0] - 1:.0%} more on a day of the weekend than on a weekday. Of what is baked, croissants bring in €{revenue['croissant']:,.0f} and cake €{revenue['cake']:,.0f}: for the weekend, bake more of both, croissants first.",
        "weekday": f"{mean[0]:.1f}",
        "weekend": f"{mean[1]:.1f}",
        "first": first.capitalize(),
        "revenue": f"{revenue[first]:,.0f}",
        "all": f"{sum(revenue.values()):,.0f}",
        "days": _bars(per_day, above=sum(per_day.values()) / len(per_day)),
        "products": _bars(revenue, above=least),
    }
    page = PAGE.read_text(encoding="utf-8")
    for name, value in slots.items():
        page = page.replace(f"{{{{{name}}}}}", value)
    return page


def _bars(values: dict[str, float], above: float) -> str:
    """A line for each value; those above a limit stand out."""
    most = max(values.values())
    return "\n".join(
        f'<li{" class=high" if value > above else ""}><span>{name}</span><i style="--part:{value / most * 100:.0f}"></i><span>{value:,.0f}</span></li>'
        for name, value in values.items()
    )


def turns(page: str) -> list[Reply]:
    return [
        reply(
            Pause(0.5),
            Think(
                "Two questions: when, and what. I do not know the data yet, so first I look at what there is."
            ),
            Call("list_variables", {}, id="call_cafe_1"),
            Tokens(input=2214, cached_write=2140, output=96, reasoning=31),
            **PACE,
        ),
        reply(
            Pause(0.3),
            Call("describe_variable", {"name": "sales"}, id="call_cafe_2"),
            Tokens(input=2608, cached_read=2140, cached_write=420, output=58),
            **PACE,
        ),
        reply(
            Pause(0.3),
            Say(
                "One row for each day, shop and product. I compare the days of the week, weekends with weekdays, and the products.\n"
            ),
            Call("run_python", {"code": COMPUTE}, id="call_cafe_3"),
            Tokens(input=3120, cached_read=2560, cached_write=512, output=286),
            **PACE,
        ),
        reply(
            Pause(0.4),
            Say("Saturday and Sunday stand out. Now a chart of both.\n"),
            Call("run_python", {"code": DRAW}, id="call_cafe_4"),
            Tokens(input=3611, cached_read=3072, cached_write=498, output=204),
            **PACE,
        ),
        reply(
            Pause(0.4),
            Call("create_file", {"path": "index.html", "content": page}, id="call_cafe_5"),
            Tokens(input=4420, cached_read=3570, cached_write=802, output=1893),
            **PACE,
        ),
        reply(
            Pause(0.4),
            Say(
                "The page is in `index.html`, with numbers from `sales` only. Weekends are the busy days. I cannot see from units what ran out, so “bake more” means: more of what sells when it is busy. With a column for what was left over I could say more."
            ),
            Tokens(input=6398, cached_read=4372, cached_write=1980, output=97),
            **PACE,
        ),
    ]


@dataclass(frozen=True)
class Lesson:
    """What is recorded: the cell of a run, after the cells up to the lesson's data."""

    path: Path
    run: str
    data: str
    """What the last cell before the run has."""
    numbers: str
    """Code whose last line prints, as JSON, what `turns` gets: the numbers that the model names."""
    turns: Callable[..., list[Reply]]
    otherwise: Callable[[Request], Reply] | None = None
    """Answers the requests after those of `turns`, if their order is not known."""

    @property
    def cassette(self) -> Path:
        return FOLDER / "cassettes" / f"{self.run}.run.jsonl"

    def cells(self) -> tuple[list[str], str]:
        """The cells up to the data, and the cell to record."""
        book = nbformat.read(self.path, as_version=4)
        sources = [cell.source for cell in book.cells if cell.cell_type == "code"]
        (recorded,) = (source for source in sources if source.startswith(f"%%agent {self.run}"))
        data = next(place for place, source in enumerate(sources) if self.data in source)
        return sources[: data + 1], recorded


def _record(lesson: Lesson, kernel: Kernel, server: WireServer) -> None:
    before, recorded = lesson.cells()
    for source in before:
        assert kernel.run(source).status == "ok"
    numbers = json.loads(kernel.run(lesson.numbers).stdout.splitlines()[-1])
    server.plan(reply(Say("Ready.")))
    kernel.run(
        "%%agent -m anthropic: --no-save\nAre you there?"
    )  # so that the time it takes to load the SDK is not recorded
    kernel.run("%reset -f")
    for source in before:
        assert kernel.run(source).status == "ok"
    server.plan(*lesson.turns(*numbers))
    server.otherwise = lesson.otherwise
    line, _, prompt = recorded.partition("\n")
    options = (
        f"-m anthropic: --approve run_python=auto --record {lesson.cassette.name}"  # the run keeps this line
    )
    cell = kernel.run(f"{line} {options}\n{prompt}")
    assert cell.status == "ok", cell.errors
    assert kernel.value(f"all(use.ok for use in {lesson.run}.tool_uses)") == "True"
    print(
        kernel.value(
            f"({lesson.run}.model, str({lesson.run}.usage), {lesson.run}.cost, list({lesson.run}.files))"
        )
    )


def record_lesson(lesson: Lesson) -> None:
    lesson.cassette.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as home, WireServer.in_thread() as server:
        keyed = {
            "ANTHROPIC_API_KEY": "k3y-0f-the-tests",
            "ANTHROPIC_BASE_URL": server.base_url("anthropic_messages"),
        }
        with start_kernel(Path(home), **keyed) as kernel:
            _record(lesson, kernel, server)
        shutil.copy(Path(home) / lesson.cassette.name, lesson.cassette)


CAFE = Lesson(
    FOLDER / "12_from_a_question_to_a_page.ipynb",
    "cafe",
    "sales = ",
    NUMBERS,
    lambda *numbers: turns(page_from(*numbers)),
)


if __name__ == "__main__":
    record_lesson(CAFE)
