"""Runs for web back ends: their events in other vocabularies."""

from agent_nb.web.ag_ui import AgUi
from agent_nb.web.ag_ui_request import AgUiRequest, BadRequestError

__all__ = ["AgUi", "AgUiRequest", "BadRequestError"]
