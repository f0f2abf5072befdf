"""Whatever a folder from somewhere else holds, reading it ends: pipes, devices, endless and deep files."""

import json
import os
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from agent_nb.cassette.matching import cassettes_for
from agent_nb.cassette.player import replay
from agent_nb.classroom.rules import LabWatch
from agent_nb.core.errors import AgentError
from agent_nb.images.convert import to_image
from agent_nb.notebook.magic.inputs import find_system
from agent_nb.run.run_reader import load
from agent_nb.run.store import RunStore
from agent_nb.tools.mcp.server_config import read_project

RUN = ".agent_nb/000001-20261117-180000-hero-0123abcd.run.jsonl"
READERS: dict[str, Any] = {
    "lab.toml": lambda folder: LabWatch(folder).rules(),
    ".mcp.json": read_project,
    "design.md": lambda folder: find_system("design.md", {}, folder),
    "photo.png": lambda folder: to_image(folder / "photo.png", ""),
    "a.run.jsonl": lambda folder: load(folder / "a.run.jsonl"),
    "b.run.jsonl": lambda folder: replay("b.run.jsonl", folder=folder),
    "c.run.jsonl": lambda folder: list(cassettes_for("A form", folder)),
    RUN: lambda folder: RunStore(folder).rows(),
}


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def deep(path: Path) -> None:
    path.write_text('{"a": ' + "[" * 200_000)


@pytest.mark.parametrize("make", [pipe, device, deep])
@pytest.mark.parametrize("name", READERS)
def test_reading_a_folder_ends(tmp_path: Path, name: str, make: Any) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    make(tmp_path / name)
    found: list[Any] = []

    def read() -> None:
        try:
            found.append(READERS[name](tmp_path))
        except AgentError as error:
            found.append(error)

    thread = Thread(target=read, daemon=True)
    thread.start()
    thread.join(30)
    assert found, "it waits, or has raised something else"


def test_the_texts_of_a_lab_are_shown_as_they_are(tmp_path: Path) -> None:
    title = "Week 3\x1b[2J\u202e"
    (tmp_path / "lab.toml").write_text(f"[lab]\ntitle = {json.dumps(title)}\ntools = [{json.dumps(title)}]\n")
    rules = LabWatch(tmp_path).rules()
    assert rules is not None
    assert rules.title == "Week 3<U+001B>[2J<U+202E>"
    assert rules.tools == (rules.title,)
