"""`python -m docs.scripts.record_explore` writes the cassettes of lesson 13: a model explores a table, then guesses.

As in `record_cafe`, only the tools are real: the code runs in a kernel with the lesson's table.
"""

# ruff: noqa: E501 - words are written as they are sent

from docs.scripts.execute_notebooks import FOLDER
from docs.scripts.record_cafe import PACE, Lesson, record_lesson
from tests.support.wire import Call, Pause, Reply, Say, Think, Tokens, reply

COMPUTE = """\
weekday = rides["day"].dt.day_of_week < 5
dry = rides["rain"] == 0
dry_and_wet = rides.groupby([weekday.rename("weekday"), dry.rename("dry")])["riders"].mean().round(0).unstack()
with_temperature = rides["celsius"].corr(rides["riders"])
print(f"correlation with the temperature: {with_temperature:.2f}")
dry_and_wet"""
DRAW = """\
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6.4, 3), dpi=80, layout="constrained")
for label, chosen in {"dry": dry, "rain": ~dry}.items():
    axes.scatter(rides["celsius"][chosen], rides["riders"][chosen], s=14, label=label)
axes.set(xlabel="degrees Celsius", ylabel="riders a day")
axes.legend();"""


def turns(correlation: str, wet: str, dry: str) -> list[Reply]:
    return [
        reply(
            Pause(0.5),
            Think("One table, rides. I look at its columns before I compute anything."),
            Call("describe_variable", {"name": "rides"}, id="call_explore_1"),
            Tokens(input=2251, cached_write=2170, output=71, reasoning=22),
            **PACE,
        ),
        reply(
            Pause(0.4),
            Say("Temperature, rain and the day of the week may all matter, so I compare them together.\n"),
            Call("run_python", {"code": COMPUTE}, id="call_explore_2"),
            Tokens(input=2790, cached_read=2170, cached_write=560, output=203),
            **PACE,
        ),
        reply(
            Pause(0.4),
            Say("On wet days about three riders in ten stay at home, on weekdays and at weekends alike. A picture shows what warmth does.\n"),
            Call("run_python", {"code": DRAW}, id="call_explore_3"),
            Tokens(input=3122, cached_read=2730, cached_write=344, output=188),
            **PACE,
        ),
        reply(
            Pause(0.4),
            Say(
                f"**Warmth and rain decide, and the day of the week.** Riders follow the temperature (correlation {correlation}), and on a wet weekday {wet} come instead of {dry}. "
                "I am not sure how much of that is rain: wet days may also be colder. Compare dry weekdays alone before you rely on it."
            ),
            Tokens(input=3702, cached_read=3074, cached_write=590, output=88),
            **PACE,
        ),
    ]  # fmt: skip


EXPLORE = Lesson(
    FOLDER / "13_explore_a_table.ipynb",
    "explore",
    "rides = ",
    f"{COMPUTE}\nimport json\nprint()\nprint(json.dumps([f'{{with_temperature:.2f}}', *(f'{{dry_and_wet.loc[True, dry]:.0f}}' for dry in (False, True))]))",
    turns,
)
GUESS = Lesson(
    FOLDER / "13_explore_a_table.ipynb",
    "guess",
    "rides = ",
    "print([])",
    lambda: [
        reply(
            Pause(0.5),
            Say("In July it rained on 11 days. On these days 6,842 people cycled, about 622 a day."),
            Tokens(input=2249, cached_write=2170, output=31),
            **PACE,
        )
    ],
)
"""The model runs nothing, and its numbers are wrong."""


if __name__ == "__main__":
    record_lesson(EXPLORE)
    record_lesson(GUESS)
