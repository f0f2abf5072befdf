"""Changes inside objects that code names: what is reported for each kind, and that reading them is bounded."""

import threading

import pytest

from agent_nb._base.secrets import MASK
from agent_nb.notebook.kernel_tools import in_place
from agent_nb.notebook.kernel_tools.name_changes import changes_between

FRAME = "pd.DataFrame({'price': [1, 2], 'town': ['a', 'b'], 'size': pd.Categorical(['s', 'm'])})"
POLARS = "pl.DataFrame({'price': [1, 2], 'town': ['a', None]})"
CASES = [
    (FRAME, "x['revenue'] = x.price * 2", "+ revenue"),
    (FRAME, "x.pop('town')", "- town"),
    (FRAME, "x.columns = ['price', 'city', 'size']", "+ city, - town"),
    (FRAME, "x.loc[0, 'price'] = 9; x.loc[0, 'town'] = 'c'", "changed price, town"),
    (FRAME, "x.loc[0, 'size'] = 'm'", "changed size"),
    (FRAME, "x['price'] = x.price.astype(float)", "changed price"),
    (FRAME, "x.loc[2] = [3, 'c', 's']", "2 rows → 3 rows"),
    (FRAME, "for n in range(7): x[n] = n", "+ 0, 1, 2, 3, 4 and 2 more"),
    (FRAME, "x['sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789'] = 1", f"+ {MASK}"),
    (FRAME, "x.describe(); x.sort_values('town'); x.price.sum()", ""),
    ("pd.Series([1, 2])", "x[0] = 9", "changed values"),
    ("pd.Series([{}, 2])", "x[0] = 9", "changed values"),
    ("pd.Series([1, None], dtype='Int64')", "x[1] = 9", "changed values"),
    (POLARS, "x.insert_column(0, pl.Series('revenue', [1, 2]))", "+ revenue"),
    (POLARS, "x[0, 'price'] = 9", "changed price"),
    (POLARS, "x.sort('town')", ""),
    ("pa.table({'a': [1]})", "x.append_column('b', [[2]])", ""),
    ("np.zeros((2, 3))", "x[0, 0] = 1", "changed values"),
    ("np.zeros((2, 3))", "x.shape = (3, 2)", "2 x 3 → 3 x 2"),
    ("np.array(['a', None])", "x[0] = 'b'", "changed values"),
    ("[1]", "x.append(2)", "1 item → 2 items"),
    ("[1, 2]", "x.reverse()", "changed values"),
    ("[3, 1]", "sorted(x)", ""),
    ("{'a': [1]}", "x['a'].append(2)", "changed values"),
    ("[{'a': [{1}]}]", "x[0]['a'][0].add(2)", "changed values"),
    (f"{{'a': {FRAME}}}", "x['a'].loc[0, 'price'] = 9", "changed values"),
    (f"[{FRAME}]", "x[0]['revenue'] = 1", "changed values"),
    (f"[{FRAME}, [1]]", "x[0].price.sum(); len(x[1])", ""),
    ("[np.zeros(2)]", "x[0][1] = 1", "changed values"),
    ("(lambda y: y.append(y) or y)([[1]])", "x[0].append(x)", "changed values"),
    ("{'a': 1}", "x['b'] = 2", "1 item → 2 items"),
    ("collections.Counter('a')", "x['a'] += 1", "changed values"),
    ("{1, 2}", "x.add(3)", "2 items → 3 items"),
    ("{1, 2}", "x.add(3); x.discard(3)", ""),
    ("list(range(200_000))", "x.pop()", "200,000 items → 199,999 items"),
]


@pytest.mark.parametrize(("value", "code", "change"), CASES)
def test_a_change_inside_an_object_is_reported(value, code, change, monkeypatch):
    monkeypatch.setattr(in_place, "SECONDS", 60)
    names = {
        short: pytest.importorskip(module)
        for short, module in (("pd", "pandas"), ("pl", "polars"), ("np", "numpy"), ("pa", "pyarrow"))
        if f"{short}." in f"{value} {code}"
    }
    namespace = {**names, "collections": __import__("collections")}
    exec(f"x = {value}", namespace)
    before = {"x": namespace["x"]}
    objects = in_place.snapshots(before)
    exec(code, namespace)
    changes = changes_between(namespace, before, {"x": namespace["x"]}, objects)
    assert changes.in_place.get("x", "").startswith(change)
    assert bool(changes.in_place) == bool(change)
    assert not changes  # nothing to undo


class Hostile(list):
    def __iter__(self):
        raise SystemExit

    __len__ = __eq__ = __repr__ = __iter__


def test_an_object_that_raises_or_never_answers_does_not_hide_the_others(monkeypatch):
    monkeypatch.setattr(in_place, "SECONDS", 0.5)
    pandas, asked = pytest.importorskip("pandas"), threading.Event()

    class Raises(pandas.DataFrame):
        dtypes = property(lambda self: 1 / 0)

    class Waits(pandas.DataFrame):
        dtypes = property(lambda self: asked.wait(60))

    values = {"raises": Raises(), "hostile": Hostile([1]), "items": [1], "waits": Waits()}
    before = in_place.snapshots(values)
    values["hostile"].append(2)
    values["items"].append(2)
    change = "1 item → 2 items"
    assert in_place.differences(before, values) == {"hostile": change, "items": change}
    asked.set()


def test_what_could_not_be_read_in_time_is_not_compared(monkeypatch):
    numpy = pytest.importorskip("numpy")
    values = {"x": numpy.zeros(3), "y": [1]}
    monkeypatch.setattr(in_place, "MAX_BYTES", 0)
    before = in_place.snapshots(values)
    monkeypatch.undo()
    values["y"].append(2)
    assert in_place.differences(before, values) == {"y": "1 item → 2 items"}


def test_the_sentence_names_both_kinds_of_change():
    orders = [1]
    objects = in_place.snapshots({"orders": orders})
    orders.append(2)
    changes = changes_between({}, {"orders": orders}, {"orders": orders, "total": 3}, objects)
    assert changes.sentence() == "Set total. orders: 1 item → 2 items."
    assert changes.added == ["total"]
