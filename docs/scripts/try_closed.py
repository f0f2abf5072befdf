"""`make try MODEL=vendor:model TASKS=data DATA=folder`: closed questions about CSV files, as in DABench.

The folder has `da-dev-questions.jsonl`, `da-dev-labels.jsonl` and `da-dev-tables/` from `examples/DA-Agent/data` of
InfiAgent/InfiAgent on GitHub, which may not be copied here (CC BY-NC). An answer is right in the asked form if it has
`@name[value]` with each right value, and right by content if each right value stands anywhere in it. Each answer is
appended to a file as it comes; started again, it asks what the file does not have yet.
"""

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agent_nb.core.errors import AgentError
from agent_nb.providers.fenced_code import python_blocks
from agent_nb.providers.quotations import canonical_code
from docs.scripts.data_questions import Question
from docs.scripts.try_data import ROOT, Answer, Server, ask_agent_nb, ask_for_block, server_of

FORM = re.compile(r"@(\w+)\[(.*?)\]")
NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)
KERNELS = 28
Labels = Sequence[tuple[str, str]]


def questions(folder: Path, ids: str) -> Iterator[tuple[Question, Labels]]:
    """The questions with odd or even ids, or all, and their right values by name."""
    labels = {row["id"]: row["common_answers"] for row in rows_of(folder / "da-dev-labels.jsonl")}
    for row in rows_of(folder / "da-dev-questions.jsonl"):
        if ids == "all" or row["id"] % 2 == (ids == "odd"):
            text = f"{row['question']}\n{row['constraints']}\nAnswer in this form: {row['format']}\n"
            file = (folder / "da-dev-tables" / row["file_name"]).resolve()
            setup = f"import pandas as pd\n\ndf = pd.read_csv({str(file)!r})"
            yield Question(str(row["id"]), ("df",), text, lambda tables: (), setup), labels[row["id"]]


def rows_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def in_form(text: str, labels: Labels) -> bool:
    """As DABench grades: the last `@name[value]` of each name has the right value."""
    values = dict(FORM.findall(text))
    return all(name in values and is_equal(values[name], value) for name, value in labels)


def is_equal(text: str, value: str) -> bool:
    try:
        return text == value or abs(float(text) - float(value)) < 1e-6
    except ValueError:
        return False


def by_content(text: str, labels: Labels) -> bool:
    """Whether each right value stands anywhere in the text, as a word or as a number that rounds to it."""
    numbers = [float(match.replace(",", "").replace("−", "-")) for match in NUMBER.findall(text)]
    return all(stands_in(value, text, numbers) for _, value in labels)


def stands_in(value: str, text: str, numbers: Sequence[float]) -> bool:
    try:
        number = float(value)
    except ValueError:
        return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None
    unit = 10.0 ** -len(value.partition(".")[2])
    return any(abs(number - other) <= 0.5 * unit * (1 + 1e-9) for other in numbers)


def ends_in_code(answer: Answer) -> bool:
    """Whether a run that counts as done ends with a Python block that never ran."""
    arguments = (
        json.loads(code) if isinstance(code, str) and code.startswith("{") else {} for code in answer.code
    )
    executed = {canonical_code(str(args.get("code"))) for args in arguments}
    return answer.reason == "end_turn" and any(
        canonical_code(block) not in executed for block in python_blocks(answer.text)
    )


