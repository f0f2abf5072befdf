"""The frozen form of a run: its bytes, its text, its size, and what it keeps out."""

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser

import bleach
import pytest
from markdown_it import MarkdownIt

from agent_nb import Agent, Files, Run, tool
from agent_nb.core.errors import ProviderError
from agent_nb.core.messages import Source, Usage, assistant
from agent_nb.pages.policy import policy_for
from agent_nb.pages.preview import TooLargeError, assembled, frame_attributes
from agent_nb.providers.scripted import ScriptedProvider, call, fail, stop, text, think, usage, wait
from agent_nb.render import FORMS, HTML, MARKDOWN, TEXT, bundle, first_frame
from agent_nb.render.frozen import MAX_IMAGE, code_html
from agent_nb.render.summary import ready_line, run_digest
from agent_nb.tools import Toolbox
from agent_nb.tools.base import ToolOutput
from tests.support.demo_kit import BAKERY, built
from tests.support.scripts import write

HOSTILE = '</script></style><script>top.pwned=1</script>"\'><img src=x onerror="top.pwned=1">'
PNG = base64.b64encode(b"\x89PNG fake").decode()


LONGEST = 700
PAGE = "<!doctype html>\n<title>A bakery</title>\n<h1>{}</h1>\n<p>Bread.</p>\n"


class Elements(HTMLParser):
    """Every start tag with its attributes, as a browser would see them outside of frames."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(markup)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    def named(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]

    @property
    def page(self) -> str:
        """What the preview's frame holds: the page is in a frame inside it."""
        return Elements(self.shell).named("iframe")[0]["srcdoc"] or ""

    @property
    def shell(self) -> str:
        return self.named("iframe")[0]["srcdoc"] or ""


async def play(*turns, tools=None, answer=None, name="hero", **material) -> Run:
    with ScriptedProvider(list(turns)) as provider:
        run = await Agent(provider, tools=tools, approve="auto", answer=answer).run("A page", **material)
    return replace(run, name=name, key=f"{name}-0123abcdef")


async def page_run(page: str, **more: str | bytes) -> Run:
    run = await play([write(content=page)], [text("Done.")])
    return run.with_files({path.replace("__", "."): content for path, content in more.items()})


async def test_equal_runs_give_equal_bytes():
    first, second = [await built(BAKERY) for _ in range(2)]
    assert first.id != second.id
    assert bundle(first) == bundle(second)
    assert first.id not in str(bundle(first))
    assert HTML.render(first) == HTML.render(second)


async def test_the_outcome_tells_runs_apart():
    one, twin, other = [await page_run(page) for page in ("<p>One</p>", "<p>One</p>", "<p>Other</p>")]
    assert run_digest(one) == run_digest(twin) != run_digest(other)
    both = replace(one, variants=(one, other))
    assert run_digest(both) == run_digest(both.pick(2)) != run_digest(one)


async def test_the_bundle_has_three_forms():
    run = await page_run("<h1>Hi</h1>")
    assert list(bundle(run)) == ["text/html", "text/markdown", "text/plain"]
    outer = Elements(bundle(replace(run, key='a"<b'))["text/html"]).tags[0]
    assert outer == ("div", {"data-anb-run": 'a"<b', "data-anb-outcome": run_digest(run)})


async def test_nothing_has_an_id():
    run = await page_run("<h1 id=top>Hi</h1>")
    assert not any("id" in attributes for _, attributes in Elements(bundle(run)["text/html"]).tags)


async def test_the_headline_tells_what_is_known():
    run = await play(
        [think("Hm."), wait(3.14), write(), usage(input=14_200, output=0)], [usage(output=3_400)]
    )
    run = replace(run, cost=0.164, model="anthropic:claude-opus-5-5")
    shown = Elements(bundle(run)["text/html"]).text
    assert "hero: done in 3.1 s, claude-opus-5-5, 14.2k tokens in, 3.4k out, $0.16, 2 turns" in shown
    assert "Thought for 3.1 s" in shown
    assert "$" not in Elements(bundle(replace(run, cost=None))["text/html"]).text


