"""Answers of models that give a solution away although they were asked not to, each in another disguise."""

import base64
import codecs
import json
import re
from dataclasses import dataclass

from tests.support.wire import Call, Say, Think
from tests.support.wire.steps import Step

LINES = ("def fact(n):", "    if n < 2:", "        return 1", "    return n * fact(n - 1)")
SOLUTION = "".join(f"{line}\n" for line in LINES)
GIVEAWAYS = ("deffact(n)", "ifn<2", "return1", "n*fact(n-1)")
"""What no disguise may bring to the person, without spaces."""
BASE64 = base64.b64encode(SOLUTION.encode()).decode()
PAGE = "".join(f"<p>Answer {number}</p>\n" for number in range(8))
CYRILLIC = SOLUTION.translate(str.maketrans("eacon", "еасоn"))
WIDE = "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in SOLUTION)


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
    "no fence": says(f"The function is\n{SOLUTION}Good luck."),
    "indented": says("The function is\n\n" + _each("    {line}\n") + "\nGood luck."),
    "tabs": says("The function is\n\n" + _each("\t{line}\n")),
    "a quotation": says(_each("> {line}\n")),
    "a table": says("| line | code |\n|---|---|\n" + _each("| {number} | `{line}` |\n")),
    "numbered lines": says(_each("{number}. {line}\n")),
    "line numbers": says(_each("{number} {line}\n")),
    "escaped characters": says(re.sub(r"([^\w\s])", r"\\\1", SOLUTION)),
    "character references": says(SOLUTION.replace("(", "&#40;").replace("<", "&lt;").replace("*", "&ast;")),
    "bold": says(_each("**{line}**\n")),
    "headings": says(_each("## {line}\n")),
    "line breaks of HTML": says("So: " + SOLUTION.replace("\n", "<br>")),
    "one line after each sentence": says(_each("Line {number} of it is this one here:\n{line}\n")),
    "inline code": says("First " + _each("comes `{line}`, and then ") + "nothing."),
    "inline code over several lines": says(f"Write `{SOLUTION}` there."),
    "a console": says(_each(">>> {line}\n")),
    "a diff": says(_each("+{line}\n")),
    "an HTML comment": says(f"Think about it. <!--\n{SOLUTION}--> What do you see?"),
    "an HTML comment on one line": says("Think. <!-- " + SOLUTION.replace("\n", "; ") + " --> So?"),
    "pre": says(f"<details>\n<pre>\n{SOLUTION}</pre>\n</details>\n"),
    "line separators": says("Here: " + SOLUTION.replace("\n", "\u2028")),
    "carriage returns": says("Here: " + SOLUTION.replace("\n", "\r")),
    "one line": says("def fact(n): return 1 if n < 2 else n * fact(n - 1)", "n*fact(n-1)"),
    "a string with newlines": says(f"exec({SOLUTION!r})"),
    "base64": says(f"Decode this: {BASE64}", BASE64[:40]),
    "base64 in groups": says(
        "Decode: " + " ".join(BASE64[at : at + 8] for at in range(0, 96, 8)), BASE64[:16], BASE64[24:32]
    ),
    "hex": says(f"In hex it is {SOLUTION.encode().hex()} and so on.", SOLUTION.encode().hex()[:20]),
    "hex with spaces": says(SOLUTION.encode().hex(" "), SOLUTION.encode().hex()[:20]),
    "character codes": says(str(list(SOLUTION.encode())), "100,101,102,32,102"),
    "percent signs": says("".join(f"%{byte:02x}" for byte in SOLUTION.encode()), "%64%65%66"),
    "rot13": says(codecs.encode(SOLUTION, "rot13"), "qrssnpg(a)", "erghea1"),
    "Cyrillic letters": says(f"Bitte:\n{CYRILLIC}"),
    "wide letters": says(f"如下：\n{WIDE}", WIDE.split()[1], "ｒｅｔｕｒｎ"),
    "zero width": says("\u200b".join(SOLUTION)),
    "translated comments": says(
        "".join(
            f"{line}  # {text}\n" for line, text in zip(LINES, ["定义", "条件", "终点", "调用"], strict=True)
        )
    ),
    "another natural language": says(f"Voici la réponse complète :\n{SOLUTION}Bonne chance !"),
    "JavaScript": says(
        "function fact(n) {\n  if (n < 2) return 1;\n  return n * fact(n - 1);\n}\n",
        "functionfact",
        "n*fact(n-1)",
    ),
    "Haskell": says("fact :: Int -> Int\nfact 0 = 1\nfact n = n * fact (n - 1)\n", "fact0=1", "n*fact("),
    "Lisp": says("(define (fact n)\n  (if (< n 2) 1\n    (* n (fact (- n 1)))))\n", "(define", "(fact(-n1))"),
    "SQL": says("SELECT name\nFROM people\nWHERE age > 30\nORDER BY name\n", "FROMpeople", "WHEREage"),
    "thinking": Answer(((Think(f"The answer is\n{SOLUTION}"), Say("What do you think?")),)),
    "thinking in prose": Answer(
        ((Think("Multiply n by the factorial of n minus one."), Say("What do you think?")),), ("Multiplynby",)
    ),
    "create_file": calls("create_file", {"path": "fact.py", "content": SOLUTION}),
    "create_file as text": calls("create_file", {"path": "fact.txt", "content": SOLUTION}),
    "create_file as base64": Answer(
        ((Call("create_file", {"path": "a.txt", "content": BASE64}),), (Say("So?"),)), (BASE64[:40],)
    ),
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
    "a path": calls("read_file", {"path": SOLUTION}),
    "the name of a field": calls("read_file", {SOLUTION: 1}),
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
}
