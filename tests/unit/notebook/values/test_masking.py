"""Values that are called like secrets are masked, at any depth."""

import contextvars
import inspect
from collections import OrderedDict, UserDict, UserList, deque
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pydantic import BaseModel

from agent_nb._base.secrets import MASK, mask
from agent_nb.notebook.kernel_tools.variables import one_line
from agent_nb.notebook.values.describe_values import describe
from agent_nb.notebook.values.value_masking import Masks, is_secret, mask_environment


class Login(NamedTuple):
    user: str
    password: str


@dataclass(frozen=True, slots=True)
class Config:
    user: str = "ann"
    api_key: str = "hush-hush"
    more: Any = None


@dataclass
class Wordy:
    token: str = "hush-hush"

    def __repr__(self) -> str:
        return f"<a token of {self.token}>"


class Model(BaseModel):
    user: str = "ann"
    password: str = "hush-hush"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (({"password": "hush-hush"},), f"({{'password': '{MASK}'}},)"),
        ({"a": ({"token": "hush-hush"}, 1)}, f"{{'a': ({{'token': '{MASK}'}}, 1)}}"),
        (Login("ann", "hush-hush"), f"Login(user='ann', password='{MASK}')"),
        (Config(), f"Config(user='ann', api_key='{MASK}', more=None)"),
        ([Config(more=[Login("bob", "hush-hush")])], None),
        ({"openai": [{"token": b"hush-hush"}]}, None),
        (Wordy(), f"<a token of {MASK}>"),
        (Model(), f"Model(user='ann', password='{MASK}')"),
        (SimpleNamespace(accessToken="hush-hush", n=1), f"namespace(accessToken='{MASK}', n=1)"),
        ({"x-api-key": "hush-hush"}, f"{{'x-api-key': '{MASK}'}}"),
        ({"API key": "hush-hush"}, f"{{'API key': '{MASK}'}}"),
    ],
)
def test_secrets_are_masked_at_any_depth(value, expected):
    before = repr(value)
    text = describe("value", value).text
    assert "hush" not in text
    assert expected is None or text == expected
    assert repr(value) == before


class Header(NamedTuple):
    name: str
    value: str


