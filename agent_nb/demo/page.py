"""Builds the page for a brief, by kind, and the improvement that follows it."""

import html
import json
import re

from agent_nb._base.text import listed
from agent_nb.demo.brief import Brief, PageKind, script_of
from agent_nb.demo.dashboard import dashboard, insight
from agent_nb.demo.style import PageStyle
from agent_nb.demo.templates import Html, entry_for, fill, fill_each, table, template

Slots = dict[str, str]

_KINDS: dict[PageKind, tuple[str, str, str]] = {
    "landing": ("landing", "a landing page", ""),
    "dashboard": ("dashboard", "a dashboard with charts", ""),
    "form": ("form", "a form that checks itself", "One minute, no account, nothing to remember."),
    "article": ("article", "an article", "In a hurry? Read the first line of each part."),
    "game": ("play", "a game to play", "Keys or fingers, both work."),
    "app": ("play", "a small app that works", "Try it: everything on this page works."),
    "bound": ("play", "a page connected to the notebook", "What you do here is in Python at once."),
}
"""The template and layouts of each kind, its description, and the line that the improvement adds, if it is fixed."""
TITLES: dict[str, str] = {name: entry["title"] for name, entry in table("sections").items()}
_PANELS = ("0 0 320 240", "320 0 320 240", "0 240 320 240", "320 240 320 240")
_SECTION = '<section class="row" id="{{id}}">\n<h2>{{title}}</h2>\n<div>\n{{body}}\n</div>\n</section>'
_MANUAL = re.compile(r"\b(?:documentation|docs|manual|tutorial|how-to|readme|reference|api)\b", re.I)
_HONEST = (
    "About this text: the offline demo model knows nothing about {{subject}}. It wrote around your words so that you "
    "can see how a page is made; a real model would have something to say."
)
_LABEL = '<label for="{{key}}">{{label}}{{hint}}</label>'
_CONTROLS = {
    "radio": '<legend>{{label}}</legend><div class="options">\n{{options}}\n</div>',
    "tick": '<label class="tick"><input type="checkbox" name="Small print" value="Read" required>{{label}}</label>',
    "area": f'{_LABEL}<textarea {{{{shared}}}} rows="3"></textarea>',
    "date": f'{_LABEL}<input {{{{shared}}}} type="date" required>',
    "email": f'{_LABEL}<input {{{{shared}}}} type="email" required autocomplete="email">',
    "message": f'{_LABEL}<textarea {{{{shared}}}} rows="5" required></textarea>',
    "number": f'{_LABEL}<input {{{{shared}}}} type="number" min="1" max="8" value="2" required>',
    "select": f'{_LABEL}<select {{{{shared}}}} required><option value="">Choose one</option>{{{{options}}}}</select>',
    "text": f'{_LABEL}<input {{{{shared}}}} type="text" required autocomplete="name">',
}


def build_page(brief: Brief, style: PageStyle, tool_result: str = "") -> str:
    """A complete page. `tool_result` is a line to show from a tool."""
    file, _, _ = _KINDS[brief.kind]
    layouts = table("layouts")[file]
    layout = [*layouts][brief.variant % len(layouts)]
    css = {part: Html(layouts[layout].get(part, "").strip()) for part in ("early", "later")}
    found = fill('<p class="small">{{text}}</p>\n', text=tool_result) if tool_result else ""
    by_file = {"landing": _landing, "dashboard": dashboard, "form": _form, "article": _article, "play": _play}
    slots = {**style.slots(), **css, "name": brief.name, "found": found, **by_file[file](brief, layout)}
    shared = {part: fill(template(f"{part}.html"), **slots) for part in ("head", "rest")}
    return fill(template(f"{file}.html"), **slots, **shared) + "\n"


def improvement(brief: Brief) -> tuple[str, str]:
    """The text to replace and its replacement, which adds a prominent line at the top."""
    notice = insight(brief) if brief.kind == "dashboard" else _KINDS[brief.kind][2] or brief.trade["notice"]
    return "<main>", fill('<main>\n<p class="notice">{{notice}}</p>', notice=notice)


def describe(brief: Brief) -> str:
    title, parts = _KINDS[brief.kind][1], [TITLES[name].lower() for name in brief.sections]
    if len(parts) < 2:
        return ", ".join([title, *parts])
    return f"{title}{',' if ' with ' in title else ' with'} {listed(parts)}"


def section(name: str, brief: Brief) -> Html:
    rows = "<tr><td>{{a}}</td><td>{{b}}</td></tr>"
    tables = {
        key: Html(f"<table>\n{fill_each(rows, brief.trade[key])}\n</table>") for key in ("hours", "menu")
    }
    drawing = _art(brief)
    panels = "\n".join(f"<figure>{drawing.replace('0 0 640 480', panel, 1)}</figure>" for panel in _PANELS)
    address = (
        fill("<p>{{name}} is {{where}}.</p>\n", name=brief.name, where=brief.where) if brief.where else ""
    )
    body = table("sections")[name]["body"].strip()
    body = fill(body, name=brief.name, panels=Html(panels), address=Html(address), **tables)
    return fill(_SECTION, id=name, title=TITLES[name], body=body)


