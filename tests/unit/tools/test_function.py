"""`@tool`: the schema that the model sees, and the arguments that the function gets."""

import enum
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import matplotlib
import pytest

from agent_nb.core.errors import ConfigError
from agent_nb.tools import Toolbox, ToolContext, tool
from agent_nb.tools.function import parse_docstring
from tests.support.tool_desk import run

matplotlib.use("Agg")


class Unit(enum.Enum):
    CELSIUS = "c"
    FAHRENHEIT = "f"


@dataclass
class Place:
    name: str
    size: float = 1.0
    tags: list[str] = field(default_factory=list)


class Options(TypedDict):
    depth: int
    unit: NotRequired[Unit]


def properties(function: Callable[..., Any]) -> dict[str, Any]:
    made: dict[str, Any] = tool(function).spec.schema["properties"]
    return made


def test_signature_becomes_the_schema() -> None:
    @tool
    def weather(city: str, days: int = 3, units: Literal["c", "f"] = "c") -> str:
        """Tell the weather.

        Args:
            city: Where, for example
                Lyon.
            days (int, optional): How far ahead.
        """
        return ""

    assert weather.spec.name == "weather"
    assert weather.spec.description == "Tell the weather."
    assert weather.spec.schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where, for example Lyon."},
            "days": {"type": "integer", "description": "How far ahead.", "default": 3},
            "units": {"type": "string", "enum": ["c", "f"], "default": "c"},
        },
        "required": ["city"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (float, {"type": "number"}),
        (None, {"type": "null"}),
        (Any, {}),
        (list, {"type": "array"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (Literal[1, "a"], {"enum": [1, "a"]}),
        (Unit, {"type": "string", "enum": ["c", "f"]}),
        (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
        (
            Place,
            {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "size": {"type": "number"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["name"],
                "additionalProperties": False,
            },
        ),
        (
            Options,
            {
                "type": "object",
                "properties": {"depth": {"type": "integer"}, "unit": {"type": "string", "enum": ["c", "f"]}},
                "required": ["depth"],
                "additionalProperties": False,
            },
        ),
    ],
)
def test_annotation_becomes_its_schema(annotation: Any, schema: dict[str, Any]) -> None:
    def function(value: Any) -> None: ...

    function.__annotations__["value"] = annotation
    assert properties(function) == {"value": schema}


def test_annotated_words_win_over_docstring() -> None:
    def function(a: Annotated[int, "from the annotation"]) -> None:
        """Do.

        Args:
            a: from the docstring
        """

    assert properties(function)["a"]["description"] == "from the annotation"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("x", "'x' of 'f' has no annotation: write, for example, `x: str`"),
        ("x: complex", "'x' of 'f' is annotated complex, which has no JSON schema: use str"),
        ("x: 'dict[int, str]'", r"'x' of 'f' is annotated dict\[int, str\]"),
        ("x: 'tuple[int, str]'", "has no JSON schema"),
        ("x: 'Missing'", "signature of 'f' cannot be read: name 'Missing' is not defined"),
        ("x: 'list['", "signature of 'f' cannot be read: Forward reference must be an expression"),
        ("x: 'list.nope'", "signature of 'f' cannot be read: type object 'list' has no attribute 'nope'"),
        ("*x: int", "cannot be passed by name"),
        ("x: int, /", "cannot be passed by name"),
    ],
)
def test_unusable_parameter_is_named(parameters: str, message: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def f({parameters}): pass", scope)
    with pytest.raises(ConfigError, match=message):
        tool(scope["f"])


def test_not_a_function_is_refused() -> None:
    with pytest.raises(ConfigError, match="pass a Tool or an annotated function"):
        tool(3)  # type: ignore[call-overload]


def test_a_function_that_hides_its_signature_is_named() -> None:
    with pytest.raises(ConfigError, match="signature of 'max' cannot be read"):
        tool(max)


def test_an_approval_that_is_none_is_refused() -> None:
    """Else a tool that was to ask would run unasked."""
    with pytest.raises(ConfigError, match="approval of 'add' is 'never' or 'ask', not 'Ask'"):

        @tool(approval="Ask")  # type: ignore[arg-type]
        def add(a: int) -> int:
            return a


def test_tool_stays_callable_as_function() -> None:
    @tool(name="add_up", approval="ask", cache=True, timeout=5, title="adding")
    def add(a: int, b: int = 1) -> int:
        return a + b

    assert add(2) == 3
    assert add(2, b=3) == 5
    assert (add.name, add.approval, add.cache, add.timeout, add.title({})) == (
        "add_up",
        "ask",
        True,
        5,
        "adding",
    )


def test_tool_without_function_explains_itself() -> None:
    (first, *_) = Toolbox.default()
    with pytest.raises(TypeError, match=r"pass it to Agent\(tools="):
        first()


def test_title_is_the_name_in_words() -> None:
    def get_weather(city: str) -> str:
        return city

    assert tool(get_weather).title({}) == "get weather"
    assert (
        tool(title=lambda args: f"look at {args['city']}")(get_weather).title({"city": "Lyon"})
        == "look at Lyon"
    )
    assert tool(get_weather).spec.description == "get weather"


async def test_arguments_arrive_as_annotated() -> None:
    seen: list[Any] = []

    def function(  # noqa: PLR0917
        unit: Unit,
        place: Place,
        places: list[Place],
        options: Options,
        maybe: Unit | None,
        many: tuple[int, ...],
        x: float,
    ) -> None:
        seen.extend([unit, place, places, options, maybe, many, x])

    await run(
        function,
        unit="c",
        place={"name": "Lyon"},
        places=[{"name": "Nice", "size": 2}],
        options={"depth": 1.0, "unit": "f"},
        maybe="f",
        many=[1, 2],
        x=3,
    )
    assert seen[:-1] == [
        Unit.CELSIUS,
        Place("Lyon"),
        [Place("Nice", 2.0)],
        {"depth": 1, "unit": Unit.FAHRENHEIT},
        Unit.FAHRENHEIT,
        (1, 2),
    ]
    assert type(seen[-1]) is float


async def test_union_takes_the_fitting_kind() -> None:
    def function(value: int | str | list[int] | None) -> str:
        return repr(value)

    for value in (5, "5", [5], None):
        assert (await run(function, value=value)).text == repr(value)


async def test_context_is_given_not_shown() -> None:
    @tool
    def note(text: str, context: ToolContext) -> str:
        context.files.write("note.txt", text)
        return f"{len(context.files.files)} file"

    assert list(note.spec.schema["properties"]) == ["text"]
    assert (await run(note, text="hi")).text == "1 file"


async def test_async_and_wrapped_functions_work() -> None:
    async def slow(a: int) -> int:
        return a + 1

    def wraps(a: int) -> Any:
        return slow(a)

    assert (await run(slow, a=1)).text == "2"
    assert (await run(wraps, a=2)).text == "3"


async def test_partials_methods_and_objects_work() -> None:
    class Shop:
        """A shop."""

        def price(self, bread: str, count: int) -> str:
            """Tell the price."""
            return f"{count} {bread}"

        def __call__(self, bread: str) -> str:
            """Sell bread."""
            return bread

    half = tool(functools.partial(Shop().price, count=2))
    assert (half.name, half.spec.description, half.spec.schema["required"]) == (
        "price",
        "Tell the price.",
        ["bread"],
    )
    assert (await run(half, bread="rolls")).text == "2 rolls"
    assert (await run(tool(name="shop")(Shop()), bread="rolls")).text == "rolls"


@pytest.mark.parametrize(
    "text",
    [
        "Sum up.\n\nMore.\n\nArgs:\n    a: the first\n        number\n    b (int): the second\n\nReturns:\n    a: sum",
        "Sum up.\n\nMore.\n\nParameters\n----------\na : int\n    the first\n    number\nb\n    the second\n\n"
        "Returns\n-------\nint",
        "Sum up.\n\nMore.\n\n:param a: the first\n    number\n:type a: int\n:param int b: the second\n:returns: it",
    ],
)
def test_docstring_styles_say_the_same(text: str) -> None:
    parameters = {"a": "the first number", "b": "the second"}
    assert parse_docstring(text) == ("Sum up.\n\nMore.", parameters)


def test_plain_docstring_is_all_description() -> None:
    text = "Args are fine. Note: this stays.\n\nSo does 12:30."
    assert parse_docstring(text) == (text, {})
    assert parse_docstring("") == ("", {})


def test_a_sphinx_role_at_the_margin_ends_no_description() -> None:
    text = "Return a\n:class:`Place` or None.\n\n:returns: it"
    assert parse_docstring(text) == ("Return a\n:class:`Place` or None.", {})
