"""The tools for files: create, edit, read, list and delete the files of a run."""

import contextlib
import difflib
import heapq
import re
from dataclasses import replace
from typing import Any

from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json
from agent_nb.errors import ConfigError, FileError, ToolError
from agent_nb.files import (
    Change,
    Content,
    Files,
    count_lines,
    human_size,
    media_type,
    safe_path,
)
from agent_nb.images.convert import to_image
from agent_nb.messages import Image
from agent_nb.tools.base import FileArguments, Tool, ToolContext, ToolOutput
from agent_nb.tools.schema import described, object_schema, tool_spec

MAX_DIFF_CHARACTERS = 8_000

_PATH = described("string", "Relative path with forward slashes, such as index.html or css/site.css.")
_COUNT = "How many occurrences to replace: 1 (the default, only if there is just one), n, or -1 for all."
_EDIT = {
    "old": described("string", "Text to replace, exactly as it is in the file, without line numbers."),
    "new": described("string", "The replacement."),
    "count": described("integer", _COUNT, minimum=-1),
}
_RANGE = {
    "path": _PATH,
    "start": described("integer", "First line, counted from 1.", minimum=1),
    "end": described("integer", "Last line, inclusive.", minimum=1),
}


# These are async although they never wait: on the event loop, calls of one turn change files in a fixed order.


async def _create(args: Json, context: ToolContext) -> ToolOutput:
    before = context.files.files
    change = context.files.write(args["path"], args["content"])
    if context.files.files is before:
        return ToolOutput(text=f"{change.path} already has this content.", summary="no change")
    size = f"{human_size(change.size)}, {_lines(count_lines(args['content']))}"
    if change.action == "created":
        return ToolOutput(text=f"Created {change.path} ({size}).", summary=size)
    return ToolOutput(text=f"Replaced {change.path} ({size}; {_counts(change)}).", summary=_counts(change))


async def _edit(args: Json, context: ToolContext) -> ToolOutput:
    path, old = _existing(args["path"], context.files.files)
    if isinstance(old, bytes):
        raise ToolError(
            f"{path} is a binary file ({media_type(path, old)}).", hint="Only text files can be edited."
        )
    new = old
    for number, edit in enumerate(edits := _edits(args), 1):
        new = _replaced(new, edit, f"{path}, edit {number} of {len(edits)}" if len(edits) > 1 else path)
    if new == old:
        raise ToolError(f"These edits do not change {path}.", hint="Give a `new` that differs from `old`.")
    change = context.files.write(path, new)
    diff = context.files.files.diff(path)
    shown = diff if len(diff) <= MAX_DIFF_CHARACTERS else diff[:MAX_DIFF_CHARACTERS] + "\n[diff truncated]"
    return ToolOutput(
        text=f"Edited {path} ({_counts(change)}), first changed line {change.first_line}.\n{shown}",
        summary=_counts(change),
        outputs=({"text/x-diff": diff},),
    )


async def _read(args: Json, context: ToolContext) -> ToolOutput:
    if ("path" in args) == ("files" in args):
        raise ToolError("Give either `path` or `files`.", code="SCHEMA")
    wanted = args.get("files") or [args]
    files, numbered = context.files.files, args.get("numbered", False)
    if len(wanted) == 1:
        output = _shown(wanted[0], files, numbered)
        return replace(output, images=await _viewable(output.images))
    parts: list[ToolOutput] = []
    for one in wanted:
        try:
            parts.append(_shown(one, files, numbered))
        except (FileError, ToolError) as error:
            parts.append(ToolOutput(text=str(error), summary="not read"))
    text = "\n\n".join(
        f"=== {one['path']} ({part.summary}) ===\n{part.text}"
        for one, part in zip(wanted, parts, strict=True)
    )
    images = await _viewable(tuple(image for part in parts for image in part.images))
    return ToolOutput(
        text=text, summary=f"{len(parts)} files, {human_size(len(text.encode()))}", images=images
    )


async def _list(args: Json, context: ToolContext) -> ToolOutput:
    files = context.files.files
    if not files:
        return ToolOutput(text="There are no files yet.", summary="no files")
    rows = [
        f"{path}  {media_type(path, content)}  {human_size(files.size(path))}"
        + (f"  {_lines(count_lines(content))}" if isinstance(content, str) else "")
        for path, content in files.items()
    ]
    return ToolOutput(text="\n".join(rows), summary="1 file" if len(rows) == 1 else f"{len(rows)} files")


