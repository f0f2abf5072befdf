"""The pages of this kernel, by run id and variant. This module is the notebook's `BoundPages`."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from agent_nb.core.messages import Attachment
from agent_nb.notebook.page.bindings import Bindings, bind_values, encoding
from agent_nb.notebook.page.store import PageStore
from agent_nb.notebook.values.describe_values import describe_path
from agent_nb.notebook.values.schema import describe_schema, known_names
from agent_nb.pages.page_check import CheckRequest, PageCheck, PageViewer
from agent_nb.pages.preview import bound_script
from agent_nb.run.run import Run

MOST_RUNS = 50
_stores: dict[tuple[str, int], PageStore] = {}


class BoundPage:
    """The bindings of an agent's pages, in the form that `Agent` expects."""

    def __init__(self, bindings: Bindings) -> None:
        self.bindings, self.types = bindings, bindings.types

    def description(self, data: str) -> tuple[str, tuple[Attachment, ...]]:
        values = {name: row.value for name, row in self.bindings.items()}
        schema = partial(describe_schema, allowed_names=known_names(values))
        is_schema = data == "schema"
        description = self.bindings.describe(schema if is_schema else describe_path, schema_only=is_schema)
        return description.text, description.images

    def open(self, run_id: str, variant: int) -> None:
        """Create the store of a starting variant."""
        _open(self.bindings, run_id, variant)


def _open(bindings: Bindings, run_id: str, variant: int) -> PageStore:
    store = _stores[run_id, variant] = PageStore(bindings)
    runs = list(dict.fromkeys(run for run, _ in _stores))
    for key in [key for key in _stores if key[0] in runs[:-MOST_RUNS]]:
        del _stores[key]
    return store


def bound_values(values: Mapping[str, Any]) -> BoundPage:
    """The bound page for `Agent(bind=values)`."""
    bindings = bind_values(values)
    for name, row in bindings.items():
        if row.kind != "function":
            *_, bindings.encoded[name] = encoding(name, row.value)
    return BoundPage(bindings)


def saved_values(run_id: str, variant: int) -> dict[str, str]:
    """The JSON of a page's values, for outputs and exports; empty if it has no bindings in this kernel."""
    store = store_of(run_id, variant)
    return store.saved() if store else {}


def page_of(run: Run) -> Any:
    """`run.page`: the same widget on each access while the kernel has the run's store."""
    from agent_nb.notebook.page.widget import make_page  # slow to import

    key = run.id, run.variant
    store = _stores.get(key) or _open(Bindings(()), *key)
    page = store.page or make_page(store)
    page._run = run
    return page


def store_of(run_id: str, variant: int) -> PageStore | None:
    """The store of a variant; None if its page has no bindings in this kernel."""
    store = _stores.get((run_id, variant))
    return store if store and store.bindings else None


def stores_of(run_id: str) -> Iterator[PageStore]:
    """The stores of all variants of a run."""
    return (store for (run, _), store in list(_stores.items()) if run == run_id)


def follow_variables() -> None:
    """Let the pages follow the variables that a cell has set."""
    for store in list(_stores.values()):
        store.follow()


def succeed(earlier: str, run_id: str) -> None:
    """Transfer filled values and observers to the new page when a cell is run again."""
    for (run, variant), store in list(_stores.items()):
        before = _stores.get((earlier, variant)) or _stores.get((earlier, 0))
        if run != run_id or before is None or before is store:
            continue
        for name, row in store.bindings.items():
            if row.kind == "filled" and name in before.values:
                store.set(name, before.values[name])
        if before.page is not None:
            before.page._hand_over(store)


class BoundViewer:
    """Wraps a viewer without a kernel, so that pages have their bound values."""

    def __init__(self, viewer: PageViewer, bindings: Bindings) -> None:
        self._viewer = viewer
        self._store = PageStore(bindings)

    async def check(self, request: CheckRequest) -> PageCheck:
        script = bound_script(self._store.bindings.types, self._store.saved())
        return await self._viewer.check(replace(request, bound=script))
