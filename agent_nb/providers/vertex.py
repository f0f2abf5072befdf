"""Gemini's `generate_content` in Google Cloud, for a project and a location, with the credentials of google-auth."""

from typing import TYPE_CHECKING, Any

from agent_nb._base.wire import Json
from agent_nb.providers.generate_content import ANSWER_SECONDS, GenerateContentProvider
from agent_nb.providers.interactions import http_options

if TYPE_CHECKING:
    import httpx2


class VertexProvider(GenerateContentProvider):
    def connect(self, http: "httpx2.AsyncClient") -> Any:
        from google import genai

        # With both options set, the SDK uses no API key from the environment.
        options: Json = {"api_key": self.settings.api_key or None, **self.settings.client_options}
        http_settings = http_options(self.settings, http, ANSWER_SECONDS)
        client = genai.Client(enterprise=True, **options, http_options=http_settings)
        return client, client.aio.models
