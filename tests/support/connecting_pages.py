"""Pages that make Chromium connect to a host without any script: known ones, and generated ones."""

import html
import random
from collections.abc import Callable

ISSUED = {
    "slash": '<link/rel=preconnect href="{}">',
    "reference": '<link rel="pre&#99;onnect" href="{}">',
    "bracket": '<link title=">" rel=preconnect href="{}">',
    "glued": '<link title="a"rel="preconnect"href="{}">',
    "feed": '<link\frel="x\fpreconnect"\fhref="{}">',
    "twice": '<link rel=stylesheet><link rel=preconnect rel=stylesheet href="{}">',
    "frame": '<iframe src="{}"></iframe>',
    "unquoted": "<IFRAME/SRC={}></IFRAME>",
    "refresh": '<meta http-equiv=refresh content="0;url={}">',
    "document": "<iframe srcdoc='<link rel=preconnect href={}>'></iframe>",
    "coded": '<iframe srcdoc="&LT;link rel&equals;preconnect href={}>"></iframe>',
    "deep": "<iframe srcdoc='<iframe srcdoc=\"&amp;#60;link rel=preconnect href={}>\"></iframe>'></iframe>",
    "svg-style": '<svg><style><p><link rel=preconnect href="{}"></style></svg>',
    "svg-script": '<svg><script><p><link rel=preconnect href="{}"></script></svg>',
    "svg-title": '<svg><desc><svg><title><style><p></style></title></svg><link rel=preconnect href="{}"></desc></svg>',
    "left-foreign": "<svg><foreignObject><div></svg></div></foreignObject><script><p>"
    '<link rel=preconnect href="{}"></script>',
    "comment": '<!--><link rel=preconnect href="{}">-->',
    "bang": '<!-- --!><link rel=preconnect href="{}">',
    "section": '<![CDATA[><link rel=preconnect href="{}">]]>',
    "table": '<table><tr><link rel=preconnect href="{}">',
}
"""Each connects on a page of its own without a policy."""

_HINTS = ("preconnect", "PreConnect", "dns-prefetch preconnect", "icon preconnect", "preconnect\tx")
_CONTEXTS: tuple[Callable[[str], str], ...] = (
    lambda tag: tag,
    lambda tag: f"<svg><style><p>{tag}</style></svg>",
    lambda tag: f"<svg><title>{tag}</title></svg>",
    lambda tag: f"<svg><foreignObject>{tag}</foreignObject></svg>",
    lambda tag: f"<math><mtext>{tag}</mtext></math>",
    lambda tag: f'<math><annotation-xml encoding="text/html">{tag}</annotation-xml></math>',
    lambda tag: f"<svg><script><div>{tag}</script></svg>",
    lambda tag: f"<select><option>{tag}</select>{tag}",
    lambda tag: f"<!-- {tag} --!>{tag}",
    lambda tag: f"<!--> {tag}",
    lambda tag: f"<!doctype x>{tag}",
    lambda tag: f"<?x {tag}",
    lambda tag: f"</ {tag}>{tag}",
    lambda tag: f"<svg><![CDATA[{tag}]]></svg><![CDATA[{tag}]]>",
    lambda tag: f"<p title='{tag.replace(chr(39), chr(34))}'>{tag}",
    lambda tag: f"<title>{tag}</title>{tag}",
    lambda tag: f"<textarea></textarea ><textarea>{tag}</textarea/x>{tag}",
    lambda tag: f"<noscript>{tag}</noscript>",
    lambda tag: f"<noembed>{tag}</noembed>{tag}",
    lambda tag: f"<xmp>{tag}</xmp>{tag}",
    lambda tag: f"<script><!--<script>{tag}</script>{tag}--></script>{tag}",
    lambda tag: f"<template>{tag}</template><table>{tag}",
    lambda tag: f"<a <b {tag}{tag}",
    lambda tag: f"<p a='\"' b=\"'{tag}\">{tag}",
    lambda tag: f'<iframe srcdoc="{html.escape(tag)}"></iframe>',
    lambda tag: f"<iframe srcdoc='{_coded(tag, '&LT;')}'></iframe>",
    lambda tag: f"<iframe srcdoc={_coded(tag, '&#x3c')}></iframe>",
    lambda tag: f"<iframe>{tag}</iframe>{tag}",
)


def _coded(tag: str, less: str) -> str:
    codes = {"<": less, "'": "&#39;", '"': "&quot;", " ": "&#32;", ">": "&gt;"}
    return "".join(codes.get(character, character) for character in tag if character not in "\t\n\f\r")


def generated(seed: int, address: str) -> str:
    """A page with one or two tags that connect, spelt in some way, inside something, cut or filled with noise."""
    chance = random.Random(seed)
    tag = _tag(chance, address)
    for _ in range(chance.randint(1, 2)):
        tag = chance.choice(_CONTEXTS)(tag)
    noise = "".join(
        chance.choice(("<", "link", "<link", "'", '"', "=", "&", "<!--", "-->", ">", "\0")) for _ in range(5)
    )
    return f"<!doctype html><h1>Page</h1>{tag}{noise if chance.random() < 0.4 else ''}{_tag(chance, address)}"


def _tag(chance: random.Random, address: str) -> str:
    name, attributes = chance.choice(
        (
            ("link", [("rel", chance.choice(_HINTS)), ("href", address)]),
            ("link", [("rel", chance.choice(_HINTS)), ("href", address)]),
            ("iframe", [("src", address)]),
            ("meta", [("http-equiv", "refresh"), ("content", f"0;url={address}")]),
        )
    )
    extra = [
        ("title", ">"),
        ("rel2", "x"),
        ("alt", "<link rel=icon>"),
        ("a/b", "'"),
        ("=c", "1"),
        ("\0", "<"),
    ]
    chance.shuffle(attributes)
    attributes = [each for pair in attributes for each in (chance.choice(extra), pair)][
        chance.randint(0, 1) :
    ]
    gap = "".join(chance.choice(" \t\n\f/") for _ in range(chance.randint(1, 2)))
    pairs = "".join(f"{gap}{_any_case(chance, key)}={_value(chance, value)}" for key, value in attributes)
    return f"<{_any_case(chance, name)}{pairs}{chance.choice(('', ' ', '/', chr(10)))}>"


def _any_case(chance: random.Random, name: str) -> str:
    return "".join(chance.choice((letter, letter.upper())) for letter in name)


def _value(chance: random.Random, value: str) -> str:
    """The value of an attribute: in quotes or not, with some letters as character references."""
    spelt = "".join(_letter(chance, letter) for letter in value)
    bare = not set(value) & set(" \t>'\"<") and chance.random() < 0.3
    quote = '"' if "'" in value else chance.choice("\"'")
    return spelt if bare else f"{quote}{spelt}{quote}"


def _letter(chance: random.Random, letter: str) -> str:
    if not letter.isalpha() or chance.random() < 0.9:
        return letter
    return chance.choice((f"&#{ord(letter)};", f"&#x{ord(letter):X};", f"&#{ord(letter):07};"))
