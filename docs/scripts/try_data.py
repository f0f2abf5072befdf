"""`make try MODEL=vendor:model TASKS=data`: twelve questions about tables, asked in three ways on the same server.

A cell with `-t kernel`, one block of code in one answer, and a plain loop with a tool described by a JSON schema. Each
answer is appended to a file as it comes; started again, it asks what the file does not have yet.
"""

import argparse
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import openai
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from agent_nb import model
from agent_nb.core.errors import AgentError, ConfigError
from agent_nb.providers.streaming import VendorProvider
from docs.scripts.data_questions import QUESTIONS, SETUP, Question, is_right

ROOT = Path(__file__).parents[2]
TEMPERATURE = 0.2
"""What agent_nb sends to a server in the user's own network."""
MOST_TOKENS = 600
MOST_TURNS = 5
CODE_SECONDS = 60
ANSWER_SECONDS = 1500
ONE_BLOCK = "Write one fenced Python block that prints the answer, and nothing else."
BLOCK = re.compile(r"```(?:python|py)?[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
TOOL: Any = {
    "type": "function",
    "function": {
        "name": "run_python",
        "description": "Run Python code with the loaded DataFrames. Returns what it prints.",
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string"}},
            "required": ["code"],
        },
    },
}
RESULT = """\
import json
from agent_nb.render.shown import addition
print(json.dumps({
    "text": run.text,
    "code": [use.call.arguments for use in run.tool_uses if use.call.name == "run_python"],
    "ran_code": run.ran_code,
    "reason": run.reason,
    "error": run.error or "",
    "agreed": getattr(getattr(run, "agreement", None), "agree", None),
    "is_marked": bool(addition(run).above),
    "messages": [
        f"{message.role}: {getattr(part, 'text', '') or getattr(part, 'arguments', '')}"
        for message in run.own_messages
        for part in message.parts
    ],
}))"""
"""The last cell of agent_nb's way, after the run."""


@dataclass(frozen=True)
class Answer:
    text: str
    code: Sequence[str]
    ran_code: bool
    is_marked: bool = False
    """Whether the user is told that no code was run."""
    reason: str = "end_turn"
    error: str = ""
    agreed: int | None = None
    """How many tries agree, if there were several."""
    messages: Sequence[str] = ()


@dataclass(frozen=True)
class Server:
    """A model on a server, for the ways that do without agent_nb."""

    client: openai.OpenAI
    model: str
    name: str
    """As agent_nb calls it."""

    def ask(self, messages: list[Any], **options: Any) -> Any:
        completion = self.client.chat.completions.create(
            model=self.model, messages=messages, temperature=TEMPERATURE, max_tokens=MOST_TOKENS, **options
        )
        return completion.choices[0].message


def ask_agent_nb(question: Question, server: Server, options: str = "") -> Answer:
    """A cell in a kernel of its own."""
    tables = " and ".join(f"{{{{{name}}}}}" for name in question.tables)
    line = f"%%agent run -m {server.name} -t kernel --approve auto --no-raise --seconds {ANSWER_SECONDS} {options}"
    sources = (question.setup, "%load_ext agent_nb", f"{line}\n{question.text} Use {tables}.", RESULT)
    book = new_notebook(cells=[new_code_cell(source) for source in sources])
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(book, timeout=ANSWER_SECONDS * 2, resources={"metadata": {"path": folder}}).execute()
    printed = "".join(output.text for output in book.cells[-1].outputs if output.output_type == "stream")
    return Answer(**json.loads(printed))


def ask_for_block(question: Question, server: Server) -> Answer:
    """One request for one block, which is run; what it prints is the answer."""
    request = f"{described(question)}\n\n{question.text}\n\n{ONE_BLOCK}"
    content = server.ask([{"role": "user", "content": request}]).content or ""
    block = BLOCK.search(content)
    messages = (f"user: {request}", f"assistant: {content}")
    if not block:
        return Answer(content, (), ran_code=False, messages=messages)
    printed, has_failed = run_code(block[1], question.setup)
    text = "" if has_failed else printed
    return Answer(text, (block[1],), ran_code=True, messages=(*messages, f"tool: {printed}"))


