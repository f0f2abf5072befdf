"""`js/src/run/events.ts` has the types of the events and of what else the page is told of a run."""

from agent_nb.core.feature import value_types
from docs.scripts.write_events import TARGET, VALUES, feature_values, typescript


def test_the_types_on_the_page_are_those_of_the_kernel():
    assert TARGET.read_text(encoding="utf-8") == typescript(), (
        "js/src/run/events.ts is out of date: run `make events`"
    )


def test_type_checkers_know_the_values_of_features():
    assert VALUES.read_text(encoding="utf-8") == feature_values(value_types()), (
        "agent_nb/run/feature_values.py is out of date: run `make events`"
    )
    text = feature_values({"agreement": "int | None"})
    assert "    agreement: int | None\n" in text
    compile(text, "feature_values.py", "exec")
