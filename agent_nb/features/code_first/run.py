"""Code first: a small model with data in its prompt is asked for a block of Python, then for the answer.

Small models write code well and JSON calls badly, and invent numbers rather than call a tool. Their blocks are calls
of `run_python`. The engine sends the blocks back as the model wrote them, and their results as messages of the user.
"""

import ast
import difflib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Literal

from agent_nb._base.secrets import shortened
from agent_nb._base.text import fenced
from agent_nb._base.wire import parse_json
from agent_nb.features.answer import ANSWER, answer_form
from agent_nb.features.code_first import CODE_FIRST
from agent_nb.features.prompt import VARIABLES
from agent_nb.plugins import (
    Addition,
    Done,
    Draft,
    FeatureCode,
    Files,
    Message,
    Next,
    Part,
    PartInputs,
    Request,
    Run,
    RunEnd,
    RunPart,
    Say,
    Text,
    ToolCall,
    ToolError,
    ToolResult,
    Turn,
)
from agent_nb.plugins import events as ev
from agent_nb.plugins.engine import (
    CODE_TOOL,
    DATA_TOOLS,
    AnswerType,
    CodeBlocks,
    EndRun,
    LoadedData,
    ToolRunner,
    canonical_code,
    code_correction,
    code_request,
    is_code_quoted,
    masked,
    printed_text,
    prompt_text,
    python_blocks,
    sent_texts,
)

MOST_BLOCKS = 3
LONGEST_BLOCK = 20_000
"""Characters. Longer code is shown and not run."""
_MOST_LINES = 10
_LONGEST_LINE = 200
_MOST_OF_REQUEST = 3_000
_LOADS = re.compile(r"DataFrame|read_\w+")
_QUOTED = re.compile(r"""(?<=["'`])([^"'`]+)(?=["'`])""")
_LINE = re.compile(r" \(line \d+\)$")
_MOST_BLOCKS_SHOWN = 20
_ASKS_FOR_CODE = re.compile(
    r"\b(?:write|define|implement)\s++(?:me\s++)?+(?:(?:an?|the|some)\s++)?+(?:\w++\s++){0,2}?"
    r"(?:function|class|script|snippet|program|decorator|code)\b",
    re.IGNORECASE,
)
_READ = """\
print(__import__("json").dumps({name}, allow_nan=False, default=lambda value: value.to_dict("records") \
if hasattr(value, "columns") else value.tolist() if hasattr(value, "tolist") else value.isoformat() \
if hasattr(value, "isoformat") else list(value)))
del {name}"""
"""Prints the answer as JSON. Numbers, arrays and columns of tables have `tolist`."""


@dataclass(frozen=True, slots=True)
class CodeTask:
    """What a run that is asked for code computes."""

    data: LoadedData
    answer: AnswerType | None
    """The type of the answer, which the code assigns to `name`; None if it prints the answer."""
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCode:
    blocks: tuple[str, ...]
    """The Python blocks of the answer that were not run."""


class CodeFirst(FeatureCode[Any]):
    def prepare(self, draft: Draft) -> None:
        """Ask for code if the prompt has variables, and for no page."""
        describe = next((tool.loaded for tool in draft.toolbox if tool.loaded), None)
        is_other = draft.makes_page or draft.runs_by != "engine" or draft.cell == ""
        prompt = draft.cell or draft.run_input.prompt
        if describe is None or not draft.provider.reads_code or is_other or _ASKS_FOR_CODE.search(prompt):
            return
        variables = None if draft.cell is None else draft.get(VARIABLES) or ()
        if loaded := describe(prompt, variables, schema_only=not draft.sends_values):
            kind, name = draft.get(ANSWER), "answer"
            while loaded.has(name):
                name += "_"
            draft.kept[CODE_FIRST.name] = CodeTask(loaded, kind, name)
            draft.kept |= {"answer_type": kind} if kind else {}
            ends = "" if kind is None else f"`{name} = ...`, {_form(kind)}"
            draft.run_input = draft.run_input.asking(code_request(loaded.description, loaded.question, ends))
            draft.system = prompt_text("code_first")
            draft.specs = frozenset(draft.all_tools.chosen) - DATA_TOOLS

    def part(self, run: PartInputs) -> RunPart | None:
        task = run.prepared.kept.get(CODE_FIRST.name)
        return CodePart(task, run) if task else None

    def shown(self, run: Run) -> ShownCode | None:
        """The blocks of an answer of any model that could have run them."""
        blocks = python_blocks(run.text) if CODE_TOOL in run.settings.get("tools", ()) else ()
        calls = (use.call for use in run.tool_uses if not (use.result and use.result.code == "DENIED"))
        arguments = (parse_json(call.arguments) for call in calls if call.name == CODE_TOOL)
        executed = {canonical_code(str(args.get("code"))) for args in arguments if isinstance(args, dict)}
        unrun = tuple(block for block in blocks if canonical_code(block) not in executed)
        return ShownCode(blocks=unrun[:_MOST_BLOCKS_SHOWN]) if unrun else None

    def addition(self, run: Run) -> Addition | None:
        return Addition(below=["The Python code in this answer was not run."]) if self.shown(run) else None


