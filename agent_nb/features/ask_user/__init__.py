"""`-t ask_user`: the model asks the user. The engine asks, and the tool gets the answer."""

from typing import Any

from agent_nb.core.feature import Feature

ASK_USER: Feature[Any] = Feature("ask_user", tools="agent_nb.features.ask_user.tools:TOOLS")
