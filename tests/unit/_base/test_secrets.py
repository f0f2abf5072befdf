"""Secrets in text are masked, whatever is around them and wherever a stream is cut."""

import base64
import html
import json
import re
from itertools import pairwise
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_nb._base.secrets import (
    MASK,
    StreamMasker,
    cut_before_secret,
    mask,
    mask_json,
    mask_pieces,
    register,
    safe_text,
)

KEY = "sk-ant-api03-" + "x9-Y" * 8
KNOWN = "hunter2-the-fourth"
STREAMED = (
    f"A desk-organisation-for-everybody, {KNOWN[:9]}r; mine: {KNOWN}\n{KEY}, Bearer {KEY}. "
    f"github_pat_{'a1' * 12} and ta\u2028sk-is {KNOWN[:6]}"
)


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-" + "aB3_" * 10,
        "sk-ant-api03-" + "x9-Y" * 8,
        "sk-or-v1-" + "0f" * 20,
        "sk-" + "0f3a" * 8,
        "sk-test-0123456789abcdef0123",
        "sk-" + "aBcD" * 4 + "T3BlbkFJ" + "q7W2" * 5,
        "AIza" + "Sy7_-b" * 6,
        "gsk_" + "q1W2" * 8,
        "hf_" + "abCD" * 6,
        "ghp_" + "abCD12" * 6,
        "AKIA" + "ABCDEFGH12345678",
        "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIx" + "." + "c2lnbmF0dXJl",
    ],
)
def test_a_key_shaped_string_is_masked(key: str):
    assert mask(f"Incorrect key provided: {key}.") == f"Incorrect key provided: {MASK}."


@pytest.mark.parametrize("login", ["ann:hunter2", "bob:hunter2", "anna:hunter2", "a:hunter2", "Ann@x:"])
def test_a_basic_header_keeps_its_word(login):
    code = base64.b64encode(login.encode()).decode()
    assert mask(f"Authorization: Basic {code}, basic") == f"Authorization: Basic {MASK}, basic"


def test_a_bearer_header_keeps_its_word():
    assert mask("authorization: Bearer abc.def-123456") == f"authorization: Bearer {MASK}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A plain sentence.",
        "task-list and risk-free",
        "sk-short",
        "the hf_ prefix",
        ".sk-toggleable__content, .sk-estimator-doc-link, #sk-estimator-id-1234 {}",
        "sk-internationalisation-of-everything",
        "hf_hub_download_with_a_long_name",
        "The bearer certificate, 1987, and Bearer YOUR_TOKEN_HERE",
        "Basic authentication, basic CoffeeScript and Basic 12345678",
    ],
)
def test_plain_text_is_the_same_object(text: str):
    assert mask(text) is text


@pytest.mark.parametrize(
    "value",
    [
        "none",
        "placeholder",
        "lm-studio",
        "not-needed",
        "your-api-key",
        "Placeholder",
        "NOT_NEEDED",
        "xxxxxxxxxx",
    ],
)
def test_ordinary_words_given_as_a_key_are_not_masked(value: str):
    register(value)
    assert mask(f'<input {value}="Your name">') == f'<input {value}="Your name">'


@pytest.mark.parametrize(
    "value",
    ["hunter2-x", "AbCdEfGhIj", "correct-horse-battery-staple", "qwertyuiopasdfghjklzxcv", "pass word!"],
)
def test_what_can_be_a_secret_is_masked(value: str):
    register(value)
    assert mask(f"It is {value}.") == f"It is {MASK}."


def test_every_string_of_a_value_is_masked():
    register("hunter2-the-third")
    value = {"a": ["hunter2-the-third", 1, None, {"hunter2-the-third": True}]}
    assert mask_json(value) == {"a": [MASK, 1, None, {MASK: True}]}


DATA = "iVBO" * 200 + "/AIza" + "Sy7b" * 9 + "AAAA" * 10 + "=="


def test_data_that_looks_like_a_key_stays():
    assert mask(DATA) is DATA
    assert MASK in mask(f"{DATA} AIza{'Sy7b' * 9}")


@pytest.mark.parametrize(
    "around", ['{{"base64": "{}"}}', '<img src="data:image/png;base64,{}">', "a\\n{}", "{}"]
)
def test_data_stays_whole_among_secrets(around: str):
    text = around.format(DATA)
    assert mask(f"{KEY} {text} {KEY}") == f"{MASK} {text} {MASK}"
    assert mask_json({"a": [text, KEY]}) == {"a": [text, MASK]}


def test_a_known_value_inside_of_data_stays():
    register("abcdEFGH1234abcdEFGH")
    data = "iVBO" * 200 + "abcdEFGH1234abcdEFGH"
    assert mask(data) == data


def test_a_long_token_is_no_data():
    token = ".".join(["eyJhbGciOiJIUzI1NiJ9", "eyJz" + "dWIi" * 300, "c2lnbmF0dXJl"])
    assert mask(f"token={token};") == f"token={MASK};"