async def _delete(args: Json, context: ToolContext) -> ToolOutput:
    path, _ = _existing(args["path"], context.files.files)
    context.files.delete(path)
    return ToolOutput(text=f"Deleted {path}.", summary="deleted")


def _edits(args: Json) -> list[Json]:
    if "edits" in args:
        if "old" in args or "new" in args:
            raise ToolError("Give either `old` and `new`, or `edits`.", code="SCHEMA")
        edits: list[Json] = args["edits"]
        return edits
    if "old" not in args or "new" not in args:
        raise ToolError("The arguments lack `old` and `new`, or `edits`.", code="SCHEMA")
    return [args]


def _replaced(text: str, edit: Json, place: str) -> str:
    old, new, count = edit["old"], edit["new"], edit.get("count", 1)
    if not old or count == 0:
        raise ToolError(
            f"{place}: there is nothing to replace.",
            code="SCHEMA",
            hint="`old` must not be empty, and `count` must be 1 or more, or -1 for all."
            " To replace the whole file, use create_file.",
        )
    if old not in text and "\r\n" in text and "\r" not in old:
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    found = text.count(old)
    if not found:
        raise ToolError(
            f"{place}: the text to replace was not found; nothing was changed.", hint=nearest_lines(text, old)
        )
    if found > 1 and count == 1:
        raise ToolError(
            f"{place}: the text to replace was found {found} times; nothing was changed.",
            hint="Include more of the text around it, or set `count` (-1 for all).",
        )
    return str(text.replace(old, new, count))


def _existing(path: str, files: Files) -> tuple[str, Content]:
    path = safe_path(path)
    if path in files:
        return path, files[path]
    known = f"Files: {', '.join(list(files)[:30])}." if files else "There are no files yet: create one."
    raise ToolError(f"There is no file {path}.", hint=known)


def _shown(wanted: Json, files: Files, numbered: bool) -> ToolOutput:
    path, content = _existing(wanted["path"], files)
    if isinstance(content, bytes):
        kind = media_type(path, content)
        summary = f"{kind}, {human_size(len(content))}"
        images = (Image(content, kind, path),) if kind.startswith("image/") else ()
        return ToolOutput(text=f"{path} is a binary file ({summary}).", summary=summary, images=images)
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    start, end = wanted.get("start", 1), min(wanted.get("end", len(lines)), len(lines))
    if start > max(end, 1):
        raise ToolError(
            f"{path} has no lines {start} to {wanted.get('end', end)}: it has {_lines(len(lines))}."
        )
    chosen = lines[start - 1 : end]
    if numbered:
        chosen = [f"{number:>{len(str(end))}}  {line}" for number, line in enumerate(chosen, start)]
    whole = len(chosen) == len(lines)
    return ToolOutput(
        text=content if whole and not numbered else "\n".join(chosen),
        summary=_lines(len(lines)) if whole else f"lines {start}-{end} of {len(lines)}",
    )


async def _viewable(images: tuple[Image, ...]) -> tuple[Image, ...]:
    """Those that are images a model can view: a file may have the name of an image and be something else."""
    valid: list[Image] = []
    for image in images:
        with contextlib.suppress(ConfigError):
            valid.append(await off_loop(to_image, image))
    return tuple(valid)


def _written(args: Json) -> tuple[str, ...]:
    try:
        return (safe_path(args["path"]),)
    except FileError:
        return ()  # refused when it runs


def _read_paths(args: Json) -> tuple[str, ...]:
    return tuple(path for one in args.get("files") or [args] for path in _written(one))


def _title(verb: str, args: Json) -> str:
    return f"{verb} {args.get('path') or 'file'}"


def _read_title(args: Json) -> str:
    wanted: list[Any] = args.get("files") or [args]
    return _title("read", wanted[0]) if len(wanted) == 1 else f"read {len(wanted)} files"


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def _counts(change: Change) -> str:
    return f"+{change.added} -{change.removed}"