async def test_hostile_text_stays_text():
    @tool
    def look(where: str) -> str:
        """Looks."""
        return HOSTILE

    links = "[a](javascript:top.pwned=1) ![b](https://x.example/b.png) <b>c</b>"
    hostile_words = f"# {HOSTILE}\n\n{links}\n\n```\n{HOSTILE}\n```"
    run = await play(
        [think(HOSTILE), call("look", {"where": HOSTILE})],
        [write("it's <i> & .html", HOSTILE), call("nothing" + HOSTILE, {})],
        [text(hostile_words)],
        tools=[*Toolbox.default(), look],
    )
    run = replace(
        run, key=HOSTILE, name=HOSTILE, model=HOSTILE, prompt=HOSTILE, error=HOSTILE, reason="failed"
    )
    for markup in (
        bundle(run)["text/html"],
        HTML.render(run),
        first_frame(HOSTILE, HOSTILE, HOSTILE)["text/html"],
    ):
        seen = Elements(markup)
        assert not seen.named("script")
        assert not seen.named("img")
        assert not [name for _, attributes in seen.tags for name in attributes if name.startswith("on")]
        assert all(link["href"].startswith("https://") for link in seen.named("a"))
        assert all("allow-same-origin" not in frame["sandbox"] for frame in seen.named("iframe"))
    live = Elements(MarkdownIt("commonmark", {"html": True}).render(MARKDOWN.render(run)))
    assert {tag for tag, _ in live.tags} <= {
        "p",
        "h1",
        "a",
        "ul",
        "li",
        "code",
        "pre",
        "strong",
        "blockquote",
    }


async def test_words_are_markdown_without_headings():
    run = await play([text("# Big\n\n**bold** [link](https://example.com)\n\n|a|b|\n|-|-|\n|1|2|")])
    seen = Elements(bundle(run)["text/html"])
    assert not seen.named("h1")
    assert {"table", "strong"} <= {tag for tag, _ in seen.tags}
    assert seen.named("a") == [
        {"href": "https://example.com", "target": "_blank", "rel": "noopener noreferrer"}
    ]


async def test_sources_are_links_if_safe():
    run = await play([text("So they say.")])
    sources = assistant(Source("Good", "https://example.com/a?b&c"), Source("Bad", "javascript:alert(1)"))
    added = next(event for event in reversed(run.events) if event.type == "message_added")
    run = replace(run, events=(*run.events, replace(added, message=sources)))
    seen = Elements(bundle(run)["text/html"])
    assert [link["href"] for link in seen.named("a")] == ["https://example.com/a?b&c"]
    assert "Bad" in seen.text


