"""`js/src/events.ts` has the types of the events and of what else the page is told of a run."""

from docs.scripts.write_events import TARGET, typescript


def test_the_types_on_the_page_are_those_of_the_kernel():
    assert TARGET.read_text(encoding="utf-8") == typescript(), (
        "js/src/events.ts is out of date: run `make events`"
    )
