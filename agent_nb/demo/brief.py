"""Parses a prompt: the kind of page, its subject, its place and its sections."""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from agent_nb.demo.bound import DemoBindings
from agent_nb.demo.texts import Trade, entry_for, trade_of

PageKind = Literal["landing", "dashboard", "form", "article", "game", "app", "bound"]

_MAX_PROMPT = 600

_KIND_PATTERNS: dict[PageKind, str] = {
    "landing": r"landing[ -]?page|home ?page|web ?site|portfolio|storefront",
    "game": r"games?|snake|memory|tic[- ]?tac[- ]?toe|noughts and crosses",
    "dashboard": r"dashboards?|charts?|graphs?|plots?|kpis?|metrics|analytics|reports?",
    "form": r"forms?|sign[- ]?up|survey|questionnaire|registration|rsvp|feedback page|booking page|application",
    "article": r"articles?|blog(?: post)?|essay|post|story|documentation|docs|tutorial|guide|recipes?|newsletter page",
    "app": r"to-?do|to do list|task list|checklist|pomodoro|timer|stopwatch|calculator",
}
_KINDS = [(kind, re.compile(rf"\b(?:{pattern})\b", re.I)) for kind, pattern in _KIND_PATTERNS.items()]
_NOUN = "|".join([*_KIND_PATTERNS.values(), r"(?:web ?)?(?:page|site|app)"])

_ASKING = re.compile(
    r"^\W*(?:(?:please|can you|could you|now|i want|i need|i'd like|let's|let us)\s+)*"
    r"(?:(?:make|build|create|design|write|draw|generate|show|give|code|develop|produce)\s+)?(?:(?:me|us)\s+)?",
    re.I,
)
_ARTICLE = re.compile(r"^(?:an?|the|my|our|your|their|his|her|some|this|these)\s+", re.I)
_ABOUT = re.compile(
    rf"^(?P<before>.*?)\b(?:{_NOUN})\b(?:\s+(?:page|post|app|game|form))?"
    r"(?:\s+(?:for|of|about|on|from|showing|selling|announcing|presenting|explaining|to)\s+(?P<after>.+))?",
    re.I,
)
_TAIL = re.compile(
    r"(?<!\s)\s++(?:with|that|which|who|whose|where|using|called|named|titled|in|near|at|from)\s.*$", re.I
)
_CLAUSE = re.compile(r"[.,;:!?\n(]|\s[-–—]\s|\bwith\b|\bincluding\b")
_PLACE = re.compile(
    r"\b(?:in|near|at|from)\s+((?:the\s+)?[A-ZÀ-Þ][\w'’.-]*(?:\s+(?:[a-z]{2,3}\s+)?[A-ZÀ-Þ][\w'’-]*){0,3})"
)
_NAMED = re.compile(
    r"\b(?:called|named|titled|title:|name:)\s*(?:[\"“'‘«](.+?)[\"”'’»]|((?:[A-ZÀ-Þ0-9][\w'’&.-]*\s?){1,5}))|[\"“«]([^\"”»\n]{2,48})[\"”»]"
)
_LOOKS = re.compile(
    r"^(?:very|really|small|little|tiny|big|large|local|new|nice|beautiful|pretty|simple|modern|clean|elegant|warm|cosy|cozy"
    r"|dark|light|minimal|minimalist|playful|friendly|cool|great|good|short|long|quick|single|one|colou?rful|responsive"
    r"|interactive|red|orange|yellow|green|teal|blue|purple|pink|brown|grey|gray|black|white)(?:,|\s+and)?\s+",
    re.I,
)

_ANOTHER = re.compile(
    r"\W*(?:(?:now|please|then|next)\s+)*(?:(?:make|build|create|design|write|draw)\s+(?:me\s+)?)?"
    rf"(?:an?|another)\s+(?:[\w-]+\s+){{0,3}}?(?:{'|'.join(_KIND_PATTERNS.values())}|(?:page|site|app)\s+(?:for|of|about))\b"
    r"(?!\s+section)",
    re.I,
)

