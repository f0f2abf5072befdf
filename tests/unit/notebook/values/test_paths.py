"""What lies below a masked value is masked, by whatever path."""

import argparse
import functools
from collections import ChainMap, OrderedDict, UserDict, UserList, defaultdict, deque, namedtuple
from dataclasses import dataclass
from enum import Enum
from types import SimpleNamespace
from typing import Any

import attrs
import msgspec
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from agent_nb.core.errors import ConfigError
from agent_nb.notebook.kernel_tools.variables import describe_variable, one_line
from agent_nb.notebook.values.describe_values import describe, describe_path, expand
from tests.support.shells import start_shell

SECRET = "hush-hush-2"
USERS = pd.DataFrame({"user": ["ann", "bob"], "password": [SECRET, SECRET], "n": [1, 2]})


class Client:
    """An object of which we know nothing, that shows its secret in many ways."""

    def __init__(self) -> None:
        self.user = "ann"
        self.password = SECRET
        self._address = f"ann:{SECRET}@localhost"

    def __repr__(self) -> str:
        return f"<Client {self.password}>"

    @property
    def address(self) -> str:
        return self._address

    @functools.cached_property
    def kept(self) -> str:
        return self._address

    def ask(self) -> None:
        raise ValueError(self.password)

    @property
    def failing(self) -> str:
        raise ValueError(self.password)


class Slotted:
    __slots__ = ("token", "user")

    def __init__(self) -> None:
        self.user, self.token = "ann", SECRET

    def __repr__(self) -> str:
        return self.token


@dataclass
class Login:
    user: str = "ann"
    password: str = SECRET

    @functools.cached_property
    def address(self) -> str:
        return f"{self.user}:{self.password}"


class Closing(Login):
    def __del__(self) -> None:
        closed.append(self)


closed: list[Any] = []


@attrs.define
class Attrs:
    password: str = SECRET


class Struct(msgspec.Struct):
    password: str = SECRET


class Model(BaseModel):
    model_config = ConfigDict(extra="allow")
    password: str = SECRET


class Kind(Enum):
    PASSWORD = SECRET


class AttrDict(dict[str, Any]):
    def __getattr__(self, name: str) -> Any:
        return self[name] if name in self else self.__missing(name)

    def __missing(self, name: str) -> Any:
        raise AttributeError(name)


Pair = namedtuple("Pair", "user password")  # noqa: PYI024


def cached_login() -> Login:
    login = Login()
    assert SECRET in login.address
    return login


def cached_client() -> Client:
    client = Client()
    assert SECRET in client.kept
    return client


def knot() -> list[Any]:
    """Two objects that know each other, one of them with a secret."""
    one, other = Client(), SimpleNamespace()
    one.other, other.other = other, one  # type: ignore[attr-defined]
    return [one, other]


def nested(levels: int) -> Any:
    value: Any = {"password": SECRET}
    for _ in range(levels):
        value = [value]
    return value


def object_array(item: Any) -> Any:
    array = np.empty(2, object)
    array[0] = item
    return array


LOGIN = {"user": "ann", "password": SECRET}
VALUES: dict[str, Any] = {
    "frame": USERS,
    "turned": USERS.T,
    "many rows": USERS.T.reindex([*range(20), "user", "password"]),
    "style": USERS.style,
    "groups": USERS.groupby("password"),
    "levels": pd.DataFrame([[SECRET, 1]], columns=pd.MultiIndex.from_tuples([("password", "x"), ("n", "")])),
    "label levels": pd.Series([SECRET], index=pd.MultiIndex.from_tuples([("password", "x")])),
    "index levels": USERS.set_index(["user", "password"]).index,
    "index": USERS.set_index("password"),
    "nested frame": pd.DataFrame({"n": [*[1] * 20, 2], "more": [*[None] * 20, USERS]}),
    "row": USERS.iloc[0],
    "column": USERS["password"],
    "series by label": USERS.set_index("password")["n"],
    "category": USERS.astype({"password": "category"}),
    "dicts": pd.DataFrame({"user": ["ann"], "login": [LOGIN]}),
    "on arrow": USERS.convert_dtypes(dtype_backend="pyarrow"),
    "on arrow, column": USERS.convert_dtypes(dtype_backend="pyarrow")["password"],
    "on arrow, struct": pa.table({"login": [LOGIN]}).to_pandas(types_mapper=pd.ArrowDtype),
    "polars, column": pl.from_pandas(USERS)["password"],
    "polars, struct": pl.DataFrame({"user": ["ann"], "login": [LOGIN]}),
    "polars, list of structs": pl.DataFrame({"logins": [[LOGIN]]}),
    "arrow, struct": pa.table({"user": ["ann"], "login": [LOGIN]}),
    "pairs": pd.DataFrame({"name": ["password", "host"], "n": [1, 2], "value": [SECRET, "x"]}),
    "polars, pairs": pl.DataFrame({"Key": ["password"], "Value": [SECRET]}),
    "arrow, pairs": pa.table({"field": ["password"], "value": [SECRET]}),
    "polars": pl.from_pandas(USERS),
    "lazy": pl.from_pandas(USERS).lazy(),
    "polars objects": pl.DataFrame({"more": pl.Series([Login()], dtype=pl.Object)}),
    "arrow": pa.table({"user": ["ann"], "password": [SECRET]}),
    "batch": pa.record_batch({"user": ["ann"], "password": [SECRET]}),
    "arrow structs": pa.array([LOGIN]),
    "arrow chunks": pa.chunked_array([pa.array([LOGIN])]),
    "arrow scalar": pa.array([LOGIN])[0],
    "structured": np.array([("ann", SECRET)], dtype=[("user", "U8"), ("password", "U20")]),
    "structured row": np.array([("ann", SECRET)], dtype=[("user", "U8"), ("password", "U20")])[0],
    "structured twice": np.array(
        [(1, ("ann", SECRET))], [("n", int), ("who", [("u", "U8"), ("token", "U20")])]
    ),
    "objects": object_array(LOGIN),
    "deque": deque([LOGIN], maxlen=3),
    "set": {Pair("ann", SECRET)},
    "frozenset": frozenset({Pair("ann", SECRET)}),
    "user list": UserList([LOGIN]),
    "user dict": UserDict(LOGIN),
    "ordered": OrderedDict(LOGIN),
    "default": defaultdict(str, LOGIN),
    "chain": ChainMap({"password": 1}, LOGIN),
    "attributes": AttrDict(LOGIN),
    "items": LOGIN.items(),
    "values": LOGIN.values(),
    "frame of a name": {"password": pd.DataFrame({"x": [SECRET]})},
    "levels of a key": {("password", "x"): SECRET},
    "key": {Pair("ann", SECRET): 1},
    "object": Client(),
    "cached": cached_client(),
    "knot": knot(),
    "knot, other end": knot()[::-1],
    "slots": Slotted(),
    "dataclass": Login(),
    "cached field": cached_login(),
    "attrs": Attrs(),
    "msgspec": Struct(),
    "pydantic": Model(),
    "pydantic, extra": Model(password="", api_key=SECRET),
    "arguments": argparse.Namespace(password=SECRET),
    "enum": Kind.PASSWORD,
    "partial": functools.partial(print, password=SECRET),
    "method": Client().ask,
    "error": ValueError(LOGIN),
    "named": {"credentials": SimpleNamespace(value=SECRET)},
    **{f"{levels} levels": nested(levels) for levels in (6, 7, 8, 9, 30)},
}


