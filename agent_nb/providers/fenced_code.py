"""Turns fenced `python` blocks of an answer into calls of the tool that runs code.

Small models write code better than JSON. On the user's own server, a run with data asks for a block (see
`features/code_first/run.py`). Text after the first block is dropped: it was written before there was a result.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent_nb.core.messages import Text, ToolCall
from agent_nb.providers.base import CallPiece, CallStarted, CodeBlocks, Piece, TextPiece, Turn

LANGUAGES = frozenset({"python", "py", "python3", "ipython"})
_FRAGMENT = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r" {0,3}(`{3,})([^`\n]*)\n?")
_BLOCK = re.compile(r"^ {0,3}(`{3,})([^`\n]*)\n(.*?)(?:^ {0,3}\1`*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_FENCE_SO_FAR = re.compile(r" {0,3}(?:`{0,2}|`{3,}[^`\n]*)")


def python_blocks(text: str) -> list[str]:
    """The fenced Python blocks of a text."""
    return [block[3].rstrip() for block in _BLOCK.finditer(text) if block[2].strip().lower() in LANGUAGES]


class FencedCode:
    """Filters one answer. A block is streamed as a call; at the end `CodeBlocks.judge` decides whether it is one."""

    def __init__(self, blocks: CodeBlocks, prefix: str) -> None:
        self._blocks, self._prefix = blocks, f"code_{prefix}"
        self._line, self._passed = "", 0
        """The current line, and how many of its characters were passed on."""
        self._fence, self._is_code = "", False
        """The backticks of the open block, and whether it is Python."""
        self._codes: list[list[str]] = []
        """The lines of each block."""
        self._from_first_block: list[str] = []
        self._is_left_out = False
        """Whether the last block is no part of the answer."""

    def read(self, pieces: Sequence[Piece]) -> Sequence[Piece]:
        result: list[Piece] = []
        for piece in pieces:
            if isinstance(piece, TextPiece):
                for fragment in _FRAGMENT.findall(piece.text):
                    result += self._add(fragment)
            elif isinstance(piece, Turn):
                result += (*self._end_line(), *self._end(piece))
            else:
                result.append(piece)
        return result

    def _add(self, fragment: str) -> Iterator[Piece]:
        self._line += fragment
        if fragment.endswith("\n"):
            yield from self._end_line()
        elif not self._codes and not _FENCE_SO_FAR.fullmatch(self._line):
            yield TextPiece(self._line[self._passed :])
            self._passed = len(self._line)

    def _end_line(self) -> Iterator[Piece]:
        line, unsent = self._line, self._line[self._passed :]
        self._line, self._passed = "", 0
        fence = _FENCE.fullmatch(line)
        if fence and not self._fence:
            self._fence, self._is_code = fence[1], fence[2].strip().lower() in LANGUAGES
            if self._is_code:
                self._codes.append([])
                yield CallStarted(self._id(), self._blocks.tool)
                yield CallPiece(self._id(), '{"code": "')
        elif fence and not fence[2].strip() and len(fence[1]) >= len(self._fence):
            yield from self._close_block()
        elif self._is_code:
            code = ("\n" if self._codes[-1] else "") + line.removesuffix("\n")
            self._codes[-1] += [code] if code else []
            yield CallPiece(self._id(), json.dumps(code, ensure_ascii=False)[1:-1])
        if self._codes:
            self._from_first_block.append(line)
        elif unsent:
            yield TextPiece(unsent)

    def _close_block(self) -> Iterator[Piece]:
        if self._is_code:
            yield CallPiece(self._id(), '"}')
        self._fence, self._is_code = "", False

    def _end(self, turn: Turn) -> Iterator[Piece]:
        is_cut = self._is_code and turn.stop == "max_tokens"
        if not is_cut:
            yield from self._close_block()
        after = "".join(self._from_first_block)
        is_text = bool(turn.message.tool_calls) or turn.stop == "refusal"
        calls = () if is_text else tuple(self._calls(is_cut))
        if not calls and not self._is_left_out:
            yield from [TextPiece(after)] if self._codes else ()
            yield turn
            return
        before = turn.message.text.removesuffix(after).strip()
        others = [part for part in turn.message.parts if not isinstance(part, Text)]
        message = replace(turn.message, parts=(*([Text(before)] if before else ()), *others, *calls))
        stop = turn.stop if not calls else "max_tokens" if is_cut else "tool_use"
        yield replace(turn, stop=stop, message=message)

    def _calls(self, is_cut: bool) -> Iterator[ToolCall]:
        for number, code in enumerate(map("".join, self._codes), 1):
            if is_cut and number == len(self._codes):  # the engine reports it to the model
                yield ToolCall(self._id(number), self._blocks.tool, _arguments(code).removesuffix('"}'))
                return
            verdict, code_to_run = self._blocks.judge(code)
            self._is_left_out = verdict == "drop"
            if verdict in ("run", "ask"):
                arguments = _arguments(code_to_run)
                yield ToolCall(self._id(number), self._blocks.tool, arguments, written=verdict == "ask")

    def _id(self, number: int | None = None) -> str:
        return f"{self._prefix}{number or len(self._codes)}"


def _arguments(code: str) -> str:
    return json.dumps({"code": code}, ensure_ascii=False)