SECTION_PATTERNS: dict[str, str] = {
    "hours": r"opening (?:hours|times)|\bhours\b|when (?:it|we) open",
    "menu": r"\bmenu\b|price list|what we (?:make|sell|serve)",
    "pricing": r"pricing|\bprices?\b|\bplans?\b",
    "gallery": r"gallery|photos\b|pictures\b",
    "faq": r"\bfaqs?\b|questions",
    "testimonials": r"testimonials?|reviews?|quotes?|what (?:people|customers|guests) say",
    "newsletter": r"newsletter|mailing list|subscribe",
    "contact": r"contact|get in touch|find us|address|e-?mail us",
    "team": r"\bteam\b|who we are|our people",
    "about": r"\babout (?:us|me|section)\b|our story",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    axis: str
    labels: tuple[str, ...]
    columns: tuple[tuple[str, tuple[float, ...]], ...]
    """At least one; each has the length of `labels`."""
    is_real: bool
    """Whether these are the user's numbers, not a sample."""
    source: str = ""
    """Source of computed numbers; empty for those from the prompt or a sample."""

    rows: str = ""
    """Part of the user's table, such as `24 of 120`; empty if unknown."""

    @property
    def ranked(self) -> bool:
        """Whether the labels are categories, largest first, rather than a sequence such as months."""
        return bool(self.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    kind: PageKind
    name: str
    subject: str
    phrase: str
    """The subject with its article, for use in a sentence: "the bakery", "our newsletter", "sourdough"."""
    place: str
    where: str
    """`in Lyon` or `near Lyon`; empty if there is no place."""
    trade: Trade
    wants: tuple[str, ...]
    prompt: str
    variant: int
    data: Data | None = None
    """The numbers to show; None to search the prompt."""
    bound: DemoBindings = field(default_factory=DemoBindings)
    """Names bound to the page."""

    @property
    def seed(self) -> int:
        return zlib.crc32(self.prompt.encode(errors="replace"))

    def choice(self, copy: Sequence[str]) -> str:
        return copy[self.variant % len(copy)]


def read_brief(prompt: str, variant: int = 0, bound: DemoBindings | None = None) -> Brief:
    text = prompt[:_MAX_PROMPT].strip()
    kind = kind_of(text)
    place = match[1].strip(" .'’") if (match := _PLACE.search(text)) else ""
    article, subject = _subject(text, kind)
    trade = trade_of(subject or text)
    if trade.is_general:
        trade = trade_of(_head(text))
    if not subject and not trade.is_general and kind != "app":
        article, subject = "the ", trade.key.replace("-", " ")
    phrase = f"{article}{subject}" if subject else "a small idea"
    brief = Brief(
        kind=kind,
        name=name_in(text) or _name(kind, subject, phrase, text, place),
        subject=subject or "a small idea",
        phrase=phrase,
        place=place,
        where=f"{'near' if match and match[0].lower().startswith('near') else 'in'} {place}" if place else "",
        trade=trade,
        wants=sections_in(text),
        prompt=prompt,
        variant=variant,
    )
    if not bound:
        return brief
    name = name_in(text) or bound.title
    return replace(brief, kind="bound", name=name, subject=name, phrase=bound.phrase, bound=bound)


def kind_of(text: str) -> PageKind:
    """The first kind of page named in the text. Anything after "with" is a part of the page, not its kind."""
    head = _head(text)
    if re.search(r"\b(?:landing|home)[ -]?page\b", head, re.I):
        return "landing"
    for candidate in (head, "" if re.search(r"\b(?:page|site)\b", head, re.I) else text):
        matches = [(match.start(), kind) for kind, pattern in _KINDS if (match := pattern.search(candidate))]
        if matches:
            return min(matches)[1]
    return "landing"


def asks_for_a_page(text: str) -> bool:
    """Whether a later prompt asks for another page instead of a change to the current one."""
    return _ANOTHER.match(text[:_MAX_PROMPT]) is not None


def name_in(text: str) -> str:
    """The name in a prompt: called X, named X, or anything in double quotes."""
    match = _NAMED.search(text)
    return shortened((match[1] or match[2] or match[3]).strip(" .,"), 48) if match else ""


def sections_in(text: str) -> tuple[str, ...]:
    return tuple(name for name, pattern in SECTION_PATTERNS.items() if re.search(pattern, text, re.I))


def shortened(text: str, size: int) -> str:
    if len(text) <= size:
        return text
    return (text[:size].rsplit(" ", 1)[0] if " " in text[:size] else text[: size - 1]).rstrip(" ,.;") + "…"


def game_of(text: str) -> str:
    """The name of the game: `snake`, `memory` or `noughts`."""
    if re.search(r"\bmemory|\bpairs|\bcards?\b|concentration", text, re.I):
        return "memory"
    return "noughts" if re.search(r"tic[- ]?tac|noughts", text, re.I) else "snake"


def app_of(text: str) -> str:
    """The name of the app: `todo`, `timer` or `calculator`."""
    if re.search(r"\b(?:pomodoro|timer|stopwatch)\b", text, re.I):
        return "timer"
    return "calculator" if re.search(r"\bcalculator\b", text, re.I) else "todo"


def _head(text: str) -> str:
    return _CLAUSE.split(_ASKING.sub("", text), maxsplit=1)[0].strip()


def _subject(text: str, kind: PageKind) -> tuple[str, str]:
    head = _ARTICLE.sub("", _head(text))
    if about := _ABOUT.match(head):
        head = (about["after"] or about["before"]).strip()
    match = _ARTICLE.match(head)
    owner = match[0].strip().lower() if match else ""
    article = "" if not owner else "our " if owner in ("my", "our") else "the "
    head = _TAIL.sub("", f" {head}").strip()
    if kind == "dashboard":
        head = head.partition(" for ")[0]
    while (bare := _LOOKS.sub("", _ARTICLE.sub("", head))) != head:
        head = bare
    words = re.sub(r"[^\w\s'’&+-]", "", head).strip()
    if not re.search(r"[^\W_]", words):
        return "", ""
    return article, shortened(" ".join(words.split()[:6]), 40)


def _titled(word: str) -> str:
    small = word in ("of", "for", "and", "the", "a", "an", "to", "on", "in")
    return word if small or word[0].isupper() else word.capitalize()


def _name(kind: PageKind, subject: str, phrase: str, text: str, place: str) -> str:
    if kind == "game":
        game = {"snake": "Snake", "memory": "Memory", "noughts": "Noughts and crosses"}[game_of(text)]
        return f"{game}: {subject}" if subject and subject.lower() not in game.lower() else game
    if kind == "app":
        app = {"todo": "To-do", "timer": "Focus timer", "calculator": "Calculator"}[app_of(text)]
        return f"{app}: {subject}" if subject and not re.search(_KIND_PATTERNS["app"], subject, re.I) else app
    if not subject:
        return f"Hello, {place}" if place else "A small beginning"
    if kind == "form":
        return shortened(entry_for("forms", text)["title"].replace("{{phrase}}", phrase), 60)
    if kind == "landing":
        titled = " ".join(_titled(word) for word in subject.split())
        titled = titled[0].upper() + titled[1:]
        if place and place.lower() not in subject.lower():
            return f"{place} {titled}"
        return titled if " " in titled else f"The {titled}"
    if kind == "dashboard" and re.fullmatch(r"(?:data|csv|table|numbers?|data ?frame|df)", subject, re.I):
        return "The data at a glance"
    return subject[0].upper() + subject[1:]