@pytest.mark.parametrize("before", ["\n", "\t", "\u2028", '"', "x: "])
def test_a_key_is_masked_in_json_within_text(before: str):
    for ascii_only in (True, False):
        written = json.dumps({"content": f"Mine{before}{KEY}"}, ensure_ascii=ascii_only)
        assert json.loads(mask(written)) == {"content": f"Mine{before}{MASK}"}


@pytest.mark.parametrize("before", ["%20", "%3D", "\\x20", "\\x3d"])
@pytest.mark.parametrize(
    "key", [KEY, "AIza" + "Sy1" * 12, "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"]
)
def test_a_key_is_masked_after_an_escaped_character(before: str, key: str):
    assert mask(f"mine{before}{key}") == f"mine{before}{MASK}"


def test_a_known_value_is_masked_as_written_elsewhere():
    secret = 'p&ss"word<\\1>'
    register(secret)
    assert mask(f"<b>{html.escape(secret)}</b>") == f"<b>{MASK}</b>"
    assert mask_json({"a": secret, "b": json.dumps(secret)}) == {"a": MASK, "b": f'"{MASK}"'}


SPECIAL = """p/s's "w&rd é+<7>\\"""
ESCAPES = {
    "quote": quote,
    "quote of everything": lambda text: quote(text, safe=""),
    "quote_plus": quote_plus,
    "lower-case hex": lambda text: re.sub("%..", lambda found: found[0].lower(), quote(text)),
    "encodeURIComponent": lambda text: quote(text, safe="!'()*~"),
    "Latin-1": lambda text: quote(text, encoding="latin-1"),
    "html": html.escape,
    "&#39;": lambda text: html.escape(text).replace("&#x27;", "&#39;"),
    "&apos;": lambda text: html.escape(text).replace("&#x27;", "&apos;"),
    "decimal entities": lambda text: "".join(f"&#{ord(each)};" for each in text),
    "hexadecimal entities": lambda text: "".join(f"&#x{ord(each):04X};" for each in text),
    "json": lambda text: json.dumps(text)[1:-1],
    "\\/": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "python": lambda text: ascii(text)[1:-1],
}


@given(st.lists(st.sampled_from(list(ESCAPES)), max_size=3))
def test_a_known_value_is_masked_in_every_escaped_form(names: list[str]):
    register(SPECIAL)
    text = SPECIAL
    for name in names:
        text = ESCAPES[name](text)
    assert mask(f"before {text} after") == f"before {MASK} after"


@pytest.mark.parametrize("secret", ["pa%41ss-w0rd", "pa&amp;ss-w0rd", "pa\\nss-w0rd", "C:\\new-w0rd"])
def test_a_value_that_looks_escaped_is_masked(secret: str):
    register(secret)
    for text in (secret, json.dumps(secret)[1:-1], html.escape(secret), quote(secret)):
        assert mask(f"\\{text}.") in (f"\\{MASK}.", f"{MASK}.")


@given(st.lists(st.integers(0, 120), max_size=8))
def test_pieces_are_masked_across_their_cuts(cuts: list[int]):
    text = f"Mine is {KEY}, yours is {KEY}. {'iVBO' * 3}"
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(places)]
    masked = mask_pieces(pieces)
    assert "".join(masked) == mask(text)


def test_pieces_without_a_secret_stay():
    assert mask_pieces(["a", "", f"b {KEY[:9]}", "", "c"]) == ["a", "", f"b {KEY[:9]}", "", "c"]
    assert mask_pieces(["see ", KEY[:5], KEY[5:], " there"]) == ["see ", MASK, "", " there"]


def test_safe_text_can_be_saved_anywhere():
    assert safe_text(f"a\0b\ud83dc {KEY}") == f"a\ufffdb\ufffdc {MASK}"


BODY = [f"{'MIIEvQ' + chr(65 + number) * 3 + 'q7W2+x/9Yb' * 6}"[:64] for number in range(12)]
PEM = "\n".join(
    ["-----BEGIN PRIVATE KEY-----", *BODY, "u8Xr3Tn1QwE5zZ9k0pLd==", "-----END PRIVATE KEY-----", ""]
)
ENCODINGS = {
    "json": json.dumps,
    "repr": repr,
    "html": html.escape,
    "folded": lambda text: " ".join(text.split()),
    "lines of Windows": lambda text: text.replace("\n", "\r\n"),
    "indented": lambda text: text.replace("\n", "\n    "),
    "without breaks": lambda text: "".join(text.splitlines()),
}


@pytest.fixture
def pem() -> str:
    register(PEM)
    return PEM


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(list(ENCODINGS)), max_size=4))
def test_a_secret_of_several_lines_is_masked_however_it_is_encoded(pem: str, names: list[str]):
    text = f"It is {pem}, is it not?"
    for name in names:
        text = ENCODINGS[name](text)
    masked = mask(text)
    assert not [line for line in pem.splitlines()[1:-1] if line in masked]
    assert "It is" in masked
    assert "is it not?" in masked


def test_a_line_of_a_secret_is_masked_by_itself(pem: str):
    assert mask(f"Its third line: {BODY[2]}.") == f"Its third line: {MASK}."
    assert mask("It begins with -----BEGIN PRIVATE KEY-----") == "It begins with -----BEGIN PRIVATE KEY-----"


