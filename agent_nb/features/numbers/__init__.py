"""The numbers of an answer: which of them an output of the run has, and which nothing has computed."""

from agent_nb.core.feature import Feature

NUMBERS: Feature[None] = Feature("numbers", code="agent_nb.features.numbers.run:Numbers")