CREATE_FILE = Tool(
    spec=tool_spec(
        "create_file",
        "Create a file, or replace a whole file. To change a part of a file, use edit_file.",
        {"path": _PATH, "content": described("string", "The complete text of the file.")},
        required=("path", "content"),
    ),
    run=_create,
    lean=("path", "content"),
    title=lambda args: _title("create", args),
    stream=FileArguments,
    writes=_written,
    content_arguments=("content",),
    repeatable=True,
)
EDIT_FILE = Tool(
    spec=tool_spec(
        "edit_file",
        "Replace exact text in a file. Returns the diff.",
        {
            "path": _PATH,
            **_EDIT,
            "edits": described(
                "array",
                "Several replacements, instead of old and new, applied in order, all or none.",
                minItems=1,
                items=object_schema(_EDIT, ("old", "new")),
            ),
        },
        required=("path",),
    ),
    run=_edit,
    lean=("path", "old", "new"),
    title=lambda args: _title("edit", args),
    writes=_written,
    content_arguments=("old", "new", "edits"),
    repeatable=True,
)
READ_FILE = Tool(
    spec=tool_spec(
        "read_file",
        "Read a file or a range of its lines.",
        {
            **_RANGE,
            "files": described(
                "array", "Several files, instead of path.", minItems=1, items=object_schema(_RANGE, ("path",))
            ),
            "numbered": described("boolean", "Prefix each line with its number."),
        },
    ),
    run=_read,
    lean=("path", "start", "end"),
    title=_read_title,
    reads=_read_paths,
    repeatable=True,
)
LIST_FILES = Tool(
    spec=tool_spec("list_files", "List all files with their type, size and number of lines.", {}),
    run=_list,
    lean=(),
    title=lambda args: "list files",
    repeatable=True,
)
DELETE_FILE = Tool(
    spec=tool_spec("delete_file", "Delete a file.", {"path": _PATH}, required=("path",)),
    run=_delete,
    lean=("path",),
    title=lambda args: _title("delete", args),
    writes=_written,
    repeatable=True,
)
FILE_TOOLS: tuple[Tool, ...] = (CREATE_FILE, EDIT_FILE, READ_FILE, LIST_FILES, DELETE_FILE)


MAX_CHARACTERS_SEARCHED = 200_000
MAX_LINES_SHOWN = 12
MAX_LINE_WIDTH = 200
MAX_WIDTH_COMPARED = 80
"""Comparing lines of the same few characters takes time in the cube of their width."""
CANDIDATES = 10
LINES_COMPARED = 4

_WORD = re.compile(r"\w+")
_BORDER = re.compile(r"[^\w.\-]")
"""A character that is part of no word and of no key."""


def nearest_lines(text: str, wanted: str) -> str:
    """A hint for the model. The time it takes is bounded for any text."""
    lines = text[:MAX_CHARACTERS_SEARCHED].split("\n")
    block = wanted[:MAX_CHARACTERS_SEARCHED].split("\n")[:MAX_LINES_SHOWN]
    start = _most_alike(lines, block)
    if start is not None:
        return _excerpt(lines, start, block)
    return "The file has nothing like it: read the file first."


def _most_alike(lines: list[str], block: list[str]) -> int | None:
    wanted = [line.strip()[:MAX_WIDTH_COMPARED] for line in block]
    longest = heapq.nlargest(LINES_COMPARED, range(len(block)), key=lambda offset: len(wanted[offset]))
    vocabulary = set(_WORD.findall("\n".join(block)))
    shared = [len(vocabulary.intersection(_WORD.findall(line))) for line in lines]
    candidates = heapq.nlargest(CANDIDATES, range(len(lines)), key=shared.__getitem__)
    best, start = 0.0, None
    matcher = difflib.SequenceMatcher(autojunk=False)
    for offset in sorted(longest):
        matcher.set_seq2(wanted[offset])
        for index in (index for index in candidates if shared[index]):
            matcher.set_seq1(lines[index].strip()[:MAX_WIDTH_COMPARED])
            if (weight := matcher.ratio() * len(wanted[offset])) > best:
                best, start = weight, max(0, index - offset)
    return start


def _excerpt(lines: list[str], start: int, block: list[str]) -> str:
    word = max(_WORD.findall("\n".join(block)), key=len, default="")
    numbers = range(max(0, start - 1), min(len(lines), start + len(block) + 1))
    return "\n".join(
        ["The closest lines:", *(f"{number + 1}  {_cropped(lines[number], word)}" for number in numbers)]
    )


def _cropped(line: str, word: str) -> str:
    """A part of a long line around the word, without halves of words: half of a key would not be masked."""
    if len(line) <= MAX_LINE_WIDTH:
        return line
    middle = max(0, line.find(word))
    start = max(0, middle - MAX_LINE_WIDTH // 2)
    end = start + MAX_LINE_WIDTH
    if start and (whole := _BORDER.search(line, start - 1, middle)):
        start = whole.end()
    if end < len(line):
        end = max((whole.start() for whole in _BORDER.finditer(line, middle, end + 1)), default=end)
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
