"""The texts for a model exist, are short and calm, and can be told from the user's own."""

import re
from pathlib import Path

import pytest

import agent_nb.prompts
from agent_nb import Agent
from agent_nb._base.constants import STACKS
from agent_nb.core.errors import ConfigError
from agent_nb.prompts import image_text, prompt_text, stack_text

FOLDER = Path(agent_nb.prompts.__file__).parent
TEXTS = sorted(path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.md"))


def test_each_stack_has_its_file():
    assert {f"stacks/{stack}" for stack in STACKS} == {name for name in TEXTS if name.startswith("stacks/")}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_short_and_calm(name: str):
    text = prompt_text(name)
    assert 0 < len(text) < 2_600
    assert "!" not in re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    assert "—" not in text
    assert "$" not in text, "a placeholder is left"


def test_an_unknown_stack_names_the_others():
    with pytest.raises(ConfigError, match="html, tailwind, react, vue or bootstrap"):
        Agent("demo:").with_stack("angular")
    with pytest.raises(ConfigError):
        Agent("demo:").with_stack("../system")


@pytest.mark.parametrize("stack", STACKS)
def test_libraries_are_pinned_and_over_https(stack: str):
    addresses = re.findall(r"\b\w+://[^\s\"]+", stack_text(stack))
    assert all(re.match(r"https://cdn\.jsdelivr\.net/npm/\S+@\d+\.\d+\.\d+/", url) for url in addresses)
    assert bool(addresses) == (stack != "html")


def test_a_page_decides_the_text_about_images():
    build, change = image_text(page=False), image_text(page=True)
    assert build != change


@pytest.mark.parametrize("stack", STACKS)
def test_a_page_with_the_network_is_not_told_to_load_nothing_else(stack):
    closed = Agent("demo:").with_stack(stack)
    texts = [agent.prepare("A form").system for agent in (closed, closed.replace(network=True))]
    forbidden = [bool(re.search("nothing else:|nothing loaded", text)) for text in texts]
    assert forbidden == [True, False]
    assert re.findall(r"<script.*>|<link.*>", texts[0]) == re.findall(r"<script.*>|<link.*>", texts[1])