def _art(brief: Brief, framing: str = "xMidYMid slice") -> Html:
    """The drawing of the trade; `framing` is its `preserveAspectRatio`."""
    drawing = template(f"art/{brief.trade['art']}.svg")
    return Html(drawing.replace("<svg ", f'<svg preserveAspectRatio="{framing}" ', 1))


def _landing(brief: Brief, layout: str) -> Slots:
    trade, sections = brief.trade, brief.sections
    links = [("offer", trade.get("link", "Offer"))]
    links += [(name, TITLES[name].split()[-1].capitalize()) for name in sections[-2:]]
    headline = html.escape(brief.spoken(brief.choice(trade["headline"])))
    points = [[brief.spoken(text) for text in point] for point in trade["points"]]
    offer = fill(
        template("offer.html"),
        title=trade["offer"],
        list="cards" if layout == "evening" else "plain",
        points=fill_each("<li><h3>{{title}}</h3><p>{{text}}</p></li>", points),
    )
    return {
        "eyebrow": brief.spoken(trade["eyebrow"]),
        "headline": Html(re.sub(r"\*(.+?)\*", r"<em>\1</em>", headline)),
        "lede": brief.spoken(brief.choice(trade["lede"])),
        "sections": Html("\n".join(section(name, brief) for name in sections)),
        "links": fill_each('<a href="#{{id}}">{{title}}</a>', links, ""),
        "action": trade["action"],
        "target": "offer" if sections[0] == "contact" else sections[0],
        "art": _art(brief, "xMidYMid slice" if layout == "arch" else "xMidYMax meet"),
        "offer": offer,
    }


def _article(brief: Brief, layout: str) -> Slots:
    """An essay about the subject, or a short manual if the prompt asks for documentation."""
    copy = {name: brief.choice(lines) for name, lines in table("copy")["article"].items()}
    is_question = re.match(r"(?:why|how|what|when)\b", brief.subject)
    subject = f"the question of {brief.subject}" if is_question else brief.phrase
    is_manual = bool(_MANUAL.search(brief.prompt[:300]))
    opening = fill(copy["opening"], subject=subject)
    source = template("manual.html" if is_manual else "essay.html")
    text = fill(source, subject=subject, opening=opening, quote=copy["quote"])
    banner = f'<figure class="banner">{_art(brief, "xMidYMax meet")}</figure>'
    return {
        "eyebrow": "Manual" if is_manual else "Essay",
        "lede": table("copy")["manual"]["lede"][0] if is_manual else copy["lede"],
        "minutes": str(max(2, len(text.split()) // 200)),
        "art": Html("" if is_manual else banner),
        "text": text,
        "honest": fill(_HONEST, subject=subject),
    }


def _form(brief: Brief, layout: str) -> Slots:
    purpose = entry_for("forms", brief.prompt)
    fields = (_field(f"f{i}", *field) for i, field in enumerate(purpose["fields"], start=1))
    return {
        "eyebrow": brief.spoken("{{Subject}}"),
        "lede": brief.choice(purpose["lede"]),
        "art": _art(brief, "xMidYMax meet"),
        "fields": Html("\n".join(fields)),
        "action": purpose["action"],
    }


def _field(key: str, label: str, kind: str, extra: str) -> Html:
    slots: Slots = {"key": key, "label": label, "hint": ""}
    slots["shared"] = fill('id="{{key}}" name="{{label}}" aria-describedby="{{key}}-error"', **slots)
    if kind == "radio":
        option = '<label><input type="radio" name="{{label}}" value="{{option}}" required>{{option}}</label>'
        slots["options"] = fill_each(option, [(label, choice) for choice in extra.split("|")])
    elif kind == "select":
        slots["options"] = fill_each("<option>{{option}}</option>", zip(extra.split("|")), "")
    elif extra:
        slots["hint"] = fill(' <span class="hint">{{hint}}</span>', hint=extra)
    tag = "fieldset" if kind == "radio" else "div"
    error = '<p class="error" id="{{key}}-error" role="alert"></p>'
    return fill(f'<{tag} class="field">{_CONTROLS[kind]}{error}</{tag}>', **slots)


def _play(brief: Brief, layout: str) -> Slots:
    """A game (snake, memory, noughts and crosses), an app (to-do list, timer, calculator), or a bound page."""
    if brief.kind == "bound":
        # Rows to label, a form per function, a field per name to fill.
        name, file = "bound", "bound.html"
    else:
        name, _ = script_of(brief.kind, brief.prompt)
        file = f"{brief.kind}s/{name}.html"
    css, board, script = template(file).split("\n-----\n")
    spec = json.dumps(brief.bound.spec(brief.prompt), ensure_ascii=False).replace("<", "\\u003c")
    faces = json.dumps(entry_for("faces", brief.prompt)["faces"], ensure_ascii=False)
    return {
        "css": Html(css),
        "lede": brief.choice(table("copy")[name]["lede"]),
        "board": Html(board),
        "footer": table("copy")[brief.kind]["footer"][0],
        "script": fill(script, faces=Html(faces), spec=Html(spec)),
    }
