"""Finds the names that code reads before setting them, and those it sets, from its syntax tree."""

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

GIVEN = frozenset({*dir(builtins), "display", "get_ipython", "In", "Out", "exit", "quit", "__file__"})

_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_TIMING = re.compile(r"^([ \t]*)%%?(?:time|capture|prun)\b[ \t]*", re.MULTILINE)
_MAGICS = (
    re.compile(r"^([ \t]*+)(%\w.*|!.*|\?.*|.*\?)$", re.MULTILINE),
    re.compile(r"(=[ \t]*)([!%].*)$", re.MULTILINE),
)
MAX_DEPTH = 200
"""Levels of a syntax tree. Visitors of deeper ones would reach the recursion limit."""
_WORD = re.compile(r"[^\W\d]\w*")
_DELIMITERS = re.compile(r"""['"#\\()\[\]{}]""")
"""What can begin or end a string, a comment or a bracket."""
_PROMPT = re.compile(r"^(?:\[(?:nav|ins)\])?[^\S\n]*(?:>>>|\.\.\.|In \[)", re.MULTILINE)
"""What IPython takes for a prompt and removes, depending on the lines around it."""


@dataclass(frozen=True, slots=True)
class CodeNames:
    reads: tuple[str, ...] = ()
    """Names that must exist before the code runs, in order."""
    sets: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    """`sets`, and names whose items or attributes are set or whose methods are called as a statement."""
    mentions: frozenset[str] = frozenset()
    """Words in strings and magics, and built-in names: they are read if they are names of the session."""


@lru_cache(maxsize=1024)
def names_in(code: str) -> CodeNames:
    """The names of a cell. A name set in only one branch counts as set."""
    tree = parse_cell(code)
    return names_of(tree.body) if tree is not None else CodeNames(mentions=frozenset(words_in(code)))


def parse_cell(code: str) -> ast.Module | None:
    """The syntax tree of a cell, with the same line numbers; None if it is not Python, or nested too deeply."""
    return _parsed(code)[-1]


def statements_in(code: str) -> Iterator[tuple[CodeNames, int, str]]:
    """The top-level statements of a cell: names, the number of the last line, and exactly the statement's own text.

    Statements with magics or prompts are left out; all are, if a magic could move the end of a string.
    """
    code, python, tree = _parsed(code)
    lines, originals = python.split("\n"), code.split("\n")
    magics = {number for number, line in enumerate(lines) if line != originals[number]}
    if tree is None or any(_DELIMITERS.search(originals[number]) for number in magics):
        return
    data, starts = python.encode(), [*accumulate((len(line.encode()) + 1 for line in lines), initial=0)]
    for node in tree.body:
        decorators = getattr(node, "decorator_list", ())
        first = min([node, *decorators], key=lambda part: part.lineno)
        start, end_line = starts[first.lineno - 1] + first.col_offset, node.end_lineno or 0
        start = data.rindex(b"@", 0, start) if decorators else start
        own = data[start : starts[end_line - 1] + (node.end_col_offset or 0)].decode()
        is_own = (alone := parse_cell(own)) and ast.dump(alone) == ast.dump(ast.Module([node], []))
        is_plain = magics.isdisjoint(range(first.lineno - 1, end_line)) and not _PROMPT.search(own)
        if is_own and is_plain:
            yield names_of([node]), end_line, own


def _parsed(code: str) -> tuple[str, str, ast.Module | None]:
    """The code with lines as Python counts them, the same with strings in place of magics, and its syntax tree."""
    code = code.replace("\r\n", "\n").replace("\r", "\n")
    without_magics = _TIMING.sub(r"\1", code)
    for pattern in _MAGICS:
        without_magics = pattern.sub(_words_of_magic, without_magics)
    for text in (code, without_magics):
        try:
            tree = ast.parse(text)
            return code, text, tree if _is_shallow(tree) else None
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return code, code, None


def _is_shallow(tree: ast.AST) -> bool:
    level = [tree]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return not level


def words_in(constant: Any) -> list[str]:
    """The words in a constant that could be names."""
    text = constant.decode("latin-1") if isinstance(constant, bytes) else constant
    return _WORD.findall(str(text)) if isinstance(text, str | tuple | frozenset) else []


def _words_of_magic(match: re.Match[str]) -> str:
    return f"{match[1]}{' '.join(words_in(match[2]))!r}"


