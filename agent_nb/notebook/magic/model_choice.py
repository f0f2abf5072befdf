"""Which models a cell calls: the user's, else that of a file such as `lab.toml`, else the default."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent_nb._base.constants import ACP, DEMO, DEMO_MODEL, MODEL_VARIABLE, REPLAY, is_replay, vendor_of
from agent_nb._base.text import listed, printable
from agent_nb._base.user_file import UserFile
from agent_nb.core.errors import ConfigError
from agent_nb.notebook.asking import refusal
from agent_nb.notebook.magic.cell_rules import CellRules
from agent_nb.notebook.session import Session
from agent_nb.providers import default_model_name, full_name
from agent_nb.providers.settings import find_key
from agent_nb.providers.vendors import VENDORS

CONSENTS = UserFile("lab_models.json", "allowed")
NO_KEY = "because no key is set"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The models of one cell, resolved once: the check of the network, consent and the providers use these alone."""

    names: tuple[str, ...]
    reason: str = ""
    """Why a cell without `-m` uses them."""
    source: str = ""
    """The file that sets them; empty for the user's own and the default."""
    recorded: tuple[str, ...] = ()
    """The models that a cassette must be of; empty for any."""
    refusal: str = ""
    """Why the rules of a file do not allow them."""

    @classmethod
    def of(cls, session: Session, named: Sequence[str], rules: CellRules) -> "ModelChoice":
        """The choice for a cell that names these models; no models for a cell without `-m`."""
        choice = cls(tuple(named), recorded=tuple(named)) if named else _unnamed(session, rules)
        for name, limiting in rules.not_allowed(choice.names):
            use = f"Cells that name no model use {name}, {choice.reason}" if choice.reason else f"`-m {name}`"
            first = limiting.default_model or limiting.models[0]
            why = f"{use}, and {limiting.source} allows {listed(limiting.models)}. Write `-m {first}`."
            return replace(choice, refusal=why, recorded=tuple(named))
        return choice

    def check(self, session: Session) -> None:
        """Raise `ConfigError` unless the models may be called. Asks once about a model that a file sets."""
        if self.refusal:
            raise ConfigError(self.refusal)
        name, path = self.names[0], Path(session.home, self.source).resolve()
        if not self.source or _leaves_no_choice(vendor_of(full_name(name))):
            return
        file, shown_name = (printable(text, keep="") for text in (str(path), name))
        question = (
            f"{file} sets {shown_name} for cells that name no model: it gets their prompts and the data in them."
            " Use it from now on?"
        )
        if why := refusal(session.host, CONSENTS, (str(path), name), question):
            raise ConfigError(
                f"{self.source} sets {name} for cells that name no model, and {why}. Write `-m {name}`."
            )

    def note(self, session: Session) -> str:
        """A note that the demo answers, once per session."""
        if self.reason != NO_KEY or session.demo_noted:
            return ""
        session.demo_noted = True
        remedy = f"`{session.command('models')}` shows how to use another."
        return f"No API key found, so the offline demo model answers. {remedy}"


def _unnamed(session: Session, rules: CellRules) -> ModelChoice:
    if name := session.defaults.named_model:
        setting = "`%config AgentMagics.model`" if session.defaults.model else MODEL_VARIABLE
        return ModelChoice((name,), f"which {setting} sets", recorded=(name,))
    for _, limiting in rules.by_plugin:
        model, source = limiting.default_model, limiting.source
        if model and vendor_of(full_name(model)) != ACP:  # it starts a program, so only the user names one
            recorded = (model,) if is_replay(model) else ()
            return ModelChoice((model,), f"the first usable one of `models` in {source}", source, recorded)
    name, reason = first_usable_model()
    return ModelChoice((name,), reason)


def first_usable_model() -> tuple[str, str]:
    """The model of a cell for which nothing sets one, and the reason."""
    if default := default_model_name():
        return default, "the first with a key"
    return DEMO_MODEL, NO_KEY


def _leaves_no_choice(vendor: str) -> bool:
    """Whether no vendor can be called, or only this one: it has the user's only key."""
    row = VENDORS[vendor]
    key, keys = find_key(row.keys), {found for other in VENDORS.values() if (found := find_key(other.keys))}
    needs_key = not (key or row.local or row.identity)
    return vendor in (DEMO, REPLAY) or keys == {key} or needs_key
