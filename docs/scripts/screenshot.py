"""Takes the pictures of the README and the how-to pages from real runs in a real JupyterLab.

python -m docs.scripts.screenshot [NAME...]
"""

import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect

from docs.scripts.execute_notebooks import FOLDER
from tests.support.agents import FAKE
from tests.support.lab import (
    Lab,
    open_browser,
    open_notebook,
    run_all,
    start_lab,
    wait_for_kernel,
    write_notebook,
)
from tests.support.widget_stage import stand_still
from tests.support.wire import Call, Pause, Say, WireServer, reply

TARGET = Path(__file__).parents[1] / "pictures"
LOAD = "%load_ext agent_nb"
HERO = "%%agent hero\nA landing page for a small bakery in Lyon, warm colours, opening hours."
BAKERY = """<!doctype html><title>Bakery</title>
<body style="margin:0;background:#fbf3e4;color:#4a2c14;font:18px Georgia">
<main style="max-width:560px;margin:auto;padding:56px 24px"><h1 style="font-size:44px">Four à Lyon</h1>
<p>Bread from the wood oven, every morning.</p><h2>Opening hours</h2><p>Tuesday to Sunday, 7:00 to 13:00</p></main>"""
SALES = """import pandas as pd
sales = pd.DataFrame({"month": ["May", "June", "July"], "bread": [410, 380, 450], "cakes": [120, 180, 160]})"""
BEST = "%%agent best -t kernel --approve run_python=auto\nWhich month sold best in sales? Draw it."
TOTAL = "total = sales.bread.sum()\nprint(total)"
ADS = """import pandas as pd
ads = pd.DataFrame({"channel": ["radio", "web", "radio", "web"], "orders": [12, 19, 33, 38]})"""
RATIOS = """%%agent ratios -n 8 --as "ratio: float" -t kernel --approve run_python=auto
Which channel has the most orders in ads, and how many times those of the other?"""
TOOL = """from agent_nb import tool

@tool
def opening_hours(day: str) -> str:
    "Look up the opening hours for a day of the week."
    return "7:00 to 13:00\""""
MANY = """from agent_nb import Agent

prompts = {"form": "A contact form", "menu": "The menu of a bakery"}
runs = await Agent("demo:").map(prompts)
runs"""
LAB = """[lab]
title = "Web pages with agents, week 3"
models = ["demo:", "anthropic:claude-haiku-5-5"]
budget = 0.50
"""
LOGIN = 'login = {"host": "db.example.org", "user": "ada", "password": "kXq7-vTz2-mPw9"}'
OVENS = """%%agent ovens
A page that converts oven temperatures from Celsius to Fahrenheit, with a table of common settings."""
CLOCK = """%%writefile clock.py
from mcp.server.mcpserver import MCPServer

server = MCPServer("clock", log_level="ERROR")

@server.tool()
def time_in(zone: str = "UTC") -> str:
    "The time in a zone such as Europe/Paris."
    return f"12:04 in {zone}"

server.run()"""
TIME = "%%agent lyon -m demo: -t mcp:clock --approve auto\nA page that says what time it is."
STAYS = """import pandas as pd
stays = pd.DataFrame({"ward": ["A", "A", "B"], "nights": [2, 3, 9]})"""

CELLS: dict[str, tuple[tuple[str, ...], int]] = {
    "models": (("%agent models",), 1),
    "data": ((SALES, "%%agent board\nA dashboard of {{sales}}."), 2),
    "kernel": ((SALES, BEST), 2),
    "notebook": ((SALES, TOTAL, "%%agent tidy -t notebook\nAdd a title and explain each cell."), 1),
    "cells": ((SALES, BEST, "%agent cells best --verify"), 3),
    "tools": ((TOOL, "%%agent hours -t opening_hours\nA page with the opening hours on Sunday."), 1),
    "limits": (('%%agent hero --check "<form" in html\nA landing page for a small bakery in Lyon.',), 1),
    "cassettes": ((HERO.replace("hero", "hero --record", 1), HERO), 2),
    "many": ((MANY,), 1),
    "answers": ((ADS, RATIOS), 2),
    "classroom": ((HERO, "%%agent form --check 'Send' in html\nA contact form", "%agent lab log"), 3),
    "secrets": ((LOGIN, "%%agent page --dry-run --lean\nA status page for {{login}}."), 1),
    "mcp": ((CLOCK, "%agent mcp add clock python clock.py", TIME), 2),
    "look": ((OVENS,), 1),
}
"""Notebooks whose pictures need no click: their cells, and the first cell that is shown."""


