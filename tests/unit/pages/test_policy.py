"""The policy of generated pages: what it lets in is what the stacks use, file by file."""

import re
from pathlib import Path

from agent_nb._base.constants import STACKS
from agent_nb.pages.policy import INTEGRITY, OUTPUT_POLICY, policy_for
from agent_nb.prompts import stack_text

ROOT = Path(__file__).parents[3]

POLICY = policy_for(" ".join(INTEGRITY))
"""The policy of a page that uses all files of the stacks."""


def directives(policy: str) -> dict[str, list[str]]:
    return {name: sources for name, *sources in (part.split() for part in policy.split("; "))}


def web_sources(policy: str) -> set[str]:
    return {source for sources in directives(policy).values() for source in sources if "//" in source}


def test_the_only_addresses_are_the_files_of_the_stacks():
    used = {address for stack in STACKS for address in re.findall(r'"(https:[^"]+)"', stack_text(stack))}
    assert web_sources(POLICY) == used
    assert all(re.search(r"@\d+\.\d+\.\d+/[^?]*\.(js|css)$", address) for address in used)
    assert web_sources(OUTPUT_POLICY) == set()


def test_a_saved_page_may_load_only_what_it_names():
    vue = next(address for address in web_sources(POLICY) if "/vue@" in address)
    assert web_sources(policy_for(f'<script src="{vue}"></script>')) == {vue}
    assert web_sources(policy_for("<h1>Plain</h1>")) == set()


def test_no_scheme_of_the_network_is_open():
    for policy in (POLICY, OUTPUT_POLICY):
        sources = {source for sources in directives(policy).values() for source in sources}
        assert not sources & {"*", "http:", "https:", "ws:", "wss:", "'self'"}


def test_nothing_is_left_to_a_default():
    """`form-action`, `base-uri` and, through `script-src`, `worker-src` do not fall back to `default-src`."""
    for name in ("default", "connect", "frame", "worker", "object", "manifest"):
        assert directives(POLICY)[f"{name}-src"] == ["'none'"]
    for policy in (POLICY, OUTPUT_POLICY):
        assert directives(policy)["form-action"] == directives(policy)["base-uri"] == ["'none'"]


def test_the_page_about_security_names_every_host():
    hosts = {address.split("/")[2] for address in web_sources(POLICY)}
    assert hosts == {"cdn.jsdelivr.net"}
    assert "`cdn.jsdelivr.net`" in (ROOT / "docs" / "internals" / "security.md").read_text(encoding="utf-8")


def test_every_file_has_its_hash():
    assert {*INTEGRITY} == {*web_sources(POLICY)}


def test_the_widget_reads_the_same_file():
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "js" / "src").rglob("*.ts")]
    assert any("agent_nb/pages/policy.json" in source for source in sources)
    assert not [source for source in sources if re.search(r"(script|img|default)-src '", source)]
