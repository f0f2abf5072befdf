"""Code first: a small model with data in its prompt is asked for a block of Python, then for the answer.

Small models write code well and JSON calls badly, and invent numbers rather than call a tool. Their blocks are calls
of `run_python`. The engine sends the blocks back as the model wrote them, and their results as messages of the user.
"""

import ast
import difflib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, Literal

from agent_nb._base.constants import NAMES_TYPE
from agent_nb._base.secrets import shortened
from agent_nb._base.text import fenced
from agent_nb._base.wire import parse_json
from agent_nb.features.answer import ANSWER
from agent_nb.features.code_first import CODE_FIRST
from agent_nb.features.prompt import VARIABLES
from agent_nb.plugins import (
    Draft,
    FeatureCode,
    Files,
    Message,
    Next,
    Part,
    PartInputs,
    Request,
    RunPart,
    Say,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)
from agent_nb.plugins import events as ev
from agent_nb.plugins.engine import (
    DATA_TOOLS,
    CodeBlocks,
    LoadedData,
    canonical_code,
    code_correction,
    code_request,
    is_code_quoted,
    lacks_printed,
    masked,
    prompt_text,
    sent_texts,
)

MOST_BLOCKS = 3
LONGEST_BLOCK = 20_000
"""Characters. Longer code is shown and not run."""
_MOST_LINES = 10
_LONGEST_LINE = 200
_LOADS = re.compile(r"DataFrame|read_\w+")
_WARNING = re.compile(r"^\S+:\d+: \w*Warning: .*\n?(?:  .*\n?)?", re.MULTILINE)
"""A warning of Python's, with the line of code below it."""
_QUOTED = re.compile(r"""["'`]([^"'`]+)["'`]""")


class CodeFirst(FeatureCode[Any]):
    def prepare(self, draft: Draft) -> None:
        """Ask for code if the prompt has variables, and for no page."""
        describe = next((tool.loaded for tool in draft.toolbox if tool.loaded), None)
        is_other = draft.get(ANSWER) is not None or draft.runs_by != "engine" or draft.cell == ""
        if describe is None or not draft.provider.reads_code or draft.makes_page or is_other:
            return
        variables = None if draft.cell is None else draft.get(VARIABLES) or ()
        prompt = draft.cell or draft.run_input.prompt
        if loaded := describe(prompt, variables, schema_only=not draft.sends_values):
            draft.kept[CODE_FIRST.name] = loaded
            draft.run_input = draft.run_input.asking(code_request(loaded.description, loaded.question))
            draft.system = prompt_text("code_first")
            draft.specs = frozenset(draft.all_tools.chosen) - DATA_TOOLS

    def part(self, run: PartInputs) -> RunPart | None:
        loaded = run.prepared.kept.get(CODE_FIRST.name)
        return CodePart(loaded, run) if loaded else None


