"""Models by name: `model("anthropic:claude-opus-5-5")`. SDKs are imported when a model is first used."""

from agent_nb.providers.registry import VendorInfo, catalog, default_model_name, full_name, model

__all__ = ["VendorInfo", "catalog", "default_model_name", "full_name", "model"]
