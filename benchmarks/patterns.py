"""Every regular expression of the package, and texts that are hard for it."""

import ast
import contextlib
import functools
import importlib
import itertools
import re
import re._constants as codes  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import agent_nb

ROOT = Path(agent_nb.__file__).parent
METHODS = ("compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")
CHARACTERS = {
    codes.CATEGORY_DIGIT: "7",
    codes.CATEGORY_WORD: "a",
    codes.CATEGORY_SPACE: " ",
    codes.CATEGORY_NOT_DIGIT: "b",
    codes.CATEGORY_NOT_WORD: "-",
    codes.CATEGORY_NOT_SPACE: "c",
}
END = "\0"
"""Hardly any pattern takes it."""
CUTS = 10
"""Starts of the text that a pattern takes."""
MOST = 16
"""Units of each kind."""


class Pattern(NamedTuple):
    place: str
    """`render/frozen.py:47`."""
    compiled: "re.Pattern[Any]"
    methods: frozenset[str]
    """How it is used."""


class Site(NamedTuple):
    place: str
    node: ast.Call
    target: str
    """The name that a compiled pattern is given; empty for one that is used at once."""
    module: str


@functools.cache
def modules() -> dict[Path, list[ast.AST]]:
    """The nodes of each module of the package."""
    paths = sorted(ROOT.rglob("*.py"))
    return {path: [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))] for path in paths}


def sites() -> Iterator[Site]:
    """Where the package names a pattern."""
    for path, nodes in modules().items():
        module = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
        targets = {
            id(node.value): target.id
            for node in nodes
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        for node in nodes:
            if _method(node, "re") in METHODS and isinstance(node, ast.Call) and node.args:
                place = f"{path.relative_to(ROOT).as_posix()}:{node.lineno}"
                yield Site(place, node, targets.get(id(node), ""), module)


def _method(node: ast.AST, name: str) -> str:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr=method)) if found == name:
            return method
    return ""


def used_as() -> dict[str, set[str]]:
    """The methods that are called on each name, anywhere in the package."""
    used: dict[str, set[str]] = {}
    for nodes in modules().values():
        for node in nodes:
            match node:
                case ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name), attr=method) if (
                    method in METHODS
                ):
                    used.setdefault(name, set()).add(method)
    return used


def examples() -> list[dict[str, Any]]:
    """Values of the local names of which patterns are made."""
    from agent_nb.demo import brief, changes, templates
    from agent_nb.providers import failure, prices, vendors

    optional = [
        each
        for module in ("anthropic_messages", "chat", "generate_content", "interactions", "responses")
        for value in vars(importlib.import_module(f"agent_nb.providers.{module}")).values()
        for each in getattr(value, "optional", ())
    ]
    element, frame = SimpleNamespace(tag="h2"), SimpleNamespace(name="price")
    texts_of_patterns = [
        *brief.SECTION_PATTERNS.values(),
        *brief.KIND_PATTERNS.values(),
        *changes.STYLES,
        *(trade["pattern"] for trade in templates.table("trades").values()),
        *(pattern for _, pattern, _ in prices._CORRECTIONS),
    ]
    return [
        {"name": "menu", "magic": "agent", "value": "[a-z]+", "id_pattern": "[a-z]{1,64}"},
        {"element": element, "opening": "<h2>", "frame": frame, "each": frame},
        {"wrong": "salse", "word": "espresso", "entry": "Lyon"},
        {"first": "key ", "parts": "(?>.+?,\\ )(?>.+?;)", "last": "\\ end"},
        *({"pattern": pattern} for pattern in texts_of_patterns if pattern),
        *({"self": each} for each in failure._RULES),
        *({"parameter": each} for each in optional),
        *({"family": family} for vendor in vendors.VENDORS.values() for family in vendor.models),
    ]


def patterns() -> tuple[list[Pattern], list[str]]:
    """The patterns, and the places of those that are made of values for which there is no example."""
    used, local = used_as(), examples()
    found: dict[tuple[str, str], Pattern] = {}
    unknown: list[str] = []
    for site in sites():
        scope, method = vars(importlib.import_module(site.module)), _method(site.node, "re")
        methods = used.get(site.target, {"search"}) if method == "compile" else {method}
        compiled = list(_compiled_with(site, scope, [{}])) or list(_compiled_with(site, scope, local))
        if not compiled:
            unknown.append(site.place)
        for each in compiled:
            key = site.place, str(each.pattern)
            found[key] = Pattern(site.place, each, frozenset(methods - {"compile"}))
    return list(found.values()), unknown


