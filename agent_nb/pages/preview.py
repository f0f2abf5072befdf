"""Renders a page in a sandboxed frame, with its files inlined and a Content Security Policy."""

import base64
import json
import posixpath
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from urllib.parse import quote, unquote

from agent_nb._base.bundles import bundle
from agent_nb._base.secrets import mask
from agent_nb.core.errors import ConfigError
from agent_nb.core.messages import Image
from agent_nb.core.run_settings import bound_kind
from agent_nb.files import Files, media_type
from agent_nb.pages.page_gate import gated
from agent_nb.pages.policy import OUTPUT_POLICY, SANDBOX, policy_for

_NOTEBOOK = bundle("notebook")
# This base keeps anchors inside the frame, and broken relative links away from the Jupyter server.
_BASE = '<base href="about:srcdoc">'
_NO_PREFETCH = '<meta http-equiv="x-dns-prefetch-control" content="off">'
_FILL = "<style>html,body{margin:0;height:100%}iframe{display:block;border:0;width:100%;height:100%}</style>"
_DOCTYPE = re.compile(r"\s*<!doctype[^>]*>", re.IGNORECASE)
_LATE_DOCTYPE = re.compile(r"\s*<[!?].*?<!doctype\s+html", re.IGNORECASE | re.DOTALL)

