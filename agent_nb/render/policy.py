"""The Content Security Policy of generated pages; `policy.json` holds it for Python and for the widget's page.

The sources on the web are the exact files that the stacks name, not their folders or their host: every path below
an allowed folder could carry data out. Two gaps remain in any such list: a browser ignores the query of an address,
and after a redirect its path. The CDN itself sees the query, nobody else does, as it does not redirect these files.
"""

import json
from functools import cache
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

SANDBOX = "allow-scripts allow-forms"
"""Never with `allow-same-origin`. Forms may fire their events; the policy keeps them from being sent."""

_Directives: TypeAlias = dict[str, list[str]]


def _joined(directives: _Directives) -> str:
    return "; ".join(" ".join((name, *sources)) for name, sources in directives.items())


_parts = json.loads(Path(__file__).with_name("policy.json").read_text(encoding="utf-8"))
POLICY = _joined(_parts["page"])
"""For pages: `data:`, `blob:` and the files of the stacks."""
OUTPUT_POLICY = _joined(_parts["output"])
"""For the HTML of a tool, which runs no scripts."""
KNOWN_VALUES: dict[str, dict[str, list[str]]] = _parts["tags"]
"""The words that attributes of some tags may have, for `gate.py`."""
INTEGRITY: dict[str, str] = _parts["integrity"]
"""The hashes of the files of the stacks, as in the packages on npm: `make supply-chain` compares them."""

PLAIN_TAGS = frozenset(_parts["plain_tags"].split())
"""The tags of HTML that needs no frame, for `plain_html`."""


def policy_for(page: str) -> str:
    """The same for a finished page, with only those files that it names."""
    named = {
        name: [source for source in sources if "//" not in source or source in page]
        for name, sources in _parts["page"].items()
    }
    return _joined(named)


@cache
def allowed_files() -> frozenset[str]:
    sources = (source for sources in _parts["page"].values() for source in sources)
    return frozenset(source for source in sources if "//" in source)


def allowed_hosts() -> list[str]:
    return sorted({urlsplit(address).netloc for address in allowed_files()})
