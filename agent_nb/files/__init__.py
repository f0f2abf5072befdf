"""The virtual file system of a run: `Files`, an immutable value, and `Workspace`, which tools write to."""

from agent_nb.files.diffs import apply_patch, unified_diff
from agent_nb.files.file_paths import entry_of, media_type, safe_path
from agent_nb.files.file_versions import Content
from agent_nb.files.files import (
    MAX_BINARY_BYTES,
    MAX_FILES,
    MAX_TEXT_BYTES,
    MAX_TOTAL_BYTES,
    Change,
    Files,
    Workspace,
    count_lines,
    human_size,
    starting_change,
    zipped,
)

__all__ = [
    "MAX_BINARY_BYTES",
    "MAX_FILES",
    "MAX_TEXT_BYTES",
    "MAX_TOTAL_BYTES",
    "Change",
    "Content",
    "Files",
    "Workspace",
    "apply_patch",
    "count_lines",
    "entry_of",
    "human_size",
    "media_type",
    "safe_path",
    "starting_change",
    "unified_diff",
    "zipped",
]
