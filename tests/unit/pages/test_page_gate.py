"""What connects is removed from a page, wherever its tag may begin; everything else stays as it is."""

import json
import random
import shutil
import subprocess

import pytest
from justhtml import JustHTML

from agent_nb.pages.page_gate import gated
from agent_nb.pages.policy import INTEGRITY, KNOWN_VALUES
from agent_nb.pages.preview import frame_attributes, framed_page, still_frame_attributes, with_frame_script
from tests.support import ROOT
from tests.support.connecting_pages import ISSUED, generated
from tests.unit.pages.test_preview import growth_exponent

HOST = "https://canary.example"
ESBUILD = ROOT / "js" / "node_modules" / ".bin" / "esbuild"
PAGES = [page.format(HOST) for page in ISSUED.values()] + [generated(seed, HOST) for seed in range(200)]

VUE = "https://cdn.jsdelivr.net/npm/vue@3.5.45/dist/vue.global.prod.js"
HASH = f' integrity="{INTEGRITY[VUE]}" crossorigin="anonymous"'

UNTOUCHED = [
    f"<script src='{VUE}?x'></script><p title='{VUE}'>{VUE}</p>",
    "<script>a <script + '\"' + b; </script>",
    '<link rel="stylesheet" href="https://a.example/x.css"><link rel=icon href=data:,>',
    "<link rel=\"icon\" href=\"data:image/svg+xml,<svg xmlns='x'><text y='.9em'>A</text></svg>\">",
    '<meta charset="utf-8"><meta http-equiv="Content-Type" content="x">',
    "<iframe srcdoc=''></iframe><iframe src=about:blank></iframe>",
    "<script>for (let i = 0; i<frame && n>2; i++);</script><b rel=preconnect>",
    "<linkage rel=preconnect><a rel=preconnect href=x>x</a>",
]

CHANGED = [
    ('<link rel="preconnect" href="https://a.example">', '<link  href="https://a.example">'),
    ('<iframe\n src="//a.example" title="x"></iframe>', '<iframe\n  title="x"></iframe>'),
    ("<iframe title=a srcdoc='<p>Hi</p>'></iframe>", "<iframe title=a ></iframe>"),
    ("<iframe srcDoc={page} title={`a`} />", "<iframe  title={`a`} />"),
    ("f(<Link onClick={() => go()}>)", "f(< Link onClick={() => go()}>)"),
    ("<iframe src={address} title={name}/>", "<iframe  title={name}/>"),
    ("<script>a[i] <meta / 2;</script>", "<script>a[i] < meta / 2;</script>"),
    ("<link rel=icon", "< link rel=icon"),
    (f"<script src='{VUE}'></script>", f"<script src='{VUE}'{HASH}></script>"),
    (f"<SCRIPT\n async src={VUE}>", f"<SCRIPT\n async src={VUE}{HASH}>"),
    (
        f"<script title='<iframe src=//a.example>' src={VUE}>",
        f"<script title='&lt;iframe src=//a.example>' src={VUE}{HASH}>",
    ),
]


@pytest.mark.parametrize("page", UNTOUCHED)
def test_what_is_known_stays_as_it_is(page):
    assert gated(page) == page


@pytest.mark.parametrize(("page", "after"), CHANGED)
def test_what_connects_is_removed(page, after):
    assert gated(page) == after


def connects(page: str, *, scripts: bool) -> list[str]:
    """The values in a parsed page that are not known."""
    found = []
    for name, attributes in KNOWN_VALUES.items():
        for element in JustHTML(page, sanitize=False, scripting_enabled=scripts).query(name):
            for attribute, words in attributes.items():
                value = element.attrs.get(attribute) or ""
                found += [word for word in value.lower().split() if word not in words]
    return found


@pytest.mark.parametrize("scripts", [True, False])
def test_no_parser_finds_what_connects(scripts):
    before = [page for page in PAGES if connects(page, scripts=scripts)]
    assert len(before) > len(PAGES) / 2
    after = [gated(page) for page in before]
    assert [page for page in after if connects(page, scripts=scripts)] == []
    assert [gated(page) for page in after] == after


@pytest.mark.parametrize("show", [frame_attributes, framed_page, with_frame_script, still_frame_attributes])
def test_no_form_of_a_page_passes_by_the_gate(show):
    assert "preconnect" not in show('<link/rel=preconnect href="https://a.example">')


@pytest.mark.skipif(not ESBUILD.exists() or not shutil.which("node"), reason="needs Node and `npm ci` in js/")
def test_the_page_has_the_same_gate_for_any_pieces(tmp_path):
    """The code of the live page, on the same pages: whole, character by character, and in pieces."""
    (tmp_path / "run.ts").write_text(
        f"""import {{ Gate }} from {json.dumps(str(ROOT / "js" / "src" / "page" / "gate.ts"))};
import {{ readFileSync, writeFileSync }} from "node:fs";
const [, , given, written] = process.argv;
const cases = JSON.parse(readFileSync(given, "utf8")).map((pieces) => {{
  const gate = new Gate();
  return [pieces.map((piece) => gate.push(piece)).join("") + gate.push("", true), gate.blocked];
}});
writeFileSync(written, JSON.stringify(cases));"""
    )
    command = [
        ESBUILD,
        tmp_path / "run.ts",
        "--bundle",
        "--platform=node",
        f"--outfile={tmp_path / 'run.js'}",
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    pages = [*PAGES, *UNTOUCHED, *(page for page, _ in CHANGED), "<link title='" + "x<link " * 3000 + "'>"]
    chance = random.Random(1)
    cut = [split(page, chance) for page in pages for _ in range(3)]
    cases = [*([page] for page in pages), *(list(page) for page in pages), *cut]
    (tmp_path / "given.json").write_text(json.dumps(cases))
    files = [tmp_path / name for name in ("run.js", "given.json", "written.json")]
    subprocess.run(["node", *files], check=True, timeout=120)
    for pieces, (text, blocked) in zip(
        cases, json.loads((tmp_path / "written.json").read_text()), strict=True
    ):
        expected: list[str] = []
        assert text == gated("".join(pieces), expected)
        assert blocked == expected


def split(page: str, chance: random.Random) -> list[str]:
    places = sorted(chance.randint(0, len(page)) for _ in range(chance.randint(1, 9)))
    return [page[start:end] for start, end in zip([0, *places], [*places, len(page)], strict=True)]


@pytest.mark.parametrize(
    "again", ["<link ", "<link a=\"<link b='", ' a="<link b=\'" c="\' d=\'" e="\'', "<iframe srcdoc=&lt;"]
)
def test_a_hostile_page_takes_linear_time(again):
    assert growth_exponent(lambda size: gated("<link" + again * size)) < 1.5
