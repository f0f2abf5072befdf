"""PDFs for the model: which are refused, how many pages they have, and their text for models that accept no PDFs."""

import sys
import zlib
from pathlib import Path

import pytest

from agent_nb._base import secrets
from agent_nb.core.errors import ConfigError, InstallError
from agent_nb.core.messages import Document, Image, user
from agent_nb.engine.cost import TOKENS_PER_PAGE, estimate_tokens
from agent_nb.images import pdf
from agent_nb.images.download import MAX_BYTES
from agent_nb.images.pdf import document_text, page_count, to_attachment
from tests.support.pdf import pdf_of
from tests.support.wire.cases import RED_PNG

PAPER = pdf_of("The mean is 42", "The end")


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("paper.pdf").write_bytes(PAPER)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        *(("paper.pdf", "paper.pdf"), (Path("paper.pdf"), "paper.pdf"), (PAPER, "given.pdf")),
        *((bytearray(PAPER), "given.pdf"), (Document(PAPER, "a.pdf"), "given.pdf")),
    ],
)
def test_a_pdf_comes_from_a_path_or_bytes(source, name):
    assert to_attachment(source, "given") == Document(PAPER, name)


def test_anything_else_is_an_image():
    assert isinstance(to_attachment(RED_PNG.data), Image)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "'bad.pdf' is empty."),
        (b"<html>", "'bad.pdf' is not a PDF: its content does not begin with %PDF-."),
        (
            PAPER + b" " * MAX_BYTES,
            "'bad.pdf' is larger than 20 MB. Save the pages that you need as a smaller PDF.",
        ),
        (
            pdf_of("Hm.", trailer="/Encrypt 9 0 R"),
            "'bad.pdf' is encrypted, so no model can read it. Save a copy",
        ),
        (None, "'bad.pdf' cannot be read: No such file or directory."),
    ],
    ids=["empty", "other content", "large", "encrypted", "missing"],
)
def test_a_pdf_that_no_vendor_reads_is_refused(content, says):
    if content is not None:
        Path("bad.pdf").write_bytes(content)
    with pytest.raises(ConfigError) as raised:
        to_attachment("bad.pdf")
    assert str(raised.value).startswith(says)


def test_pages_count_in_the_estimate_also_if_compressed():
    objects = zlib.compress(
        b"<< /Type /Page /Parent 2 0 R >> << /Type/Pages /Count 3 >> << /Type/Page >> " * 6
    )
    stream = b"%PDF-1.5\n7 0 obj << /Type /ObjStm /Filter /FlateDecode >>\nstream\r\n" + objects
    assert [page_count(data) for data in (PAPER, stream, b"%PDF-1.5\n")] == [2, 12, 1]
    assert estimate_tokens([user(Document(PAPER))]) == 2 * TOKENS_PER_PAGE


def test_hostile_streams_are_searched_up_to_a_limit(monkeypatch):
    bomb = b"/ObjStm\nstream\n" + zlib.compress(b"/Type/Page " * 100_000)
    monkeypatch.setattr(pdf, "_MOST_OBJECTS", 2_000_000)
    assert page_count(b"%PDF-1.5\n" + bomb * 50) < 200_000


def test_the_text_is_masked_and_ends_at_a_limit(monkeypatch):
    pytest.importorskip("pypdf")
    monkeypatch.setattr(pdf, "TEXT_LIMIT", 10)
    monkeypatch.setattr(secrets, "SECRET_SOURCES", [lambda: {"hunter2hunter2": "`password`"}])
    text = document_text(Document(pdf_of("It is hunter2hunter2.", "More", "Most"), "paper.pdf"))
    assert text == "The text of `paper.pdf`:\n```\nIt is •••.\n\n… (2 more pages)\n```"


@pytest.mark.parametrize(
    ("file", "says"),
    [
        (pdf_of(""), "'scan.pdf' contains no text, only images, and this model accepts no PDFs."),
        (b"%PDF-1.7\nbroken", "'scan.pdf' cannot be read: "),
    ],
)
def test_without_text_there_is_a_remedy(file, says):
    pytest.importorskip("pypdf")
    with pytest.raises(ConfigError, match=says):
        document_text(Document(file, "scan.pdf"))


def test_without_pypdf_there_is_a_command(monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "pypdf")
    with pytest.raises(InstallError, match=r'%pip install "agent-nb\[pdf\]"'):
        document_text(Document(PAPER + b"\n", "paper.pdf"))


def test_the_text_of_a_long_pdf_ends_after_so_many_pages(monkeypatch):
    pytest.importorskip("pypdf")
    monkeypatch.setattr(pdf, "MOST_PAGES", 2)
    text = document_text(Document(pdf_of("One", "Two", "Three"), "paper.pdf"))
    assert "Two" in text
    assert text.endswith("… (1 more pages)\n```")