def open_cells(page: Page, lab: Lab, name: str, *cells: str) -> None:
    path = lab.root / f"{name}.ipynb"
    path.parent.mkdir(exist_ok=True)
    write_notebook(path, LOAD, *cells, "")
    open_notebook(page, lab, f"{name}.ipynb")
    page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
    page.add_style_tag(content=":root { --anb-height: 600px }")  # as the handle at the lower edge sets it
    run_all(page)


def wait_until_done(page: Page, text: str = "done") -> None:
    expect(page.locator(".anb-status .phase").first).to_contain_text(text, timeout=90_000)
    wait_for_kernel(page)


def take_widget(page: Page, lab: Lab) -> None:
    """The cell of the README and the one after it."""
    open_cells(page, lab, "widget", HERO, "print(hero.html[:62])")
    wait_until_done(page)
    page.locator('[aria-label="Tablet, 768 px"]').click()
    shoot(page, "widget", 1, 2)


def take_point(page: Page, lab: Lab) -> None:
    open_cells(page, lab, "point", HERO)
    wait_until_done(page)
    page.get_by_role("button", name="Point at an element").click()
    heading = page.frame_locator(".anb-page iframe").first.frame_locator("iframe").locator("h1")
    box = heading.bounding_box()
    assert box
    page.mouse.move(box["x"] + 9, box["y"] + 9)
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    expect(page.locator(".anb-outline")).to_be_visible(timeout=30_000)
    page.mouse.click(box["x"] + 10, box["y"] + 10)
    page.keyboard.type("larger")
    shoot(page, "point", 1, leave=False)


def take_variants(page: Page, lab: Lab) -> None:
    open_cells(page, lab, "variants", "%%agent trio -n 3\nA landing page for a small bakery in Lyon.")
    wait_until_done(page, "3 of 3 done")
    page.get_by_title("Grid").click()
    shoot(page, "variants", 1)


def take_approval(page: Page, lab: Lab) -> None:
    cell = "%%agent best -t kernel\nWhich month sold best in sales? Draw it."
    open_cells(page, lab, "approval", SALES, cell)
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible(timeout=90_000)
    shoot(page, "approval", 2)
    page.get_by_role("button", name="Stop", exact=True).first.click()


def take_try(page: Page, lab: Lab) -> None:
    cell = "%%agent best -t kernel\nWhich month sold best in sales? Draw it."
    open_cells(page, lab, "try", SALES, cell)
    card = page.locator(".jp-Cell .anb-card.ask")
    expect(card).to_be_visible(timeout=90_000)
    stand_still(card.locator(".anb-acts"))
    card.get_by_role("button", name="Try it").click(timeout=90_000)
    expect(card.locator(".anb-trial img")).to_be_visible(timeout=90_000)
    page.add_style_tag(content=":root { --anb-height: 1050px }")
    shoot(page, "try", 2)
    page.get_by_role("button", name="Stop", exact=True).first.click()


def take_apply(page: Page, lab: Lab) -> None:
    branch = BEST.replace("best -t", "best --branch -t", 1)
    open_cells(page, lab, "apply", SALES, branch)
    wait_until_done(page)
    page.get_by_role("button", name="Apply", exact=True).click()
    card = page.locator(".jp-Cell .anb-card.ask")
    card.scroll_into_view_if_needed()
    box = card.bounding_box()
    assert box
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)
    above = 165  # the answer and the buttons
    clip = {
        "x": box["x"] - 32,
        "y": box["y"] - above,
        "width": box["width"] + 42,
        "height": box["height"] + above + 10,
    }
    save(page.screenshot(clip=clip), "apply")


