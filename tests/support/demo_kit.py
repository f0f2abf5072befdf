"""What the tests of the demo model share: its agent, the kinds of pages, a strict reader of HTML."""

from collections.abc import Iterable
from html.parser import HTMLParser
from typing import Any

from agent_nb import Agent, Run
from agent_nb.demo import DemoProvider
from agent_nb.tools import Toolbox

BAKERY = "A landing page for a small bakery in Lyon, warm colours, opening hours."
PROMPTS = {
    "landing": BAKERY,
    "dashboard": "A dashboard of monthly sales for a bike shop",
    "form": "A sign-up form for a yoga class",
    "article": "A blog post about sourdough",
    "game": "A snake game",
    "app": "A to-do list app",
}
VOID = {
    "meta",
    "input",
    "br",
    "hr",
    "img",
    "link",
    "path",
    "rect",
    "circle",
    "ellipse",
    "polygon",
    "polyline",
    "use",
}


def agent(tools: Iterable[Any] | None = None, **settings: Any) -> Agent:
    return Agent(DemoProvider(pace=0), tools=tools, **settings)


def called(run: Run) -> list[str]:
    return [use.call.name for use in run.tool_uses]


def spoken(run: Run) -> str:
    return " ".join(message.text for message in run.own_messages if message.role == "assistant")


def file_tools(*names: str) -> list[Any]:
    return [tool for tool in Toolbox.default() if tool.name in names]


async def built(prompt: str) -> Run:
    run = await agent().run(prompt)
    assert run.reason == "end_turn", run.error
    return run


class Page(HTMLParser):
    """Fails on tags that are not closed in order; collects text and addresses."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.addresses: list[str] = []
        self.attributes: set[str] = set()
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [
            value or "" for name, value in attrs if name in ("src", "href", "action", "srcset")
        ]
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1:] == [tag], f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text += data
