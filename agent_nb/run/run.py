"""`Run`, the immutable result of a run. Continuing it makes a new one."""

import json
import os
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_nb._base.atomic import write_own
from agent_nb._base.secrets import mask
from agent_nb._base.text import sha256
from agent_nb._base.wire import Json
from agent_nb.core.annotations import Annotation, answer_text, question_choices
from agent_nb.core.bound_pages import bound_pages
from agent_nb.core.errors import ConfigError, RunFailedError
from agent_nb.core.feature import value_types
from agent_nb.core.messages import Usage
from agent_nb.pages.find_element import Element, find_element
from agent_nb.render import HTML, MARKDOWN, bundle
from agent_nb.render.answers import Answers
from agent_nb.render.shown import value_of
from agent_nb.run.cells import Cells, branch_names, cells_to_keep, to_cells
from agent_nb.run.compare import Checks, Comparison, compare
from agent_nb.run.feature_values import FeatureValues
from agent_nb.run.manifest import manifest_of
from agent_nb.run.moments import changes_back_to, sort_annotations
from agent_nb.run.record import RunRecord
from agent_nb.run.run_writer import run_file
from agent_nb.run.turn_requests import request_of
from agent_nb.tools.answer import AnswerType
from agent_nb.tools.base import BranchedSession


@dataclass(frozen=True, kw_only=True, repr=False)
class Run(FeatureValues, RunRecord):
    """The result of one run: files, text, events, usage, cost, and how it ended."""

    variants: tuple["Run", ...] = ()
    answer_type: AnswerType | None = field(default=None, compare=False)
    """The type of `answer`. A loaded or replayed run has none, so that no file decides what is built."""
    branched_from: Any = field(default=None, compare=False)
    """The `BranchedSession`. A loaded or replayed run has none, so that no file decides what is run."""

    @cached_property
    def answer(self) -> Any:
        """The answer of a run whose answer has a type (`--as`); None without one.

        It is a value of that type. In a loaded or replayed run it is plain JSON.
        """
        plain = self.plain_answer
        return plain if self.answer_type is None or plain is None else self.answer_type.read(plain)

    @property
    def answers(self) -> Answers:
        """The answers of all variants: a table with models, code and agreement, and a strip plot of each number."""
        return Answers(self.variants or (self,))

    @property
    def manifest(self) -> Json:
        """Facts needed to cite and reproduce the run: model, dates, settings, approvals, hashes, versions."""
        return manifest_of(self)

    def request(self, step: int = 1) -> Json:
        """The request of turn number `step`, from 1: model, system text, messages, tools, settings."""
        return request_of(self, step)

    def with_files(self, changed: Mapping[str, str | bytes | None]) -> "Run":
        """A copy of the run with your own edits to its files (None deletes). The next prompt tells the model."""
        if not isinstance(changed, Mapping):
            raise ConfigError(f"Give a dict such as {{'index.html': page}}, not a {type(changed).__name__}.")
        files = self.files
        for path, content in changed.items():
            files = files.delete(path) if content is None else files.write(path, content)
        return replace(self, files=files, given_files=self.original_files, failed_check="")

    def at(self, moment: int) -> "Run":
        """A copy of the run with its files as of change number `moment`, which the page shows.

        0 means the initial files. Continue from it as from your own edit: the next prompt tells the model.
        """
        return self.with_files(changes_back_to(self, moment))

    @property
    def page(self) -> Any:
        """The page as a widget, with a trait for each bound value. Kept by the kernel, not by the run."""
        return bound_pages().page_of(self)

    def pick(self, number: int) -> "Run":
        """Variant `number` (from 1). It keeps the list of all variants."""
        index = number.__index__() if hasattr(number, "__index__") else 0  # also accepts NumPy integers
        if not 1 <= index <= len(self.variants):
            have = f"1 to {len(self.variants)}" if self.variants else "none"
            raise ConfigError(f"There is no variant {number!r}; this run has {have}.")
        return replace(
            self.variants[index - 1],
            name=self.name,
            key=self.key,
            annotations=self.annotations,
            variants=self.variants,
        )

    def annotate(
        self,
        at: float | str,
        text: str = "",
        *,
        ask: str = "",
        choices: Sequence[str] = (),
        answer: int | str | None = None,
    ) -> "Run":
        """A copy of the run with a note that its replay shows at a moment. A replay stops at a question.

        `at` is a number of seconds, or "turn 2", "change 3" (the third change of a file), "end". `text` is Markdown.
        With `ask`, the reader picks one of `choices`. `answer` is shown afterwards: the number of the right choice,
        from 1, or its text.
        """
        listed = question_choices(ask, choices)
        right = answer_text(answer, listed)
        note = Annotation(at=at, text=text, ask=ask, choices=listed, answer=right, variant=self.variant)
        return replace(self, annotations=sort_annotations(self, (*self.annotations, note)))

    def compare(self, checks: Checks = ()) -> Comparison:
        """The variants as a table; `checks={"has h1": "'<h1' in html"}` adds a column for each."""
        return compare(self, checks)

    def element(self, selector: str, file: str | None = None) -> Element:
        """The first element of the page, or of another HTML file, that matches a CSS selector."""
        return find_element(self.files, self.events, selector, file)

    def raise_for_failure(self) -> "Run":
        """Raise `RunFailedError` if the run failed; otherwise return the run."""
        if self.reason == "failed":
            raise RunFailedError(self.error or "The run failed.")
        return self

    def to_markdown(self) -> str:
        """The run as a Markdown document: how it ended, the transcript, the files, your notes."""
        return MARKDOWN.render(self)

    def to_html(self) -> str:
        """The run as one self-contained HTML page with the transcript, the result and your notes."""
        return HTML.render(self)

    def to_cells(self) -> Cells:
        """The code that the run executed as plain cells that need no agent_nb, with the model's text as Markdown.

        Failed and repeated attempts are left out, and secrets are masked.
        """
        return to_cells(self)

    @property
    def branch(self) -> Mapping[str, str]:
        """The names that the run set, changed or deleted in its branch; empty for a run without a branch."""
        return branch_names(self)

    def apply(self, *, anyway: bool = False) -> Any:
        """Run the code of a run that worked in a branch in your session, and return what it set.

        Raises `ConfigError` if it was applied before or, with the statements, if later code needs some of a call that
        failed; `anyway` runs the code nevertheless. What the code does to files and over the network, it does again.
        """
        return session_of(self).apply(self, anyway=anyway)

    def unapply(self) -> str:
        """Put back the names that `apply` has set. Changes inside objects stay."""
        return session_of(self).unapply(self)

    def to_notebook(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the cells of `to_cells` as a notebook, with the outputs of the run."""
        return write_own(path, cells_to_keep(self).to_notebook(), overwrite=overwrite)

    def to_replay(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write one HTML file that plays the run in any browser, from disk: no server, no kernel, no network.

        It contains the events, the files and the request of each turn, with secrets masked.
        """
        from agent_nb.run.replay_file import replay_html

        return write_own(path, replay_html(self).encode("utf-8", "replace"), overwrite=overwrite)

    def open(self) -> Path:
        """Open the page in your browser from a temporary file, sandboxed like the preview; return its path."""
        from agent_nb.run.replay_file import open_page

        return open_page(self)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the run atomically to a file such as `hero.run.jsonl`, with secrets masked.

        `agent_nb.load` reads it, and `agent_nb.replay` plays it.
        """
        return write_own(path, run_file(self), overwrite=overwrite, shared=False)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The value of a feature, or None if the run has none."""
            if name in value_types():
                return value_of(self, name)
            return object.__getattribute__(self, name)

    def __getstate__(self) -> Json:
        """A pickle has the plain answer: its type may not exist where it is loaded."""
        return {**vars(self), "answer_type": None, "branched_from": None, "answer": self.plain_answer}

    def __await__(self) -> Generator[None, None, "Run"]:
        """Let `await hero` work both while a background run is in progress and after it has ended."""
        yield from ()
        return self

    def __repr__(self) -> str:
        marks = dict.fromkeys(self.files.unfinished, " (unfinished)")
        files = ", ".join(path + marks.get(path, "") for path in self.files) or "no files"
        return f"<Run {self.name} {self.model} {self.reason}: {mask(files)}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return bundle(self)

    def _repr_html_(self) -> str:
        """For Panel and others that do not read MIME bundles. IPython uses the bundle."""
        return self._repr_mimebundle_()["text/html"]


def combine_variants(runs: Sequence[Run]) -> Run:
    """Combine variants into one run: the first that ended normally, with the cost of all."""
    if len(runs) == 1:
        return runs[0]
    ended_well = [run for run in runs if run.reason == "end_turn"]
    with_files = [run for run in runs if run.files]
    return replace(
        (ended_well or with_files or list(runs))[0],
        variants=tuple(runs),
        usage=sum((run.usage for run in runs), Usage()),
        cost=total_cost([run.cost for run in runs]),
        seconds=max(run.seconds for run in runs),
    )


def total_cost(costs: Collection[float | None]) -> float | None:
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def request_key(name: str, *parts: Any) -> str:
    return f"{name}-{sha256(json.dumps(parts, sort_keys=True, default=repr))[:10]}"


def session_of(run: Run) -> BranchedSession:
    """The session in which the run can be applied. Raises `ConfigError` unless it ended in a branch of this kernel."""
    session: BranchedSession | None = run.branched_from
    if session is not None:
        return session
    if not run.settings.get("branch"):
        raise ConfigError(f"`{run.name}` did not work in a branch, so there is nothing to apply.")
    raise ConfigError(
        f"`{run.name}` was loaded or replayed, and `apply` is only for a run that ended in this kernel."
        f" `{run.name}.to_cells()` has its code."
    )
