"""Which cells are rewritten to an `await`, and which are left alone."""

import asyncio

import pytest

from agent_nb.notebook.magic.magics import CellRewriter
from tests.support.shells import start_shell

AWAITED = "await __import__('agent_nb.notebook.magic.magics', fromlist=['magics']).agent_cell"


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    with start_shell(tmp_path_factory.mktemp("shell")) as shell:
        yield shell


@pytest.fixture
def rewrite(shell):
    rewriter = CellRewriter(shell.ipython, "agent", shell.magics.waits)
    return lambda code: "".join(rewriter(code.splitlines(keepends=True)))


@pytest.mark.parametrize(
    ("code", "line", "body"),
    [
        ("%%agent\nA page", "", "A page"),
        ("%%agent hero -m demo:\nA page\n  for 'you'\n", "hero -m demo:", "A page\n  for 'you'\n"),
        ("\n# a comment\n%%agent hero\nA page", "hero", "A page"),
        ("%%agent hero", "hero", ""),
        ("%%agent A page?", "A page?", ""),
        ('%%agent hero\n"""\\n{{x}}\n', "hero", '"""\\n{{x}}\n'),
    ],
)
def test_an_agent_cell_becomes_an_await(rewrite, code, line, body):
    assert rewrite(code) == f"{AWAITED}({line!r}, {body!r})\n"


@pytest.mark.parametrize("rest", ["", "# a comment\n", "print(1)\n"])
def test_a_fix_is_awaited_whatever_follows(rewrite, rest):
    assert rewrite(f"# first\n%agent fix 3\n{rest}") == f"{AWAITED}('fix 3', None)\n{rest}"


@pytest.mark.parametrize(
    "code",
    [
        "",
        "%agent fix \\\n-m demo:\n",
        "\n\n",
        "x = 1\n%%agent hero\n",
        "%agent models",
        "%%agents\nA page",
        "%%agentic x\n",
        "%%agent?",
        "%%time\n%%agent hero\nA page",
        " %%agent hero\nA page",
    ],
)
def test_other_cells_are_left_alone(rewrite, code):
    assert rewrite(code) == code


def test_under_another_magic_nothing_is_rewritten(shell):
    rewriter = CellRewriter(shell.ipython, "agent", shell.magics.waits)
    rewriter.begin_cell()
    assert rewriter(["%%agent hero\n", "A page"]) == ["%%agent hero\n", "A page"]
    rewriter.end_cell()
    assert rewriter(["%%agent hero\n", "A page"])[0].startswith("await ")


async def test_a_kernel_need_not_say_that_an_awaiting_cell_has_ended(shell):
    """As JupyterLite's, which triggers `post_run_cell` for synchronous cells only."""
    rewriter = CellRewriter(shell.ipython, "agent", shell.magics.waits)

    async def cell() -> list[str]:
        rewriter.begin_cell()
        return rewriter(["%%agent hero\n", "A page"])

    assert await asyncio.create_task(cell()) == ["%%agent hero\n", "A page"]
    assert rewriter(["%%agent hero\n", "A page"])[0].startswith("await ")


def test_the_cell_with_load_ext_is_not_counted(shell):
    rewriter = CellRewriter(shell.ipython, "agent", shell.magics.waits)
    rewriter.end_cell()
    rewriter.begin_cell()
    assert rewriter.executing == 1
