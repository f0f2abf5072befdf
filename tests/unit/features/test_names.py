"""No file of the core names a feature, except where it reads what runs on disk have, or where the code of one is."""

import ast
import re

from agent_nb.core.feature import features
from tests.unit.test_layers import PACKAGE

WORDS = {"answer", "cells", "check", "elements", "figures", "images", "numbers", "system"}
"""Names that are ordinary words of messages, pages and records, too."""
NAMED = {
    "agree": {"render/answers.py": "a column of the table of answers"},
    "ask_user": {"demo/own_tools.py": "the demo answers by tools"},
    "branch": {
        "core/messages.py": "the origin of a text in saved messages",
        "render/plain.py": "a recorded setting",
        "run/cells.py": "the same",
        "run/run.py": "the same",
    },
    "look": {"engine/prepared.py": "a file of texts"},
    "middleware": {"marimo.py": "an argument of Agent"},
}
FLAGS = {
    "--branch": {
        "notebook/kernel_tools/branch.py": "its tools",
        "notebook/kernel_tools/inherited.py": "the same",
    },
    "--check": {"classroom/submit.py": "an option of `%agent lab`"},
    "--system": {"notebook/magic/inputs.py": "its code"},
}


def test_no_file_of_the_core_names_a_feature():
    names = {feature.name for feature in features()} - WORDS
    assert _where(lambda text: names & {text}) == {name: {*files} for name, files in NAMED.items()}


def test_no_sentence_of_the_core_names_the_option_of_a_feature():
    options = [feature.option for feature in features() if feature.option]
    flags = {flag for option in options for flag in option.flags if flag.startswith("--")}
    found = _where(lambda text: flags & {*re.findall(r"--[\w-]+", text)})
    assert found == {flag: {*files} for flag, files in FLAGS.items()}


def test_no_file_of_the_core_asks_for_the_value_of_a_feature():
    names = {feature.name for feature in features()}
    for place, tree in _core():
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "value"
            ):
                asked = {each.value for each in node.args if isinstance(each, ast.Constant)}
                assert not names & asked, f"{place}:{node.lineno}"


def _core():
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE)
        if place.parts[0] != "features":
            yield place.as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def _where(matches):
    """The files with a text that matches, by the match; docstrings are left out."""
    found = {}
    for place, tree in _core():
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = [
            node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        for match in {match for node in texts if id(node) not in docs for match in matches(node.value)}:
            found.setdefault(match, set()).add(place)
    return found
