"""A plugin for agent_nb with a feature that uses every hook: `--words N` asks for answers of at most N words."""

from dataclasses import replace

from agent_nb import plugins


class Limited(plugins.FeatureCode):
    """One object for all runs."""

    def read(self, value, names):
        """Called with the option's value, or the keyword's. `names` are the notebook's variables."""
        return super().read(value, names)

    def prepare(self, draft):
        """Called for each request: the setting that is recorded, and a text for the model."""
        if (most := draft.get(WORDS)) is not None:
            draft.recorded[WORDS.name] = most
            draft.sections.append(f"Answer in at most {most} words.")

    def run(self, request, start):
        """Could start several runs of the request. The handle of one counts; None is the ordinary way."""
        return

    def part(self, run):
        most = run.prepared.get(WORDS)
        return None if most is None else Counted(most)

    def value(self, run):
        """What `run.words` is, here what the part has kept."""
        return super().value(run)

    def addition(self, run):
        """What HTML, Markdown and text add to the run, also to a loaded one."""
        return (
            plugins.Addition(below=[f"{run.values[WORDS.name]} words."]) if WORDS.name in run.values else None
        )


class Counted(plugins.RunPart):
    """The state of one run."""

    def __init__(self, most):
        self.most, self.said, self.is_late, self.has_asked = most, "", False, False

    async def begin(self, runner):
        """Called before the first turn; could add something to the tools' context."""
        self.said = ""
        return runner

    def outgoing(self, request):
        """Called with each request."""
        if not self.has_asked:
            return request
        return replace(request, system=f"{request.system}\n\nYour last answer was too long.")

    def event(self, event):
        if isinstance(event, plugins.events.TurnStarted):
            self.said = ""
        elif isinstance(event, plugins.events.TextDelta):
            self.said += event.text

    def completed(self, turn, held):
        """Called with each turn, which it may change."""
        return turn

    async def after_tools(self, results):
        """Called with the results of tools; None goes on, as without this feature."""
        return plugins.Done() if any("STOP" in result.text for _, result in results) else None

    def after_turn(self, turn, left):
        """Called after an answer without tools."""
        if len(self.said.split()) <= self.most or self.has_asked or left < 2:
            return None
        self.has_asked = True
        return plugins.Say(f"Say that in at most {self.most} words.")

    def closing(self):
        """The text of the user before the last turn."""
        self.is_late = True
        return f"This is your last turn: answer in at most {self.most} words."

    def runs_last(self, calls):
        """Whether the calls of the last turn are run, which nobody would read."""
        return False

    def finish(self, end):
        """`run.words`, also of a saved and a replayed run."""
        end.values[WORDS.name] = len(self.said.split())

    def close(self):
        self.said = ""


class InCells(plugins.CellCode):
    """What it does in cells alone."""

    async def prompt(self, cell):
        """A part of the prompt; None for none."""
        return

    async def planned(self, plan):
        if plan.get(WORDS):
            plan.notes.append("The answer is counted.")

    def started(self, start):
        """Called when the run has started, before it is shown."""

    async def save(self, end):
        """Called when the variables are set."""

    async def ended(self, end):
        if most := end.get(WORDS):
            words = end.run.values.get(WORDS.name, 0)
            end.notes.append(f"{words} of {most} words.")
            end.host.memory.setdefault(WORDS.name, []).append(words)

    async def before_view(self, end):
        """The last that is done before the run is shown."""
        del end.host.memory.get(WORDS.name, [])[:-100]


def list_words(host, arguments):
    return f"Words of the last answers: {host.memory.get(WORDS.name, [])}"


def count_words(host, words):
    return len(words)


WORDS = plugins.Feature(
    "words",
    option=plugins.flag("--words N", "The most words of an answer.", number=plugins.count(50)),
    default=plugins.Default(None, "The most words of an answer."),
    keyword=True,
    setting=plugins.Setting(
        sent="system",
        matched="no",
        accepted_by={},
        stricter=min,
        header="at most {} words".format,
        kind=int | None,
    ),
    commands=(
        plugins.Command(
            "words",
            "The words of the last answers.",
            f"{__name__}:list_words",
            terminal=f"{__name__}:count_words",
        ),
    ),
    value="int | None",
    code=f"{__name__}:Limited",
    cell=f"{__name__}:InCells",
)


class Words(plugins.Plugin):
    def features(self):
        return [WORDS]


plugin = Words()
