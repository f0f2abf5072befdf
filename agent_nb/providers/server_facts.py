"""What a server of the user's own says about its model: name, context window, abilities."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent_nb._base.wire import Json
from agent_nb.providers.settings import Settings

if TYPE_CHECKING:
    import httpx2

_SECONDS = 3.0
"""How long a server may take, so that none holds up a run."""


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """Empty where the server does not say."""

    model: str = ""
    window: int | None = None
    abilities: tuple[str, ...] = ()


async def ask_server(settings: Settings, http: "httpx2.AsyncClient") -> ServerFacts:
    """The facts; empty ones if the server does not tell."""
    base = (settings.base_url or settings.vendor.base_url).rstrip("/")
    headers = {
        **({"authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}),
        **settings.headers,
    }

    async def ask(path: str, body: Json | None = None) -> Any:
        url = f"{base.removesuffix('/v1')}{path}" if path.startswith("/api") else f"{base}{path}"
        answer = await http.request("POST" if body else "GET", url, headers=headers, json=body)
        return answer.raise_for_status().json()

    read = _READERS.get(settings.vendor.name, _listed)
    try:
        async with asyncio.timeout(_SECONDS):
            return await read(settings.model, ask)
    except Exception:  # a server that does not tell, or not in this way
        return ServerFacts()


Ask = Callable[..., Awaitable[Any]]


async def _listed(model: str, ask: Ask) -> ServerFacts:
    """llama.cpp has `meta.n_ctx` in its list of models, vLLM `max_model_len`."""
    rows = (await ask("/models"))["data"]
    row = next((row for row in rows if model in (row["id"], *row.get("aliases", ()))), rows[0])
    window = (row.get("meta") or {}).get("n_ctx") or row.get("max_model_len")
    inputs = (row.get("architecture") or {}).get("input_modalities") or ()
    return ServerFacts(_name(row["id"]), window, tuple(inputs))


async def _ollama(model: str, ask: Ask) -> ServerFacts:
    """The window is that of the loaded model, if it is loaded: the model's own may be larger."""
    shown = await ask("/api/show", {"model": model})
    loaded = [row for row in (await ask("/api/ps"))["models"] if model in (row["name"], row["model"])]
    own = [value for key, value in shown["model_info"].items() if key.endswith(".context_length")]
    window = loaded[0].get("context_length") if loaded else None
    return ServerFacts(model, window or (own[0] if own else None), tuple(shown.get("capabilities") or ()))


async def _lm_studio(model: str, ask: Ask) -> ServerFacts:
    row = await ask(f"/api/v0/models/{model}")
    window = row.get("loaded_context_length") or row.get("max_context_length")
    sees = ("vision",) if row.get("type") == "vlm" else ()
    return ServerFacts(row["id"], window, (*(row.get("capabilities") or ()), *sees))


def _name(model_id: str) -> str:
    """llama.cpp gives the path of the file, which is nobody's business."""
    return model_id.replace("\\", "/").rpartition("/")[2]


_READERS: dict[str, Callable[[str, Ask], Awaitable[ServerFacts]]] = {
    "ollama": _ollama,
    "lmstudio": _lm_studio,
}
