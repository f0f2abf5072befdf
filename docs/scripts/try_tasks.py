"""`make try MODEL=vendor:model TASKS=1`: ten small tasks with a check each, and a table of what was done.

The tasks are what a notebook asks of any model. None of them is written for one.
"""

import argparse
import asyncio
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_nb import Agent, Limits, Run, model, tool
from agent_nb.core.errors import AgentError
from agent_nb.core.events import TextDelta, ThinkingDelta, ToolStarted
from agent_nb.providers.base import Provider
from agent_nb.tools import Tool

PAGE = """<!doctype html>
<html lang="en">
<head><title>Bakery</title><style>h1 { color: red; }</style></head>
<body><h1>Bakery</h1><p>Open from 7 to 19.</p></body>
</html>
"""
BROKEN = PAGE.replace("<h1>Bakery</h1>", "<h1>Bakery<h1>")
SALES = {"bread": (3.0, 4.0, 8.0), "cakes": (10.0, 20.0, 33.0)}


@tool
def weather(city: str) -> str:
    """The weather in a city today."""
    return f"{city}: 17 degrees, rain"


@tool
def add(a: float, b: float) -> float:
    """Adds two numbers."""
    return a + b


@tool
def convert(amount: float, currency: str) -> str:
    """Converts euros to another currency, such as CHF."""
    return f"{amount * 0.5:.2f} {currency}"


@tool
def mean(column: str) -> float:
    """The mean of a column of the sales table. Its columns are bread and cakes."""
    return sum(SALES[column]) / len(SALES[column])


@dataclass(frozen=True)
class Task:
    name: str
    prompt: str
    is_done: Callable[[Run], bool]
    tools: Sequence[Tool] | None = None
    """None for the built-in ones."""
    files: Mapping[str, str] = field(default_factory=dict)


def _text(run: Run, path: str) -> str:
    content = run.files.get(path, "")
    return content if isinstance(content, str) else ""


def _was_used(run: Run, name: str, said: str) -> bool:
    """Whether a call of the tool has succeeded, and the answer says what it gave."""
    return said in run.text and any(use.ok and use.call.name == name for use in run.tool_uses)


def _changed_only(run: Run, pattern: str) -> bool:
    """Whether the heading's colour or tag is as wanted, and the rest of the page is still there."""
    page = _text(run, "index.html")
    return bool(re.search(pattern, page)) and "Open from 7 to 19." in page and "</html>" in page


TASKS = (
    Task(
        "a tiny page",
        "A tiny page with the heading Hello Lyon and one sentence. Under 12 lines of HTML.",
        lambda run: bool(re.search(r"<h1[^>]*>\s*Hello Lyon\s*</h1>", _text(run, "index.html"))),
    ),
    Task(
        "the weather, by a tool",
        "What is the weather in Lyon? Use the weather tool, then answer in one sentence.",
        lambda run: _was_used(run, "weather", "17"),
        tools=[weather],
    ),
    Task(
        "a sum, by a tool",
        "Use the add tool to add 21 and 21. Then say the result.",
        lambda run: _was_used(run, "add", "42"),
        tools=[add],
    ),
    Task(
        "a style sheet",
        "Create a file style.css with one rule that makes the body dark. Nothing else.",
        lambda run: bool(re.search(r"body\s*\{[^}]*background", _text(run, "style.css"))),
    ),
    Task(
        "two lines of text",
        "Create README.md with two lines about a bakery in Lyon.",
        lambda run: "Lyon" in _text(run, "README.md"),
    ),
    Task(
        "another colour",
        "Make the heading blue instead of red. Change nothing else.",
        lambda run: _changed_only(run, r"h1\s*\{\s*color:\s*(blue|#00f\b|#0000ff)"),
        files={"index.html": PAGE},
    ),
    Task(
        "two files",
        "Create index.html with the heading Menu, and style.css that makes headings green. The page uses the style"
        " sheet.",
        lambda run: (
            bool(re.search(r"href=[\"']?(\./)?style\.css", _text(run, "index.html")))
            and "green" in _text(run, "style.css")
        ),
    ),
    Task(
        "a tool with two arguments",
        "Convert 50 euros to CHF with the convert tool, and say the result.",
        lambda run: _was_used(run, "convert", "25"),
        tools=[convert],
    ),
    Task(
        "a mean, by a tool",
        "What is the mean of the column cakes? Use the mean tool, then answer in one sentence.",
        lambda run: _was_used(run, "mean", "21"),
        tools=[mean],
    ),
    Task(
        "a broken tag",
        "The heading in index.html is not closed correctly. Fix it, and change nothing else.",
        lambda run: _changed_only(run, r"<h1>\s*Bakery\s*</h1>"),
        files={"index.html": BROKEN},
    ),
)


async def try_tasks(provider: Provider, tasks: Sequence[Task] = TASKS, seconds: float = 300) -> int:
    """Runs the tasks one after the other, prints a row for each, and returns how many were done."""
    print("| task | done | tokens in | tokens out | first word |\n|---|---|---|---|---|", flush=True)
    done = 0
    for task in tasks:
        agent = Agent(provider, tools=task.tools, limits=Limits(steps=5, seconds=seconds))
        run = await agent.run(task.prompt, files=task.files or None)
        is_done = task.is_done(run)
        done += is_done
        words = [
            event.at for event in run.events if isinstance(event, TextDelta | ThinkingDelta | ToolStarted)
        ]
        first = f"{words[0]:.0f} s" if words else "none"
        ended = "yes" if is_done else f"no ({run.reason})"
        print(f"| {task.name} | {ended} | {run.usage.input} | {run.usage.output} | {first} |", flush=True)
    print(f"\n{done} of {len(tasks)} tasks done with {provider.name}.", flush=True)
    return done


def main() -> None:
    parser = argparse.ArgumentParser(prog="try_tasks", description=__doc__)
    parser.add_argument("model", help="such as chat:qwen, with CHAT_BASE_URL set")
    parser.add_argument("--seconds", type=float, default=300, help="for each task")
    given = parser.parse_args()
    settings: dict[str, Any] = {"max_tokens": 1000}
    try:
        asyncio.run(try_tasks(model(given.model, **settings), seconds=given.seconds))
    except AgentError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
