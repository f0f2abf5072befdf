"""`check_preview`: the model looks at its page, at most `looks` times in a run."""

from agent_nb.core.feature import Feature

LOOK: Feature[None] = Feature("look", code="agent_nb.features.look.run:Look")
