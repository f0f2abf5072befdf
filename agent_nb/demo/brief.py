"""Parses a prompt: the kind of page, its subject, its place and its sections."""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from agent_nb.demo.conversation import MAX_PROMPT, DemoBindings, split_prompt
from agent_nb.demo.templates import SLOT, entry_for, table

PageKind = Literal["landing", "dashboard", "form", "article", "game", "app", "bound"]

KIND_PATTERNS: dict[PageKind, str] = {
    "landing": r"landing[ -]?page|home ?page|web ?site|portfolio|storefront",
    "game": r"games?|snake|memory|tic[- ]?tac[- ]?toe|noughts and crosses",
    "dashboard": r"dashboards?|charts?|graphs?|plots?|kpis?|metrics|analytics|reports?",
    "form": r"forms?|sign[- ]?up|survey|questionnaire|registration|rsvp|feedback page|booking page|application",
    "article": r"articles?|blog(?: post)?|essay|post|story|documentation|docs|tutorial|guide|recipes?|newsletter page",
    "app": r"to-?do|to do list|task list|checklist|pomodoro|timer|stopwatch|calculator",
}
SECTION_PATTERNS = {
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
_SCRIPTS = (
    ("game", "memory", "Memory", r"\bmemory|\bpairs|\bcards?\b|concentration"),
    ("game", "noughts", "Noughts and crosses", r"tic[- ]?tac|noughts"),
    ("game", "snake", "Snake", ""),
    ("app", "timer", "Focus timer", r"\b(?:pomodoro|timer|stopwatch)\b"),
    ("app", "calculator", "Calculator", r"\bcalculator\b"),
    ("app", "todo", "To-do", ""),
)
"""Games and apps: kind, file, title and pattern. The last one of a kind is for all other prompts."""
_KINDS = [(kind, re.compile(rf"\b(?:{pattern})\b", re.I)) for kind, pattern in KIND_PATTERNS.items()]
PAGE_WORDS = "|".join([*KIND_PATTERNS.values(), r"(?:web ?)?(?:page|site|app)"])
MAKING = "make|build|create|design|write|draw|generate|show|give|code|develop|produce"
_ASKING = re.compile(
    r"^\W*(?:(?:please|can you|could you|now|i want|i need|i'd like|let's|let us)\s+)*"
    rf"(?:(?:{MAKING})\s+)?(?:(?:me|us)\s+)?",
    re.I,
)
_ARTICLE = re.compile(r"^(?:an?|the|my|our|your|their|his|her|some|this|these)\s+", re.I)
_ABOUT = re.compile(
    rf"^(?P<before>.*?)\b(?:{PAGE_WORDS})\b(?:\s+(?:page|post|app|game|form))?"
    r"(?:\s+(?:for|of|about|on|from|showing|selling|announcing|presenting|explaining|to)\s+(?P<after>.+))?",
    re.I,
)
_TAIL = re.compile(
    r"(?<!\s)\s++(?:with|that|which|who|whose|where|using|called|named|titled|in|near|at|from)\s.*$", re.I
)
_CLAUSE = re.compile(r"[.,;:!?\n(]|\s[-–—]\s|\bwith\b|\bincluding\b")
_PLACE = re.compile(
    r"\b(in|near|at|from)\s+((?:the\s+)?[A-ZÀ-Þ][\w'’.-]*(?:\s+(?:[a-z]{2,3}\s+)?[A-ZÀ-Þ][\w'’-]*){0,3})"
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
ANOTHER_PAGE = re.compile(
    rf"\W*(?:(?:now|please|then|next)\s+)*(?:(?:{MAKING})\s+(?:me\s+)?)?"
    rf"(?:an?|another)\s+(?:[\w-]+\s+){{0,3}}?(?:{'|'.join(KIND_PATTERNS.values())}|(?:page|site|app)\s+(?:for|of|about))\b(?!\s+section)",
    re.I,
)
"""Start of a later prompt that asks for another page instead of a change to the current one."""
_SMALL_WORDS = ("of", "for", "and", "the", "a", "an", "to", "on", "in")


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    axis: str
    labels: tuple[str, ...]
    columns: tuple[tuple[str, tuple[float, ...]], ...]
    """At least one; each has the length of `labels`."""
    is_real: bool
    """Whether these are the user's numbers, not a sample."""
    source: str = ""
    """Source of computed numbers, whose labels are categories, largest first; empty for a sequence such as months."""
    rows: str = ""
    """Part of the user's table, such as `24 of 120`; empty if unknown."""


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
    trade: dict[str, Any]
    """A line of business and its copy, from `trades.toml`."""
    prompt: str
    variant: int
    data: Data | None = None
    """The numbers to show; None to search the prompt."""
    findings: tuple[str, ...] = ()
    """Sentences about the notebook's data."""
    bound: DemoBindings = field(default_factory=DemoBindings)

    @property
    def seed(self) -> int:
        return zlib.crc32(self.prompt.encode(errors="replace"))

    @property
    def sections(self) -> list[str]:
        """The sections of a landing page."""
        if self.kind != "landing":
            return []
        names = [name for name in sections_in(self.prompt[:MAX_PROMPT]) if name != "contact"]
        return [*(names or self.trade.get("usual", ["hours"])), "contact"]

    def choice(self, copy: Sequence[Any]) -> Any:
        """The item of this variant."""
        return copy[self.variant % len(copy)]

    def spoken(self, copy: str) -> str:
        """The copy with its slots filled."""
        in_place = f" {self.where}" if self.where else ""
        values = {"name": self.name, "subject": self.subject, "phrase": self.phrase, "in_place": in_place}
        values["Subject"] = capital(self.subject)
        return SLOT.sub(lambda match: values[match[1]], copy)


def read_brief(prompt: str, variant: int = 0, bound: DemoBindings | None = None) -> Brief:
    text = prompt[:MAX_PROMPT].strip()
    kind = _kind_of(text)
    preposition, place = match.groups() if (match := _PLACE.search(text)) else ("", "")
    place = place.strip(" .'’")
    article, subject = _subject(text, kind)
    trade = entry_for("trades", subject or text)
    if not trade["pattern"]:
        trade = entry_for("trades", _head(text))
    if not subject and trade["pattern"] and kind != "app":
        article, subject = "the ", trade["key"].replace("-", " ")
    brief = Brief(
        kind=kind,
        name="",
        subject=subject or "a small idea",
        phrase=f"{article}{subject}" if subject else "a small idea",
        place=place,
        where=f"{'near' if preposition == 'near' else 'in'} {place}" if place else "",
        trade=trade,
        prompt=prompt,
        variant=variant,
    )
    name = name_in(text)
    if bound:
        name = name or bound.title
        return replace(brief, kind="bound", name=name, subject=name, phrase=bound.phrase, bound=bound)
    return replace(brief, name=name or _name(brief, subject, text))


def _kind_of(text: str) -> PageKind:
    """The first kind of page named in the text. Anything after "with" is a part of the page, not its kind."""
    head = _head(text)
    if re.search(r"\b(?:landing|home)[ -]?page\b", head, re.I):
        return "landing"
    for candidate in (head, "" if re.search(r"\b(?:page|site)\b", head, re.I) else text):
        matches = [(match.start(), kind) for kind, pattern in _KINDS if (match := pattern.search(candidate))]
        if matches:
            return min(matches)[1]
    return "landing"


def name_in(text: str) -> str:
    """The name in a prompt: called X, named X, or anything in double quotes."""
    match = _NAMED.search(text)
    return shortened((match[1] or match[2] or match[3]).strip(" .,"), 48) if match else ""


def sections_in(text: str) -> list[str]:
    return [name for name, pattern in SECTION_PATTERNS.items() if re.search(pattern, text, re.I)]


def script_of(kind: str, text: str) -> tuple[str, str]:
    """The file and the title of the game or app."""
    rows = [row[1:] for row in _SCRIPTS if row[0] == kind]
    return next((file, title) for file, title, pattern in rows if re.search(pattern, text, re.I))


def shortened(text: str, size: int) -> str:
    """Shorten between words if possible."""
    if len(text) <= size:
        return text
    return (text[:size].rsplit(" ", 1)[0] if " " in text[:size] else text[: size - 1]).rstrip(" ,.;") + "…"


def _head(text: str) -> str:
    return _CLAUSE.split(_ASKING.sub("", text), maxsplit=1)[0].strip()


def _subject(text: str, kind: PageKind) -> tuple[str, str]:
    head = _ARTICLE.sub("", _head(text))
    if about := _ABOUT.match(head):
        head = (about["after"] or about["before"]).strip()
    match = _ARTICLE.match(head)
    article = "" if not match else "our " if match[0].strip().lower() in ("my", "our") else "the "
    head = _TAIL.sub("", f" {head}").strip()
    if kind == "dashboard":
        head = head.partition(" for ")[0]
    while (bare := _LOOKS.sub("", _ARTICLE.sub("", head))) != head:
        head = bare
    words = re.sub(r"[^\w\s'’&+-]", "", head).strip()
    if not re.search(r"[^\W_]", words):
        return "", ""
    return article, shortened(" ".join(words.split()[:6]), 40)


def _name(brief: Brief, subject: str, text: str) -> str:
    match brief.kind:
        case "game" | "app":
            _, title = script_of(brief.kind, text)
            is_known = subject.lower() in title.lower() or re.search(KIND_PATTERNS["app"], subject, re.I)
            return title if is_known else f"{title}: {subject}"
        case _ if not subject:
            return f"Hello, {brief.place}" if brief.place else "A small beginning"
        case "form":
            return shortened(brief.spoken(entry_for("forms", text)["title"]), 60)
        case "landing":
            words = (word if word in _SMALL_WORDS else capital(word) for word in subject.split())
            titled = capital(" ".join(words))
            if brief.place and brief.place.lower() not in subject.lower():
                return f"{brief.place} {titled}"
            return titled if " " in titled else f"The {titled}"
        case "dashboard" if re.fullmatch(r"(?:data|csv|table|numbers?|data ?frame|df)", subject, re.I):
            return "The data at a glance"
    return capital(subject)


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def suggestions(brief: Brief) -> tuple[str, ...]:
    """Prompts that the answer suggests for the next cell; a name or a section only for a landing page."""
    return tuple(brief.choice(table("copy")["speech"]["next" if brief.kind == "landing" else "next_look"]))


def suggestions_for(prompt: str, variants: int) -> tuple[tuple[str, ...], ...]:
    """Those of each variant of an answer to this prompt."""
    text, bound = split_prompt(prompt)
    return tuple(suggestions(read_brief(text, variant, bound)) for variant in range(variants))
