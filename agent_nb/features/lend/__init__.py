"""`%agent lend`: agents of a terminal work in this kernel, each in a branch of its own. `agent-nb mcp` leads to it."""

from typing import Any

from agent_nb.core.feature import ClassRule, Command, Feature

LEND: Feature[Any] = Feature(
    "lend",
    rule=ClassRule(
        "true or false",
        accepts=lambda value: isinstance(value, bool),
        refuses=lambda rule, value: "" if rule or not value else "Notebooks of this lab are not lent.",
        default=False,
    ),
    commands=(
        Command(
            "lend [NAME] [OPTION...] [--http | --off]",
            "Lend this notebook to agents in a terminal, with `-t`, `--approve`, `--data` and `--seconds` as in a cell;"
            " print an address and a token, or take it back.",
            "agent_nb.features.lend.command:lend",
            waits=True,
            after="mcp",
        ),
        Command(
            "mcp [NOTEBOOK]",
            "Serve the tools of a notebook that is lent, over MCP on stdin and stdout.",
            "",
            terminal="agent_nb.features.lend.bridge:serve",
        ),
    ),
)
"""The kernel that is lent, in `host.memory`, and the rule of classes."""
