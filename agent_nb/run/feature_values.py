"""Written by `make events` from the declarations of `agent_nb/features/`. Do not edit."""

from typing import Any


class FeatureValues:
    """The values of features, which `Run.__getattr__` reads."""

    agreement: Any
    certificate: Any