def take_private(page: Page, lab: Lab) -> None:
    """A vendor that waits after it has got the result, as long as "Show the model" is there."""
    code = 'print(stays.groupby("ward").nights.sum())'
    cell = "%%agent wards -t kernel --data schema --approve run_python=auto\n"
    with WireServer.in_thread() as server:
        server.plan(reply(Call("run_python", {"code": code})), reply(Pause(60), Say("Ward B.")))
        vendor = f"import os\nos.environ.update({server.as_openai()})"
        open_cells(
            page, lab, "private", vendor, STAYS, f"{cell}Which ward has the most nights in {{{{stays}}}}?"
        )
        expect(page.get_by_role("button", name="Show the model")).to_be_visible(timeout=90_000)
        page.add_style_tag(content=":root { --anb-height: 380px }")
        shoot(page, "private", 3)
        page.get_by_role("button", name="Stop", exact=True).first.click()
        wait_for_kernel(page)


def take_load(page: Page, lab: Lab) -> None:
    write_notebook(lab.root / "load.ipynb", HERO, "")
    open_notebook(page, lab, "load.ipynb")
    page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
    run_all(page)
    expect(page.get_by_role("button", name="Load agent_nb and run")).to_be_visible(timeout=90_000)
    shoot(page, "load", 0)


def take_preferences(page: Page, lab: Lab) -> None:
    open_cells(page, lab, "preferences", "")
    page.set_viewport_size({"width": 1100, "height": 360})
    page.evaluate("() => { window.jupyterapp.commands.execute('settingeditor:open', {query: 'agent_nb'}) }")
    expect(page.get_by_label("Fix button")).to_be_visible(timeout=90_000)
    page.wait_for_timeout(1000)
    save(page.screenshot(), "preferences")


