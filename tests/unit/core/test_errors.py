"""The exceptions: one root, and messages come through."""

import copyreg
import inspect
import pickle

import pytest

from agent_nb.core import errors
from agent_nb.core.errors import AgentError, ToolError

CLASSES = [
    value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, Exception)
]


def test_one_except_catches_them_all():
    assert all(issubclass(kind, AgentError) for kind in CLASSES)
    assert not issubclass(AgentError, KeyboardInterrupt | OSError)


def test_every_error_says_what_it_means():
    assert [kind.__name__ for kind in CLASSES if not (kind.__doc__ or "").endswith((".", "`"))] == []


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_an_error_crosses_processes(kind):
    """A run in a process pool sends its error home by pickle."""
    error = pickle.loads(pickle.dumps(kind("It failed.")))
    assert type(error) is kind
    assert str(error) == "It failed."


@pytest.mark.parametrize(
    ("hint", "more", "both"), [("6  ", "", "6  "), ("", "Wait.", "Wait."), ("6  ", "Wait.", "6   Wait.")]
)
def test_a_hint_stays_as_it_is_with_more_of_it(hint: str, more: str, both: str):
    """An event keeps the hint as the tool gave it, and a replay sends that to the model."""
    assert ToolError("Not found.", hint=hint).with_hint(more).hint == both


def test_a_hint_for_the_model_is_only_in_the_copy_though_a_library_has_changed_how_errors_are_copied():
    pickling = pytest.importorskip("tblib.pickling_support")  # dask.distributed installs it for all errors
    was_copied = copyreg.dispatch_table.get(ToolError)
    pickling.install(ToolError)
    try:
        error = ToolError("Too large.", code="TIMEOUT")
        hinted = error.with_hint("Do not repeat it.")
    finally:
        copyreg.dispatch_table.pop(ToolError)
        if was_copied:
            copyreg.dispatch_table[ToolError] = was_copied
    assert (error.hint, hinted.hint) == ("", "Do not repeat it.")
    assert (hinted.message, hinted.code, str(hinted)) == (
        "Too large.",
        "TIMEOUT",
        "Too large. Do not repeat it.",
    )
