"""Paths in the virtual file system: relative, with forward slashes, never outside the root."""

import mimetypes
import os
import re
from collections.abc import Container, Iterable

from agent_nb.errors import FileError

MAX_PATH_BYTES = 200

_DRIVE = re.compile(r"[A-Za-z]:")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# The tables of `mimetypes` differ between systems and Python versions.
_MEDIA_TYPES = {
    ".css": "text/css",
    ".csv": "text/csv",
    ".gif": "image/gif",
    ".htm": "text/html",
    ".html": "text/html",
    ".ico": "image/x-icon",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript",
    ".json": "application/json",
    ".jsx": "text/javascript",
    ".md": "text/markdown",
    ".mjs": "text/javascript",
    ".png": "image/png",
    ".py": "text/x-python",
    ".svg": "image/svg+xml",
    ".ts": "text/typescript",
    ".tsx": "text/typescript",
    ".txt": "text/plain",
    ".vue": "text/x-vue",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
    ".xml": "application/xml",
}


def safe_path(path: str) -> str:
    """Normalises a path or raises a FileError: `./a//b.css` and `a\\b.css` become `a/b.css`."""
    if not isinstance(path, str) or not path.strip():
        raise FileError("A file needs a path: use a relative one such as 'index.html'.")
    if _UNPRINTABLE.search(path):
        raise FileError(
            f"The path {path[:80]!r} has control characters: use letters, digits, '-', '_', '.' and '/'."
        )
    if len(path.encode()) > MAX_PATH_BYTES:
        raise FileError(f"The path {path[:40]!r}... is too long: use at most {MAX_PATH_BYTES} bytes.")
    slashed = path.strip().replace("\\", "/")
    segments = [name for segment in slashed.split("/") if (name := segment.strip()) not in ("", ".")]
    if slashed.startswith("/") or _DRIVE.match(slashed) or (segments and segments[0].startswith("~")):
        raise FileError(
            f"The path {path!r} is absolute: use a path relative to the project, such as 'index.html'."
        )
    if ":" in slashed:
        raise FileError(f"The path {path!r} has a colon: use '-' instead.")
    if slashed.endswith("/"):
        raise FileError(
            f"The path {path!r} is a folder: name a file in it, and the folder is created with the file."
        )
    if ".." in segments:
        raise FileError(f"The path {path!r} is outside the project: use a path without '..'.")
    if not segments:
        raise FileError(f"The path {path!r} names no file: use a relative one such as 'index.html'.")
    return "/".join(segments)


def entry_of(paths: Iterable[str]) -> str | None:
    """The path of the page: `index.html`, or else the first HTML file, or None."""
    pages = [path for path in paths if path.lower().endswith((".html", ".htm"))]
    return "index.html" if "index.html" in pages else next(iter(pages), None)


def provisional_path(text: str, taken: Container[str]) -> str:
    """A name for text whose path is not known: the entry page if it looks like one and there is none yet."""
    looks_like_page = text.lstrip()[:1] in ("", "<")
    return "index.html" if looks_like_page and "index.html" not in taken else "untitled"


def media_type(path: str, content: str | bytes | None = "") -> str:
    """The media type for the suffix. Without a known suffix, text is plain text and bytes are an octet stream."""
    suffix = os.path.splitext(path)[1].lower()
    fallback = "application/octet-stream" if isinstance(content, bytes) else "text/plain"
    return _MEDIA_TYPES.get(suffix) or mimetypes.guess_type(path)[0] or fallback
