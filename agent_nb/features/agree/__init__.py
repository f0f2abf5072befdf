"""`--agree N`: several tries of a request, until the code of two computes the same answer."""

from agent_nb.core.feature import ClassRule, Default, Feature, Number, Setting, flag

MOST = 5
TRIES = Number(int, lambda value: 1 <= value <= MOST, f"a whole number from 1 to {MOST}", "3")

AGREE: Feature[int] = Feature(
    "agree",
    option=flag(
        "--agree N",
        "Most tries of the request (2 to 5; 1 for none), each in a branch, until two compute the same answer.",
        number=TRIES,
        label="up to {} tries".format,
        after="branch",
    ),
    default=Default(None, "Most tries of a request, until two compute the same answer."),
    keyword=True,
    setting=Setting(
        sent="nowhere",
        matched=lambda then, now: f"`--agree {then or 1}`, not `--agree {now or 1}`",
        accepted_by={},
        stricter=None,
        dry_run="Most tries",
        kind=int,
    ),
    rule=ClassRule(
        TRIES.description,
        accepts=lambda most: type(most) is int and TRIES.accepts(most),
        refuses=lambda most, value: (
            f"This lab allows at most `--agree {most}`, not {value}." if (value or 1) > most else ""
        ),
    ),
    inherits=False,
    value="Any",
    value_name="agreement",
    code="agent_nb.features.agree.run:Agrees",
    cell="agent_nb.features.agree.cell:AgreesInCell",
)
