"""Recognises code in text, whatever the programming language, and cuts it into lines that can be counted.

These are rules of thumb. They err on the side of code, because a line of prose that is held back can be asked for
again in other words, and a solution that was seen cannot be taken back.
"""

import re
from collections.abc import Iterator

from agent_nb.lab.hints.plain import plain

LONG_LINE = 80
"""Characters. A longer line of code counts as several."""
LONG_SENTENCE = 200
"""Characters. What has more is examined in parts, which keeps the time linear."""
FEW_WORDS = 5
_MARKERS = re.compile(r"^(?:\s|>(?!>)|[-*+•](?=\s)|\d{1,4}[.):]?(?=\s)|#{1,6}(?=\s)|\*\*|__)*")
"""What Markdown puts before the text of a line."""
_CONSOLE = re.compile(r"^\s*(?:>>>|In ?\[\d*\]:|\$(?=\s+\w)|PS>)")
_SENTENCE_END = re.compile(r"(?<=[.:!?])\s+|(?<=[。！？：])|[`\r]+")
_CELLS = re.compile(r"(?<!\\)\|")
_SEPARATORS = re.compile(r"[;{}\r\n]|\\n|<br\s*/?>|(?<=>)(?=<)")
_WORD = re.compile(r"[^\W\d_]{2,}")
_SYMBOLS = re.compile(r"[=(){}\[\]<>;+*/%&|^~$@\\_:]")
_OPERATOR = re.compile(r"==|!=|<=|>=|&&|\|\||\+\+|=>|[-+*/|&]=|::|\w->\w|:=|<-|←")
_TAG = re.compile(r"</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>")
_NAME = r"[\w$]+(?:(?:\.|::|->)[\w$]+)*"

_PATTERNS = (
    # Definitions and declarations
    rf"(?:(?:export|async|static|public|private|pub|inline)\s+)*(?:def|fn|func|fun|function|sub|proc)\b\s*{_NAME}?\s*"
    r"(?:[(:{=<]|$)",
    r"(?:(?:public|private|protected|static|final|abstract|export|default|data)\s+)*"
    r"(?:class|interface|struct|enum|trait|impl|namespace)\s+\w+\s*(?:[({:<]|extends\b|implements\b|$)",
    r"(?:public|private|protected|static|const|let|var|val|int|float|double|char|bool|boolean|void|auto|long|unsigned"
    r"|local|my|global|nonlocal)\s+[\w$<>\[\]*&]+[^.?!]*[=;({]",
    r"(?:defmodule|defp|defun|defn)\b",
    r"(?:\w+\s+)?\w+\([^()]*\)\s*[:{]$",
    # Control flow
    r"(?:\}\s*)?(?:if|else if|elsif|elif|while|for|foreach|switch|catch|unless|until)\s*\(.*\)\s*(?:\{.*|.*;)?$",
    r"(?:async\s+)?(?:if|elif|while|for|with|match|case|except)\s[^.?!]*[()=<>\[\]_%+*/'\"].*:(?:\s*#.*)?$",
    r"(?:if|elif|while|case|except)(?:\s+\w+){1,3}:(?:\s*#.*)?$",
    r"for\s+\w+(?:\s*,\s*\w+)*\s+in\s+[^.?!]*[:({\[]",
    r"(?:else|try|finally|begin|do|then)\s*[:{]",
    r"(?:if|while)\s+\[",
    r"(?:break|continue|pass|fi|esac|done)\s*;?$",
    r"(?:return|yield|raise|throw|del|assert)\b(?:\s+[\w.]+)?\s*;?$",
    r"(?:return|yield|raise|throw|del|assert|print|echo|puts|printf|cout)\b(?:[^.?!]*[(=<>\[\]+*/%'\"]|\s+!).*$",
    # Imports
    r"import\s+[\w.]+(?:\s+as\s+\w+|\s*,\s*[\w.]+|\s+from\b.*)*\s*;?$",
    r"import\s*[{*\"']",
    r"from\s+[\w.]+\s+import\b",
    r"(?:#include|#define|using\s+namespace|package\s+\w+;|<\?php)",
    # Assignments and calls
    r"(?:[\w$.\[\]\"'*&:()-]+(?:\s*,\s*|\s+)){0,2}?[\w$.\[\]\"'()-]+(?:\s*:\s*[\w\[\], .|]+)?\s*"
    r"(?:[-+*/%&|^@:]|//|\*\*|<<|>>|\?\?|\|\||&&)?=(?![=>])\s*"
    r"(?!\d[\d,.]*\s+(?:\w+\s+){2})\S",
    r".*\w\s*[-+*/]?=\s*[\w.\[\](\"']+(?:\s*[-+*/%]\s*\S+)*\s*[.;]?$",
    r"\w[\w.$]*\s*(?:<-|<<-|←)\s*\S",
    rf"(?:await\s+|new\s+)?{_NAME}!?\((?:.*[);,({{]\s*|)$",
    r"\.\w+\(.*",
    # Markup, styles, data, queries
    r"</?[A-Za-z!?]",
    r"[\w-]+\s*:\s*[^;]+;$",
    r"\"[^\"]+\"\s*:\s*\S|'[^']+'\s*:\s*\S.*,$",
    r"\{.*\}[,;]?$",
    r"\w+:\s*(?:[\"'\d\[{]|true\b|false\b).*,$",
    r"(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER|DROP|FROM|WHERE|GROUP BY|ORDER BY"
    r"|(?:LEFT |INNER )?JOIN)\s+\S",
    r"[Ss]elect\s+(?:\*|\w+(?:\s*,\s*\w+)*)\s+[Ff]rom\s+\w+",
    # Others
    r".*\blambda\b[^.?!]*:\s*\S",
    r"\((?:define|defun|defn|let|lambda|fn|if|cond|set!|setq|display|loop|format|progn)\b",
    r"\([^\s()]+ .*\)\)$",
    r"@[\w.]+(?:\(.*\))?$",
    r"[%!]{1,2}\w+(?:\s|$)",
    r"(?:mov|cmp|lea|xor|jmp|jne|jle)\s+\S+(?:,\s*\S+)?$",
    r".*[=(){}\[\]<>+*/].*;$",
    r".*[{}]$",
    r"\w+;$",
)
_CODE = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS))
_NOT_CODE = re.compile(r"(?:if so|if not|for example|with that|in case)\b[^=(]*$", re.I)

