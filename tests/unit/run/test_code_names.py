"""Which names code needs from before it."""

import pytest

from agent_nb.run.code_names import names_in, needed_by, statements_in


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


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        ("a = 1; b = 2 ;c = 3", ["a = 1", "b = 2", "c = 3"]),
        (
            "a = 1; t = '''\n'''; u = '''\nevil()\n'''; b",
            ["a = 1", "t = '''\n'''", "u = '''\nevil()\n'''", "b"],
        ),
        ("a = 1\rb = 2\r\nc = '\f\x0b\u2028é'; d", ["a = 1", "b = 2", "c = '\f\x0b\u2028é'", "d"]),
        ("a = 'é'; \\\nb = 2  # why\n# c\nc = (\n 1)", ["a = 'é'", "b = 2", "c = (\n 1)"]),
        ("@(\n f)\n@g\ndef h():\n  1; 2\n\n", ["@(\n f)\n@g\ndef h():\n  1; 2"]),
        ("@f\n@g\nclass H: x = 1; y = 2\nb", ["@f\n@g\nclass H: x = 1; y = 2", "b"]),
        ("!pip install x\nb = 1\nc = !ls\n%time d = 1\ne = 1", ["b = 1", "e = 1"]),
        ("%pwd\nt = '''\n!a '''; evil(); '''\n'''", []),
        ("a = '''\n>>> evil()\n'''\nIn [1]: b = 2\nc = 3", ["c = 3"]),
        ("!(\nb = 1", []),
        ("%%bash\nls", []),
        ("b = ", []),
    ],
)
def test_each_statement_has_its_own_text_and_no_other(code, texts):
    assert [text for *_, text in statements_in(code)] == texts


def test_code_that_is_nested_too_deeply_mentions_all_its_words():
    names = names_in(f"x = {'+'.join(['y'] * 1000)}")
    assert (names.mentions, names.sets) == ({"x", "y"}, set())
