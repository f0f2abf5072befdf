"""Numbers in an answer that no output of its run has."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import agent_nb.run.supported_numbers as supported
from agent_nb import tool
from agent_nb.providers.scripted import call, text
from agent_nb.run import Run
from agent_nb.tools.base import ToolOutput
from tests.support.scripts import run_script
from tests.unit.render.test_code_steps import FIGURE, NAMES, TABLE

ANSWERS = Path(__file__).parents[2] / "support" / "number_answers.txt"
MARK = re.compile(r"\{([+-])([^{}]+)\}")


class Case(NamedTuple):
    name: str
    prompt: str
    outputs: list[str]
    answer: str

    @property
    def shown(self) -> str:
        return MARK.sub(r"\2", self.answer)


def read_cases() -> list[Case]:
    cases = []
    for part in ANSWERS.read_text(encoding="utf-8").split("\n=== ")[1:]:
        name, *sections = re.split(r"^--- (\w+)\n", part, flags=re.MULTILINE)
        pairs = list(zip(sections[::2], sections[1::2], strict=True))
        texts = dict(pairs)
        outputs = [text for kind, text in pairs if kind == "output"]
        cases.append(Case(name.strip(), texts["prompt"], outputs, texts["answer"]))
    return cases


async def data_run(
    answer: str, *outputs: str | dict, prompt: str = "Explore", base: Run | None = None
) -> Run:
    """A run with one call of code for each output."""
    bundles = iter([{"text/plain": one} if isinstance(one, str) else one for one in outputs])

    @tool
    def run_code(code: str) -> ToolOutput:
        bundle = next(bundles)
        return ToolOutput(text=bundle.get("text/plain", "Done."), outputs=(bundle, NAMES))

    turns = [[call("run_code", {"code": "f()"})] for _ in outputs]
    return await run_script(*turns, [text(answer)], prompt=prompt, tools=[run_code], base=base)


def marked(answer: str, *outputs: str) -> list[str]:
    """As `Run.unsupported`, without a run around it."""
    values = supported._Values(("call", output) for output in outputs)
    found = supported._numbers_in(answer)
    return [text for _, text, readings, year in found if values.call_of(readings) is None and not year]


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: case.name)
async def test_no_number_that_an_output_supports_is_marked(case: Case):
    run = await data_run(case.shown, *case.outputs, prompt=case.prompt)
    claimed = [number for sign, number in MARK.findall(case.answer) if sign == "-"]
    assert [number for number in run.unsupported if number not in claimed] == []
    linked = {number.text for number in run.answer_numbers if number.call_id}
    assert not linked & set(claimed)


async def test_nine_of_ten_numbers_that_nothing_supports_are_marked():
    claims = found = 0
    for case in read_cases():
        claimed = [number for sign, number in MARK.findall(case.answer) if sign == "-"]
        run = await data_run(case.shown, *case.outputs, prompt=case.prompt)
        claims += len(claimed)
        found += sum(number in run.unsupported for number in claimed)
    assert claims >= 40
    assert found >= 0.9 * claims, (found, claims)


@pytest.mark.parametrize(
    ("number", "output"),
    [
        ("1.234,5", "1234.5"),
        ("1,234.5", "1234.5"),
        ("1 234,5".replace(" ", "\u202f"), "1234.46"),
        ("1 234 567,8", "1234567.8"),
        ("1'234'567", "1234567"),
        ("12,34,567", "1234567"),
        ("1_234_567", "1234567"),
        ("1e-3", "0.001"),
        ("1.2e+03", "1187"),
        ("1.71 × 10⁻³", "0.00171"),
        ("$1.71 \\times 10^{-3}$", "0.00171"),
        ("318½", "318.5"),
        ("１２．５", "12.47"),
        ("-3.14", "-3.1415"),
        ("−3.14", "-3.1415"),
        ("–3.14", "−3.1415"),
        ("3.14", "-3.1415"),
        (".045", "0.0452"),
        ("77.1%", "0.771044"),
        ("77.1 percent", "0.771044"),
        ("0.614", "61.4%"),
        ("204k", "203991.25"),
        ("37.5 million", "37468000"),
        ("37.5 Millionen", "37468000"),
        ("37,500,000", "37.5M"),
        ("1.2 GB", "1288490188"),
        ("1.29 GB", "1288490188"),
        ("48.2 kB", "48213"),
        ("1,200", "1187"),
        ("72.5", "72.45"),
        ("400", "[12.5,13.7,400]"),
        ("1234567", "1,234,567"),
        ("5%", "0.0495"),
        ("5 %", "4.97"),
        ("9 million", "9012345"),
        ("3.2 bn", "3204000000"),
        ("12,5 Mln", "12500000"),
        ("48.2 kWh", "48213"),
        ("EUR45.5", "45.5"),
        ("p < 0.001", "p = 3.2e-07"),
        ("P<.05", "p = 0.05"),
        ("p-value ≤ 0.01", "0.0"),
        ("２３", "23"),
        ("23", "２３"),
    ],
)
def test_notations(number: str, output: str):
    assert marked(f"It is {number}.", output) == []
    assert len(marked(f"It is {number}.", "918273")) == 1


@pytest.mark.parametrize(
    "left_alone",
    [
        "3 of 10",
        "Top 3 of 2024",
        "the 2 best of the 3 most common, 3 to 5 by 4, 6 big ones, 7 men, 8 more, 9 min",
        "in 4 bins, with 5 tips, 2 gaps and 3 bad rows",
        "`47.11`",
        "```\n47.11\n```",
        "    47.11",
        "https://a.example/47.11",
        "[here](https://a.example/47.11)",
        "2031-12-24, 24.12.2031, 12/24/2031, 24/12/31",
        "2031年12月24日",
        "on December 24, 2031, Dec. 24th, 24 December, 24. Dezember 2031, el 24 de diciembre de 2031",
        "from May 12–18 to 24 June",
        "at 14:47, 14:47:11.5 or 11 pm",
        "between 1987 and 2019, in 2024-03",
        "pandas 2.31.4, v47.11, Python 3.47",
        "12. A step\n13. Another",
        "Steps:\n12) this",
        "UTF-16, x86, F1, COVID-19, df_12, #47",
        "the 95th percentile",
        "R² and ½",
    ],
)
def test_what_is_no_claim_is_left_alone(left_alone: str):
    assert marked(left_alone, "nothing") == []


@pytest.mark.parametrize(
    ("answer", "unsupported"),
    [
        ("from 47–53%", ["47", "53"]),
        ("47-53 items", ["47", "53"]),
        ("**47**% of `x`", ["47"]),
        ("| a |\n|---|\n| 47 |\n| 53 |", ["47", "53"]),
        ("(47.1,53.2,61.3)", ["47.1", "53.2", "61.3"]),
        ("47\\\n53", ["47", "53"]),
        ("a margin of 12, a mayor of 47", ["12", "47"]),
        ("for May 1,288 sales", ["1,288"]),
        ("-47 and +53", ["-47", "53"]),
        ("1.52x", ["1.52"]),
        ("5% of 3 million in 4 years", ["5", "3"]),
        ("p < 0.001 and q < 0.002", ["0.001", "0.002"]),
        ("it would be\n0.792 to\n53", ["0.792", "53"]),
        ("In 2019 412 rows", ["412"]),
        ("In March 87 rows, 45 units, 2024", ["87", "45"]),
        ("$1987, EUR 2019, USD2024 and 1987 €", ["1987", "2019", "2024", "1987"]),
        ("In 2019 €47.1", ["47.1"]),
        ("9" * 60, []),
        ("0e999 and 1e999", []),
    ],
)
def test_numbers_are_found_where_they_begin_and_end(answer: str, unsupported: list[str]):
    assert marked(answer, "nothing") == unsupported


def test_a_value_of_the_other_sign_supports_no_negative_number():
    assert marked("It changed by -4.31.", "4.31") == ["-4.31"]


FORMATS = st.one_of(
    st.builds("{{:.{}f}}".format, st.integers(0, 8)),
    st.builds("{{:,.{}f}}".format, st.integers(0, 8)),
    st.builds("{{:_.{}f}}".format, st.integers(0, 8)),
    st.builds("{{:.{}e}}".format, st.integers(0, 8)),
    st.builds("{{:.{}g}}".format, st.integers(1, 12)),
    st.builds("{{:.{}%}}".format, st.integers(0, 6)),
    st.just("{}"),
    st.just("{:,}"),
)
VALUES = st.one_of(
    st.floats(-1e15, 1e15, allow_subnormal=False), st.floats(-1000, 1000), st.integers(-(10**15), 10**15)
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(VALUES, FORMATS, st.lists(VALUES, max_size=5), st.sampled_from(["{}", "{!r}", "x={}", "[{}]", "{},"]))
def test_no_rounding_that_python_prints_is_marked(value, form, others, output):
    printed = "  ".join(output.format(one) for one in [*others, value])
    assert marked(f"The value is {form.format(value)} here.", printed) == []


@given(st.integers(1_000, 10**12), st.integers(1, 12))
def test_no_whole_number_rounded_to_two_digits_or_more_is_marked(value, places):
    rounded = round(value, -min(places, len(str(value)) - 2))
    assert marked(f"About {rounded:,} of them.", f"n = {value}") == []


@given(st.text(alphabet="0123456789.,-–−%eEkM×^{}½１ \n'_$`*|#abJune", max_size=80))
def test_any_text_has_its_numbers_in_order(answer):
    starts = [start for start, *_ in supported._numbers_in(answer)]
    assert starts == sorted(starts)


async def test_a_number_leads_to_the_last_output_that_has_it():
    run = await data_run("It was 47.1, now 53.2 of 99.9.", "47.10", "53.24 47.12", prompt="Of 99.9?")
    first, second = run.tool_uses
    assert [(one.text, one.call_id) for one in run.answer_numbers] == [
        ("47.1", first.call.id),
        ("53.2", second.call.id),
    ]


async def test_where_a_number_begins_is_counted_as_the_page_does():
    run = await data_run("A 😀 `47` and 47.5\n\n- 53.5", "nothing")
    shown = "A 😀  and 47.553.5"
    begin = [len(shown[: shown.index(text)].encode("utf-16-le")) // 2 for text in ("47.5", "53.5")]
    assert [one.start for one in run.answer_numbers] == begin


async def test_a_run_without_printed_output_has_no_unsupported_numbers():
    assert (await data_run("It is 47.1.", FIGURE)).unsupported == ()
    assert (await data_run("It is 47.1.", {"text/plain": ""})).unsupported == ()
    assert (await data_run("It is 47.1.")).unsupported == ()
    assert (await data_run("It is 47.1.", FIGURE, TABLE)).unsupported == ("47.1",)


async def test_tables_and_the_runs_it_continues_support_numbers():
    table = {"text/html": '<table width="61"><tr><td>47.1</td><td>53.2</td></tr></table>'}
    first = await data_run("Fine.", table, "88.5")
    second = await data_run("47.1, 53.2, 88.5 and 61.0", table, base=first)
    assert second.unsupported == ("61.0",)
    third = await data_run("88.5 of 12.25", "nothing", base=second)
    assert third.unsupported == ("12.25",)
