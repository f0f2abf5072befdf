"""Finds modules by their former names, so that old pickles still load."""

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "agent_nb.comparison": "agent_nb.run.compare",
    "agent_nb.engine.setup": "agent_nb.engine.limits",
    "agent_nb.versions": "agent_nb.files.versions",
}


class _FormerNames(MetaPathFinder, Loader):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in MOVED else None

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__.update(vars(importlib.import_module(MOVED[module.__name__])))


def find_former_names() -> None:
    if not any(isinstance(finder, _FormerNames) for finder in sys.meta_path):
        sys.meta_path.append(_FormerNames())
