"""A run on its way to the page and back."""

import sys
from typing import Any


def shown_hub() -> Any:
    """The kernel's `Hub`; None if no run was shown in the page. Importing its module would take long."""
    module = sys.modules.get("agent_nb.notebook.live.hub")
    return module.existing_hub() if module is not None else None
