"""OpenAI's Responses API at the endpoint of an Azure resource, where a model is named by its deployment."""

from typing import TYPE_CHECKING, Any

from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json
from agent_nb.providers.responses import ResponsesProvider, without_account
from agent_nb.providers.settings import Settings

if TYPE_CHECKING:
    import httpx2

SCOPE = "https://cognitiveservices.azure.com/.default"
"""The scope that a token must have."""


class AzureProvider(ResponsesProvider):
    def connect(self, http: "httpx2.AsyncClient") -> Any:
        import openai

        settings = self.settings
        options: Json = {**settings.client_options, **_credentials(settings), "base_url": settings.base_url}
        headers = {**without_account(), **settings.headers}
        return openai.AsyncAzureOpenAI(**options, http_client=http, max_retries=0, default_headers=headers)


def _credentials(settings: Settings) -> Json:
    if not settings.api_key:
        from azure.identity import DefaultAzureCredential, get_bearer_token_provider

        token = get_bearer_token_provider(DefaultAzureCredential(), SCOPE)
        return {"azure_ad_token_provider": lambda: off_loop(token)}
    is_token = settings.key_variable == "AZURE_OPENAI_AD_TOKEN"
    return {"azure_ad_token" if is_token else "api_key": settings.api_key}