def ask(way: str, server: Server, asked: tuple[Question, Labels]) -> dict[str, Any]:
    question, labels = asked
    started = time.monotonic()
    try:
        if way == "one block":
            answer = ask_for_block(question, server)
        else:
            answer = ask_agent_nb(question, server, way.removeprefix("agent_nb"))
    except Exception as error:  # a kernel that died or an answer that took too long counts as wrong
        answer = Answer(
            "", (), ran_code=False, reason="error", error=f"{type(error).__name__}: {error}"[:500]
        )
    scores = {"in_form": in_form(answer.text, labels), "by_content": by_content(answer.text, labels)}
    ended = {"ends_in_code": ends_in_code(answer), "seconds": round(time.monotonic() - started)}
    place = {"model": server.name, "way": way, "question": question.name, "labels": labels}
    return {**place, **scores, **ended, **asdict(answer)}


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """How each way has done, as Markdown."""
    lines = [
        "| | questions | in the asked form | by content | ended in code | ran code | failed | agree, of these right |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for way in dict.fromkeys(row["way"] for row in rows):
        asked = [row for row in rows if row["way"] == way]
        agreed = [row for row in asked if row["agreed"]]
        fields = ("in_form", "by_content", "ends_in_code", "ran_code")
        counts = [sum(bool(row[field]) for row in asked) for field in fields]
        failed = sum(row["reason"] != "end_turn" for row in asked)
        agreement = f"{len(agreed)}, {sum(row['in_form'] for row in agreed)}"
        lines.append(f"| {way} | {len(asked)} | {' | '.join(map(str, counts))} | {failed} | {agreement} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="try_closed", description=__doc__)
    parser.add_argument("model", help="such as chat:qwen, with CHAT_BASE_URL set")
    parser.add_argument(
        "--folder", type=Path, default=os.environ.get("DATA"), help="the files of the questions"
    )
    parser.add_argument("--ids", choices=("odd", "even", "all"), default="odd")
    parser.add_argument(
        "--way", action="append", help="agent_nb, `agent_nb --agree 3` or one block; may be repeated"
    )
    parser.add_argument("--kernels", type=int, default=KERNELS, help="how many questions are asked at once")
    parser.add_argument("--minutes", type=float, default=1e6, help="after which no question is begun")
    parser.add_argument("--most", type=int, default=None, help="how many questions, the first ones")
    parser.add_argument(
        "--file", type=Path, default=ROOT / "build" / "try-closed.jsonl", help="where the answers are"
    )
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    if options.folder is None:
        sys.exit("Name the folder of the questions: `--folder`, or the variable DATA.")
    try:
        server = server_of(options.model)
        chosen = [*questions(options.folder, options.ids)][: options.most]
    except (AgentError, OSError) as error:
        sys.exit(str(error))
    options.file.parent.mkdir(parents=True, exist_ok=True)
    options.file.touch()
    ways = options.way or ["agent_nb"]
    done = {(row["model"], row["way"], row["question"]) for row in rows_of(options.file)}
    left = [(way, asked) for way in ways for asked in chosen if (server.name, way, asked[0].name) not in done]
    ask_all(left, server, options.file, options.kernels, time.monotonic() + options.minutes * 60)
    names = {question.name for question, _ in chosen}
    rows = [row for row in rows_of(options.file) if row["model"] == server.name and row["question"] in names]
    print(f"\n{table([row for row in rows if row['way'] in ways])}\n\nThe answers are in {options.file}.")
    if len(rows) < len(names) * len(ways):
        print("Questions are left: start it again.")


def ask_all(
    left: Sequence[tuple[str, tuple[Question, Labels]]],
    server: Server,
    file: Path,
    kernels: int,
    until: float,
) -> None:
    """Ask the questions, and append each answer to the file as it comes."""

    def work(item: tuple[str, tuple[Question, Labels]]) -> dict[str, Any] | None:
        way, asked = item
        return ask(way, server, asked) if time.monotonic() < until else None

    with ThreadPoolExecutor(kernels) as pool, file.open("a", encoding="utf-8") as lines:
        futures = [pool.submit(work, item) for item in left]
        for future in as_completed(futures):
            if row := future.result():
                lines.write(json.dumps(row) + "\n")
                lines.flush()
                verdict = "right" if row["in_form"] else "content" if row["by_content"] else "wrong"
                print(
                    f"{row['way']}, {row['question']}: {verdict} after {row['seconds']} s, {row['reason']}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
