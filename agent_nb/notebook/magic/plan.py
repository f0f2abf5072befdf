"""From the options of a cell to everything a run needs. All that can be wrong is found here, before it starts."""

import asyncio
import builtins
import hashlib
import keyword
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from agent_nb.agent import Agent
from agent_nb.cassette import ReplayProvider
from agent_nb.engine.handle import Handle
from agent_nb.engine.limits import Limits
from agent_nb.engine.race import count_variants
from agent_nb.messages import Image
from agent_nb.notebook.magic.context import describe, expand, lookup, recent_cells
from agent_nb.notebook.magic.inputs import find_system, load_images
from agent_nb.notebook.magic.mode import DEMO, Playing, choose_playing
from agent_nb.notebook.magic.store import RunStore
from agent_nb.providers import default_model_name, model
from agent_nb.providers.base import Provider
from agent_nb.run.run import Run, request_key
from agent_nb.tools import Tool, Toolbox

if TYPE_CHECKING:
    from agent_nb.notebook.magic.magics import AgentMagics

_RESERVED = {"In", "Out", "get_ipython", "exit", "quit", "open", "display"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One cell, understood."""

    name: str
    agent: Agent
    prompt: str
    images: tuple[Image, ...]
    base: Run | None
    models: tuple[Provider, ...]
    """The models to ask; empty where a cassette plays."""
    variants: int
    """How many on each of them."""
    key: str
    note: str
    """Lines to show first: why this model, what it is not shown; empty when there is nothing to say."""

    @property
    def names(self) -> list[str]:
        """The model of each variant."""
        if isinstance(self.agent.provider, ReplayProvider):
            return [provider.name for provider in self.agent.provider.variants]
        return [provider.name for provider in self.models for _ in range(self.variants)]

    def start(self) -> Handle:
        """Starts the run, or its variants at once."""
        if len(self.names) == 1:
            return self.agent.start(self.prompt, images=self.images, base=self.base)
        return self.agent.race(
            self.prompt, models=self.models, variants=self.variants, images=self.images, base=self.base
        )


async def make_plan(magics: "AgentMagics", options: Any, cell: str, *, attended: bool) -> Plan:
    """Reads variables and options; raises `UsageError` when the cell cannot run as written."""
    namespace = magics.shell.user_ns
    name = check_name(options.name, namespace)
    if not cell.strip():
        raise UsageError(f"The cell is empty. Write the prompt below the %%{magics.magic_name} line.")
    base = _base(magics, options, name)
    options.stack = options.stack or (base and base.settings.get("stack")) or magics.stack or None
    count_variants(len(options.model or ()), options.variants)
    playing = choose_playing(magics, options, base)
    asked = expand(cell.strip(), namespace)
    texts, images, masked = [asked.text], list(asked.images), list(asked.masked)
    for variable in options.variables or ():
        described = describe(variable, lookup(variable, namespace))
        texts.append(f"Variable `{variable}`:\n{described.text}")
        images += described.images
        masked += described.masked
    if options.cells:
        texts.append(recent_cells(magics.shell, options.cells))
    images += await load_images(options.image or (), namespace, playing)
    prompt = "\n\n".join(text for text in texts if text)
    # With nobody watching there is no point in waiting; the run's own times stay the same.
    pace = options.pace if options.pace is not None else (1.0 if attended else 0.0)
    note, models = "", tuple[Provider, ...]()
    agent = await asyncio.to_thread(_replaying, magics, options, playing, pace)
    if agent is not None and not await asyncio.to_thread(
        playing.matches, agent, prompt, variants=options.variants, images=images, base=base
    ):
        agent = None
    if agent is None:
        names, note = choose_models(playing.named_models)
        for model_name in names:
            playing.check_network(model_name)
        models = await asyncio.to_thread(_providers, magics, options, names, pace)
        agent = _agent(magics, options, models[0])
    if playing.mode == "record":
        agent = agent.recording(playing.path, force=playing.force, folder=playing.folder)
    plan = Plan(
        name=name,
        agent=agent,
        prompt=prompt,
        images=tuple(images),
        base=base,
        models=models,
        variants=1 if not models else options.variants,
        key="",
        note="\n".join(filter(None, (note, _masked_words(masked)))),
    )
    return replace(plan, key=_key(plan))


def _masked_words(masked: Sequence[str]) -> str:
    told = ", ".join(dict.fromkeys(masked))
    return f"Masked as secrets, so the model does not see them: {told}." if told else ""


def _key(plan: Plan) -> str:
    """The mark of its output: the same for the same request."""
    base, others = plan.base.key if plan.base else "", plan.names[1:]
    asked = (plan.prompt, plan.names[0], base, plan.agent.instructions or "")
    pictures = [hashlib.sha256(image.data).hexdigest() for image in plan.images]
    more = (others, plan.agent.stack, pictures)
    return request_key(plan.name, *asked, *(each for each in more if each))


def check_name(name: str, namespace: dict[str, Any]) -> str:
    """The variable name, if it can be one without hiding something."""
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise UsageError(f"{name!r} cannot be a variable's name. Use letters, digits and _, such as `hero`.")
    if hasattr(builtins, name) or name in _RESERVED:
        raise UsageError(f"`{name}` would hide Python's own `{name}`. Choose another name, such as `hero`.")
    if isinstance(namespace.get(name), types.ModuleType):
        raise UsageError(f"`{name}` is an imported module. Choose another name, such as `{name}_run`.")
    return name


def choose_models(named: Sequence[str]) -> tuple[Sequence[str], str]:
    """The models and a line about them: those named, else of the first vendor with a key, else the demo."""
    if named:
        return named, ""
    found = default_model_name()
    if found:
        return (found,), ""
    return (
        (DEMO,),
        "No API key found: this is the offline demo model. `%agent models` shows how to use a real one.",
    )


def _base(magics: "AgentMagics", options: Any, name: str) -> Run | None:
    if options.base and options.go_on:
        raise UsageError("Use either --from NAME or -c: both say where to go on from.")
    wanted = options.base or (name if options.go_on else None)
    if wanted is None:
        return None
    value = magics.shell.user_ns.get(wanted)
    if isinstance(value, Run):
        return value
    if value is not None:
        raise UsageError(
            f"`{wanted}` is a {type(value).__name__}, not a Run, so there is nothing to go on from."
        )
    saved = RunStore(magics.home).newest(wanted)
    remedy = (
        f"`%{magics.magic_name} load {wanted}` brings back the saved one." if saved else "Run its cell first."
    )
    raise UsageError(f"`{wanted}` is not defined. {remedy}")


def _replaying(magics: "AgentMagics", options: Any, playing: Playing, pace: float) -> Agent | None:
    """The agent of the cassette, if there is one: no key is looked for, no client is made."""
    provider = playing.provider(pace)
    return _agent(magics, options, provider) if provider else None


def _providers(
    magics: "AgentMagics", options: Any, names: Sequence[str], pace: float
) -> tuple[Provider, ...]:
    effort = options.effort or magics.effort or None
    if options.pace is not None and not any(name.startswith(DEMO) for name in names):
        raise UsageError(f"--pace is for a demo or a replay; {names[0]!r} takes its own time. Leave it out.")
    paced: dict[str, Any] = {"pace": pace}
    return tuple(model(name, effort=effort, **(paced if name.startswith(DEMO) else {})) for name in names)


def _agent(magics: "AgentMagics", options: Any, provider: Provider) -> Agent:
    limits = Limits(
        steps=_either(options.steps, magics.steps),
        seconds=_either(options.seconds, magics.seconds),
        usd=_either(options.budget, magics.budget),
    )
    system = find_system(options.system, magics.shell.user_ns, magics.home)
    instructions = "\n\n".join(text for text in (magics.instructions, system) if text)
    agent = Agent(
        provider,
        tools=_tools(magics, options.tool or ()),
        system=instructions or None,
        limits=limits,
        approve=options.approve or magics.approve,
    )
    return agent.with_stack(options.stack) if options.stack else agent


def _either(chosen: Any, default: Any) -> Any:
    return default if chosen is None else chosen


def _tools(magics: "AgentMagics", names: Iterable[str]) -> Toolbox:
    tools: list[Tool | Callable[..., Any]] = []
    for name in names:
        value = lookup(name, magics.shell.user_ns)
        if not callable(value):
            raise UsageError(
                f"`{name}` is a {type(value).__name__}, not a tool. Decorate a function with @tool."
            )
        tools.append(value)
    return Toolbox.default(tools)