def ask_in_loop(question: Question, server: Server) -> Answer:
    """The usual loop: calls are made and their results sent back until the model answers."""
    messages: list[Any] = [{"role": "user", "content": f"{described(question)}\n\n{question.text}"}]
    code: list[str] = []
    for _ in range(MOST_TURNS):
        message = server.ask(messages, tools=[TOOL])
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            break
        for call in message.tool_calls:
            try:
                code.append(str(json.loads(call.function.arguments)["code"]))
                printed, _ = run_code(code[-1], question.setup)
            except (ValueError, KeyError, TypeError) as error:
                printed = f"Invalid arguments: {error}"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": printed})
    text = messages[-1].get("content") or ""
    return Answer(text, code, ran_code=bool(code), messages=[json.dumps(message) for message in messages])


WAYS: dict[str, Callable[[Question, Server], Answer]] = {
    "agent_nb": ask_agent_nb,
    "one block": ask_for_block,
    "plain loop": ask_in_loop,
}


def tables(setup: str = SETUP) -> SimpleNamespace:
    names: dict[str, Any] = {}
    exec(setup, names)  # our own text
    return SimpleNamespace(**names)


def described(question: Question) -> str:
    """The tables with their columns, types and first rows."""
    loaded = tables(question.setup)
    return "\n\n".join(
        f"A DataFrame `{name}` is loaded (read no file). Its columns and types:\n{frame.dtypes.to_string()}\n"
        f"Its first rows:\n{frame.head().to_string()}"
        for name in question.tables
        for frame in [getattr(loaded, name)]
    )


def run_code(source: str, setup: str = SETUP) -> tuple[str, bool]:
    """What a program with the tables prints, or its error; and whether it has failed."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-c", f"{setup}\n{source}"],
                check=False, cwd=folder, capture_output=True, text=True, timeout=CODE_SECONDS,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"Stopped after {CODE_SECONDS} seconds.", True
    return (done.stderr[-1000:], True) if done.returncode else (done.stdout, False)


def ask_all(server: Server, file: Path, ways: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of this model, after every question that the file lacks has been asked and appended to it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["model"] == server.name]
    asked = {(row["way"], row["question"]) for row in rows}
    for way, question in itertools.product(ways, QUESTIONS):
        if (way, question.name) not in asked:
            rows.append(ask(way, question, server))
            with file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(rows[-1]) + "\n")
    return rows


def ask(way: str, question: Question, server: Server) -> dict[str, Any]:
    """The graded answer as a row of the file."""
    started = time.monotonic()
    answer = WAYS[way](question, server)
    seconds = round(time.monotonic() - started)
    expected = question.answer(tables())
    right = is_right(answer.text, expected, question.text)
    print(f"{way}, {question.name}: {'right' if right else 'wrong'} after {seconds} s", flush=True)
    place = {"model": server.name, "way": way, "question": question.name}
    return {**place, "expected": expected, "is_right": right, "seconds": seconds, **asdict(answer)}


def table(rows: Sequence[dict[str, Any]]) -> str:
    """How each way has done, as Markdown."""
    lines = ["| | right | answered without code | of these marked as not computed |", "|---|---|---|---|"]
    for way in WAYS:
        asked = [row for row in rows if row["way"] == way]
        without = [row for row in asked if not row["ran_code"]]
        marked = sum(row["is_marked"] for row in without)
        right = sum(row["is_right"] for row in asked)
        lines += [f"| {way} | {right} of {len(asked)} | {len(without)} | {marked} |"] if asked else []
    return "\n".join(lines)


def server_of(name: str) -> Server:
    provider = model(name)
    if not isinstance(provider, VendorProvider) or provider.settings.vendor.apis != ("chat",):
        raise ConfigError(f"{name!r} has no OpenAI-compatible server, which the plain loop needs.")
    settings = provider.settings
    client = openai.OpenAI(
        base_url=settings.base_url, api_key=settings.api_key or "none", timeout=ANSWER_SECONDS, max_retries=0
    )
    return Server(client, settings.model, settings.name)


def main() -> None:
    parser = argparse.ArgumentParser(prog="try_data", description=__doc__)
    parser.add_argument("model", help="such as chat:qwen, with CHAT_BASE_URL set")
    parser.add_argument(
        "--file", type=Path, default=ROOT / "build" / "try-data.jsonl", help="where the answers are"
    )
    parser.add_argument("--way", action="append", choices=tuple(WAYS), help="only this way; may be repeated")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    try:
        rows = ask_all(server_of(options.model), options.file, options.way or tuple(WAYS))
    except AgentError as error:
        sys.exit(str(error))
    print(f"\n{table(rows)}\n\nThe answers are in {options.file}.")


if __name__ == "__main__":
    main()
