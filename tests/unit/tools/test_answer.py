"""The types of an answer: what `--as` may say, what no schema can say, and that its text is never evaluated."""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypedDict

import pydantic
import pytest

from agent_nb.core.errors import ConfigError
from agent_nb.tools.answer import answer_type


@dataclass
class Fit:
    slope: float
    p: float | None = None


class Place(TypedDict):
    city: str


class Review(pydantic.BaseModel):
    stars: int = pydantic.Field(ge=1, le=5)
    place: "Where"


class Where(pydantic.BaseModel):
    city: str


class Node(pydantic.BaseModel):
    children: "list[Node]"


@dataclass
class Tree:
    branches: "list[Tree]"


@dataclass
class Misspelt:
    fit: "pydantic.Nope"


@dataclass
class Unclosed:
    fits: "list["  # noqa: F722


class Colour(enum.Enum):
    RED = "red"


class Unsayable(pydantic.BaseModel):
    function: Callable[[], int]


NAMES = {"Fit": Fit, "Place": Place, "Review": Review, "table": [1, 2], "Colour": Colour}


@pytest.mark.parametrize(
    ("kind", "value", "read"),
    [
        ("slope: float, p: float | None", {"slope": 1, "p": None}, {"slope": 1.0, "p": None}),
        ("p: Optional[float]", {"p": None}, {"p": None}),
        ("places: list[Place], kind: Literal['a', 'b']",)
        + ({"places": [{"city": "Lyon"}], "kind": "a"},) * 2,
        ("float", 2, 2.0),
        ("list[Fit]", [{"slope": 2}], [Fit(2.0)]),
        ("dict[str, int] | None", {"a": 3}, {"a": 3}),
        ("tuple[int, ...]", [1, 2], (1, 2)),
        ("Fit", {"slope": 1, "p": 0.5}, Fit(1.0, 0.5)),
        ("Colour", "red", Colour.RED),
        (
            "list[Review]",
            [{"stars": 4, "place": {"city": "Lyon"}}],
            [Review(stars=4, place=Where(city="Lyon"))],
        ),
        (Review, {"stars": 4, "place": {"city": "Lyon"}}, Review(stars=4, place=Where(city="Lyon"))),
        (list[Place], [{"city": "Lyon"}], [{"city": "Lyon"}]),
        (float | None, None, None),
        (Literal["yes"] | None, "yes", "yes"),
    ],
)
def test_a_value_is_read_as_its_type(kind, value, read):
    answer = answer_type(kind, NAMES)
    schema = answer.tool().spec.schema
    assert schema["type"] == "object"
    assert answer.read(value) == read
    assert answer.value_of(value if "value" not in schema["properties"] else {"value": value}) == value


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("table", "`table` is of type list, not a type"),
        ("nothing", "`nothing` is not a type"),
        ("slope: complex", "`complex` is not a type"),
        ("slope: float = 3", "cannot be read"),
        ("**slope: float", "cannot be read"),
        ("a: int): pass\nboom(", "cannot be read"),
        ("a: int) -> (float", "cannot be read"),
        ("(" * 5_000 + "a" + ")" * 5_000, "cannot be read"),
        ("boom()", "`boom()` is not a type"),
        ("a: boom()", "`boom()` is not a type"),
        ("a: list[boom()]", "`boom()` is not a type"),
        ("a: Literal[boom()]", "The choices of `Literal` must be texts and numbers"),
        ("a: __import__('os').name", "is not a type"),
        (complex, "The answer is annotated complex, which has no JSON schema: use str"),
        (Unsayable, "which has no JSON schema"),
        (Node, "Node, which contains itself"),
        (Tree, "The type of the answer contains itself"),
        (Misspelt, "cannot be read: AttributeError: module 'pydantic' has no attribute 'Nope'."),
        (Unclosed, "cannot be read: SyntaxError: Forward reference must be an expression"),
        ("dict[str]", "The answer is annotated dict[str], which has no JSON schema"),
        ("list[" * 150 + "int" + "]" * 150, "The type of the answer is nested too deeply"),
        ("Literal[()]", "The answer has no choices"),
        (3, "3 is of type int, not a type"),
        (Fit(1), "is of type Fit, not a type"),
        ("", "cannot be read"),
        ("a: int, a: float", "cannot be read"),
        ("a: int} | {b: int", "is not a type"),
    ],
)
def test_a_type_that_no_schema_can_say_is_a_sentence(kind, why):
    def boom():
        raise AssertionError("the text was evaluated")

    with pytest.raises(ConfigError) as error:
        answer_type(kind, {**NAMES, "boom": boom})
    assert why in str(error.value)
    assert len(str(error.value)) < 400
    assert "\n" not in str(error.value)
