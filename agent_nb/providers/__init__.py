"""Models by name: `model("anthropic:claude-opus-5-5")`. SDKs are imported when a model is first used."""

from agent_nb.providers.registry import default_model_name, full_name, model

__all__ = ["default_model_name", "full_name", "model"]
