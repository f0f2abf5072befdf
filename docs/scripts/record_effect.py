"""`python -m docs.scripts.record_effect` writes the cassette of lesson 15: eight analysts answer the same question.

As in `record_cafe`, only the tools are real: the code of each analyst runs in a kernel with the lesson's table, and its
answer has the numbers that the code printed.
"""

# ruff: noqa: E501 - words are written as they are sent

import json
import re

from docs.scripts.execute_notebooks import FOLDER
from docs.scripts.record_cafe import PACE, Lesson, record_lesson
from tests.support.wire import Call, Pause, Reply, Say, Tokens, reply
from tests.support.wire.server import Request

REPORT = """\
def report(d):
    print(round(d["celsius"].cov(d["riders"]) / d["celsius"].var(), 1), len(d))

"""
CENTRED = """\
columns = ["celsius", "riders"]
report(rides[columns] - rides.groupby("weekday")[columns].transform("mean"))"""
MODEL = """\
import numpy as np
day = rides["day"].dt.day_of_week
known = np.column_stack([rides["celsius"], rides["rain"] > 1, day >= 5, np.ones(len(rides))]).astype(float)
print(round(np.linalg.lstsq(known, rides["riders"].astype(float), rcond=None)[0][0], 1), len(rides))"""
LINE = """\
import numpy as np
d = rides[(rides["rain"] == 0) & (rides["day"].dt.day_of_week < 5)]
print(round(np.polyfit(d["celsius"], d["riders"], 1)[0], 1), len(d))"""
ANALYSTS = (
    ("I fit one line through all days.", f"{REPORT}report(rides)"),
    ("Rain keeps people at home, so I take dry days only.", f'{REPORT}report(rides[rides["rain"] == 0])'),
    ("Weekends differ, so I take weekdays only.", f'{REPORT}report(rides[rides["day"].dt.day_of_week < 5])'),
    ("Rain and weekends both differ: dry weekdays only.", f'{REPORT}report(rides[(rides["rain"] == 0) & (rides["day"].dt.day_of_week < 5)])'),
    ("I compare each day with the mean of its weekday.", f"{REPORT}{CENTRED}"),
    ("I take the three months of summer.", f'{REPORT}report(rides[rides["day"].dt.month.between(6, 8)])'),
    ("A linear model: temperature, rain and weekend together.", MODEL),
    ("Commuters on days without rain are the cleanest sample.", LINE),
)  # fmt: skip


class Analysts:
    """Answers the requests of the variants: first the code of the next analyst, then the numbers that it printed."""

    def __init__(self) -> None:
        self._analysts = iter(ANALYSTS)

    def __call__(self, request: Request) -> Reply:
        messages = request.body["messages"]
        if len(messages) == 1:
            words, code = next(self._analysts)
            call = Call("run_python", {"code": code}, id="call_effect_1")
            return reply(Pause(0.4), Say(f"{words}\n"), call, Tokens(input=2480, output=140), **PACE)
        slope, days = re.findall(r"\d+\.?\d*", json.dumps(messages[-1]["content"][0]["content"]))[:2]
        call = Call("final_answer", {"per_degree": float(slope), "days": int(days)}, id="call_effect_2")
        return reply(Pause(0.3), call, Tokens(input=2710, output=60), **PACE)


EFFECT = Lesson(
    FOLDER / "15_eight_analysts.ipynb", "effect", "rides = ", "print([])", lambda: [], otherwise=Analysts()
)


if __name__ == "__main__":
    record_lesson(EFFECT)
