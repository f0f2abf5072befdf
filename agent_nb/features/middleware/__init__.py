"""`%agent use`: middleware in variables of the notebook, for the runs of cells."""

from typing import Any

from agent_nb.core.feature import Command, Feature

MIDDLEWARE: Feature[Any] = Feature(
    "middleware",
    commands=(
        Command(
            "use [NAME | -NAME]",
            "Use the middleware in a variable for the following runs, remove it, or list what is in use.",
            "agent_nb.features.middleware.cell:use_command",
            after="mcp",
        ),
    ),
    cell="agent_nb.features.middleware.cell:UsesMiddleware",
)
