"""A hundred forgeries whose digest was mended, too: each is found by running the certificate in a fresh kernel."""

import random
from dataclasses import replace

import pytest

from agent_nb.core.errors import ConfigError
from agent_nb.features.certificate.certificate import Try, certificate_of
from agent_nb.features.certificate.commands import _inputs, _verify_options, _with_data
from agent_nb.features.certificate.forms import html_form, read_html
from agent_nb.features.certificate.verify import verify
from tests.support.certified import ANSWER, CODES, TABLE, computed, mended
from tests.support.shells import start_shell

pytestmark = pytest.mark.trust


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    """A certificate with data, of which two of three tries agree."""
    with start_shell(tmp_path_factory.mktemp("shell")) as shell:
        assert shell.run(TABLE).ok
        run = computed(shell, *CODES)
        made, _ = _with_data(certificate_of(run, shell.names), shell.names)
        other = (CODES[0].replace("mean()", "max()"), CODES[1])
        tries = [
            Try(model="a", answer=answer, code=code) for answer, code in ((ANSWER, CODES), ("9.5", other))
        ]
        return html_form(replace(made, tries=(*tries, tries[0]), agree=2))


def outcome(html: str) -> int:
    made = read_html(html)
    try:
        return verify(made, _inputs(made, _verify_options("x")), 60).status
    except ConfigError:
        return 2


def number(wire, dice):
    """Another number in the answer and in the table."""
    row = dice.choice([row for row in wire["numbers"] if row["source"] == "computed"])
    digit = dice.choice([place for place, sign in enumerate(row["text"]) if sign.isdigit() and place])
    other = dice.choice([sign for sign in "123456789" if sign != row["text"][digit]])
    text = row["text"][:digit] + other + row["text"][digit + 1 :]
    wire["answer"] = wire["answer"].replace(row["text"], text)
    row.update(text=text, line=row["line"].replace(row["text"], text))


def unlisted(wire, dice):
    """A number whose row was taken out."""
    wire["numbers"].remove(dice.choice([row for row in wire["numbers"] if row["source"] == "computed"]))


def moved(wire, dice):
    """A number that is said to come from another cell."""
    row = dice.choice([row for row in wire["numbers"] if row["source"] == "computed"])
    row["cell"] = dice.choice([cell for cell in (0, 1, 2, 3, 7) if cell != row["cell"]])


def invented(wire, dice):
    """A number that nothing computed, as computed."""
    row = next(row for row in wire["numbers"] if row["source"] == "not computed")
    row.update(source="computed", cell=dice.choice([2, 3]), policy="rounded as shown")


def code(wire, dice):
    """Code that gives something else."""
    old, new = dice.choice(
        [("mean()", "min()"), ("mean()", "max()"), ("x * scale", "x * 3"), ("4711", "4712"), (".sum()", ".mean()"),
         ("'region'", "'sold'"), ("* scale", "/ scale")]
    )  # fmt: skip
    for cell in wire["cells"]:
        cell["source"] = cell["source"].replace(old, new)


def data(wire, dice):
    """Other data, with or without their digest."""
    stored = next(row for row in wire["data"] if row["name"] == "sales")
    old = dice.choice(["1.25", "2.5", "3.75", "4.125"])
    stored["text"] = stored["text"].replace(
        old, str(round(float(old) * dice.uniform(1.3, 3), 2)), dice.randint(1, 3)
    )


def digest(wire, dice):
    """Another digest, type or kind of an input."""
    row = dice.choice([row for row in wire["inputs"] if row.get("digest")])
    row["digest"] = "".join(dice.choice("0123456789abcdef") for _ in range(64))


def agreement(wire, dice):
    """More that agree, by their number or by other code."""
    if dice.random() < 0.5:
        wire["agree"] = 3
        wire["tries"][1]["answer"] = wire["answer"]
    else:
        each = wire["tries"][dice.choice([0, 2])]
        each["code"] = [part.replace("mean()", "min()") for part in each["code"]]


KINDS = (
    [number] * 35 + [unlisted] * 5 + [moved] * 5 + [invented] * 5 + [code] * 15 + [data] * 15 + [digest] * 10
)
KINDS += [agreement] * 10


def test_it_is_verified_as_it_is(html):
    assert outcome(html) == 0


@pytest.mark.parametrize(
    ("seed", "forge"), [*enumerate(KINDS)], ids=lambda value: getattr(value, "__name__", str(value))
)
def test_a_forgery_is_found(html, seed, forge):
    forged = mended(html, lambda wire: forge(wire, random.Random(seed)))
    assert outcome(forged) == 1
