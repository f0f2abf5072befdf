"""The zip file of a submission."""

import io
import zipfile

from agent_nb.lab.submission import zipped


def test_the_same_parts_make_the_same_bytes():
    parts = {"Übung 三.ipynb": b"{}", "runs/héros-1.json": b"[]"}
    data = zipped(parts)
    assert data == zipped(dict(reversed(parts.items())))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == parts