def names_of(statements: Iterable[ast.stmt]) -> CodeNames:
    walk = _Walk()
    for statement in statements:
        walk.visit(statement)
    reads = dict.fromkeys([*walk.reads, *(name for name in walk.late if name not in walk.sets)])
    return CodeNames(
        reads=tuple(name for name in reads if name not in GIVEN),
        sets=frozenset(walk.sets),
        changes=frozenset(walk.changes | walk.sets),
        mentions=frozenset(walk.mentions | (GIVEN & reads.keys())),
    )


def needed_by(codes: Iterable[str], known: Collection[str] = ()) -> tuple[str, ...]:
    """Names that must exist before these cells run in order, and those of the known names that they mention."""
    needed: dict[str, None] = {}
    set_names: set[str] = set()
    for code in codes:
        names = names_in(code)
        mentioned = sorted(names.mentions.intersection(known))
        needed |= dict.fromkeys(name for name in (*names.reads, *mentioned) if name not in set_names)
        set_names |= names.sets
    return tuple(needed)


class _Walk(ast.NodeVisitor):
    """Visits the nodes in the order in which they are executed."""

    def __init__(self) -> None:
        self.reads: dict[str, None] = {}
        self.late: dict[str, None] = {}
        self.sets: set[str] = set()
        self.changes: set[str] = set()
        self.mentions: set[str] = set()

    def _read(self, names: Iterable[str]) -> None:
        self.reads |= dict.fromkeys(name for name in names if name not in self.sets)

    def _free(self, *nodes: ast.AST) -> list[str]:
        """Names that are read but never set in these nodes."""
        walk = _Walk()
        for node in nodes:
            walk.visit(node)
        self.mentions |= walk.mentions - self.sets
        return [name for name in (*walk.reads, *walk.late) if name not in walk.sets]

    def _visit_all(self, *nodes: ast.AST | Iterable[ast.AST | None] | None) -> None:
        for node in nodes:
            for item in [node] if isinstance(node, ast.AST) else node or ():
                if item is not None:
                    self.visit(item)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.sets.add(node.id)
        else:
            self._read([node.id])

    def visit_Constant(self, node: ast.Constant) -> None:
        self.mentions.update(word for word in words_in(node.value) if word not in self.sets)

    def visit_arg(self, node: ast.arg) -> None:
        self.sets.add(node.arg)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._visit_all(node.value, node.targets)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._visit_all(node.value, node.target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._visit_all(node.annotation, node.value, node.target if node.value else None)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._read(_names(node.target))
        self._visit_all(node.value, node.target)

    def _loop(self, node: ast.For | ast.AsyncFor) -> None:
        self._visit_all(node.iter, node.target, node.body, node.orelse)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.sets |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}

    def _member(self, node: ast.Attribute | ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.changes |= set(_names(node.value)[:1])
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            self.changes |= set(_names(node.value.func.value)[:1])
        self.generic_visit(node)

    def _comprehension(self, node: ast.expr) -> None:
        self._read(self._free(*ast.iter_child_nodes(node)))
        self.sets |= {child.target.id for child in ast.walk(node) if isinstance(child, ast.NamedExpr)}

    def _binding(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            self.sets.add(node.name)
        self.generic_visit(node)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.sets.add(node.rest)
        self.generic_visit(node)

    def _definition(self, node: _Definition) -> None:
        """Visit defaults, decorators, bases and class bodies now; function bodies are deferred."""
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        if isinstance(node, ast.ClassDef):
            self._visit_all(node.decorator_list, node.bases, node.keywords)
            self._read(self._free(*body))
        else:
            self._visit_all(getattr(node, "decorator_list", ()), getattr(node, "returns", None))
            self._visit_all(node.args.defaults, node.args.kw_defaults)
            self.late |= dict.fromkeys(self._free(node.args, *body))
            self.sets |= {name for n in ast.walk(node) if isinstance(n, ast.Global) for name in n.names}
        if not isinstance(node, ast.Lambda):
            self.sets.add(node.name)

    visit_For = visit_AsyncFor = _loop  # noqa: N815
    visit_Import = visit_ImportFrom = _import  # noqa: N815
    visit_Attribute = visit_Subscript = _member  # noqa: N815
    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815
    visit_ExceptHandler = visit_MatchAs = visit_MatchStar = _binding  # noqa: N815
    visit_ClassDef = visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _definition  # noqa: N815


def _names(node: ast.AST) -> list[str]:
    return [child.id for child in ast.walk(node) if isinstance(child, ast.Name)]
