"""File tools: create, edit, read, list and delete the files of a run."""

import contextlib
import difflib
import heapq
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agent_nb._base.text import plural
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError, FileError, ToolError
from agent_nb.core.messages import Image
from agent_nb.files import Content, Files, change_summary, count_lines, human_size, media_type, safe_path
from agent_nb.images.convert import to_image
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
SHORT_FILE = 4000
"""For a file below this many characters, the model is told that it may also rewrite the file."""
MAX_CHARACTERS_SEARCHED = 200_000
MAX_LINES_SHOWN = 12
MAX_LINE_WIDTH = 200
MAX_WIDTH_COMPARED = 80
"""Comparing lines that repeat a few characters takes cubic time in their width."""
LEAST_SIMILARITY = 0.9
"""Minimum similarity of a text and the model's quotation of it, from 0 to 1."""
CANDIDATES = 10
LINES_COMPARED = 4
_WORD = re.compile(r"\w+")
_BORDER = re.compile(r"[^\w.\-]")
"""A character that belongs neither to a word nor to an API key."""


# These are async although they never await: on the event loop, the calls of a turn change files in a fixed order.


async def _create(args: Json, context: ToolContext) -> ToolOutput:
    previous_files = context.files.files
    change = context.files.write(args["path"], args["content"])
    if context.files.files is previous_files:
        return ToolOutput(text=f"{change.path} already has this content.", summary="no change")
    summary = change_summary(change)
    if change.action == "created":
        return ToolOutput(text=f"Created {change.path} ({summary}).", summary=summary)
    size = f"{human_size(change.size)}, {plural(count_lines(args['content']), 'line')}"
    return ToolOutput(text=f"Replaced {change.path} ({size}; {summary}).", summary=summary)


async def _edit(args: Json, context: ToolContext) -> ToolOutput:
    path, old = _find_file(args["path"], context.files.files)
    if isinstance(old, bytes):
        raise ToolError(
            f"{path} is a binary file ({media_type(path, old)}).", hint="Only text files can be edited."
        )
    new = old
    for number, edit in enumerate(edits := _edits(args), 1):
        new = apply_edit(new, edit, f"{path}, edit {number} of {len(edits)}" if len(edits) > 1 else path)
    if new == old:
        raise ToolError(f"These edits do not change {path}.", hint="Give a `new` that differs from `old`.")
    change = context.files.write(path, new)
    diff = context.files.files.diff(path)
    excerpt = diff if len(diff) <= MAX_DIFF_CHARACTERS else diff[:MAX_DIFF_CHARACTERS] + "\n[diff truncated]"
    summary = change_summary(change)
    return ToolOutput(
        text=f"Edited {path} ({summary}), first changed line {change.first_line}.\n{excerpt}",
        summary=summary,
        outputs=({"text/x-diff": diff},),
    )


async def _read(args: Json, context: ToolContext) -> ToolOutput:
    if ("path" in args) == ("files" in args):
        raise ToolError("Give either `path` or `files`.", code="SCHEMA")
    requests = args.get("files") or [args]
    files, numbered = context.files.files, args.get("numbered", False)
    if len(requests) == 1:
        output = _file_output(requests[0], files, numbered)
        return replace(output, images=await _viewable(output.images))
    parts: list[ToolOutput] = []
    for request in requests:
        try:
            parts.append(_file_output(request, files, numbered))
        except (FileError, ToolError) as error:
            parts.append(ToolOutput(text=str(error), summary="not read"))
    text = "\n\n".join(
        f"=== {request['path']} ({part.summary}) ===\n{part.text}"
        for request, part in zip(requests, parts, strict=True)
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
        + (f"  {plural(count_lines(content), 'line')}" if isinstance(content, str) else "")
        for path, content in files.items()
    ]
    return ToolOutput(text="\n".join(rows), summary=plural(len(rows), "file"))


async def _delete(args: Json, context: ToolContext) -> ToolOutput:
    path, _ = _find_file(args["path"], context.files.files)
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


def _near(text: str, old: str) -> str:
    rewrite = "\nOr write the whole file again with create_file." if len(text) < SHORT_FILE else ""
    return nearest_lines(text, old) + rewrite


def apply_edit(text: str, edit: Json, place: str, hint: Callable[[str, str], str] = _near) -> str:
    """Replace `old` by `new`; raises `ToolError`, with `hint(text, old)` if `old` is not in the text."""
    old, new, count = edit["old"], edit["new"], edit.get("count", 1)
    if not old or count == 0:
        raise ToolError(
            f"{place}: there is nothing to replace.",
            code="SCHEMA",
            hint="`old` must not be empty, and `count` must be 1 or more, or -1 for all."
            " To replace everything, give the whole text as `old`.",
        )
    if old not in text and "\r\n" in text and "\r" not in old:
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    if old == new:
        old = _misquoted(text, old)
    occurrences = text.count(old)
    if not occurrences:
        why = f"{place}: the text to replace was not found; nothing was changed."
        raise ToolError(why, hint=hint(text, old))
    if occurrences > 1 and count == 1:
        raise ToolError(
            f"{place}: the text to replace was found {occurrences} times; nothing was changed.",
            hint="Include more of the text around it, or set `count` (-1 for all).",
        )
    return str(text.replace(old, new, count))