async def test_tools_unfold_to_their_outputs():
    @tool
    def show() -> ToolOutput:
        """Shows."""
        outputs = (
            {"image/png": PNG, "text/plain": "a sunset"},
            {"image/png": "A" * (MAX_IMAGE + 4)},
            {"text/x-diff": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-<old>\n+<new>\n"},
            {"text/html": "<table onclick=x style=color:red></table>", "text/plain": "the table"},
            {"text/plain": ["line 1\n", "line <2>"]},
            {"image/jpeg": '"><script>alert(1)</script>'},
        )
        return ToolOutput(text="Shown.", summary="5 things", outputs=outputs)

    run = await play([call("show", {})], [text("Done.")], tools=[show])
    markup = bundle(run)["text/html"]
    seen = Elements(markup)
    assert [image["src"] for image in seen.named("img")] == [f"data:image/png;base64,{PNG}"]
    assert "image/png, 300 kB, too large to save here" in seen.text
    assert '<span class="anb-del">-&lt;old></span>' in markup
    assert (frame := seen.named("iframe")[0])["sandbox"] == ""
    assert "<table onclick=x style=color:red>" in frame["srcdoc"]
    assert not seen.named("table")
    assert "line <2>" in seen.text
    assert "unreadable" in seen.text


async def test_a_failed_tool_says_why():
    run = await play([call("edit_file", {"path": "no.html", "old": "a", "new": "b"})], [text("I see.")])
    assert "✗ edit no.html: failed: There is no file" in Elements(bundle(run)["text/html"]).text
    assert "  ✗ edit no.html: failed: There is no file" in TEXT.render(run)


async def test_a_failure_without_files_is_short():
    run = await play([fail(ProviderError("No key. Set `SOME_KEY`."))])
    seen = Elements(bundle(run)["text/html"])
    assert "hero: failed" in seen.text
    assert not seen.named("iframe")
    assert "<code>SOME_KEY</code>" in bundle(run)["text/html"]
    assert "No key. Set `SOME_KEY`." in TEXT.render(run)


async def test_a_cleaner_that_keeps_the_text_of_a_style_sheet_leaves_the_answer_first():
    run = await play([text("Bread is ready.")])
    for data in (bundle(run), first_frame(run.key, "hero", "demo:")):
        kept = bleach.clean(data["text/html"], tags=set(), strip=True)
        assert kept.lstrip().startswith("hero")
        assert "{" not in kept.partition("[data-anb-run]")[0]


@pytest.mark.parametrize("size", [1_000, 70_000, 300_000])
async def test_the_saved_size_is_bounded(size):
    line = "<p class=\"a\" title='b'>Fresh bread &amp; butter, every morning.</p>\n"
    page = "<!doctype html>\n" + line * (size // len(line))
    prose = "All is well. " * 300
    run = await play([write(content=page)], [think(prose), text(prose)])
    assert len(bundle(run)["text/html"]) <= 1.5 * len(page) + 2 * len(prose) + 9_500
    assert Elements(bundle(run)["text/html"]).page.endswith(page.removeprefix("<!doctype html>"))


async def test_a_huge_page_is_left_out():
    run = await page_run("<p>" + "x" * 1_000_000)
    markup = bundle(run)["text/html"]
    assert not Elements(markup).named("iframe")
    assert '<code>hero.files.save("site")</code>' in markup
    assert len(markup) < 10_000


async def test_long_code_is_left_out():
    run = await page_run("<p>" + "x" * 65_000, app__js="let a = 1 < 2", logo__png=b"\x89PNG")
    seen = Elements(bundle(run)["text/html"])
    assert "xxxx" not in seen.text
    assert 'index.html, 65 kB: hero.files["index.html"]' in seen.text
    assert "let a = 1 < 2" in seen.text
    assert 'logo.png, 4 bytes: hero.files["logo.png"]' in seen.text


async def test_broken_characters_never_come_out():
    run = await play([think("a\0b\ud800c"), text("d\0e\udfffé 😀")])
    run = replace(run, name="he\0ro", error="x\ud83d", prompt="\udc00")
    for form in (*bundle(run).values(), *(form.render(run) for form in FORMS)):
        assert "\0" not in form
        form.encode("utf-8")
    assert "é 😀" in bundle(run)["text/html"]


@pytest.mark.parametrize(
    ("page", "begins"),
    [
        ("<!DOCTYPE html>\n<h1>", r"<!DOCTYPE html><meta"),
        ("\ufeff \n<!doctype html><h1>", r" \n<!doctype html><meta"),
        ("<h1>", r"<meta"),
        ("<!-- hi --><!doctype html><h1>", r"<!doctype html><meta"),
        ("<!--><script>1</script>--><!doctype html>", r"<!doctype html><meta"),
        ("<script>1</script><!doctype html>", r"<meta"),
    ],
)
def test_the_policy_comes_first(page, begins):
    frame = Elements(f"<iframe {frame_attributes(page)}>")
    assert re.match(begins, frame.page)
    policy = f'<meta http-equiv="Content-Security-Policy" content="{policy_for(page)}">'
    assert frame.shell.startswith(f'<!doctype html><base href="about:srcdoc">{policy}')


@pytest.mark.parametrize(
    "page", ["&amp;&lt; &copy & a&&b '\"'", "\"a\" 'b' 'c' &#39;", '&quot;\r\n"""&', "é 😀 <p>"]
)
def test_quoting_loses_nothing(page):
    assert Elements(f"<iframe {frame_attributes(page)}>").page.endswith(page)


@pytest.mark.parametrize("code", ["a&&b &amp; &lt; &#39; & <b>c</b> -->", "if (a<b && c>d) {}", HOSTILE])
def test_code_reads_as_it_is_with_few_entities(code):
    shown = Elements(f"<pre>{code_html(code)}</pre>")
    assert (shown.text, [tag for tag, _ in shown.tags]) == (code, ["pre"])
    assert "&gt;" not in code_html(code)


def test_relative_files_come_into_the_page():
    page = (
        '<link rel="stylesheet" href="css/site.css"><script src=./app.js defer></script>'
        "<img src='img/logo.png?v=2'><a href='about.html'>x</a><img src='https://x.example/a.png'><img src=gone.png>"
    )
    files = Files(
        {
            "index.html": page,
            "css/site.css": '@import "more.css"; h1{background:url(../img/logo.png)}',
            "css/more.css": '@import "site.css"; p{color:red}',
            "app.js": 'const a = "50% # <b>";\nalert(a)',
            "img/logo.png": b"\x89PNG",
        }
    )
    whole = assembled(files, "index.html", 100_000)
    assert whole.count("data:image/png;base64,iVBORw==") == 2
    assert "background:url(data:image/png;base64,iVBORw==)" in whole
    assert (
        'src="data:text/javascript;charset=utf-8,const a = %2250%25 %23 %3Cb%3E%22;%0Aalert(a)" defer'
        in whole
    )
    assert "p%257Bcolor:red%257D" in whole
    for kept in ("'about.html'", "'https://x.example/a.png'", "src=gone.png"):
        assert kept in whole


def test_files_that_multiply_are_refused():
    level = {f"{n}.css": f'@import "{n + 1}.css"; @import "{n + 1}.css?again";' for n in range(40)}
    files = Files({"index.html": '<link rel="stylesheet" href="0.css">', **level, "40.css": "p{}"})
    with pytest.raises(TooLargeError):
        assembled(files, "index.html", 100_000)


async def test_plain_text_is_stable():
    run = await play([think("Hm."), write()], [text("Done."), usage(output=5)])
    other = replace(run, seconds=99.0, cost=4.2, usage=Usage(input=7), id="x")
    assert TEXT.render(run) == TEXT.render(other)
    assert TEXT.render(run).splitlines() == [
        f"hero: done ({run.model.partition(':')[2] or run.model})",
        "  ✓ create index.html: 29 bytes, 1 line",
        "",
        "Done.",
        "",
        "1 file:",
        "  index.html, 29 bytes",
    ]


async def test_markdown_reads_as_a_document():
    run = await play(
        [write()],
        [text("See `<main>` and <main>.\n\n```html\n<b>\n```\n\n|a|\n|-|\n|<i>|"), stop("max_tokens")],
    )
    shown = MARKDOWN.render(replace(run, settings={**run.settings, "started": "2026-11-19T08:00:00+00:00"}))
    assert shown.startswith(
        f"```\n{run.prompt}\n```\n\n{run.model}, 2026-11-19\n\n**hero**: cut off at the token"
    )
    assert "- ✓ `create index.html`: 29 bytes, 1 line" in shown
    assert "See `<main>` and &lt;main&gt;." in shown
    assert "```html\n<b>\n```" in shown
    assert "| &lt;i&gt; |" in shown


async def test_the_ready_line_names_the_variables():
    run = await page_run("<h1>Hi</h1>")
    assert ready_line(run, "files") == '`hero` and `files` are ready: `hero.files["index.html"]` (11 bytes)'
    assert ready_line(run, None) == '`hero` is ready, use `hero.files`: `hero.files["index.html"]` (11 bytes)'
    assert ready_line(run.with_files({"a.css": "p{}"}), "files").endswith("(11 bytes) and 1 more file")
    assert ready_line(await play([text("Hello.")]), "files") == "`hero` is ready: `hero.text`"
    assert ready_line(await play([fail(ProviderError("No."))]), "files") == "`hero.error` has the details"


async def test_each_variant_has_its_page_and_that_of_the_picked_one_is_open():
    pages = [
        [call("create_file", {"path": "index.html", "content": f"<h1>Page {n}</h1>"})] for n in (1, 2, 3)
    ]
    with ScriptedProvider([*pages, *[[text("Done.")]] * 3]) as provider:
        race = Agent(provider).start_variants("A page", variants=3)
        race.label("hero", "hero-1")
        run = (await race).pick(2)
    seen = Elements(bundle(run)["text/html"])
    assert [("open" in fold) for fold in seen.named("details")] == [False, True, False, False, False]
    assert [f"Page {n}" in frame["srcdoc"] for n, frame in enumerate(seen.named("iframe"), 1)] == [True] * 3
    assert "Variant 2 of 3; hero.pick(1) selects another" in seen.text
    assert MARKDOWN.render(run).endswith("\n\n**Variant 1**\n\nDone.\n\n**Variant 3**\n\nDone.\n")
    assert "Variant 3: done, test, " in seen.text
    assert "This is variant 2 of 3:\n  1: done (test), 15 bytes\n  2: done" in bundle(run)["text/plain"]
    line = ready_line(replace(await race, name="hero"), "files")
    assert line.endswith("Variant 1 of 3, the first to succeed; `hero.pick(2)` selects another")
    assert ready_line(run, "files", picked=True).endswith("Variant 2 of 3, as picked")


def test_the_first_frame_says_what_to_do():
    frame = first_frame("hero-1", "hero", "anthropic:claude-opus-5-5")
    assert list(frame) == ["text/html", "text/markdown", "text/plain"]
    assert "hero is running, or was when this was saved." in Elements(frame["text/html"]).text
    assert "`hero` is running, or was when this was saved." in frame["text/markdown"]
    # Somebody else may see it while it runs: a second run would cost a second time.
    assert not [text for text in frame.values() if "again" in text]
    assert "data-anb-run" in frame["text/html"]
    assert frame["text/html"].startswith("<!-- hero: running -->\n")


async def test_the_page_of_its_own_is_whole():
    run = await page_run("<h1>Hi</h1>")
    assert bundle(run)["text/html"].startswith("<!-- hero: done -->\n")
    seen = Elements(HTML.render(run))
    assert seen.named("title")
    assert "A page" in seen.text
    assert not [tag for tag, attributes in seen.tags if "src" in attributes or tag == "link"]


async def run_with(headline: str) -> Run:
    page = {"path": "index.html", "content": PAGE.format(headline)}
    return await Agent(ScriptedProvider([[call("create_file", page)], [text("Done.")]])).run("A page")


def saved_lines(run: Run) -> list[str]:
    return run._repr_mimebundle_()["text/html"].splitlines()


async def test_a_changed_line_of_the_page_is_a_changed_line_of_the_output() -> None:
    before, after = [saved_lines(await run_with(headline)) for headline in ("Open at six", "Open at two")]
    assert len(before) == len(after)
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert [line for line in changed if "data-anb-outcome" not in line] == [
        "<h1>Open at two</h1>",
        "&lt;h1>Open at two&lt;/h1>",
    ]


async def test_only_the_line_with_the_pages_script_is_long() -> None:
    """The script is on the first line of the page, whose other lines keep their numbers."""
    (long,) = [line for line in saved_lines(await run_with("Open")) if len(line) > LONGEST]
    assert long.startswith("<iframe title=")
    assert "prepare()" in long
