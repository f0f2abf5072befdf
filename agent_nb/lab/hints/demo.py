"""What the demo model says in a lab that gives hints: general advice for any task, one kind for each step."""

from agent_nb.demo.brief import shortened
from agent_nb.demo.conversation import Action, Say, read_conversation
from agent_nb.providers.base import Request

LABEL = (
    "This is the offline demo model, a script that does not understand your task. It gives the general advice that"
    " fits most of them."
)
_HINTS = {
    "question": (
        "About “{task}”: what should the result be for the smallest input that you can think of? Work it out by hand"
        " first.",
        "Then run your own code with that input. Where does it differ from what you expected?",
    ),
    "pointer": (
        "About “{task}”: look at the first line where a value is not what you expect. Print the values before and"
        " after it.",
        "`help()` shows the documentation of a function, with its arguments and what it returns.",
    ),
    "partial": (
        "About “{task}”: write down one example with its result, and compare. The example is yours to fill in.",
        "```python\nexpected = ...  # worked out by hand\nresult = ...  # what your code gives\n"
        "print(result == expected, result)\n```",
        "When it is right for one example, try an empty one and a large one.",
    ),
}


def next_hint(step: str, request: Request) -> tuple[Action, ...]:
    """The turn of the demo model at a step of the ladder."""
    prompt = read_conversation(request).prompt
    task = shortened(" ".join(prompt.split()).rstrip(".?!"), 60) or "your task"
    paragraphs = (paragraph.format(task=task) for paragraph in _HINTS[step])
    return (Say("\n\n".join((LABEL, *paragraphs)) + "\n"),)