@pytest.mark.parametrize("kind", VALUES)
def test_secrets_are_masked_in_every_container(kind):
    value = VALUES[kind]
    for each in (value, [value], {"x": value}, deque([value]), object_array(value)):
        assert SECRET not in describe("value", each).text
        assert SECRET not in one_line("value", each)


@pytest.mark.parametrize(
    "path",
    [
        "users.values",
        "users.password.values",
        "users['password'].array",
        "users.T.values",
        "users.iloc[0].values",
        "users.style.data.values",
        "users.password",
        "secrets['db']",
        "secrets['nested']['value']",
        "credentials.value",
        "credentials",
        "login.address",
        "client.address",
        "client.kept",
        "client.password",
        "config['password', 'x']",
    ],
)
def test_no_path_leads_below_a_mask(tmp_path, path):
    names = {
        "users": USERS,
        "secrets": {"db": SECRET, "nested": {"value": SECRET}, "port": 5432},
        "credentials": SimpleNamespace(value=SECRET),
        "login": cached_login(),
        "client": cached_client(),
        "config": {("password", "x"): SECRET},
    }
    with start_shell(tmp_path) as shell:
        shell.names.update(names)
        output = describe_variable(shell.ipython).run({"name": path}, None)
    assert SECRET not in output.text
    assert "Masked: `" in output.text
    assert SECRET not in expand(f"{{{{{path}}}}}", names).text


@pytest.mark.parametrize(
    ("path", "shown"),
    [("client.user", "ann"), ("login.user", "ann"), ("config.user", "ann"), ("deep" + "[0]" * 12, "'end'")],
)
def test_what_stands_beside_a_secret_is_shown(path, shown):
    deep: Any = ["end"]
    for _ in range(12):
        deep = [deep]
    names = {"client": Client(), "login": Login(), "config": AttrDict(LOGIN), "deep": deep}
    assert shown in describe_path(path, names).text


def test_the_error_of_a_property_does_not_quote_a_secret():
    assert SECRET not in describe_path("client.failing", {"client": Client()}).text
    with pytest.raises(ConfigError) as caught:
        describe_path("login.nothing", {"login": Login()})
    assert SECRET not in str(caught.value)


def test_an_object_that_cleans_up_is_not_copied():
    closing = Closing()
    assert SECRET not in describe("closing", closing).text
    assert closed == []


def steps(value: Any) -> list[str]:
    """Steps that a model could try from here."""
    keys = list(value) if isinstance(value, dict) else ["user", "password", 0, 1]
    names = [name for name in dir(value) if not name.startswith("_")]
    return [f".{name}" for name in names] + [f"[{key!r}]" for key in keys if SECRET not in repr(key)]


@given(st.data())
def test_any_path_below_a_value_shows_no_secret(data):
    value = root = data.draw(st.sampled_from(list(VALUES.values())))
    path = "root"
    for _ in range(data.draw(st.integers(1, 4))):
        choices = steps(value)
        if not choices:
            break
        step = data.draw(st.sampled_from(choices))
        path += step
        try:
            value = getattr(value, step[1:]) if step[0] == "." else value[eval(step[1:-1])]
        except Exception:
            break
    try:
        text = describe_path(path, {"root": root}).text
    except ConfigError as error:
        text = str(error)
    assert SECRET not in text, path