class Described:
    """Shows its fields too, whatever it contains."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({vars(self)})"


class Dataset(Mapping):
    """Keeps its attributes in a slot, as those of xarray do."""

    __slots__ = ("_attrs", "_data")

    def __init__(self, attrs: dict[str, Any]) -> None:
        self._attrs, self._data = attrs, {"sold": 3}

    def __getitem__(self, name: str) -> Any:
        return self._data[name]

    def __iter__(self):
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return f"<Dataset {self._data}, {self._attrs}>"


def with_field(kind: type, *content: Any) -> Any:
    value = type("Holder", (Described, kind), {})(*content)
    value.api_key = "hush-hush"
    return value


@pytest.mark.parametrize(
    "value",
    [
        *(
            with_field(kind, {1: 2})
            for kind in (dict, list, tuple, set, frozenset, deque, UserDict, UserList)
        ),
        with_field(int, 3),
        with_field(str, "x"),
        Dataset({"api_key": "hush-hush"}),
        [("password", "hush-hush")],
        [["password", "hush-hush"]],
        np.array([["a", "b"], ["password", "hush-hush"]]),
        [{"name": "api_key", "value": "hush-hush"}],
        SimpleNamespace(Key="api-key", Value=["hush-hush"]),
        Header("Authorization", "hush-hush"),
        {"a_pw": "hush-hush"},
        frozenset({("password", "hush-hush")}),
        slice({"password": "hush-hush"}),
        fields(Config),
        inspect.Parameter("token", inspect.Parameter.KEYWORD_ONLY, default="hush-hush"),
        contextvars.ContextVar("api_key", default="hush-hush"),
    ],
    ids=lambda value: type(value).__mro__[-2].__name__,
)
def test_fields_of_containers_and_named_values_are_masked(value):
    assert "hush" in repr(value)
    assert "hush" not in describe("value", value).text
    assert "hush" not in one_line("value", value)


@pytest.mark.parametrize(
    "name",
    [
        *("api_key", "OPENAI_API_KEY", "secret_key", "private_key", "aws.accessKey", "clientSecret"),
        *("openai_key", "pw", "a_pw", "dbPwd", "passwd", "Proxy-Authorization", "PASSWORD", "config.token"),
        *("config['password']", 'config["client_secret"]', "passwd[0]"),
    ],
)
def test_names_of_keys_are_secret(name):
    assert is_secret(name, "x")


@pytest.mark.parametrize(
    "name",
    [
        *("key", "sort_key", "primary_key", "public_key", "cache_key", "row['key']", "keyboard", "tokens"),
        *("monkey", "key_figures", "config.user", "upwards", "spw", "authorization_date"),
    ],
)
def test_other_names_with_key_are_not(name):
    assert describe(name, "by price").text == "by price"
    assert describe("value", {name: "by price"}).masked == ()


def test_columns_are_masked_in_a_copy():
    frame = pd.DataFrame({"user": ["ann", "bob"], "password": ["hush-1", "hush-2"], "token": [1, 2]})
    before = frame.copy()
    described = describe("frame", frame)
    assert described.text.endswith(f"user,password,token\nann,{MASK},1\nbob,{MASK},2\n")
    assert described.masked == ("`password` in `frame`",)
    pd.testing.assert_frame_equal(frame, before)


def test_duplicate_columns_and_indexes_are_masked():
    twins = pd.DataFrame([["hush-1", "hush-2"]], columns=["token", "token"])
    assert "hush" not in describe("twins", twins).text
    indexed = pd.DataFrame({"n": [1]}, index=pd.Index(["hush"], name="password"))
    assert f"password,n\n{MASK},1\n" in describe("indexed", indexed).text
    nested = pd.DataFrame([["hush"]], columns=pd.MultiIndex.from_tuples([("db", "password")]))
    assert "hush" not in describe("nested", nested).text
    assert "hush" not in describe("column", pd.Series(["hush"], name="api_key")).text
    assert "hush" not in describe("inside", {"frame": twins}).text
    assert "hush" not in describe("pairs", np.array([["password", "hush-1"]])).text


def test_masked_names_are_listed_once():
    described = describe("config", [{"password": "a", "user": "ann"}, {"password": "b", "api_key": "c"}])
    assert described.masked == ("`password` in `config`", "`api_key` in `config`")
    assert describe("api_key", "hush").masked == ("`api_key`",)
    assert describe("notes", f"mine is sk-ant-api03-{'x9-Y' * 8}").masked == ("a key in `notes`",)
    assert describe("notes", "none at all").masked == ()


def test_values_without_secrets_are_not_copied():
    value = OrderedDict(a=1)
    assert describe("value", value).text == repr(value)
    plain = SimpleNamespace(user="ann", more=Wordy)
    assert Masks().over(plain) is plain


def test_recursive_values_are_described():
    loop: dict[str, Any] = {"password": "hush-hush"}
    loop["self"] = loop
    assert "hush" not in describe("loop", loop).text
    node = SimpleNamespace(token="hush-hush", n=1)
    node.next = node
    assert "hush" not in describe("node", node).text


def test_variables_of_the_environment_that_are_called_like_secrets_are_masked(monkeypatch, tmp_path):
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "58277f7f739221bf")
    monkeypatch.setenv("EDITOR", "an-editor-42x")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path))
    mask_environment()
    assert mask(f"58277f7f739221bf an-editor-42x {tmp_path}") == f"{MASK} an-editor-42x {tmp_path}"


class ForeignTable:
    """A table of a library we know nothing about."""

    columns = ("user", "password")

    def __repr__(self) -> str:
        return "user password\nann hush-1"


def test_an_unknown_table_with_a_secret_column_shows_only_its_columns():
    described = describe("table", ForeignTable())
    assert "hush" not in described.text
    assert "user, password" in described.text


@pytest.mark.parametrize(
    "value", [{"password": ["hush-1"]}, {"api_keys": ("hush-1", "hush-2")}, {"credentials": {"a": "hush-1"}}]
)
def test_text_in_containers_with_a_secret_name_is_masked(value):
    assert "hush" not in describe("config", value).text


def test_numbers_and_dates_with_a_secret_name_are_shown():
    frame = pd.DataFrame({"token": [17, 18], "secret": pd.to_datetime(["2026-01-02", "2026-01-03"])})
    assert "17,2026-01-02" in describe("frame", frame).text
    assert describe("frame", pl.from_pandas(frame)).masked == ()
