"""`acp:NAME` as a model: rejects unsupported options and creates the agent's runs."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from agent_nb._base.constants import ACP
from agent_nb.acp.known import find
from agent_nb.acp.turns import AgentTurns
from agent_nb.core.errors import ConfigError
from agent_nb.core.feature import features
from agent_nb.core.run_settings import Limits
from agent_nb.engine.handle import RunHandle
from agent_nb.engine.loop import EngineRun, VariantGroup
from agent_nb.engine.start import Prepared
from agent_nb.prompts import prompt_text, stack_text
from agent_nb.providers.base import Piece, Provider, Request
from agent_nb.tools import Toolbox
from agent_nb.tools.preview_tools import PAGE_VIEWER

SILENCE = 300.0
"""Timeout in seconds for an agent that sends nothing while no call is open."""


class AgentProvider(Provider):
    """An outside agent, as `NAME` or `NAME/MODEL`, which runs its turns and tools itself."""

    runs_by: Literal["agent"] = "agent"

    def __init__(self, name: str, *, effort: str | None = None, silence: float | None = None) -> None:
        self._agent = find(name.partition("/")[0])
        self.name, self.effort = f"{ACP}:{name}", effort
        self._silence = silence or SILENCE

    @property
    def variants(self) -> "list[AgentProvider]":
        return [self]

    def prepare(self, prepared: Prepared) -> Prepared:
        """The request with the agent's tools and texts; raises `ConfigError` for unsupported options."""
        self._check(prepared)
        settings, can_look = prepared.settings, prepared.viewer is not None and prepared.settings.looks > 0
        own_names = {tool.name for tool in prepared.all_tools.own}
        toolbox = Toolbox(
            tool
            for tool in prepared.all_tools
            if tool.name in own_names or (can_look and PAGE_VIEWER in tool.needs)
        )
        settings = replace(settings, tools=tuple(tool.name for tool in toolbox))
        texts = (
            prepared.run_input.system or prompt_text("outside_agent", network=settings.network),
            stack_text(settings.stack, network=settings.network) if settings.stack else "",
            settings.instructions,
        )
        run_settings = {name: value for name, value in settings.recorded().items() if name != "steps"}
        if prepared.recorded_settings.get("has_data"):
            run_settings["has_data"] = True
        about = {"title": self._agent.title, "version": self._agent.version, "unasked": self._agent.unasked}
        return replace(
            prepared,
            settings=settings,
            recorded_settings={**run_settings, "agent": about},
            toolbox=toolbox,
            system="\n\n".join(text for text in texts if text),
        )

    def _check(self, prepared: Prepared) -> None:
        agent, limits, settings = self._agent, prepared.settings.limits, prepared.settings
        agent.check_installed()
        if limits.steps != Limits().steps:
            raise ConfigError(
                f"{agent.title} counts its own turns, so a limit on steps (`--steps`) cannot be enforced. Leave it out;"
                " `--seconds` is supported."
            )
        if limits.usd is not None:
            raise ConfigError(
                f"{agent.title} reports its cost only afterwards, so no budget can be enforced. Leave it out;"
                " `--seconds` is supported."
            )
        if settings.data:
            raise ConfigError(
                f"{agent.title} reads files on this machine on its own, so `--data schema` cannot be enforced."
                " Use a vendor's model instead."
            )
        for feature in features():
            if ACP in feature.refused_by and prepared.get(feature):
                raise ConfigError(f"{agent.title} {feature.refused_by[ACP]}")
        if self.effort and not agent.has_effort:
            raise ConfigError(f"{agent.title} does not support `effort`. Leave it out.")
        if settings.sampling:
            raise ConfigError(f"{agent.title} does not support {', '.join(settings.sampling)}.")

    def differences(self, prepared: Prepared, models: Sequence[str | None]) -> list[str]:
        return []

    @property
    def tries(self) -> int:
        return 0

    def make_run(self, prepared: Prepared, group: VariantGroup, variant: int) -> RunHandle:
        turns = partial(AgentTurns, agent=self._agent, silence=self._silence)
        return EngineRun(prepared, group, variant, turns)

    def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        raise ConfigError(f"{self._agent.title} makes whole runs and cannot answer single requests.")

    def __repr__(self) -> str:
        return f"<AgentProvider {self.name}>"