def _compiled_with(
    site: Site, scope: dict[str, Any], values: list[dict[str, Any]]
) -> Iterator["re.Pattern[Any]"]:
    for each in values:
        with contextlib.suppress(NameError, AttributeError):
            yield _compiled(site, {**scope, **each})


def _compiled(site: Site, scope: dict[str, Any]) -> "re.Pattern[Any]":
    flags = [keyword.value for keyword in site.node.keywords if keyword.arg == "flags"]
    if _method(site.node, "re") == "compile":
        flags += site.node.args[1:2]
    text, flag = (
        eval(compile(ast.Expression(node), site.place, "eval"), scope)
        for node in (site.node.args[0], flags[0] if flags else ast.Constant(0, lineno=1, col_offset=0))
    )
    return text if isinstance(text, re.Pattern) else re.compile(text or "", flag)


def hard_texts(pattern: "re.Pattern[Any]", size: int) -> Iterator[str]:
    """Texts of about this many characters: what the pattern repeats, or the start of what it takes, many times over,
    after another start of it, and then something else."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = parser.parse(
        text, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    )
    samples = list(dict.fromkeys(filter(None, _samples(tree))))
    whole = _sample(tree)
    cuts = range(1, len(whole), max(1, len(whole) // CUTS))
    starts = [whole[:cut] for cut in cuts]
    characters = sorted({sample[0] for sample in samples} | {sample[-1] for sample in samples} | {"\n"})[
        :MOST
    ]
    pairs = ["".join(pair) for pair in itertools.permutations(characters, 2)][:MOST]
    for unit in dict.fromkeys(filter(None, (*characters, *pairs, *samples[:MOST], *starts, whole[:-1]))):
        for lead in dict.fromkeys(("", *starts, whole[:-1])):
            yield lead + unit * (size // len(unit)) + END


def _samples(tree: Any) -> Iterator[str]:
    """A text for each part of a pattern, and for each beginning of it."""
    start = ""
    for code, value in tree:
        sample = _one(code, value)
        start += sample
        yield sample
        yield start
        match code:
            case codes.SUBPATTERN:
                yield from _samples(value[-1])
            case codes.BRANCH:
                for branch in value[1]:
                    yield from _samples(branch)
            case codes.MAX_REPEAT | codes.MIN_REPEAT | codes.POSSESSIVE_REPEAT:
                yield from _samples(value[2])
            case codes.ASSERT | codes.ASSERT_NOT:
                yield from _samples(value[1])
            case codes.IN:
                yield from (chr(member) for kind, member in value if kind is codes.LITERAL)


def _sample(tree: Any) -> str:
    """A text that the pattern matches, nearly."""
    return "".join(_one(code, value) for code, value in tree)


def _one(code: Any, value: Any) -> str:
    match code:
        case codes.LITERAL:
            return chr(value)
        case codes.NOT_LITERAL:
            return "b" if value == ord("a") else "a"
        case codes.ANY:
            return "a"
        case codes.IN:
            return _member(value)
        case codes.AT:
            return " " if value in (codes.AT_BOUNDARY, codes.AT_NON_BOUNDARY) else ""
        case codes.SUBPATTERN:
            return _sample(value[-1])
        case codes.BRANCH:
            return _sample(value[1][0])
        case codes.MAX_REPEAT | codes.MIN_REPEAT | codes.POSSESSIVE_REPEAT:
            least, _, inside = value
            return _sample(inside) * max(1, min(least, 300))
        case _:
            return ""


def _member(members: Any) -> str:
    excluded = {chr(value) for code, value in members if code is codes.LITERAL}
    if members[0][0] is codes.NEGATE:
        return next(character for character in "a-. x1#" if character not in excluded)
    code, value = members[0]
    match code:
        case codes.LITERAL:
            return chr(value)
        case codes.RANGE:
            return chr(value[0])
        case _:
            return CHARACTERS.get(value, "a")
