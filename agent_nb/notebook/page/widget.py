"""`run.page`: the page of a run as a widget, with a trait for each bound value."""

import inspect
import json
import os
import re
import unicodedata
from keyword import iskeyword
from pathlib import Path
from typing import Any

import traitlets

from agent_nb._base.atomic import write_own
from agent_nb._base.bundles import bundle
from agent_nb._base.threads import running_loop
from agent_nb.core.errors import ConfigError
from agent_nb.core.run_settings import BoundKind
from agent_nb.notebook.door import Door
from agent_nb.notebook.page import encoding, exported
from agent_nb.notebook.page.store import PageStore
from agent_nb.render import page_html, page_source
from agent_nb.run.run import Run

BUNDLE = bundle("page")
MAX_STATE = 50_000
"""Maximum characters of a value in the widget's state; masking them takes about 25 ms."""


def _state(value: Any, page: "Page") -> Any:
    """A value in the widget's state, which notebooks save: masked, and None if it is too long."""
    try:
        return json.loads(page._store.masked_text("", value, MAX_STATE))
    except (ConfigError, TypeError, ValueError):
        return None


class BoundValue(traitlets.Any):
    """A value of the store. Every assignment notifies observers: the value may have changed in place."""

    def get(self, obj: Any, cls: Any = None) -> Any:
        return obj._store.values[self.name]

    def set(self, obj: Any, value: Any) -> None:
        obj._store.set(self.name, value)  # raises if it cannot be encoded


def _is_equal(old: Any, new: Any) -> bool:
    try:
        return bool(old == new)
    except Exception:  # arrays and tables
        return old is new


class Page(Door):
    """The page of a run, with a trait for each bound value. Only those that the page fills are synced."""

    _esm = BUNDLE

    def __init__(self, store: PageStore) -> None:
        self._store, self._loop = store, running_loop()
        self._run: Run | None = None
        self._notifying: set[str] = set()
        """Names whose observers are being called."""
        self._views: set[str] = set()
        super().__init__()
        self.on_msg(self._on_message)

    def export(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the page as a widget of your own: a Python file that needs `anywidget` alone, without the values."""
        document = self._document()
        if not document:
            raise ConfigError("This run has no page to export.")
        kinds = {name: row.kind for name, row in self._store.bindings.items()}
        source = _exported(_class_name(Path(path).name), kinds, document)
        return write_own(path, source.encode(), overwrite=overwrite)

    def close(self) -> None:
        """Close the views of this widget and cancel their calls; previews of the run stay connected."""
        self._store.close_views(self._views)
        super().close()

    def _notify(self, name: str, previous: Any, value: Any) -> None:
        """Call the observers of a value that has been set."""
        if name in self._notifying and _is_equal(previous, value):
            return  # an observer that assigns the same value would recurse endlessly
        before, self._notifying = self._notifying, {*self._notifying, name}
        try:
            self._notify_trait(name, previous, value)
        finally:
            self._notifying = before

    def _hand_over(self, store: PageStore) -> None:
        """Create the widget of the page that replaces this one, with the observers of names that both have."""
        page = make_page(store)
        for name in store.values.keys() & self._store.values.keys():
            for observer in self._trait_notifiers.get(name, {}).get("change", []):
                page.observe(observer, name)

    def _on_message(self, model: Any, content: Any, buffers: Any) -> None:
        if self._loop is None or running_loop() is self._loop:
            self._receive(content)
        else:
            self._loop.call_soon_threadsafe(self._receive, content)

    def _receive(self, content: Any) -> None:
        if not isinstance(content, dict):
            return
        view = content.get("view")
        if content.get("do") == "page":
            bound = [{"name": name, "kind": row.kind} for name, row in self._store.bindings.items()]
            self.tell({"do": "page", "view": view, "html": self._document(), "bound": bound})
            return
        try:
            self._store.receive(content, lambda message: self.tell({**message, "view": view}))
            self._views = {*self._views, str(view)} & self._store.views.keys()
        except ConfigError as error:
            self.tell({"do": "note", "level": "error", "text": str(error), "view": view})

    def _document(self) -> str:
        return page_source(self._run) if self._run is not None else ""

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The widget, with a static page and the current values as fallback."""
        bundle = super()._repr_mimebundle_(**options)
        page = page_html(self._run) if self._run is not None else ""
        data, *metadata = bundle if isinstance(bundle, tuple) else (bundle,)
        data = {**(data or {}), **({"text/html": page} if page else {})}
        return (data, *metadata) if metadata else data


def _class_name(file: str) -> str:
    """The name of the class in a file: `review_labels.py` defines `ReviewLabels`."""
    stem = unicodedata.normalize("NFKC", Path(file).stem)  # as Python reads names
    name = "".join(word[:1].upper() + word[1:] for word in re.findall(r"[^\W_]+", stem))
    if not all(word.isidentifier() and not iskeyword(word) for word in (stem, name)):
        raise ConfigError(
            f"Python cannot import a class from {file!r}: use a name of letters, digits and underscores that is no "
            "keyword, such as 'labeler.py'."
        )
    return name


def _exported(name: str, kinds: dict[str, BoundKind], document: str) -> str:
    """The source of a widget class."""
    lines = (f"        {line!r}\n" for line in document.splitlines(keepends=True))
    parts = [
        f"\n\nclass {name}(PageWidget):",
        f"    _kinds = {kinds!r}",
        *(f"    {value} = traitlets.Any()" for value, kind in kinds.items() if kind != "function"),
        f"    _esm = {BUNDLE.read_text(encoding='utf-8').strip()!r}",
        f"    _html = (\n{''.join(lines)}    )\n",
    ]
    line = "from agent_nb.notebook.page.encoding import EncodingError, json_pieces\n"
    base = inspect.getsource(exported).replace(line, f"import traitlets\n\n{inspect.getsource(encoding)}")
    return base + "\n".join(parts)


def make_page(store: PageStore) -> Page:
    """Create the widget for a store."""
    traits = {name: BoundValue(None, allow_none=True) for name in store.values}
    for name, trait in traits.items():
        if store.bindings[name].kind == "filled":
            trait.tag(sync=True, to_json=_state)
    page: Page = type("Page", (Page,), traits)(store)
    store.page = page
    return page
