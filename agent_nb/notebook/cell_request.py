"""From a prompt to runs that are ready to start, in every host: its cassette plays them, or models are asked."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from agent_nb._base.constants import MODE_VARIABLE
from agent_nb._base.model_name import is_demo
from agent_nb._base.text import listed
from agent_nb.agent import Agent
from agent_nb.cassette import AGAIN, ReplayProvider, cassettes_for, locate, replay
from agent_nb.engine.handle import Handle
from agent_nb.engine.opening import Material
from agent_nb.engine.prepared import Prepared, start_variants
from agent_nb.engine.race import Race
from agent_nb.errors import CassetteError, ConfigError
from agent_nb.providers import model
from agent_nb.providers.base import Provider

Mode = Literal["auto", "record", "replay", "live"]
MODES: tuple[Mode, ...] = ("record", "replay", "live")
OFF = "off"
INSTEAD = (
    "Use `--replay off` to ask the model, `--record` to record again, or `-m demo:` for the offline demo."
)


def read_mode(options: Mapping[str, Any], spelling: str) -> tuple[Mode | None, Mode | None, str]:
    """The mode that the options choose, that of the environment, and the path that the options give.

    `options` may have `record` and `replay`: a path, True or empty text for the default one, `off` for `replay`.
    `spelling` is that of an option, as in `--{}`.
    """
    given = {name: options[name] for name in ("record", "replay") if options.get(name) not in (None, False)}
    if len(given) > 1:
        raise ConfigError(f"Use only one of {' and '.join(map(spelling.format, given))}.")
    default = os.environ.get(MODE_VARIABLE, "").strip().lower()
    if default and default not in MODES:
        raise ConfigError(f"{MODE_VARIABLE} is {default!r}. Set it to record, replay or live.")
    from_environment = next((mode for mode in MODES if mode == default), None)
    for name, value in given.items():
        if value == OFF:
            return "live", from_environment, ""
        path = "" if value is True else Path(value).as_posix() if value else ""
        return ("record" if name == "record" else "replay"), from_environment, path
    return None, from_environment, ""


def all_demo(models: Sequence[str]) -> bool:
    return bool(models) and all(map(is_demo, models))


@dataclass(frozen=True, slots=True, kw_only=True)
class CassettePlan:
    """How a cell uses its cassette."""

    mode: Mode
    path: str
    """Relative to `folder`, for messages."""
    folder: Path
    named_models: tuple[str, ...]
    """The models that the user named. The cassette must have been recorded with them."""
    all_variants: bool = False
    """`-m replay:...`: play every variant that the cassette has."""
    offline: bool = False
    """`AGENT_NB_MODE=replay`: no network access."""
    is_preferred: bool = False
    """A cassette that fits is played, also with `--replay off`, and any other is ignored."""
    others: tuple[str, ...] = ()
    """Further cassettes that are tried."""
    is_searched: bool = False
    """Whether the other cassettes of the folder are tried, too: those of others may have other names."""

    def candidates(self, prompt: str) -> "Iterator[CassettePlan]":
        """This plan, and then those with other cassettes that were recorded for the prompt."""
        yield self
        own = locate(self.path, self.folder)
        found = cassettes_for(prompt, own.parent) if self.is_searched else ()
        names = [(Path(self.path).parent / file.name).as_posix() for file in found if file != own]
        for path in (*self.others, *names):
            yield replace(self, path=path)

    @property
    def is_optional(self) -> bool:
        """Whether a mismatched cassette is ignored: one that fits is only preferred, or the demo was named."""
        return self.mode == "auto" and (self.is_preferred or all_demo(self.named_models))

    def provider(self, pace: float) -> ReplayProvider | None:
        """The cassette as a model; None if it is not to be played."""
        exists = os.path.exists(locate(self.path, self.folder))  # `Path.exists` raises if it is too long
        if self.mode in ("record", "live") or (self.mode == "auto" and not exists):
            return None
        try:
            return replay(self.path, pace=pace, folder=self.folder)
        except CassetteError as error:
            self._check_optional(error, INSTEAD if exists else "`--record` writes one.")
            return None

    def _check_optional(self, error: CassetteError, instead: str = INSTEAD) -> None:
        """Raises `CassetteError`, unless a cassette that cannot be played is ignored."""
        if not self.is_optional:
            raise CassetteError(f"{str(error).removesuffix(AGAIN).strip()} {instead}") from None

    def matches(self, prepared: Sequence[Prepared], variants: int) -> bool:
        """Whether the cassette was recorded for this request; raises `CassetteError` if it had to be."""
        count = len(prepared) if self.all_variants else variants
        models = [name for name in self.named_models or (None,) for _ in range(count)]
        try:
            differences = prepared[0].differences(models)
        except CassetteError as error:
            self._check_optional(error)
            return False
        if differences and not self.is_optional:
            raise CassetteError(f"{self.path!r} was recorded with {' and '.join(differences)}. {INSTEAD}")
        return not differences

    def check_network(self, model_name: str) -> None:
        if self.offline and not is_demo(model_name):
            raise ConfigError(
                f"{MODE_VARIABLE}=replay, and there is no cassette {self.path!r} for {model_name!r}. "
                "Record one with `--record`, or use `-m demo:`."
            )

    def check_image(self, source: Any) -> None:
        if self.offline and isinstance(source, str) and source.startswith(("https:", "http:")):
            raise ConfigError(f"{MODE_VARIABLE}=replay, so {source!r} is not fetched. Use a local file.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a cell asks, before it is known whether its cassette or a model answers."""

    prompt: str
    material: Material
    variants: int
    cassette: CassettePlan
    make_agent: Callable[[Provider], Agent]

    def replay(self, pace: float) -> list[Prepared]:
        """The runs that a cassette plays; none if there is no cassette of this request. Needs no key and no client."""
        for plan in self.cassette.candidates(self.prompt):
            if provider := plan.provider(pace):
                prepared = self.make_agent(provider).prepare_variants(self.prompt, **self.material)
                if plan.matches(prepared, self.variants):
                    return prepared
        return []

    def ask(
        self, models: Sequence[Provider], record_to: str | None, *, quiet: bool = False
    ) -> list[Prepared]:
        """The runs on these models, recorded to a cassette if one is given."""
        agent, plan = self.make_agent(models[0]), self.cassette
        if record_to:
            agent = agent.recording(record_to, folder=plan.folder, quiet=quiet)
        return agent.prepare_variants(self.prompt, models=models, variants=self.variants, **self.material)


def providers(models: Sequence[str | Provider], pace: float, **options: Any) -> list[Provider]:
    """The providers of these models; `pace` is for the demo alone."""
    demo: dict[str, Any] = {"pace": pace}
    given = [name for name, value in options.items() if value is not None]
    for each in models:
        if given and not isinstance(each, str):
            raise ConfigError(
                f"{each.name!r} is a model object already: pass {listed(given)} when you make it."
            )
    return [
        model(each, **options, **(demo if is_demo(each) else {})) if isinstance(each, str) else each
        for each in models
    ]


def start(prepared: Sequence[Prepared]) -> Handle:
    """Starts the run, or all its variants."""
    return prepared[0].start() if len(prepared) == 1 else Race(start_variants(prepared))
