"""What a model sees of a value or of a part of a prompt."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from agent_nb.core.messages import Attachment
from agent_nb.pages.find_element import Element


@dataclass(frozen=True, slots=True)
class Description:
    """A value, a part of a prompt or a whole prompt as the model sees it: text, images and PDFs."""

    text: str
    images: tuple[Attachment, ...] = ()
    elements: tuple[Element, ...] = ()
    """Page elements in the description."""
    masked: tuple[str, ...] = ()
    """Masked names, for the note to the user."""
    shortened: tuple[str, ...] = ()
    """Truncated values, for the note to the user."""
    broken: bool = False
    """Whether characters that cannot be encoded were replaced."""
    tables: tuple[str, ...] = ()
    """Rows included per table, for the note to the user: `` `sales` (24 of 24 rows) ``."""
    head: str = ""
    """The first rows of a table."""
    has_data: bool = False
    """Whether it contains data of the user."""
    has_cells: bool = False
    """Whether it contains cells of the notebook, which are data of the user."""
    notes: tuple[str, ...] = ()
    """Other notes to the user."""
    names: frozenset[str] = frozenset()
    """For a prompt, the names that `--data schema` may send."""


def joined(text: str, parts: Sequence[Description]) -> Description:
    lists = ("images", "elements", "masked", "shortened", "tables", "notes")
    together: dict[str, Any] = {
        name: tuple(chain(*(getattr(part, name) for part in parts))) for name in lists
    }
    has_cells = any(part.has_cells for part in parts)
    has_data = has_cells or any(part.has_data for part in parts)
    return Description(text, has_data=has_data, has_cells=has_cells, **together)
