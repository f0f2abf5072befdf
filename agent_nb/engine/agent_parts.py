"""What an agent is made of, and how that and a prompt become a run."""

import sys
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import asdict
from functools import partial
from typing import Any, Self

from agent_nb.engine.approval_rules import Policy, read_policy
from agent_nb.engine.cost import check_price
from agent_nb.engine.limits import Limits
from agent_nb.engine.middleware import Hooks
from agent_nb.engine.opening import Opening
from agent_nb.engine.prepared import Prepared, RunMaker
from agent_nb.engine.run_config import Asked, RunConfig
from agent_nb.errors import ConfigError, check_type, wrong_type
from agent_nb.images.maker import INPUTS, Studio
from agent_nb.looking.page_check import LOOKS, PageViewer
from agent_nb.prompts import prompt_text, stack_text
from agent_nb.providers import model as make_model
from agent_nb.providers.base import Provider
from agent_nb.providers.prices import price_of
from agent_nb.providers.studio import studio_for
from agent_nb.tools import Tool, Toolbox
from agent_nb.tools.preview_tools import PAGE_VIEWER
from agent_nb.tools.toolbox import FAMILIES
from agent_nb.tools.variant_tools import BASE_VARIANTS

SEEING = frozenset(tool.name for family in ("images", "variants", "preview") for tool in FAMILIES[family])
"""Tools that send images or files. A run that sends no values has none of them."""


