"""Objects that are hard to describe: the cells that make them, and the expected line of each variable."""

CLASSES = """
import dataclasses, types, numpy as np, pandas as pd, polars as pl, pyarrow as pa
class RaisingRepr:
    def __repr__(self): raise ValueError("no repr")
class ExitingRepr:
    def __repr__(self): raise SystemExit(3)
class EndlessRepr:
    def __repr__(self):
        while True: pass
class NoText:
    def __repr__(self): return 3
class RaisingLen(list):
    def __len__(self): raise OSError("no length")
class RaisingShape:
    @property
    def shape(self): raise KeyError("no shape")
    def __repr__(self): return "RaisingShape()"
class Tensor:
    shape = property(lambda self: (2, 1000))
    def __repr__(self): return "tensor([...])"
class LazyTable:
    shape = property(lambda self: (object(), 3))
    def __len__(self): raise RuntimeError("it would be computed")
    def __repr__(self): return "LazyTable()"
class Proxy:
    def __getattr__(self, name): raise RuntimeError("fetches " + name)
    def __repr__(self): return "Proxy()"
class Liar:
    __class__ = property(lambda self: 1 / 0)
class Hostile:
    def __getattribute__(self, name): raise MemoryError(name)
@dataclasses.dataclass
class Account:
    user: str
    password: str
class Locked(Exception):
    def __str__(self): raise self
class RaisingLocked:
    def __repr__(self): raise Locked()
"""

VARIABLES = {
    "plain": ("3", "int; 3"),
    "text": ("'a\\nb'", r"str, 3 characters; 'a\nb'"),
    "long": ("'x' * 5_000_000", f"str, 5,000,000 characters; '{'x' * 98}…"),
    "digits": ("10 ** 5000", "int; (not readable: raises ValueError: Exceeds the limit"),
    "empty": ("[]", "list, 0 items; []"),
    "many": ("list(range(100_000))", "list, 100,000 items; [0, 1, 2, 3, 4, 5, 6, 7, ...]"),
    "rec": ("(lambda x: x.append(x) or x)([1])", "list, 2 items; [1, [1, [1, [...]]]]"),
    "rows": ("[{'a': 1, 'token': 'abc'}]", "list, 1 item; [{'a': 1, 'token': '•••'}]"),
    "nested": ("{'a': {'api_key': 'abc', 'n': 1}}", "dict, 1 item; {'a': {'api_key': '•••', 'n': 1}}"),
    "order": (
        "{'b': 1, 'a': {2: ()}} | dict.fromkeys(range(9))",
        "dict, 11 items; {'b': 1, 'a': {2: ()}, 0: None,",
    ),
    "api_key": ("'abc'", "str, 3 characters; •••"),
    "note": (f"'mine is sk-proj-{'Ab1' * 16} ok'", "str, 67 characters; 'mine is ••• ok'"),
    "account": ("Account('ann', 'abc')", "Account; Account(user='ann', password='•••')"),
    "space": (
        "types.SimpleNamespace(n=1, secret='abc')",
        "types.SimpleNamespace; namespace(n=1, secret='•••')",
    ),
    "raising_repr": ("RaisingRepr()", "RaisingRepr; (not readable: raises ValueError: no repr)"),
    "inside": ("[RaisingRepr()]", "list, 1 item; [<RaisingRepr instance at 0x"),
    "exiting_repr": ("ExitingRepr()", "ExitingRepr; (not readable: raises SystemExit: 3)"),
    "no_text": ("NoText()", "NoText; (not readable: raises TypeError: __repr__ returned non-string"),
    "locked": ("RaisingLocked()", "RaisingLocked; (not readable: raises Locked)"),
    "raising_len": ("RaisingLen()", "RaisingLen; (not readable: raises OSError: no length)"),
    "shape": ("RaisingShape()", "RaisingShape; (not readable: raises KeyError: 'no shape')"),
    "tensor": ("Tensor()", "Tensor, 2 x 1,000; tensor([...])"),
    "lazy": ("LazyTable()", "LazyTable, ? x 3; LazyTable()"),
    "proxy": ("Proxy()", "Proxy;"),
    "liar": ("Liar()", "Liar; (not readable: raises ZeroDivisionError: division by zero)"),
    "hostile": ("Hostile()", "Hostile; (not readable: raises MemoryError: __class__)"),
    "zeros": ("np.zeros((3, 4))", "numpy.ndarray, 3 x 4; float64: [0.0, 0.0,"),
    "scalar": ("np.array(3)", "numpy.ndarray; int64: [3]"),
    "huge": ("np.zeros(100_000)", "numpy.ndarray, 100,000 values; float64: [0.0,"),
    "records": ("np.array([(1, 'abc')], [('n', int), ('token', 'U9')])", "numpy.ndarray, 1 value;"),
    "frame": ("pd.DataFrame({'n': range(100_000)})", "pandas.DataFrame, 100,000 rows x 1 column; columns n"),
    "none": ("pd.DataFrame()", "pandas.DataFrame, 0 rows x 0 columns; no columns"),
    "series": ("pd.Series(['u', None], name='token')", "pandas.Series, 2 values; str: ['•••', '•••']"),
    "polars": ("pl.DataFrame({'a': [1], 'b': ['x']})", "polars.DataFrame, 1 row x 2 columns; columns a, b"),
    "polar": ("pl.Series('a', [1, None])", "polars.Series, 2 values; Int64: [1, None]"),
    "arrow": ("pa.table({'a': [1]})", "pyarrow.Table, 1 row x 1 column; columns a"),
    "wide": ("pd.DataFrame(0, [0], range(5000))", "pandas.DataFrame, 1 row x 5,000 columns; columns 0, 1,"),
    "call": ("lambda x, token='abc': x", "function; <lambda>(x, token)"),
    "lone": ("chr(0xd800)", "str, 1 character; '\\ud800'"),
}
"""Each variable: the expression of its value, and how its line begins after the name."""


def cell() -> str:
    """The cell that makes them all."""
    return CLASSES + "\n".join(f"{name} = {expression}" for name, (expression, _) in VARIABLES.items())