def test_the_key_in_a_json_document_is_masked_and_its_other_fields_are_not(pem: str):
    other = pem.replace("MIIEvQ", "MIIEwX")
    register(json.dumps({"type": "service_account", "private_key": other}, indent=1))
    assert other.splitlines()[3] not in mask(other)
    assert mask('{"type": "service_account"}') == '{"type": "service_account"}'


def test_a_short_secret_is_masked_in_json_within_json():
    register('pa"ss\\word-7')
    text = json.dumps({"args": json.dumps({"code": json.dumps('pa"ss\\word-7')})})
    assert "word-7" not in mask(text)
    assert "word-7" not in json.dumps(mask_json({"error": text}))


def streamed(text: str, cuts: list[int]) -> tuple[str, str]:
    """What is released of the text in these pieces, and what is held back."""
    masker = StreamMasker()
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    released = "".join(masker.more(text[start:end]) for start, end in pairwise(places))
    return released, masker.held


def without_heads(text: str) -> str:
    """A piece may end within the first letters of a secret, which then stand before its mask."""
    for secret in (KNOWN, KEY, "github_pat_"):
        for length in range(len(secret), 0, -1):
            text = text.replace(secret[:length] + MASK, MASK)
    return text


@given(st.lists(st.integers(0, 260), max_size=12))
def test_a_stream_is_masked_across_its_cuts(cuts: list[int]):
    register(KNOWN)
    released, held = streamed(STREAMED, cuts)
    assert without_heads(released + held) == mask(STREAMED)
    assert KEY[3:] not in released
    assert KNOWN[4:] not in released


@given(st.lists(st.integers(0, 260), max_size=12), st.integers(0, 260))
def test_what_is_held_back_depends_on_the_text_alone(cuts: list[int], length: int):
    register(KNOWN)
    text = STREAMED[:length]
    assert streamed(text, cuts)[1] == streamed(text, [])[1] == streamed(text, list(range(length)))[1]


def test_plain_text_is_never_held_back():
    assert streamed("Words, as they come: these", [3, 4, 9]) == ("Words, as they come: these", "")


def test_a_key_without_an_end_is_released():
    text = "eyJ" + "a1b2" * 1000
    assert streamed(text, list(range(0, 4000, 7))) == (text, "")


def test_the_rest_of_a_stream_is_masked():
    masker = StreamMasker()
    assert (masker.more(f"It is {KEY}"), masker.rest(), masker.rest()) == ("It is sk", MASK, "")


LINES = ["MIIEvQq7W2x9YbU8Xr3Tn1Qw" + letter * 40 for letter in "ABCD"]


OF_SEVERAL_LINES = "\n".join(["-----BEGIN PRIVATE KEY-----", *LINES, "-----END PRIVATE KEY-----"])


@given(st.sampled_from(["\n", " ", "\\n", "\\\\n", "\r\n", ""]), st.lists(st.integers(0, 400), max_size=12))
def test_a_secret_of_several_lines_is_masked_in_a_stream(newline: str, cuts: list[int]):
    register(OF_SEVERAL_LINES)
    released, held = streamed(f"Mine: {OF_SEVERAL_LINES.replace(chr(10), newline)}. Yours?", cuts)
    assert (released + held).endswith(". Yours?")
    assert not [line for line in LINES if line[4:] in released + held]


QUOTED = """p/s's "w&rd é+<7>"""


FORMS = {
    "url": lambda text: quote(text, safe=""),
    "entities": lambda text: "".join(f"&#{ord(each)};" for each in text),
    "json": lambda text: json.dumps(json.dumps(text)),
    "html in json": lambda text: json.dumps(html.escape(text)),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_escaped_secret_is_masked_wherever_a_stream_is_cut(form: str):
    register(QUOTED)
    for cut in range(160):
        check_escaped(form, [cut])


@given(st.sampled_from(list(FORMS)), st.lists(st.integers(0, 160), max_size=12))
def test_an_escaped_secret_is_masked_in_a_stream_of_many_pieces(form: str, cuts: list[int]):
    register(QUOTED)
    check_escaped(form, cuts)


def check_escaped(form: str, cuts: list[int]) -> None:
    released, held = streamed(f"Mine: {FORMS[form](QUOTED)}. Yours?", cuts)
    whole = released + held
    assert whole.endswith((". Yours?", '\\"". Yours?', '". Yours?'))
    assert MASK in whole
    for tail in ("%3C7%3E", "&#60;&#55;", "<7>", "&lt;7"):
        assert tail not in whole


@pytest.mark.parametrize("secret", [KEY, f"eyJ{'a1' * 150}.{'b2' * 150}.{'c3' * 150}"])
def test_a_text_is_never_cut_in_a_secret_however_little_of_it_has_arrived(secret):
    register(KEY)
    text, first = f"It is {secret} there", len("It is ")
    for arrived in range(first + 4, len(text)):
        for end in (first + 1, first + len(secret) // 2, arrived - 1):
            cut = cut_before_secret(text[:arrived], min(end, arrived))
            assert first <= cut <= first + 3 or cut == end >= first + len(secret)
