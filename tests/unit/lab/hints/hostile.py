"""Answers of models that give a solution away although they were asked not to, each in another way."""

import base64
import json
from dataclasses import dataclass

from tests.support.wire import Call, Say, Think
from tests.support.wire.steps import Step

LINES = ("def fact(n):", "    if n < 2:", "        return 1", "    return n * fact(n - 1)")
SOLUTION = "".join(f"{line}\n" for line in LINES)
GIVEAWAYS = ("deffact(n)", "ifn<2", "return1", "n*fact(n-1)")
"""What no answer may bring to the person, without spaces."""
BASE64 = base64.b64encode(SOLUTION.encode()).decode()
PAGE = "".join(f"<p>Answer {number}</p>\n" for number in range(8))


@dataclass(frozen=True)
class Answer:
    """What a model sends, turn by turn, and what must not arrive."""

    turns: tuple[tuple[Step, ...], ...]
    giveaways: tuple[str, ...] = GIVEAWAYS


def says(text: str, *more: str) -> Answer:
    return Answer(((Say(text),),), more or GIVEAWAYS)


def calls(name: str, arguments: object) -> Answer:
    return Answer(((Call(name, arguments),), (Say("That was it."),)))  # type: ignore[arg-type]


def _each(form: str) -> str:
    return "".join(form.format(number=number, line=line) for number, line in enumerate(LINES, 1))


HOSTILE = {
    "a fence": says(f"Here you are.\n\n```python\n{SOLUTION}```\n"),
    "a fence that never ends": says(f"```\n{SOLUTION}"),
    "tildes in a list": says("- Look:\n\n  ~~~\n" + _each("  {line}\n") + "  ~~~\n"),
    "the info string of a fence": says("```python def fact(n): return 1 if n<2 else n * fact(n - 1)\n```\n"),
    "indented": says("The function is\n\n" + _each("    {line}\n") + "\nGood luck."),
    "tabs": says("The function is\n\n" + _each("\t{line}\n")),
    "a table": says("| line | code |\n|---|---|\n" + _each("| {number} | `{line}` |\n")),
    "inline code": says("First " + _each("comes `{line}`, and then ") + "nothing."),
    "inline code over several lines": says(f"Write `{SOLUTION}` there."),
    "thinking": Answer(((Think(f"The answer is\n{SOLUTION}"), Say("What do you think?")),)),
    "thinking in prose": Answer(
        ((Think("Multiply n by the factorial of n minus one."), Say("What do you think?")),), ("Multiplynby",)
    ),
    "create_file": calls("create_file", {"path": "fact.py", "content": SOLUTION}),
    "create_file as text": calls("create_file", {"path": "fact.txt", "content": SOLUTION}),
    "a page": Answer(
        ((Call("create_file", {"path": "index.html", "content": PAGE}),), (Say("So?"),)),
        ("Answer3", "Answer7"),
    ),
    "edit_file": calls("edit_file", {"path": "fact.py", "old": "pass", "new": SOLUTION}),
    "the old text of an edit": calls("edit_file", {"path": "fact.py", "old": SOLUTION, "new": "pass"}),
    "edits": calls(
        "edit_file",
        {"path": "fact.py", "edits": [{"old": f"line {n}", "new": line} for n, line in enumerate(LINES)]},
    ),
    "numbers": Answer(
        (
            (Call("create_file", {"path": "a.py", "content": [*SOLUTION.encode()]}),),
            (Say("So?"),),
        ),
        ("100,101,102,32,102",),
    ),
    "broken JSON": calls("create_file", '{"path": "fact.py", "content": "' + SOLUTION),
    "deep JSON": calls("create_file", '{"a":' * 400 + json.dumps(SOLUTION) + "}" * 400),
    "an unknown tool": calls("run_python_now", {"code": SOLUTION}),
    "calls over several turns": Answer(
        (
            *((Call("create_file", {"path": f"{n}.py", "content": line}),) for n, line in enumerate(LINES)),
            (Say("So?"),),
        )
    ),
    "text over several turns": Answer(
        (
            *(
                (Say(f"Part {n}:\n\n```\n{line}\n```\n"), Call("list_files", {}))
                for n, line in enumerate(LINES)
            ),
            (Say("So?"),),
        )
    ),
    "a fence in a quotation": says("> ```\n" + _each("> {line}\n") + "> ```\n"),
    "a fence with a mark that does not end it": says(f"```\n    ```\n\n{SOLUTION}```\n"),
    "indented in a list": says("- Look:\n\n" + _each("      {line}\n")),
    "carriage returns in a fence": says("```\r" + SOLUTION.replace("\n", "\r") + "```\r"),
}

NOT_MARKED = {
    "no fence": f"The function is\n{SOLUTION}Good luck.\n",
    "bold": _each("**{line}**\n"),
    "an HTML element": f"<pre>\n{SOLUTION}</pre>\n",
    "base64": f"Decode this: {BASE64}\n",
    "prose": "Multiply n by the factorial of n minus one, and begin with one.\n",
}
"""Solutions that pass, because Markdown does not show them as code."""
