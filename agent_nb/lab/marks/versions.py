"""The pages of a submission, in all their versions, each as a closed document for a sandboxed frame."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent_nb._base.text import printable_line
from agent_nb.errors import AgentError
from agent_nb.lab.log import content_hash
from agent_nb.lab.log_reader import read_log
from agent_nb.lab.marks.archive import Submission, opened
from agent_nb.render.preview import TooLargeError, assembled, framed_page
from agent_nb.run import Run
from agent_nb.run.saved import DAMAGES, read_run

MOST_VERSIONS = 40
"""Versions of one student that can be seen; the oldest are left out."""
MAX_CHARACTERS = 8_000_000
"""Of all versions of one student together."""


@dataclass(frozen=True, slots=True)
class Version:
    """A page as it was at some time."""

    label: str
    document: str
    """The page in a frame of its own, with the policy of saved outputs."""


def versions_of(path: Path) -> tuple[list[Version], int]:
    """The newest versions, oldest first, and how many were left out; none if the submission cannot be read."""
    versions: list[Version] = []
    seen: set[str] = set()
    left_out = size = 0
    try:
        with opened(path) as submission:
            for version in _newest_first(submission):
                digest = content_hash(version.document)
                if digest in seen:  # a run that continues another has its versions too
                    continue
                seen.add(digest)
                if len(versions) < MOST_VERSIONS and size + len(version.document) <= MAX_CHARACTERS:
                    size += len(version.document)
                    versions.append(version)
                else:
                    left_out += 1
    except AgentError:
        return [], 0
    return versions[::-1], left_out


def _newest_first(submission: Submission) -> Iterator[Version]:
    places = {entry.id: place for place, entry in enumerate(read_log(submission.log()).entries)}

    def place(name: str) -> tuple[int, str]:
        return places.get(name.rpartition("-")[2].removesuffix(".json"), -1), name

    for name in sorted(submission.run_names(), key=place, reverse=True):
        try:
            yield from _versions_in(read_run(submission.run(name), name))
        except DAMAGES:
            continue


def _versions_in(run: Run) -> Iterator[Version]:
    """The versions of the page, the newest first, with the other files as they were at the end."""
    path = run.files.entry
    if path is None:
        return
    pages = [page for page in run.files.versions(path) if isinstance(page, str)]
    name = printable_line(str(run.name))[:60]
    for number in range(len(pages), 0, -1):
        files = run.files.write(path, pages[number - 1])
        try:
            page = assembled(files, path, MAX_CHARACTERS)
        except TooLargeError:
            continue
        yield Version(f"{name}, version {number} of {len(pages)}", framed_page(page))