class CodePart(RunPart):
    in_order = True

    def __init__(self, loaded: LoadedData, run: PartInputs) -> None:
        self._prepared, self._journal, self._window, self._gate = (
            run.prepared,
            run.journal,
            run.window,
            run.gate,
        )
        self._loaded, self._files = loaded, run.files
        self.tool = next(tool.name for tool in run.prepared.toolbox if tool.loaded)
        self._written: set[str] = set()
        """The blocks so far, in canonical form."""
        self._printed = ""
        """The output of the last block that ran without an error."""
        self._reminded = False

    def judge(self, written: str, files: Files) -> tuple[Literal["run", "ask", "show"], str]:
        """Whether to run a block, and its code. One that repeats an earlier block or quotes the request is not run."""
        if len(written) > LONGEST_BLOCK:
            return "show", written
        code = without_loading(written, self._loaded.tables)
        block = canonical_code(code)
        if not code.strip() or block in self._written or len(self._written) >= MOST_BLOCKS:
            return "show", code
        self._reminded = True
        prepared, window = self._prepared, self._window
        _, *notes = window.messages[window.question].parts
        others = [message for index, message in enumerate(window.messages) if index != window.question]
        data = Message(role="user", parts=(Text(self._loaded.description), *notes))
        messages = [data, *chain.from_iterable(map(self._as_text, others))]
        texts = [*sent_texts(prepared.system, messages, prepared.tools, files)]
        data_texts = [self._loaded.description, *_contents(window.messages, files)]
        if any(is_code_quoted(form, texts, data_texts) for form in (written, code)):
            return "show", code
        self._written.add(block)
        is_users = any(is_code_quoted(form, [self._loaded.question]) for form in (written, code))
        return "ask" if is_users else "run", code

    def written(self, request: Request) -> Request:
        """The request with blocks and their results as text: the model is offered no tool that runs code."""
        messages = chain.from_iterable(map(self._as_text, request.messages))
        return replace(
            request,
            messages=tuple(message for message in messages if message.parts),
            code=CodeBlocks(self.tool, partial(self.judge, files=self._files())),
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
        """Ask for code, once, after a turn in which nothing was computed."""
        has_computed = next(self._journal.events.of(ev.ToolRunning), None) is not None
        if has_computed or self._reminded or turn.stop != "end_turn" or left < 2:
            return None
        self._reminded = True
        return Say(prompt_text("code_missing"), hides_turn=True)

    async def after_tools(self, results: Sequence[tuple[str, ToolResult]]) -> Next:
        text = await self._next_request(results)
        return Say(text) if text else None

    async def _next_request(self, results: Sequence[tuple[str, ToolResult]]) -> str:
        """The text after the results of a turn, by event id: asks for the answer or for a corrected block."""
        ends = {end.call_id: end for end in self._journal.events.of(ev.ToolFinished)}
        blocks = [(ends[event_id], result) for event_id, result in results if result.name == self.tool]
        if not blocks or any(result.code in ("DENIED", "STOPPED") for _, result in blocks):
            return ""
        last_result = blocks[-1][1]
        outputs = [text for end, _ in blocks for text in map(_text_of, end.outputs) if text is not None]
        if last_result.ok and outputs:
            self._printed = "\n".join(outputs).strip("\n")
            return prompt_text("code_answer_unseen" if self._gate else "code_answer")
        if len(self._written) >= MOST_BLOCKS:
            return prompt_text("code_over")
        names = self._loaded.names()
        names = self._gate.known(names) if self._gate else names
        problem = "The code printed nothing." if last_result.ok else _hint(_problem(last_result), names)
        text = await masked(code_correction(names, problem), keys=True)
        if self._gate:
            self._gate.allow(text)
        return text

    def completed(self, turn: Turn) -> Turn:
        """The turn, with the printed lines added to an answer that lacks them."""
        answer, lines = turn.message.text, self._printed.splitlines()
        printed = "\n".join(shortened(line, _LONGEST_LINE) for line in lines[:_MOST_LINES])
        if not printed or turn.message.tool_calls or not lacks_printed(answer, printed):
            return turn
        more = f"\n… ({len(lines) - _MOST_LINES:,} more lines)" if len(lines) > _MOST_LINES else ""
        gap = "\n\n" if answer else ""
        addition = f"{gap}The code printed:\n\n{fenced(printed + more, 'text')}"
        self._journal.emit(ev.TextDelta, text=addition)
        if self._gate:  # shown to the user, and not sent in a conversation that continues this one
            return turn
        return replace(turn, message=replace(turn.message, parts=(*turn.message.parts, Text(addition))))


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


def _text_of(output: ev.MimeBundle) -> str | None:
    """The text of an output without warnings, empty for an image; None if the output shows nothing."""
    if NAMES_TYPE in output:
        return None
    has_image = any(kind.startswith("image/") for kind in output)
    return "" if has_image else _WARNING.sub("", str(output.get("text/plain", ""))).strip("\n") or None


def _hint(problem: str, names: Mapping[str, Sequence[str]]) -> str:
    """Names the tables that have the missing column, or the variable or column closest to a name in the error."""
    existing = {name.casefold(): name for name in chain(names, *names.values())}
    for word in _QUOTED.findall(problem):
        if tables := [f"`{name}`" for name, columns in names.items() if word in columns]:
            return f"`{word}` is a column of {' and '.join(tables)}."
        match = [] if word in names else difflib.get_close_matches(word.casefold(), existing, 1)
        if match:
            return f"Did you mean `{existing[match[0]]}`?"
    return ""