def take_off(page: Page, lab: Lab) -> None:
    """The line is typed as the page says, but not taken over by the check mark."""
    write_notebook(lab.root / "off.ipynb", LOAD, HERO)
    page.set_viewport_size({"width": 1000, "height": 440})
    open_notebook(page, lab, "off.ipynb")
    wait_for_kernel(page)
    page.evaluate(
        """() => {
            window.jupyterapp.shell.collapseLeft();
            window.jupyterapp.commands.execute("property-inspector:show-panel");
        }"""
    )
    page.get_by_text("Advanced Tools").first.click()
    page.locator(".jp-JSONEditor .cm-content").last.click()
    for key in ("Control+Home", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    page.keyboard.type('"agent_nb": {"off": true},')
    page.get_by_text("Notebook metadata").evaluate("(label) => label.scrollIntoView()")
    page.wait_for_timeout(1000)
    save(page.screenshot(), "off")


def take_question(page: Page, lab: Lab) -> None:
    open_cells(page, lab, "question", "%%agent tea -t ask_user\nA page about tea")
    expect(page.get_by_role("button", name="Few words")).to_be_visible(timeout=90_000)
    page.add_style_tag(content=":root { --anb-height: 480px }")
    shoot(page, "question", 1)
    page.get_by_role("button", name="Stop", exact=True).first.click()


def take_fix(page: Page, lab: Lab) -> None:
    open_cells(page, lab, "fix", "total = 41", "print(totl + 1)")
    page.get_by_role("button", name="Fix with agent").click()
    expect(page.locator(".anb-card", has_text="The failed cell")).to_be_visible(timeout=90_000)
    wait_for_kernel(page)
    page.add_style_tag(content=":root { --anb-height: 340px }")
    shoot(page, "fix", 2, 3)


def take_ask(page: Page, lab: Lab) -> None:
    approve = '%config AgentMagics.approve = "auto"'
    open_cells(page, lab, "ask", f"{approve}\n{SALES}", 'sales.plot.bar(x="month", figsize=(6, 2.2));')
    expect(page.locator(".jp-OutputArea img")).to_be_visible(timeout=90_000)
    page.locator(".jp-Cell").nth(2).locator(".jp-InputPrompt").click()
    page.evaluate("() => window.jupyterapp.commands.execute('agent-nb:ask')")
    page.keyboard.type("Which month sold best in sales, and can one see that here?")
    page.keyboard.press("Shift+Enter")
    wait_until_done(page)
    shoot(page, "ask", 2, 3, most=600)


def take_plan(page: Page, lab: Lab) -> None:
    """A scripted agent, as it waits after the first step of its plan."""
    texts = ("Write the page", "Check the opening hours", "Add a map")

    def plan(*statuses: str) -> dict[str, object]:
        entries = [{"content": text, "status": status} for text, status in zip(texts, statuses, strict=True)]
        return {"update": "plan", "entries": entries}

    steps = [
        plan("in_progress", "pending", "pending"),
        {"edit": "index.html", "text": BAKERY},
        plan("completed", "in_progress", "pending"),
        {"say": "The page is written. Next I compare its hours with those that you gave."},
        {"hold": True},
    ]
    script = lab.root / "mine.json"
    script.write_text(json.dumps({"prompts": [steps]}))
    command = [sys.executable, "-S", FAKE, str(script)]
    own = f"""import os
os.environ["XDG_CONFIG_HOME"] = os.getcwd()
%config AgentMagics.agents = {{"mine": {command!r}}}"""
    cell = HERO.replace("hero", "hero -m acp:mine --approve auto", 1)
    open_cells(page, lab, "plan", own, "%agent models acp:mine", cell)  # the first use asks about the command
    page.locator(".jp-Stdin-input").fill("y", timeout=90_000)
    page.keyboard.press("Enter")
    expect(page.locator(".anb-plan")).to_contain_text("Add a map", timeout=90_000)
    expect(page.get_by_text("The page is written.")).to_be_visible(timeout=30_000)
    shoot(page, "plan", 3)
    page.get_by_role("button", name="Stop", exact=True).first.click()


def take_replay(page: Page, lab: Lab) -> None:
    note = """hero = hero.annotate(at="turn 2", ask="What will it do next?",
    choices=["Write the page again", "Edit one line", "Stop"], answer=2)
hero"""
    open_cells(page, lab, "replay", HERO, note)
    wait_until_done(page)
    frame = page.locator(".jp-Cell").nth(2)
    frame.get_by_role("button", name="Replay", exact=True).click()
    moment = frame.get_by_role("slider", name="Moment of the run")
    moment.press("Home")
    for _ in range(60):
        if frame.get_by_role("button", name="Edit one line").is_visible():
            break
        moment.press("ArrowRight")
    shoot(page, "replay", 2)


def take_bound(page: Page, lab: Lab) -> None:
    reviews = """import pandas as pd
texts = ["Warm bread", "A long wait for a cold coffee", "Fine", "The best cake in town", "Closed again"]
reviews = pd.DataFrame({"id": range(17, 22), "text": texts})"""
    cell = "%%agent labeler --bind reviews,labels\nShow one review at a time; keys 1, 2, 3 label it."
    open_cells(page, lab, "bound", reviews, cell, "labeler.page.labels")
    wait_until_done(page)
    view = page.locator(".anb-page").first.frame_locator("iframe").frame_locator("iframe")
    view.get_by_text("Warm bread").first.click(timeout=30_000)
    page.keyboard.press("1")
    page.keyboard.press("2")
    page.wait_for_timeout(1000)
    page.locator(".jp-Cell").nth(3).locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    wait_for_kernel(page)
    shoot(page, "bound", 2, 3)


def take_uncomputed(page: Page, lab: Lab) -> None:
    """The recorded run of lesson 13 in which the model runs nothing."""
    cassettes = lab.root / "cassettes"
    cassettes.mkdir(exist_ok=True)
    shutil.copy(FOLDER / "cassettes" / "guess.run.jsonl", cassettes)
    cell = "%%agent guess -t kernel\nHow many people cycled on wet days in July? Look at rides."
    open_cells(page, lab, "uncomputed", cell)
    wait_until_done(page)
    shoot(page, "uncomputed", 1)


def take_stage(page: Page, lab: Lab) -> None:
    page.set_viewport_size({"width": 1240, "height": 700})
    blue = "%%agent hero_2 --from hero\nMake it blue."
    open_cells(page, lab, "stage", "%config AgentMagics.stage = True", HERO, blue)
    expect(page.locator(".agent-nb-stage .run")).to_contain_text("done", timeout=90_000)
    wait_for_kernel(page)
    page.wait_for_timeout(2500)
    save(page.screenshot(), "stage")


def take_certificate(page: Page, lab: Lab) -> None:
    """The file alone, as a browser shows it."""
    open_cells(page, lab, "certificate", SALES, BEST, "%agent certify best")
    last = page.locator(".jp-Cell").nth(3).locator(".jp-InputPrompt")
    expect(last).to_have_text("[4]:", timeout=120_000)
    page.goto((lab.root / "best.certificate.html").as_uri())
    save(page.screenshot(clip={"x": 0, "y": 0, "width": 1240, "height": 1000}), "certificate")


def shoot(page: Page, name: str, *cells: int, leave: bool = True, most: float = 5000) -> None:
    """These cells, one below the other, up to this height; with `leave`, neither is selected."""
    if leave:
        page.locator(".jp-Cell").last.click()
        page.mouse.move(0, 0)
    page.locator(".jp-Cell").nth(cells[0]).scroll_into_view_if_needed()
    page.wait_for_timeout(1500)  # the preview draws again in its new width
    first, last = (page.locator(".jp-Cell").nth(number).bounding_box() for number in (cells[0], cells[-1]))
    assert first
    assert last
    clip = {**first, "height": min(most, last["y"] + last["height"] - first["y"])}
    save(page.screenshot(clip=clip), name)


def save(picture: bytes, name: str) -> None:
    with Image.open(io.BytesIO(picture)) as image:
        colours = image.convert("RGB").quantize(
            256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE
        )
        colours.save(TARGET / f"{name}.png", optimize=True)


PICTURES: dict[str, Callable[[Page, Lab], None]] = {
    "widget": take_widget,
    "point": take_point,
    "variants": take_variants,
    "approval": take_approval,
    "try": take_try,
    "apply": take_apply,
    "private": take_private,
    "load": take_load,
    "preferences": take_preferences,
    "off": take_off,
    "question": take_question,
    "plan": take_plan,
    "fix": take_fix,
    "ask": take_ask,
    "replay": take_replay,
    "bound": take_bound,
    "stage": take_stage,
    "uncomputed": take_uncomputed,
    "certificate": take_certificate,
}


def take_cells(page: Page, lab: Lab, name: str) -> None:
    cells, first = CELLS[name]
    (lab.root / name).mkdir()
    if name == "classroom":
        (lab.root / name / "lab.toml").write_text(LAB)
    if name == "look":
        shutil.copytree(FOLDER / "cassettes", lab.root / name / "cassettes")
    open_cells(page, lab, f"{name}/{name}", *cells)
    last = page.locator(".jp-Cell").nth(len(cells)).locator(".jp-InputPrompt")
    expect(last).to_have_text(f"[{len(cells) + 1}]:", timeout=120_000)
    shoot(page, name, first, len(cells), most=132 if name == "classroom" else 5000)  # without its path


def main(*names: str) -> None:
    TARGET.mkdir(exist_ok=True)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # for the MCP server's `python`
    with start_lab(Path(tempfile.mkdtemp()), environment={"PATH": path}) as lab, open_browser() as browser:
        for name in names or (*PICTURES, *CELLS):
            page = browser.new_page(viewport={"width": 1240, "height": 1500}, device_scale_factor=1.5)
            if name in CELLS:
                take_cells(page, lab, name)
            else:
                PICTURES[name](page, lab)
            page.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
