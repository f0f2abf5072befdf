"""Writes all golden files again: `python -m tests.unit.golden.write`."""

import tempfile
from pathlib import Path

from tests.support.wire.cases import CASE
from tests.unit.golden.compared import write
from tests.unit.golden.requests import packed, record
from tests.unit.golden.shown import forms, help_texts, stored


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        fingerprints = {}
        for protocol in CASE:
            requests, fingerprints[protocol] = record(protocol, home / protocol)
            write(f"{protocol}.txt", packed(requests))
        write("fingerprints.json", fingerprints)
        for name, text in help_texts(home).items():
            write(name, text)
    write("recordings.json", {what: stored(what, text) for what, text in forms().items()})


if __name__ == "__main__":
    main()
