"""The files of a run in progress: each change is reported once, and no write is lost."""

import pytest
from hypothesis import given

from agent_nb._base.wire import from_wire, to_wire
from agent_nb.core.errors import FileError
from agent_nb.core.events import Change, Event, FileChanged
from agent_nb.files import Files, Workspace
from agent_nb.files.diffs import apply_patch
from tests.unit.files.test_files import STEPS


def test_each_change_is_reported() -> None:
    changes: list[Change] = []
    space = Workspace(Files({"a.html": "1\n2\n"}), changes.append)
    space.write("./a.html", "1\n3\n", call_id="c1")
    space.write("b.png", b"\0\1")
    space.delete("a.html")
    space.write("a.html", "new")
    assert changes == [
        Change(
            path="a.html",
            version=2,
            action="edited",
            size=4,
            media_type="text/html",
            call_id="c1",
            first_line=2,
            added=1,
            removed=1,
            patch=((1, 1, "3"),),
        ),
        Change(path="b.png", version=1, action="created", size=2, media_type="image/png"),
        Change(path="a.html", version=3, action="deleted", size=0, media_type="text/html", removed=2),
        Change(
            path="a.html",
            version=4,
            action="created",
            size=3,
            media_type="text/html",
            first_line=1,
            added=1,
            patch=((0, 1, "new"),),
        ),
    ]


def test_an_identical_write_is_not_reported() -> None:
    changes: list[Change] = []
    space = Workspace(Files({"a": "1"}), changes.append)
    change = space.write("a", "1")
    assert (change.version, change.added, change.removed, changes) == (1, 0, 0, [])


def test_refused_write_changes_nothing() -> None:
    changes: list[Change] = []
    space = Workspace(Files({"a": "1"}), changes.append)
    for path in ("../x", "a/b"):
        with pytest.raises(FileError):
            space.write(path, "")
    assert changes == []
    assert dict(space.files) == {"a": "1"}


@given(STEPS)
def test_patches_rebuild_every_version(steps: list[tuple[str, str | bytes | None]]) -> None:
    rebuilt: dict[str, str] = {}

    def follow(change: Change) -> None:
        # As a page does: by the event alone, through its wire form.
        fields = {name: getattr(change, name) for name in Change.__dataclass_fields__}
        event = from_wire(Event, to_wire(FileChanged(run_id="r", seq=1, at=0.0, **fields)))
        assert isinstance(event, FileChanged)
        if event.patch is None:
            rebuilt.pop(event.path, None)
        else:
            rebuilt[event.path] = apply_patch(rebuilt.get(event.path, ""), event.patch)

    space = Workspace(Files(), follow)
    for path, content in steps:
        if content is not None:
            space.write(path, content)
        elif path in space.files:
            space.delete(path)
    assert rebuilt == {path: content for path, content in space.files.items() if isinstance(content, str)}
