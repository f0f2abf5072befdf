"""The search for planted keys finds one, wherever and however it is written."""

import gzip
import io
import json
import zipfile
import zlib
from html import escape

import pytest

from agent_nb._base.secrets import mask
from tests.support.leaks import PLAIN, SHAPES, Search, planted_keys

KEYS = planted_keys()


def zipped(data: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("runs/hero.json", data)
    return stream.getvalue()


FORMS = {
    "plain": lambda key: f"a {key} b",
    "cut": lambda key: f"…{key[-24:]}",
    "html": lambda key: escape(f'<p title="{key}">'),
    "json": lambda key: {"deep": [{"key": key}]},
    "bytes": lambda key: b"\x00\xff" + key.encode(),
    "zip": lambda key: zipped(key.encode()),
    "gzip": lambda key: gzip.compress(key.encode()),
    "zlib in a zip": lambda key: zipped(zlib.compress(key.encode())),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("name", [*SHAPES, *PLAIN])
def test_each_key_is_found_in_each_form(name, form):
    search = Search(KEYS)
    search.look("place", form(KEYS[name]), "where")
    assert {line.partition(" ")[0] for line in search.found} == {name}


def test_keys_in_files_and_their_names_are_found(tmp_path):
    (tmp_path / "planted.txt").write_text(KEYS["openai"])
    (tmp_path / f"{KEYS['groq']}.txt").write_text("nothing")
    (tmp_path / "log.jsonl").write_text(json.dumps({"key": KEYS["github"]}))
    search = Search(KEYS)
    search.look_in("files", tmp_path, frozenset({"planted.txt"}))
    assert {line.partition(" ")[0] for line in search.found} == {"groq", "github"}


@pytest.mark.parametrize("name", SHAPES)
def test_each_shape_is_one_that_is_masked(name):
    assert KEYS[name] not in mask(f"a {KEYS[name]} b")
