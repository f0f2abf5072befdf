"""Code first: a small model with data in its prompt is asked for a block of Python, then for the answer."""

from typing import Any

from agent_nb.core.feature import Feature

CODE_FIRST: Feature[Any] = Feature(
    "code_first",
    texts=("code_answer_unseen", "code_missing"),
    code="agent_nb.features.code_first.run:CodeFirst",
    cell="agent_nb.features.code_first.cell:TellsOfCode",
)
