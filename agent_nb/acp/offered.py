"""The models that outside agents offer, stored when an agent was used: `%agent models` starts none to list them."""

import difflib
from collections.abc import Mapping, Sequence

from agent_nb._base.constants import ACP
from agent_nb._base.secrets import has_secret, mask, short_line
from agent_nb._base.text import listed, printable, printable_line
from agent_nb._base.user_file import UserFile
from agent_nb.acp.known import KnownAgent
from agent_nb.core.errors import ModelNotFoundError

STORED = UserFile("agent_models.json", "models")
MAX_MODELS = 200
_MAX_CHARACTERS = 100
_SHOWN = 8
_SUGGESTED = 3


def showable(models: Mapping[str, str]) -> dict[str, str]:
    """The names of the first models by id. Ids that a cell cannot name, or that contain a secret, are left out."""
    return {
        model: short_line(mask(printable_line(name)), _MAX_CHARACTERS)
        for model, name in [*models.items()][:MAX_MODELS]
        if 0 < len(model) <= _MAX_CHARACTERS
        and " " not in model
        and printable(model, keep="") == model
        and not has_secret(model)
    }


def stored_models(agent: str) -> dict[str, str]:
    """The models that the agent offered when it was last used."""
    models = STORED.entries().get(agent, {})
    return showable({model: name for model, name in models.items() if isinstance(name, str)})


def store_models(agent: str, models: Mapping[str, str]) -> None:
    offered = showable(models)
    if offered and offered != stored_models(agent):
        STORED.store(agent, offered)


def models_text(models: Sequence[str]) -> str:
    more = [f"{len(models) - _SHOWN} more"] if len(models) > _SHOWN else []
    return listed([*models[:_SHOWN], *more])


def not_offered(agent: KnownAgent, model: str, models: Mapping[str, str]) -> ModelNotFoundError:
    """The error for a model that the agent does not offer."""
    names = [*showable(models)]
    if not names:
        return ModelNotFoundError(f"{agent.title} does not let its model be chosen. Leave out `/{model}`.")
    near = difflib.get_close_matches(model, names, _SUGGESTED) or names[:_SUGGESTED]
    return ModelNotFoundError(
        f"{agent.title} has no model {model!r}. It offers {models_text(names)}.",
        other_models=[f"{ACP}:{agent.name}/{name}" for name in near],
    )
