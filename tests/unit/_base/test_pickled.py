"""What an older release pickled still loads."""

import pickle

import pytest

from agent_nb.events import ApprovalRequested, ApprovalResolved
from agent_nb.messages import ToolResult

BASE = {"run_id": "r", "seq": 1, "at": 0.0, "call_id": "c"}


def blank(kind: type):
    return kind.__new__(kind)


class Old:
    """Pickles as an older release did: without the newest fields."""

    def __init__(self, value, fields: int) -> None:
        self.value, self.fields = value, fields

    def __reduce__(self):
        return blank, (type(self.value),), self.value.__getstate__()[: self.fields]


@pytest.mark.parametrize(
    ("value", "fields"),
    [
        (ApprovalRequested(**BASE, name="sh", title="run", args={"a": 1}, description="Runs."), 9),
        (ApprovalResolved(**BASE, approved=True, note="once"), 7),
        (ToolResult(call_id="c", name="sh", text="ran"), 5),
    ],
)
def test_missing_fields_have_their_defaults(value, fields):
    assert pickle.loads(pickle.dumps(Old(value, fields))) == value
    assert pickle.loads(pickle.dumps(value)) == value