class CodePart(RunPart):
    in_order = True

    def __init__(self, task: CodeTask, run: PartInputs) -> None:
        self._prepared, self._journal, self._window, self._gate = (
            run.prepared,
            run.journal,
            run.window,
            run.gate,
        )
        self._task, self._data, self._files = task, task.data, run.files
        self.tool = next(tool.name for tool in run.prepared.toolbox if tool.loaded)
        self._written: set[str] = set()
        """The blocks so far, in canonical form."""
        self._most = MOST_BLOCKS
        self._problem: str | None = None
        """Why the last block gave no answer, in one line; empty if it gave one, None if none was run."""
        self._printed = ""
        """The output of the last block, if it ran without an error."""
        self._answer: Any = None
        self._fresh = self._failure = ""
        """The text that begins a second attempt, and what the user is told if that fails, too."""
        self._failed_attempt: list[Message] = []
        self._exact_names: dict[str, str] = {}
        """Columns by the names for which code has failed."""
        self._is_stuck = False
        """Whether the last block was left out."""
        self._reminded = False

    async def begin(self, runner: ToolRunner) -> ToolRunner:
        self._runner = runner
        return runner

    def judge(self, written: str, files: Files) -> tuple[Literal["run", "ask", "show", "drop"], str]:
        """Whether to run a block, and its code. One that repeats an earlier block or quotes the request is not run."""
        self._is_stuck = False
        if len(written) > LONGEST_BLOCK:
            return "show", written
        code = with_exact_names(without_loading(written, self._data.tables), self._exact_names)
        code = showing(code, self._task.name) if self._task.answer else code
        block = canonical_code(code)
        if not code.strip() or block in self._written or len(self._written) >= self._most:
            self._is_stuck = self._problem is not None
            return "drop" if self._is_stuck else "show", code
        self._reminded = True
        prepared, window = self._prepared, self._window
        _, *notes = window.messages[window.question].parts
        others = [message for index, message in enumerate(window.messages) if index != window.question]
        data = Message(role="user", parts=(Text(self._data.description), *notes))
        messages = [data, *chain.from_iterable(map(self._as_text, others))]
        texts = [*sent_texts(prepared.system, messages, prepared.tools, files)]
        data_texts = [self._data.description, *_contents(window.messages, files)]
        if any(is_code_quoted(form, texts, data_texts) for form in (written, code)):
            return "show", code
        self._written.add(block)
        is_users = any(is_code_quoted(form, [self._data.question]) for form in (written, code))
        return "ask" if is_users else "run", code

    def outgoing(self, request: Request) -> Request:
        failed = {id(message) for message in self._failed_attempt}
        return replace(
            request, messages=tuple(message for message in request.messages if id(message) not in failed)
        )

    def written(self, request: Request) -> Request:
        """The request with blocks and their results as text: the model is offered no tool that runs code."""
        messages = chain.from_iterable(map(self._as_text, request.messages))
        return replace(
            request,
            messages=tuple(message for message in messages if message.parts),
            code=CodeBlocks(self.tool, partial(self.judge, files=self._files())),
            holds_text=bool(self._printed),
        )

    def _as_text(self, message: Message) -> tuple[Message, ...]:
        if message.role != "tool":
            return (replace(message, parts=tuple(map(self._block, message.parts))),)
        results = [part for part in message.parts if isinstance(part, ToolResult) and part.name == self.tool]
        texts = (Text(f"Output:\n{result.text}" if result.ok else _problem(result)) for result in results)
        others = tuple(part for part in message.parts if part not in results)
        return replace(message, parts=others), Message(role="user", parts=tuple(texts), requests=0)

    def _block(self, part: Part) -> Part:
        if not isinstance(part, ToolCall) or part.name != self.tool:
            return part
        arguments = parse_json(part.arguments)
        code = arguments.get("code") if isinstance(arguments, dict) else part.arguments
        return Text(f"\n{fenced(str(code), 'python')}\n")

    def after_turn(self, turn: Turn, left: int) -> Next:
        """Ask for code, once, after a turn in which nothing was computed, or again after one that only repeats code."""
        if self._is_stuck:
            return self._begin_again(left) if self._problem and left else None
        has_computed = next(self._journal.events.of(ev.ToolRunning), None) is not None
        if has_computed or self._reminded or turn.stop != "end_turn" or left < 2:
            return None
        self._reminded = True
        return Say(prompt_text("code_missing"), hides_turn=True)

    def _begin_again(self, left: int) -> Next:
        """Try once more without the attempt that failed: small models repeat what they read."""
        if self._failed_attempt or left < 2:
            raise EndRun("failed", self._failure)
        self._failed_attempt = [*self._window.messages[self._window.question + 1 :]]
        self._most = len(self._written) + 1
        return Say(self._fresh)

    async def after_tools(self, results: Sequence[tuple[str, ToolResult]]) -> Next:
        """Ask for the sentence of the answer, or for a corrected block."""
        ends = {end.call_id: end for end in self._journal.events.of(ev.ToolFinished)}
        blocks = [(ends[event_id], result) for event_id, result in results if result.name == self.tool]
        if not blocks:
            return None
        self._problem, self._printed = None, ""
        if any(result.code in ("DENIED", "STOPPED") for _, result in blocks):
            return None
        last_result = blocks[-1][1]
        outputs = [text for end, _ in blocks for text in map(printed_text, end.outputs) if text is not None]
        self._problem = await self._problem_after(last_result, outputs)
        if not self._problem and self._task.answer:
            return Done()
        if not self._problem:
            self._printed = "\n".join(outputs).strip("\n")
            return Say(self._ask_for_sentence())
        names = self._data.names()
        self._exact_names |= _overlooked(self._problem, names)
        names = self._gate.known(names) if self._gate else names
        hint, remark = ("", "") if last_result.ok else _hints(self._problem, names)
        again = await masked(code_correction(names, self._problem if last_result.ok else hint), keys=True)
        self._fresh = await masked(
            code_correction(names, f"{self._problem}\n{hint}".rstrip(), "code_fresh"), keys=True
        )
        why = _LINE.sub("", self._problem).rstrip(".").replace("The code failed", "The code did not run")
        self._failure = f"{why}. {remark}".rstrip()
        if self._gate:
            self._gate.allow(again)
            self._gate.allow(self._fresh)
        return self._begin_again(2) if len(self._written) >= self._most else Say(again)

    def _ask_for_sentence(self) -> str:
        """Ask for the answer in the form of the request, which small models have forgotten after the code."""
        if self._gate:
            return prompt_text("code_answer_unseen")
        return f"{prompt_text('code_answer')}\n\n{self._data.question[-_MOST_OF_REQUEST:]}"

    async def _problem_after(self, result: ToolResult, outputs: Sequence[str]) -> str:
        """Why the code gave no answer; empty if it did."""
        if not result.ok:
            return _problem(result)
        if not self._task.answer:
            return "" if outputs else "The code printed nothing."
        try:
            self._answer = await self._read_answer(self._task.answer)
        except ToolError as error:
            form = f"`{self._task.name}` must be {_form(self._task.answer)}"
            return f"{form}." if self._gate else f"{form}: {error.headline.rstrip('.')}."
        return ""

    async def _read_answer(self, kind: AnswerType) -> Any:
        """The value that the code has assigned, which is then deleted; raises `ToolError` if it has another type."""
        runner, code = self._runner, _READ.format(name=self._task.name)
        tool = runner.toolbox.get(self.tool)
        assert tool is not None
        context = replace(runner.context, show=lambda bundle: None, progress=lambda text: None)
        output = await runner.toolbox.run(tool, {"code": code}, context)
        printed = (str(bundle.get("text/plain", "")) for bundle in output.outputs)
        return kind.checked(parse_json(next(printed, "")))

    def completed(self, turn: Turn, held: str) -> Turn:
        """The turn with what the code printed, unless its text has it, before the text that is not shown yet."""
        text, lines = turn.message.text, [*filter(str.strip, self._printed.splitlines())]
        last = lines[-_MOST_LINES:]
        longest = _LONGEST_LINE * _MOST_LINES // max(1, len(last))
        before = [f"… ({len(lines) - _MOST_LINES:,} more lines)"] if len(lines) > _MOST_LINES else []
        printed = "\n".join((*before, *(shortened(line, longest) for line in last)))
        has_lines = all(_stands_in(line, text) for line in last)
        addition = "" if has_lines or turn.message.tool_calls else fenced(printed)
        shown = "\n\n".join(filter(None, [addition, held]))
        if text and not held and addition:
            shown = f"\n\n{addition}"
        if shown:
            self._journal.emit(ev.TextDelta, text=shown)
        if (
            not addition or self._gate
        ):  # shown to the user, and not sent in a conversation that continues this one
            return turn
        others = [part for part in turn.message.parts if not isinstance(part, Text)]
        whole = shown if held else f"{text}{shown}"
        return replace(turn, message=replace(turn.message, parts=(*others, Text(whole))))

    def finish(self, end: RunEnd) -> None:
        if self._answer is not None:
            end.answer = self._answer


