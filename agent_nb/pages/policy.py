"""The Content Security Policy of generated pages; Python and the front end share it in `policy.json`.

Allowed web sources are the exact files of the stacks, not their folders or host: any path below an allowed folder
could leak data. Two gaps remain in any such list: browsers ignore the query of a URL, and its path after a redirect.
Only the CDN sees the query, because it does not redirect these files.
"""

import json
from functools import cache
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

SANDBOX = "allow-scripts allow-forms"
"""Never with `allow-same-origin`. Forms may fire events; the policy prevents submission."""

_Directives: TypeAlias = dict[str, list[str]]
_parts = json.loads(Path(__file__).with_name("policy.json").read_text(encoding="utf-8"))
KNOWN_VALUES: dict[str, dict[str, list[str]]] = _parts["tags"]
"""Allowed attribute values by tag, for `page_gate.py`."""
INTEGRITY: dict[str, str] = _parts["integrity"]
"""Hashes of the stacks' files in the npm packages; `make supply-chain` compares them."""
PLAIN_TAGS = frozenset(_parts["plain_tags"].split())
"""Tags that are safe outside a frame, for `plain_html`."""


def _joined(directives: _Directives) -> str:
    return "; ".join(" ".join((name, *sources)) for name, sources in directives.items())


OUTPUT_POLICY = _joined(_parts["output"])
"""For HTML from a tool, in which no scripts run."""


def policy_for(page: str) -> str:
    """Return the policy for a finished page, limited to the files that it references."""
    directives = {
        name: [source for source in sources if "//" not in source or source in page]
        for name, sources in _parts["page"].items()
    }
    return _joined(directives)


@cache
def allowed_files() -> frozenset[str]:
    sources = (source for sources in _parts["page"].values() for source in sources)
    return frozenset(source for source in sources if "//" in source)


def allowed_hosts() -> list[str]:
    return sorted({urlsplit(address).netloc for address in allowed_files()})
