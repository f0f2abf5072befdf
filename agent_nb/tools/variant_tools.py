"""The tool that reads other variants of the base run. Prompts and cassettes call them options."""

from agent_nb._base.wire import Json
from agent_nb.core.errors import ToolError
from agent_nb.files import Files, human_size
from agent_nb.tools.base import Tool, ToolContext, ToolOutput
from agent_nb.tools.schema import tool_spec

BASE_VARIANTS = "base_variants"
"""The tool's requirement: a base run with variants."""


def _retrieve(args: Json, context: ToolContext) -> ToolOutput:
    number, variants = args["number"], context.base_variants
    if not 1 <= number <= len(variants):
        raise ToolError(
            f"There is no option {number}.",
            hint=f"The options are numbered from 1 to {len(variants)}." if variants else "There are none.",
        )
    files = variants[number - 1]
    path = args.get("path")
    if path is not None and path not in files:
        raise ToolError(f"Option {number} has no file {path!r}.", hint=f"Its files: {', '.join(files)}.")
    paths = [path] if path is not None else list(files)
    text = "\n\n".join(_file_text(files, name) for name in paths) or "It has no files."
    summary = f"variant {number}: {', '.join(f'{name} ({human_size(files.size(name))})' for name in paths)}"
    return ToolOutput(text=f"Option {number}. Your own files are unchanged.\n\n{text}", summary=summary)


def _file_text(files: Files, path: str) -> str:
    content = files[path]
    body = content if isinstance(content, str) else f"({len(content):,} bytes, binary)"
    return f"--- {path} ---\n{body}"


VARIANT_TOOLS: tuple[Tool, ...] = (
    Tool(
        spec=tool_spec(
            "retrieve_option",
            "Read the files of another option that was made for the same request, to take something from it."
            " Does not change your files.",
            {
                "number": {"type": "integer", "minimum": 1, "description": "Which option, counted from 1."},
                "path": {"type": "string", "description": "Only this file; all files by default."},
            },
            required=("number",),
        ),
        run=_retrieve,
        title=lambda args: f"look at variant {args['number']}" if "number" in args else "look at a variant",
        needs=frozenset({BASE_VARIANTS}),
    ),
)
