"""`%agent use`: middleware in variables of the notebook, for the runs of cells."""

from typing import Any

from agent_nb.core.feature import Feature

MIDDLEWARE: Feature[Any] = Feature("middleware", cell="agent_nb.features.middleware.cell:UsesMiddleware")
