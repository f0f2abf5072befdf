"""`-i` and `--system` look for a variable, then for a file; `--system` also takes the text itself."""

from pathlib import Path

import PIL.Image
import pytest

from agent_nb._base.constants import MODE_VARIABLE
from agent_nb.core.errors import ConfigError
from agent_nb.notebook.magic.inputs import SYSTEM_LIMIT, find_system, load_images, system_names

RED = PIL.Image.new("RGB", (8, 6), "red")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "design").mkdir()
    (tmp_path / "design" / "brand.md").write_text("# Brand\nSerif type.\n", encoding="utf-8")
    (tmp_path / "rules.md").write_text("Rules.", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("Notes.", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (None, ""),
        ("brand", "# Brand\nSerif type."),
        ("rules", "Rules."),
        ("rules.md", "Rules."),
        ("notes.txt", "Notes."),
        ("design/brand.md", "# Brand\nSerif type."),
        ("house", "From a variable."),
        ("place", "Rules."),
        ("Use serif type.", "Use serif type."),
        ("terse", "terse"),
        ("a\nb " * 400, "a\nb " * 400),
    ],
)
def test_a_system_text_is_found(home: Path, source: str | None, text: str):
    assert find_system(source, {"house": "From a variable.", "place": Path("rules.md")}, home) == text


def test_a_variable_comes_before_a_file(home: Path):
    assert find_system("brand", {"brand": "Mine."}, home) == "Mine."


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("brnad", "Did you mean `--system brand`"),
        ("hause", "Did you mean `--system house`"),
        ("missing.md", "There is no file 'missing.md'"),
        ("design/other", "There is no file"),
        ("number", "`number` is of type int, not text"),
        ("gone", "'gone.md' cannot be read"),
        ("binary", "is not UTF-8 text"),
        ("long", "--system takes up to"),
    ],
)
def test_a_wrong_source_is_explained(home: Path, source: str, says: str):
    (home / "binary.md").write_bytes(b"\xff\xfe\0")
    (home / "long.md").write_text("x" * (SYSTEM_LIMIT + 1))
    with pytest.raises(ConfigError, match=says):
        find_system(source, {"house": "x", "number": 3, "gone": Path("gone.md")}, home)


def test_design_systems_are_listed(home: Path):
    assert system_names(home) == ["brand", "rules"]


async def test_images_come_from_variables_lists_and_files(home: Path):
    RED.save(home / "red.png")
    namespace = {"one": RED, "shots": [RED, home / "red.png"], "table": {"a": RED}}
    names = ["one", "shots", "shots[1]", 'table["a"]', str(home / "red.png")]
    images = await load_images(names, namespace)
    assert [image.name for image in images] == [
        *("one", "shots[0]", "shots[1]", "shots[1]", 'table["a"]', "red.png")
    ]


async def test_an_empty_list_is_refused(home: Path):
    with pytest.raises(ConfigError, match="`none` is empty"):
        await load_images(["none"], {"none": []})


async def test_nothing_is_fetched_when_offline(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(MODE_VARIABLE, "replay")
    with pytest.raises(ConfigError, match="not fetched"):
        await load_images(["https://example.org/a.png"], {})
