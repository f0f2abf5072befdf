"""Anthropic's Messages API in Amazon Bedrock, with a key of Bedrock or requests signed by boto3."""

from typing import TYPE_CHECKING, Any

from agent_nb._base.wire import Json
from agent_nb.core.errors import ProviderError
from agent_nb.providers import failure
from agent_nb.providers.anthropic_messages import AnthropicMessagesProvider

if TYPE_CHECKING:
    import httpx2


class BedrockProvider(AnthropicMessagesProvider):
    sends_bytes = True

    def connect(self, http: "httpx2.AsyncClient") -> Any:
        import anthropic

        options: Json = {**self.settings.client_options, "api_key": self.settings.api_key or None}
        return anthropic.AsyncAnthropicBedrockMantle(**options, **self.client_arguments(http))

    def error(self, exc: Exception) -> ProviderError:
        if type(exc) is RuntimeError and "AWS credentials" in str(exc):
            return failure.no_credentials(self.settings, str(exc))
        return super().error(exc)