_ENCODED = re.compile(
    r"(?:(?:\\x|\\u|%|0x|&#x?)[0-9A-Fa-f]{2,6};?[\s,]*){6,}"
    r"|(?:\b[0-9A-Fa-f]{2}\b[\s:,]*){12,}"
    r"|(?:\b\d{2,3}\b[\s,;]+){11,}\d"
    r"|(?:\b[01]{7,8}\b\s*){6,}"
)
_TOKEN = re.compile(r"[A-Za-z0-9+/=_-]+")
_SCRAMBLED = re.compile(r"(?=[A-Za-z0-9+/=]*[a-z])(?=[A-Za-z0-9+/=]+[A-Z0-9])[A-Za-z0-9+/=]{4,}")
LONG_TOKEN = 40
MANY_SCRAMBLED = 5


def is_code(text: str) -> bool:
    """Whether a line, a cell of a table in it, or a sentence of it reads as code."""
    text = plain(text)
    return bool(_CONSOLE.match(text)) or any(_reads_as_code(each) for each in _fragments(text))


def is_encoded(text: str) -> bool:
    """Whether there is a long base64 or hex string in a text, or a series of character codes."""
    text = plain(text)
    if _ENCODED.search(text):
        return True
    tokens = _TOKEN.findall(text)
    if any(_is_scrambled(token) for token in tokens if len(token) >= LONG_TOKEN):
        return True
    scrambled = sum(1 for token in tokens if _SCRAMBLED.fullmatch(token))
    return scrambled >= MANY_SCRAMBLED and scrambled * 2 >= len(tokens)


def code_lines(text: str) -> list[str]:
    """The statements of code, as they are counted. Several on one line, or a long one, are several lines."""
    text = plain(text)
    is_row = text.lstrip(" >").startswith("|")
    cells = [cell for cell in _CELLS.split(text) if not cell.strip().isdigit()] if is_row else [text]
    pieces = (" ".join(piece.split()) for cell in cells for piece in _SEPARATORS.split(cell))
    return [
        piece[start : start + LONG_LINE]
        for piece in pieces
        if re.search(r"\w", piece) or len(piece) > 3
        for start in range(0, len(piece), LONG_LINE)
    ]


def code_in(text: str) -> list[str]:
    """The lines of code in a text that also has prose."""
    return [line for each in text.splitlines() if is_code(each) for line in code_lines(each)]


def _fragments(line: str) -> Iterator[str]:
    """The cells of a line, the sentences in them, and the parts of long ones."""
    for cell in _CELLS.split(line) if line.count("|") > 1 else [line]:
        text = _MARKERS.sub("", cell).rstrip(" *")
        for sentence in (text, *_SENTENCE_END.split(text)[1:]):
            yield from (
                sentence[start : start + LONG_SENTENCE] for start in range(0, len(sentence), LONG_SENTENCE)
            )


def _reads_as_code(text: str) -> bool:
    if not text or _NOT_CODE.match(text):
        return False
    if _CODE.match(text) or len(_TAG.findall(text)) > 1:
        return True
    word_count, symbols = len(_WORD.findall(text)), len(_SYMBOLS.findall(text))
    if word_count <= FEW_WORDS and _OPERATOR.search(text) and re.search(r"\w", text):
        return True
    return symbols >= 4 and symbols >= 0.18 * len(text.replace(" ", ""))


def _is_scrambled(token: str) -> bool:
    kinds = (r"[a-z]", r"[A-Z]", r"\d")
    return sum(1 for kind in kinds if re.search(kind, token)) > 1