# These patterns take linear time on any input: the page may be hostile, and they run on the kernel's event loop.
_TAGS = re.compile(r"<(?:link|script|img|source|video|audio|image|use)\b[^>]*>?", re.IGNORECASE)
"""Also matches an unclosed tag, so that the search does not restart inside it."""
_ADDRESSES = re.compile(
    r"(\s(?:src|href|poster|xlink:href)\s*=\s*)(\"[^\"]*\"|'[^']*'|[^\s\"'>]+)", re.IGNORECASE
)
_SOURCE_SETS = re.compile(r"(\ssrcset\s*=\s*)(\"[^\"]*\"|'[^']*')", re.IGNORECASE)
_STYLE_URLS = re.compile(r"url\(\s*(?:([\"'])([^\"'()]+)\1\s*|([^\"'()\s][^\"'()]*))\)", re.IGNORECASE)
_STYLE_IMPORTS = re.compile(r"(@import\s+)([\"'])([^\"']+)\2", re.IGNORECASE)
_MODULE_IMPORTS = re.compile(r"(\bfrom\s*|\bimport\s*(?:\(\s*)?)([\"'])(\.{1,2}/[^\"']+)\2")
_WORDS = re.compile(r"[^\s\"'`()=,;<>?#]+")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|\{", re.IGNORECASE)
_NEEDS_CODE = re.compile(r"[%#\"'&<>\r\n\t\\^`{}|]")
_ENDS_BARE = re.compile(r"[()\s]")
"""Characters that end an unquoted URL."""
_SCALED = ("image/png", "image/jpeg", "image/webp")


class TooLargeError(Exception):
    """The page exceeds the size limit with its files inlined."""


def frame_attributes(page: str, bound: str = "") -> str:
    """Return the `sandbox` and `srcdoc` attributes of a page's frame; `bound` is its `bound_script`, if any.

    The page is in a second, inner frame, which inherits the policy. A page can always navigate its own frame to another
    URL that contains data; only the policy of the surrounding document (`frame-src`) prevents that.
    """
    return f'sandbox="{SANDBOX}" srcdoc={_in_quotes(framed_page(page, bound=bound))}'


def framed_page(page: str, head: str = "", bound: str = "") -> str:
    """Return a document with the policy and the page in a sandboxed frame; `head` comes first."""
    inner = f'sandbox="{SANDBOX}" srcdoc={quoted(with_frame_script(page, bound))}'
    policy = policy_for("" if bound else page)  # a bound page has no network access
    return f'<!doctype html>{head}{_head(policy)}\n{_FILL}\n<iframe title="Page" {inner}></iframe>'


def with_frame_script(page: str, bound: str = "") -> str:
    """Return the page as a standalone document with the frame's script. Line numbers do not change."""
    return _with_preamble(page, _NO_PREFETCH + _script() + bound)


def bound_script(types: Mapping[str, str], saved: Mapping[str, str]) -> str:
    """Return the script that defines `notebook` in a page bound to these names, with the JSON of saved values by name;
    empty without names."""
    if not types or not _NOTEBOOK.exists():
        return ""
    names = [{"name": name, "kind": bound_kind(kind)} for name, kind in types.items()]
    payload = json.dumps({"names": names, "saved": dict(saved)}).replace("<", "\\u003c")
    code = _NOTEBOOK.read_text(encoding="utf-8").strip().replace("</script", "<\\/script")
    return f"<script>{{const agentNbBound={payload};{code}}}</script>"


def still_frame_attributes(markup: str) -> str:
    """Return the frame attributes for other HTML, such as a table from a tool. Scripts are disabled."""
    return f'sandbox="" srcdoc={quoted(_with_preamble(markup, _head(OUTPUT_POLICY)))}'


@cache
def _script() -> str:
    """Return `page.js` as a one-line element, so that the page's line numbers do not change."""
    lines = Path(__file__).with_name("page.js").read_text(encoding="utf-8").splitlines()
    code = "".join(line for line in map(str.strip, lines) if not line.startswith("//"))
    return f"<script>{{{code.removeprefix('export ')};prepare()}}</script>"


def _head(policy: str) -> str:
    # The base must precede the policy, which forbids others.
    return f'{_BASE}<meta http-equiv="Content-Security-Policy" content="{policy}">{_NO_PREFETCH}'


def _with_preamble(page: str, preamble: str) -> str:
    """Insert the preamble right after the doctype. Every page passes the gate here."""
    page = gated(page.removeprefix("\ufeff"))
    if doctype := _DOCTYPE.match(page):
        return doctype[0] + preamble + page[doctype.end() :]
    # A doctype after a comment is hard to detect reliably, but browsers ignore a second doctype.
    return ("<!doctype html>" if _LATE_DOCTYPE.match(page) else "") + preamble + page


def quoted(value: str) -> str:
    """Quote an attribute value; masked first, because escaping would change a secret that contains a quote."""
    return _in_quotes(mask(value))


def _in_quotes(value: str) -> str:
    """Quote with the quotation mark that needs fewer escapes."""
    value = re.sub(r"&(?=[A-Za-z0-9#])", "&amp;", value)
    if value.count("'") < value.count('"'):
        return "'" + value.replace("'", "&#39;") + "'"
    return '"' + value.replace('"', "&#34;") + '"'


def assembled(files: Files, path: str, limit: int) -> str:
    """Return the page at `path` with its files inlined. Raises `TooLargeError`."""
    page = files[path]
    assert isinstance(page, str)
    try:
        return _Resolver(files, limit).page(page, path)
    except TooLargeError:
        return _Resolver(files, limit, small_copies=True).page(page, path)


class _Resolver:
    """Replaces relative URLs with data URLs, like the live preview."""

    def __init__(self, files: Files, limit: int, *, small_copies: bool = False) -> None:
        self._files = files
        self._small_copies = small_copies
        self._left = limit
        self._open: list[str] = []

    def page(self, page: str, path: str) -> str:
        self._meter(page)
        if len(self._files) == 1:
            return page
        return _TAGS.sub(lambda tag: self._tag(tag[0], path), self._styles(page, path))

    def _tag(self, tag: str, base: str) -> str:
        if not tag.endswith(">"):
            return tag
        sets = _SOURCE_SETS.sub(lambda match: self._source_set(match, base), tag)
        return _ADDRESSES.sub(lambda match: self._attribute(match, base), sets)

    def _source_set(self, match: re.Match[str], base: str) -> str:
        entries = [entry.strip().partition(" ") for entry in re.split(r",\s+|,$", match[2][1:-1])]
        resolved = [(self._address(address, base), address, *tail) for address, *tail in entries]
        texts = ["".join((_bare(url) if url else address, *tail)) for url, address, *tail in resolved]
        return f"{match[1]}{match[2][0]}{', '.join(texts)}{match[2][0]}"

    def _attribute(self, match: re.Match[str], base: str) -> str:
        value = match[2][1:-1] if match[2][0] in "\"'" else match[2]
        return self._replaced(match, value, base)

    def _styles(self, text: str, base: str) -> str:
        def put(match: re.Match[str]) -> str:
            quote, data_url = match[1] or "", self._address((match[2] or match[3]).strip(), base)
            if data_url is None:
                return match[0]
            # Other quotes might end the surrounding attribute.
            return f"url({quote}{data_url if quote else _bare(data_url)}{quote})"

        return _STYLE_URLS.sub(put, text)

    def _imports(self, pattern: re.Pattern[str], text: str, base: str) -> str:
        return pattern.sub(lambda match: self._replaced(match, match[3].strip(), base), text)

    def _replaced(self, match: re.Match[str], value: str, base: str) -> str:
        address = self._address(value, base)
        return match[0] if address is None else f'{match[1]}"{address}"'

    def _address(self, address: str, base: str) -> str | None:
        """Return the data URL for a relative URL; None if it is not a file of the run."""
        path = resolve(address, base)
        if path is None or path not in self._files or path in self._open:
            return None
        content = self._files[path]
        kind = media_type(path, content)
        if isinstance(content, bytes):
            if self._small_copies and kind in _SCALED:
                kind, content = _small_copy(kind, content)
            return self._meter(f"data:{kind};base64,{base64.b64encode(content).decode()}")
        self._open.append(path)
        text = self._inlined(path, content)
        self._open.pop()
        return self._meter(f"data:{kind};charset=utf-8,{_NEEDS_CODE.sub(_percent, text)}")

    def _inlined(self, path: str, text: str) -> str:
        """Return a style sheet or script with the files that it refers to inlined."""
        if path.endswith(".css"):
            return self._styles(self._imports(_STYLE_IMPORTS, text, path), path)
        if path.endswith((".js", ".mjs")):
            return self._imports(_MODULE_IMPORTS, text, path)
        return text

    def _meter(self, text: str) -> str:
        self._left -= len(text)
        if self._left < 0:
            raise TooLargeError
        return text


def _small_copy(kind: str, content: bytes) -> tuple[str, bytes]:
    """Return a smaller copy of the image, or the original if it is small or cannot be decoded."""
    from agent_nb.images.convert import SMALL_COPY, fit_image

    try:
        fitted = fit_image(Image(content, kind), *SMALL_COPY)
    except ConfigError:
        return kind, content
    return fitted.media_type, fitted.data


def _bare(address: str) -> str:
    return _ENDS_BARE.sub(_percent, address)


def resolve(address: str, base: str) -> str | None:
    """Resolve a URL in the file `base` to a path; None if it is not relative."""
    if not address or _ELSEWHERE.match(address):
        return None
    clean = re.split(r"[?#]", address, maxsplit=1)[0]
    folder = "" if clean.startswith("/") else posixpath.dirname(base)
    path = posixpath.normpath(posixpath.join("/", folder, clean.lstrip("/")))
    return unquote(path.lstrip("/")) or None


def used_files(files: Files) -> set[str]:
    """Return the pages of these files, and the files that they or their style sheets and scripts name."""
    used = {path for path in files if path.lower().endswith((".html", ".htm"))}
    waiting = [(page, page) for page in used]
    while waiting:
        path, page = waiting.pop()
        content = files[path]
        words = set(_WORDS.findall(content)) if isinstance(content, str) else set()
        # A script's imports are relative to it, and what it fetches to the page.
        new = [name for name in files if name not in used and words & _addresses(name, path, page)]
        waiting += [(name, page) for name in new]
        used.update(new)
    return used


def _addresses(name: str, *bases: str) -> set[str]:
    """The usual relative URLs of a file in these files."""
    relative = [posixpath.relpath(f"/{name}", posixpath.dirname(f"/{base}")) for base in bases]
    addresses = {f"/{name}", *relative, *(f"./{address}" for address in relative)}
    return addresses | {quote(address) for address in addresses}


def _percent(match: re.Match[str]) -> str:
    return f"%{ord(match[0]):02X}"
