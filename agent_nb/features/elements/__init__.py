"""Elements of a page that a prompt names, as `{{hero.element("h1")}}`: the model gets how the page shows them."""

from agent_nb.core.feature import Feature

ELEMENTS: Feature[None] = Feature("elements", code="agent_nb.features.elements.run:Elements")
