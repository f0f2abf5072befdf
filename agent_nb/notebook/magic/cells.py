"""`%agent cells NAME [--verify]`: the code of a run as plain cells."""

from typing import Any

from IPython.core.error import UsageError
from IPython.display import display

from agent_nb.notebook.asking import confirm
from agent_nb.notebook.kernel_tools.execute import has_run
from agent_nb.notebook.session import Session
from agent_nb.run import Run
from agent_nb.run.cells import Cells, kept_steps

VERIFY = "--verify"


def cells_command(session: Session, rest: str) -> Any:
    """Shows the cells, or runs them in a fresh kernel and shows what differs."""
    words = rest.split()
    names = [word for word in words if word != VERIFY]
    if len(names) != 1:
        raise UsageError(f"Name one run, such as `{session.command('cells hero')}`.")
    (name,) = names
    run = session.namespace.get(name)
    if not isinstance(run, Run):
        raise UsageError(
            f"`{name}` is not a finished run. `{session.command('load NAME')}` loads a saved one."
        )
    cells = run.to_cells()
    if not cells:
        raise UsageError(f"`{name}` has executed no code. `-t kernel` gives a model the tool for it.")
    return _verified(session, run, cells) if VERIFY in words else _shown(session, name, cells)


def _shown(session: Session, name: str, cells: Cells) -> None:
    display(cells)
    if cells.inputs:
        print(f"The cells need these names: {', '.join(cells.inputs)}.")
    print(
        f'`{name}.to_notebook("{name}.ipynb")` writes them as a notebook; '
        f"`{session.command(f'cells {name} {VERIFY}')}` runs them in a fresh kernel and says what differs."
    )


def _verified(session: Session, run: Run, cells: Cells) -> Any:
    if cells.is_masked:
        raise UsageError("Parts of the code are masked (•••), so it cannot be run.")
    if not all(has_run(step.executed) for step in kept_steps(run)) or run.settings.get("replayed"):
        code = "\n\n".join(cells.code)
        question = f"{code}\n\nThis code has not run in this kernel. Run it in a fresh one, to verify it?"
        if not confirm(question):
            raise UsageError("Nothing was run: the code has not run in this kernel, and nobody approved it.")
    from agent_nb.notebook.verify.verify import verify

    return verify(run, cells, session.namespace, session.defaults.python_seconds).table()
