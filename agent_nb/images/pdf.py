"""Reads PDFs for the model: `-i paper.pdf`, `{{paper}}` and the `images` of `agent.run`.

Vendors that accept PDFs get the file. Other models get its text, if `pypdf` is installed.
"""

import importlib.util
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from agent_nb._base.secrets import for_model
from agent_nb._base.text import fenced, whole_text
from agent_nb.core.errors import ConfigError, InstallError
from agent_nb.core.messages import Attachment, Document
from agent_nb.images.convert import read_source, to_image
from agent_nb.images.download import MAX_BYTES

TEXT_LIMIT = 200_000
"""Characters of a PDF's text after which its other pages are left out: about a hundred pages."""
MOST_PAGES = 1_000
"""Pages that are read for the text: pages without any would never reach the limit above."""
_SIGNATURE = b"%PDF-"
_ENCRYPTED = re.compile(rb"/Encrypt\s*(?:<<|\d+\s+\d+\s+R)")
_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_OBJECTS, _STREAM = re.compile(rb"/ObjStm\b"), b"stream"
_MOST_STREAMS, _MOST_OBJECTS = 2_000, 50_000_000
"""Number and expanded bytes of the streams that are searched for pages."""
_CACHE_SIZE = 8


def is_pdf(value: Any) -> bool:
    """Whether a value of the notebook is a PDF: a `Path` that ends in `.pdf`, or the bytes of one."""
    match value:
        case Path():
            return value.suffix.lower() == ".pdf"
        case bytes() | bytearray():
            return value.startswith(_SIGNATURE)
    return isinstance(value, Document)


def to_attachment(obj: Any, name: str = "") -> Attachment:
    """Convert `obj` to an image or a PDF. Fetches https addresses and blocks: call it off the loop."""
    ends_in_pdf = isinstance(obj, str | Path) and str(obj).lower().endswith(".pdf")
    match obj:
        case Document():
            data, name = obj.data, name or obj.name
        case bytes() | bytearray():
            data = bytes(obj)
        case str() | Path():
            data, name = read_source(obj, "" if ends_in_pdf else name)
        case _:
            return to_image(obj, name)
    if ends_in_pdf or isinstance(obj, Document) or data.startswith(_SIGNATURE):
        return _document(data, name)
    return to_image(data, name)


def _document(data: bytes, name: str) -> Document:
    """The PDF with a name that ends in `.pdf`, as OpenAI documents it."""
    name = name if name.lower().endswith(".pdf") else f"{name or 'document'}.pdf"
    if not data:
        raise ConfigError(f"{name!r} is empty.")
    if not data.startswith(_SIGNATURE):
        raise ConfigError(f"{name!r} is not a PDF: its content does not begin with %PDF-.")
    if len(data) > MAX_BYTES:
        raise ConfigError(
            f"{name!r} is larger than {MAX_BYTES // 1_000_000} MB. Save the pages that you need as a smaller PDF."
        )
    if _ENCRYPTED.search(data):
        raise ConfigError(f"{name!r} is encrypted, so no model can read it. Save a copy without a password.")
    return Document(data, name)


@lru_cache(_CACHE_SIZE)
def page_count(data: bytes) -> int:
    """About how many pages a PDF has, to estimate its tokens; at least 1."""
    return max(1, sum(len(_PAGE.findall(objects)) for objects in (data, *_compressed_objects(data))))


def _compressed_objects(data: bytes) -> Iterator[bytes]:
    """The content of streams that hold objects, such as pages, up to a limit: they may expand a thousandfold."""
    left = _MOST_OBJECTS
    for match in islice(_OBJECTS.finditer(data), _MOST_STREAMS):
        start = data.find(_STREAM, match.end(), match.end() + 300) + len(_STREAM)
        with suppress(zlib.error):  # another filter, or no stream
            objects = zlib.decompressobj().decompress(data[start : start + 1_000_000].lstrip(b"\r\n"), left)
            left -= len(objects)
            yield objects
        if left <= 0:
            return


@lru_cache(_CACHE_SIZE)
def document_text(document: Document) -> str:
    """The text of a PDF for a model that accepts no PDFs, masked; raises `ConfigError` if it cannot be read."""
    if importlib.util.find_spec("pypdf") is None:
        raise InstallError(
            f"This model accepts no PDFs, and the text of {document.name!r} is read with `pypdf`:"
            ' `%pip install "agent-nb[pdf]"`.'
        )
    text, pages_left = _extracted(document)
    if not text:
        raise ConfigError(
            f"{document.name!r} contains no text, only images, and this model accepts no PDFs."
            " Use a model of Anthropic, OpenAI or Gemini."
        )
    omitted = f"\n\n… ({pages_left:,} more pages)" if pages_left else ""
    return f"The text of `{document.name}`:\n{fenced(for_model(text) + omitted)}"


def _extracted(document: Document) -> tuple[str, int]:
    """The text of the first pages, and how many pages are left out."""
    import pypdf

    text, number = "", 0
    try:
        pages = pypdf.PdfReader(io.BytesIO(document.data)).pages
        while number < min(len(pages), MOST_PAGES) and len(text) < TEXT_LIMIT:
            text += f"{pages[number].extract_text()}\n\n"
            number += 1
        return whole_text(text).strip(), len(pages) - number
    except Exception as error:  # pypdf raises many classes for damaged files
        raise ConfigError(f"{document.name!r} cannot be read: {type(error).__name__}: {error}") from None
