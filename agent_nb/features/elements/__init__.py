"""Elements of a page that a prompt names, as `{{hero.element("h1")}}`: the model gets how the page shows them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent_nb.core.feature import Feature

if TYPE_CHECKING:
    from agent_nb.pages.find_element import Element

ELEMENTS: "Feature[Sequence[Element]]" = Feature("elements", code="agent_nb.features.elements.run:Elements")