def _misquoted(text: str, quotation: str) -> str:
    """Return the only text that is almost the quotation, else the quotation: small models correct what they quote."""
    lines = text[:MAX_CHARACTERS_SEARCHED].split("\n")
    start = None if quotation in text or "\n" in quotation else _most_similar(lines, [quotation])
    if start is None or max(len(lines[start]), len(quotation)) > MAX_LINE_WIDTH:
        return quotation
    line, matcher = lines[start], difflib.SequenceMatcher(None, lines[start], quotation, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    place = line[max(0, blocks[0].a - blocks[0].b) : blocks[-1].a + len(quotation) - blocks[-1].b]
    matcher.set_seq1(place)
    return place if matcher.ratio() >= LEAST_SIMILARITY and text.count(place) == 1 else quotation


def _find_file(path: str, files: Files) -> tuple[str, Content]:
    path = safe_path(path)
    if path in files:
        return path, files[path]
    hint = f"Files: {', '.join(list(files)[:30])}." if files else "There are no files yet: create one."
    raise ToolError(f"There is no file {path}.", hint=hint)


def _file_output(request: Json, files: Files, numbered: bool) -> ToolOutput:
    path, content = _find_file(request["path"], files)
    if isinstance(content, bytes):
        kind = media_type(path, content)
        summary = f"{kind}, {human_size(len(content))}"
        images = (Image(content, kind, path),) if kind.startswith("image/") else ()
        return ToolOutput(text=f"{path} is a binary file ({summary}).", summary=summary, images=images)
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    start, end = request.get("start", 1), min(request.get("end", len(lines)), len(lines))
    if start > max(end, 1):
        raise ToolError(
            f"{path} has no lines {start} to {request.get('end', end)}: it has {plural(len(lines), 'line')}."
        )
    selection = lines[start - 1 : end]
    if numbered:
        selection = [f"{number:>{len(str(end))}}  {line}" for number, line in enumerate(selection, start)]
    is_whole_file = len(selection) == len(lines)
    return ToolOutput(
        text=content if is_whole_file and not numbered else "\n".join(selection),
        summary=plural(len(lines), "line") if is_whole_file else f"lines {start}-{end} of {len(lines)}",
    )


async def _viewable(images: tuple[Image, ...]) -> tuple[Image, ...]:
    """Drop files that have an image's name but are not images that a model can view."""
    valid: list[Image] = []
    for image in images:
        with contextlib.suppress(ConfigError):
            valid.append(await off_loop(to_image, image))
    return tuple(valid)


def _written_paths(args: Json) -> tuple[str, ...]:
    try:
        return (safe_path(args["path"]),)
    except FileError:
        return ()  # rejected when the tool runs


def _title(verb: str, args: Json) -> str:
    return f"{verb} {args.get('path') or 'file'}"


def _read_title(args: Json) -> str:
    requests: list[Any] = args.get("files") or [args]
    return _title("read", requests[0]) if len(requests) == 1 else f"read {len(requests)} files"


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
    rewrite_title=lambda args: _title("rewrite", args),
    stream=FileArguments,
    writes=_written_paths,
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
    writes=_written_paths,
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
    reads=lambda args: tuple(path for row in args.get("files") or [args] for path in _written_paths(row)),
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
    writes=_written_paths,
    repeatable=True,
)
FILE_TOOLS: tuple[Tool, ...] = (CREATE_FILE, EDIT_FILE, READ_FILE, LIST_FILES, DELETE_FILE)


def nearest_lines(text: str, target: str) -> str:
    """Return the most similar lines as a hint for the model. Runs in bounded time for any text."""
    lines = text[:MAX_CHARACTERS_SEARCHED].split("\n")
    block = target[:MAX_CHARACTERS_SEARCHED].split("\n")[:MAX_LINES_SHOWN]
    start = _most_similar(lines, block)
    if start is None:
        return "The file has nothing like it: read the file first."
    word = max(_WORD.findall("\n".join(block)), key=len, default="")
    numbers = range(max(0, start - 1), min(len(lines), start + len(block) + 1))
    excerpt = (f"{number + 1}  {_cropped(lines[number], word)}" for number in numbers)
    return "\n".join(["The closest lines:", *excerpt])


def _most_similar(lines: list[str], block: list[str]) -> int | None:
    targets = [line.strip()[:MAX_WIDTH_COMPARED] for line in block]
    longest = heapq.nlargest(LINES_COMPARED, range(len(block)), key=lambda offset: len(targets[offset]))
    vocabulary = set(_WORD.findall("\n".join(block)))
    shared = [len(vocabulary.intersection(_WORD.findall(line))) for line in lines]
    candidates = heapq.nlargest(CANDIDATES, range(len(lines)), key=shared.__getitem__)
    best, start = 0.0, None
    matcher = difflib.SequenceMatcher(autojunk=False)
    for offset in sorted(longest):
        matcher.set_seq2(targets[offset])
        for index in (index for index in candidates if shared[index]):
            matcher.set_seq1(lines[index].strip()[:MAX_WIDTH_COMPARED])
            if (weight := matcher.ratio() * len(targets[offset])) > best:
                best, start = weight, max(0, index - offset)
    return start


def _cropped(line: str, word: str) -> str:
    """Crop a long line around the word at word boundaries: half of an API key would not be masked."""
    if len(line) <= MAX_LINE_WIDTH:
        return line
    middle = max(0, line.find(word))
    start = max(0, middle - MAX_LINE_WIDTH // 2)
    end = start + MAX_LINE_WIDTH
    if start and (border := _BORDER.search(line, start - 1, middle)):
        start = border.end()
    if end < len(line):
        end = max((border.start() for border in _BORDER.finditer(line, middle, end + 1)), default=end)
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
