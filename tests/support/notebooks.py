"""Notebook files for tests, with the outputs that their cells left."""

import json
from collections.abc import Iterable
from typing import Any

Source = str | tuple[str, int | None] | tuple[str, int | None, str]
"""A cell's source, its execution count, and the name of the error it ended with."""


def notebook(*cells: Source) -> bytes:
    """A notebook whose cells ran in order, except where a cell says otherwise."""
    return json.dumps(
        {"cells": list(_cells(cells)), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, ensure_ascii=False
    ).encode()


def _cells(cells: Iterable[Source]) -> Iterable[dict[str, Any]]:
    for number, cell in enumerate(cells, 1):
        source, count, error = (*((cell, number) if isinstance(cell, str) else cell), "")[:3]
        traceback = {"output_type": "error", "ename": error, "evalue": "", "traceback": []}
        yield {
            "cell_type": "code",
            "id": f"cell-{number}",
            "metadata": {},
            "source": source.splitlines(keepends=True),
            "execution_count": count,
            "outputs": [traceback] if error else [],
        }
