"""Which names code needs from before it."""

import pytest

from agent_nb.run.code_names import names_in, needed_by


@pytest.mark.parametrize(
    ("code", "reads"),
    [
        ("x += 1", "x"),
        ("x = x + y", "x y"),
        ("y = [a for a in xs if a > low]", "xs low"),
        ("def f(a, b=d):\n    return a + g() + h\ndef g(): pass", "d h"),
        ("for i in rows:\n    last = i\nprint(last)", "rows"),
        ("df['x'] = 1\ndf.head()", "df"),
        ("%time z = q + 1\n!ls\nw = !pwd\ndf?", "q"),
        ("%%bash\nls", ""),
        ("import os.path, sys as s\nwith open(f) as h: h.read(os, s)", "f"),
        ("try:\n    1\nexcept ValueError as e:\n    print(e)", ""),
        ("class A(B):\n    x = 1\n    y = x + k", "B k"),
        ("match cmd:\n    case {'a': v, **rest}: print(v, rest)\n    case [1, *s] as w: print(s, w)", "cmd"),
        ("(n := len(a)) > 3 and n", "a"),
        ("x: int = y\nawait z", "y z"),
        ("del gone", "gone"),
        ("def f(x: A) -> B:\n    match x:\n        case {'k': v}: return v", "B A"),
        ("get_ipython(); display(print)", ""),
        ("not python at all", ""),
    ],
)
def test_names_that_are_read_before_they_are_set(code, reads):
    assert names_in(code).reads == tuple(reads.split())


def test_cells_one_after_the_other():
    assert needed_by(["total = sum(rows)", "print(total, label)", "rows"]) == ("rows", "label")


def test_what_is_changed_in_place_is_not_set():
    names = names_in("df['x'] = 1\nitems.append(2)\na.b = 3\nc = 4")
    assert names.sets == {"c"}
    assert names.changes == {"df", "items", "a", "c"}