def _contents(messages: Sequence[Message], files: Files) -> Iterator[str]:
    """The results of calls that succeeded, since an error shows the model's own code, and the contents of files."""
    for part in chain.from_iterable(message.parts for message in messages):
        yield from [part.text] if isinstance(part, ToolResult) and part.ok else []
    for content in files.values():
        yield content if isinstance(content, str) else content.decode("utf-8", "replace")


def without_loading(code: str, tables: Collection[str]) -> str:
    """The code with a comment in place of each statement that loads a table again, from a file or the rows in the
    prompt.

    Small models load tables that are there already. After code has used the tables, a new table may come from them.
    """
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code
    lines = code.split("\n")
    uses = [any(_reads(inner, tables) for inner in ast.walk(node)) for node in body]
    for index, node in reversed([*enumerate(body)]):
        start, end = node.lineno - 1, node.end_lineno or node.lineno
        if ";" in lines[end - 1] or node.col_offset:
            continue
        match node:
            case ast.Assign([ast.Name(table)], ast.Call(ast.Attribute(attr=name) | ast.Name(name))) if (
                table in tables
            ):
                is_new = not any(uses[: index + 1] if name == "DataFrame" else uses[index : index + 1])
                if is_new and _LOADS.fullmatch(name):
                    lines[start:end] = [f"# left out, `{table}` is loaded: {lines[start]}"]
    return "\n".join(lines)


