"""A folder for `sys.path` by which the vendors' SDKs, or some of them, are too old."""

from collections.abc import Collection
from pathlib import Path

from agent_nb.providers.vendors import APIS

SDKS = {api.package: api.lowest for api in APIS.values() if api.package}


def older_sdks(folder: Path, names: Collection[str] = tuple(SDKS)) -> Path:
    for name in names:
        version = f"{SDKS[name] - 1}.9.1"
        info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    return folder
