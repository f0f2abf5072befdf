"""The answers of all variants in one table, with a strip plot of each number."""

from agent_nb.core.feature import Feature

ANSWERS: Feature[None] = Feature("answers", code="agent_nb.features.answers.run:AllAnswers")
