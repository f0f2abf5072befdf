"""The figures of imports that `make check` limits: what is counted, and that too many are reported."""

from docs.scripts.import_circles import LIMITS, arrows, exceeded, figures


def test_arrows_are_imports_of_files_but_not_for_type_checkers(tmp_path):
    package = tmp_path / "pkg"
    (package / "low").mkdir(parents=True)
    files = {
        "__init__.py": "from pkg import top\n",
        "low/__init__.py": "",
        "low/names.py": "import json\n",
        "side.py": "",
        "top.py": "if TYPE_CHECKING:\n    import pkg.side\nfrom pkg.low import names, VALUE\n"
        "def late():\n    import pkg.low.names.inner\n    from pkg import Agent\n",
    }
    for name, text in files.items():
        (package / name).write_text(text)
    graph = arrows(package)
    assert {name: others for name, others in graph.items() if others} == {
        "pkg.top": {"pkg.low", "pkg.low.names"}
    }
    assert list(figures(graph).values()) == [0.4, 0.0, 0, 2]


def test_a_package_with_too_many_imports_is_refused():
    chain = {f"pkg.{number}": {f"pkg.{other}" for other in range(number)} for number in range(60)}
    values = figures(chain)
    assert list(values.values()) == [29.5, 16.5, 44, 60]
    assert [line.partition(":")[0] for line in exceeded(values)] == [
        f"{values[name]} {name}" for name in LIMITS
    ]
    assert exceeded({"floors": LIMITS["floors"] + 2}) == [
        f"{LIMITS['floors'] + 2} floors: 2 above the limit of {LIMITS['floors']}"
    ]
    assert exceeded(LIMITS) == []
