"""Gemini's images: `generate_content` asked for a picture. It has no transparent background."""

import asyncio
from typing import TYPE_CHECKING, Any

from agent_nb._base.wire import Json
from agent_nb.errors import AgentError, ProviderError
from agent_nb.images.charge import Charge
from agent_nb.images.convert import fit_image
from agent_nb.images.maker import Order
from agent_nb.messages import Image
from agent_nb.providers import failure
from agent_nb.providers.gemini import IMAGE_LIMITS, make_client
from agent_nb.providers.gemini_generate import ANSWER_SECONDS, REFUSALS, sdk_error
from agent_nb.providers.http import responses_opened
from agent_nb.providers.image_prices import ImageTokens, count, likely_price, price_of_image
from agent_nb.providers.streaming import SILENCE_SECONDS, VendorClient

if TYPE_CHECKING:
    import httpx2

ORDINARY_TOKENS = 1_120
"""Of a picture of the size it draws when none is asked for."""


class GeminiImageMaker(VendorClient):
    note = ""
    edits = True
    transparent = False

    def connect(self, http: "httpx2.AsyncClient") -> Any:
        client = make_client(self.settings, http, seconds=ANSWER_SECONDS)
        return client, client.aio.models

    def price(self, order: Order) -> float | None:
        return likely_price(self.name, ORDINARY_TOKENS, order.prompt, len(order.images))

    async def make(self, order: Order, charge: Charge) -> Image:
        _, models = await self.client()
        failed: ProviderError | None = None
        opened: list[httpx2.Response] = []
        try:
            parts = await asyncio.to_thread(_parts, order)
            with responses_opened(opened, SILENCE_SECONDS):
                answer = await models.generate_content(
                    model=self.settings.model,
                    contents=[{"role": "user", "parts": parts}],
                    config=_config(order),
                )
            charge.pay(self._charged(answer.usage_metadata))
            return _picture(answer)
        except AgentError:
            raise
        except Exception as exc:  # the one place where this vendor's failures become ours
            failed = sdk_error(self.settings, exc, opened)
        # Raised outside the handler, so that the SDK's exception, which holds headers, is not carried along.
        raise failed

    def _charged(self, usage: Any) -> float | None:
        if not usage or not (usage.prompt_token_count or usage.candidates_token_count):
            return None
        drawn = count(usage.candidates_token_count)
        tokens = ImageTokens(
            input=count(usage.prompt_token_count),
            input_images=_pictures(usage.prompt_tokens_details) or 0,
            output=drawn + count(usage.thoughts_token_count),
            # Where they are not told apart, the answer is the picture.
            output_images=drawn if (told := _pictures(usage.candidates_tokens_details)) is None else told,
        )
        return price_of_image(self.name, tokens)


def _parts(order: Order) -> list[Json]:
    fitted = [fit_image(image, *IMAGE_LIMITS) for image in order.images]
    pictures = [{"inline_data": {"data": image.data, "mime_type": image.media_type}} for image in fitted]
    return [{"text": order.prompt}, *pictures]


def _config(order: Order) -> Json:
    config: Json = {
        "response_modalities": ["TEXT", "IMAGE"],
        "automatic_function_calling": {"disable": True},
        "automatic_continuation": False,
    }
    if order.aspect:
        config["image_config"] = {"aspect_ratio": order.aspect}
    return config


def _picture(answer: Any) -> Image:
    feedback = answer.prompt_feedback
    if feedback and feedback.block_reason:
        raise _declined(feedback.block_reason_message or feedback.block_reason.value)
    said = ""
    for candidate in (answer.candidates or [])[:1]:
        for part in (candidate.content and candidate.content.parts) or []:
            if part.inline_data and part.inline_data.data and not part.thought:
                return Image(part.inline_data.data, part.inline_data.mime_type or "image/png")
            said += part.text or ""
        if candidate.finish_reason and candidate.finish_reason.value in REFUSALS:
            raise _declined(candidate.finish_message or candidate.finish_reason.value)
    words = f": {failure.shortened(said)}" if said.strip() else "."
    raise failure.error(f"Gemini answered without a picture{words} Ask for something else.")


def _pictures(details: Any) -> int | None:
    """The tokens of pictures among those of each kind; None where the kinds are not told."""
    if not details:
        return None
    return sum(count(one.token_count) for one in details if one.modality and one.modality.value == "IMAGE")


def _declined(words: Any) -> ProviderError:
    return failure.error(f"Gemini declined to make this picture: {failure.shortened(str(words))}")
