"""`--approve`: who decides about tool calls, for all tools that ask or by the name of a tool."""

from collections.abc import Iterable

from IPython.core.error import UsageError

from agent_nb.engine.approval_rules import MODES, Mode, Rules


def read_rules(values: Iterable[str], default: Mode) -> Rules:
    """What several `--approve` say together: `auto`, `run_python=ask`. The last one about a tool counts."""
    by_name: dict[str, Mode] = {}
    for value in values:
        name, equals, written = value.rpartition("=")
        mode = next((mode for mode in MODES if mode == written), None)
        if mode is None or (equals and not name):
            raise UsageError(
                f"--approve takes ask, auto, deny, or a rule for one tool such as `--approve NAME=ask`, not {value!r}."
            )
        if name:
            by_name[name] = mode
        else:
            default = mode
    return Rules(default, by_name)
