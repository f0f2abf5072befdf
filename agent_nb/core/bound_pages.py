"""The interface to bound pages for packages that must not import `notebook`, which serves them."""

from collections.abc import Mapping
from typing import Any, Protocol

from agent_nb._base.late import PAGE_LOADERS
from agent_nb.core.errors import ConfigError
from agent_nb.core.messages import Attachment


class BoundNames(Protocol):
    """The names of the notebook that a page is bound to."""

    @property
    def types(self) -> Mapping[str, str]: ...

    def description(self, data: str) -> tuple[str, tuple[Attachment, ...]]:
        """Return the names as text and images, without values if `data` is `schema`."""
        ...

    def open(self, run_id: str, variant: int) -> None:
        """Bind the page of a variant when it starts."""
        ...


class BoundPages(Protocol):
    """Interface of the module in `notebook` that serves bound pages."""

    def bound_values(self, values: Mapping[str, Any]) -> BoundNames: ...

    def saved_values(self, run_id: str, variant: int) -> Mapping[str, str]:
        """Return the JSON of a page's values in this kernel, by name."""
        ...

    def page_of(self, run: Any) -> Any:
        """Return the widget of a run's page."""
        ...


def bound_pages() -> BoundPages:
    if not PAGE_LOADERS:
        raise ConfigError(
            "A page is bound or shown as a widget in a notebook: run `%load_ext agent_nb` first, or"
            " `import agent_nb.marimo`."
        )
    pages: BoundPages = PAGE_LOADERS[0]()
    return pages