class AgentParts:
    """A model, its tools and its limits. `Agent` adds what starts runs."""

    def __init__(  # noqa: PLR0913 - everything that an agent is made of
        self,
        model: str | Provider,
        *,
        tools: Iterable[Tool | Callable[..., Any]] | None = None,
        system: str | None = None,
        limits: Limits | None = None,
        approve: Policy = "ask",
        middleware: Iterable[Any] = (),
    ) -> None:
        self.provider = read_model(model)
        self.toolbox = read_tools(tools)
        check_type("system", system, str | None, "text")
        check_type("limits", limits, Limits | None, "a `Limits`, such as `Limits(steps=8, usd=0.20)`")
        self.instructions = system
        self.limits = limits or Limits()
        self.approve = approve
        read_policy(approve, self.toolbox)  # raises now, not at the first run
        self.stack: str | None = None
        self.compact = False
        """Whether its runs compact the conversation that they continue."""
        self._hooks = Hooks.of(middleware)
        self.viewer: PageViewer | None = None
        """Shows pages to the model; None if nothing does."""
        self.looks = LOOKS
        """How often the model may look at the page in a run."""
        self.network = False
        """Whether the model is told that its page may load from the network."""
        self.data = ""
        """`schema` if its runs send names, types and shapes of the user's data, and no values."""
        self.lean: bool | None = None
        """Whether its requests are as short as possible; None for what the model prefers."""
        self._studio: tuple[Provider, Studio] | None = None
        self._in_budgeted_batch = False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_studio": None}  # it may hold connections

    def _copy(self, **changed: Any) -> Self:
        """A copy with these attributes, whose hooks can change independently."""
        other = copy(self)
        own = {"_hooks": self._hooks.copy(), "_studio": None}  # each agent closes its own studio
        other.__dict__.update({**own, **changed})
        return other

    def _prepare(self, opening: Opening) -> Prepared:
        if isinstance(self.provider, RunMaker):
            return self.provider.prepare(self._prepared(opening, self.toolbox))
        if self.limits.usd is not None:
            check_price(self.provider.name)
        studio, lean = self._image_studio(), self._is_lean(opening)
        available = {
            INPUTS: opening.inputs,
            BASE_VARIANTS: opening.base_variants,
            PAGE_VIEWER: self.viewer and self.looks and self.provider.sees_pages and not lean,
        }
        needs = {need for need, value in available.items() if value}
        self._check_data(opening)
        offered = self.toolbox.offered(needs if lean else needs | studio.serves, lean=lean)
        offered = offered.without(SEEING).without_values() if self.data else offered
        return self._prepared(opening, offered, studio)

    def _check_data(self, opening: Opening) -> None:
        if self.data and self._hooks.requests:
            raise ConfigError(
                "Middleware with `on_request` may add values, and this run sends none (`--data schema`)."
            )
        if self.data and opening.history and opening.data != self.data:
            raise ConfigError(
                "The conversation to continue may contain values, and this run sends none (`--data schema`)."
                " Continue a run that sent none, or begin a new one."
            )

    def _is_lean(self, opening: Opening) -> bool:
        """Whether requests are lean. A conversation stays so, and the server can reuse what it has read."""
        return self.provider.lean or opening.lean if self.lean is None else self.lean

    def _prepared(self, opening: Opening, offered: Toolbox, studio: Studio | None = None) -> Prepared:
        stack, lean = self.stack or opening.stack, self._is_lean(opening)
        texts = (
            self._built_in_text(offered, lean=lean) if opening.system is None else opening.system,
            stack_text(stack, network=self.network) if stack else "",
            prompt_text("schema_only") if self.data else "",
            self.instructions,
        )
        config = RunConfig(
            provider=self.provider,
            toolbox=offered,
            studio=studio,
            viewer=self.viewer,
            looks=self.looks,
            system=sys.intern("\n\n".join(text for text in texts if text)),  # the jobs of a batch share it
            limits=self.limits,
            rules=read_policy(self.approve, self.toolbox),
            hooks=self._hooks,
            price=partial(price_of, self.provider.name),
            settings={**self._settings(offered, stack), **({"lean": True} if lean else {})},
            window=self.provider.window,
            asked=Asked(
                instructions=self.instructions,
                stack=stack,
                compact=self.compact,
                lean=bool(self.lean),
                data=self.data,
            ),
        )
        return Prepared(
            opening=opening, config=config, toolbox=self.toolbox, subscribers=self._hooks.subscribers
        )

    def _built_in_text(self, offered: Toolbox, *, lean: bool) -> str:
        """The default system text."""
        if lean:
            names = ["lean", *(["lean_files"] if any(tool.stream for tool in offered) else ())]
            return " ".join(prompt_text(name, network=self.network) for name in names)
        texts = [prompt_text("system", network=self.network)]
        if self.provider.sees_pages and _has_look(self.toolbox):
            texts.append(prompt_text("look" if _has_look(offered) else "no_look"))
        return "\n\n".join(texts)

    def _settings(self, offered: Toolbox, stack: str | None) -> dict[str, Any]:
        return {
            **asdict(self.limits),
            "tools": [tool.name for tool in offered],
            "effort": self.provider.effort,
            "approve": str(read_policy(self.approve, self.toolbox)),
            **({"sampling": {**sampling}} if (sampling := self.provider.sampling) else {}),
            **({"stack": stack} if stack else {}),
            **({"data": self.data} if self.data else {}),
            **({"window": window} if (window := self.provider.window) else {}),
        }

    def _image_studio(self) -> Studio:
        """Makes the images. It may hold connections, so it is kept while the provider stays the same."""
        if self._studio is None or self._studio[0] is not self.provider:
            budget = self._in_budgeted_batch or self.limits.usd is not None
            self._studio = self.provider, studio_for(self.provider, budget=budget)
        return self._studio[1]


def _has_look(tools: Toolbox) -> bool:
    """Whether one of the tools shows the page to the model."""
    return any(PAGE_VIEWER in tool.needs for tool in tools)


def read_model(model: str | Provider) -> Provider:
    if isinstance(model, str):
        return make_model(model)
    if not hasattr(model, "stream") or not hasattr(model, "left_out"):
        raise wrong_type("model", model, "a name such as 'anthropic:', or a `Provider`")
    return model


def read_tools(tools: Any) -> Toolbox:
    """The toolbox of these tools; None stands for the built-in ones."""
    if tools is None:
        return Toolbox.default()
    if isinstance(tools, Toolbox):
        return tools
    if isinstance(tools, str) or not isinstance(tools, Iterable):
        raise wrong_type("tools", tools, "a list of functions and tools")
    return Toolbox(tools)