def _reads(node: ast.AST, tables: Collection[str]) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in tables


def _problem(result: ToolResult) -> str:
    """The error in one line; for a denied call also the user's note."""
    fields = parse_json(result.text)
    error, hint = (
        (fields.get("error", ""), fields.get("hint", "")) if isinstance(fields, dict) else (result.text, "")
    )
    if result.code == "DENIED":
        return f"The code was not run: {error} {hint}".rstrip()
    return f"The code failed: {next(iter(str(error).splitlines()), '')}"


def _overlooked(problem: str, names: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The columns by the names in an error that differ from them only in case, spaces and signs."""
    columns = {_letters(name): name for name in chain(*names.values())}
    words = [word for word in _QUOTED.findall(problem) if word not in columns.values()]
    return {word: columns[_letters(word)] for word in words if _letters(word) in columns}


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def with_exact_names(code: str, names: Mapping[str, str]) -> str:
    """The code with the exact names of columns, and a comment for each that it had missed.

    Small models write a name without its spaces again, also if they are told the exact one.
    """
    for name, exact in names.items():
        text = repr(exact).replace("\\", r"\\")
        code, count = re.subn(rf"""(["']){re.escape(name)}\1""", text, code)
        code = f"# {name!r} is the column {exact!r}\n{code}" if count else code
    return code


def _hints(problem: str, names: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """What to tell the model and the user: the tables that have the missing column, or the closest name."""
    existing = {name.casefold(): name for name in chain(names, *names.values())}
    for word in _QUOTED.findall(problem):
        if tables := [f"`{name}`" for name, columns in names.items() if word in columns]:
            text = f"`{word}` is a column of {' and '.join(tables)}."
            return text, text
        match = [] if word in names else difflib.get_close_matches(word.casefold(), existing, 1)
        if match and (name := existing[match[0]]) in names:
            return f"Did you mean `{name}`?", f"There is `{name}`."
        if match:
            table = next(table for table, columns in names.items() if name in columns)
            exact = f"`{table}[{name!r}]`"
            return (
                f"Write {exact} in place of `{table}[{word!r}]`: this is the exact name.",
                f"The table has `{name}`.",
            )
    return "", ""


def _form(kind: AnswerType) -> str:
    """The form of an answer in words: `a dict with the keys slope: number, p: number`."""
    form = answer_form(kind.schema)
    return f"a dict with these keys: {form}" if "properties" in kind.schema else f"of type {form}"


def showing(code: str, name: str) -> str:
    """The code, with the answer as its last expression unless it ends with one, so that its output has the answer."""
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code
    return code if not body or isinstance(body[-1], ast.Expr) else f"{code.rstrip()}\n{name}"


def _stands_in(line: str, text: str) -> bool:
    """Whether a printed line stands in the text as it is, white space and quotes around it aside."""
    words, text = " ".join(line.strip().strip("'").split()), " ".join(text.split())
    start = -1
    while (start := text.find(words, start + 1)) >= 0:
        before, after = text[max(start - 1, 0) : start], text[start + len(words) : start + len(words) + 2]
        if not re.match(r"[\w.,]", before) and not re.match(r"\w|[.,]\d", after):
            return True
    return False
