"""The vendors' image makers: one image per request, from a prompt with or without input images."""

import abc
import base64
import binascii
from typing import TYPE_CHECKING, Any

from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json
from agent_nb.core.errors import AgentError, ProviderError
from agent_nb.core.messages import Image
from agent_nb.images.convert import fit_image
from agent_nb.images.maker import Charge, Order
from agent_nb.providers import failure, interactions, responses
from agent_nb.providers.generate_content import ANSWER_SECONDS, REFUSALS, refuse_page
from agent_nb.providers.http import responses_opened
from agent_nb.providers.prices import ImageTokens, count, likely_price, price_of_image
from agent_nb.providers.streaming import SILENCE_SECONDS, VendorClient

if TYPE_CHECKING:
    import httpx2

IMAGE_LIMITS = (3072, 20_000_000)
_SIZES = {
    "1:1": "1024x1024",
    "4:3": "1408x1056",
    "3:4": "1056x1408",
    "3:2": "1536x1024",
    "2:3": "1024x1536",
    "16:9": "1536x864",
    "9:16": "864x1536",
    "21:9": "1680x720",
}
"""Both sides are multiples of 16, as the models require."""


class VendorImageMaker(VendorClient):
    note = ""
    edits = True
    transparent: bool
    typical_tokens: int
    """Output tokens of an image at the default size and quality."""

    def price(self, order: Order) -> float | None:
        return likely_price(self.name, self.typical_tokens, order.prompt, len(order.images))

    async def make(self, order: Order, charge: Charge) -> Image:
        problem: ProviderError | None = None
        try:
            return await self.request_image(order, charge)
        except AgentError:
            raise
        except Exception as exc:  # every failure of the SDK becomes a ProviderError here
            problem = self.error(exc)
        # Raised outside the handler: the SDK's exception contains headers and must not become the context.
        raise problem

    @abc.abstractmethod
    async def request_image(self, order: Order, charge: Charge) -> Image:
        """Request the image; raises exceptions of the SDK."""


class GeminiImageMaker(VendorImageMaker):
    transparent = False
    typical_tokens = 1_120

    def connect(self, http: "httpx2.AsyncClient") -> Any:
        client = interactions.make_client(self.settings, http, seconds=ANSWER_SECONDS)
        return client, client.aio.models

    async def request_image(self, order: Order, charge: Charge) -> Image:
        _, models = await self.client()
        http_responses: list[httpx2.Response] = []
        contents = [{"role": "user", "parts": await off_loop(_parts, order)}]
        try:
            with responses_opened(http_responses, SILENCE_SECONDS):
                answer = await models.generate_content(
                    model=self.settings.model, contents=contents, config=_config(order)
                )
        except ValueError:
            refuse_page(self.settings, http_responses)
            raise
        charge.pay(self._cost(answer.usage_metadata))
        return _gemini_image(answer)

    def _cost(self, usage: Any) -> float | None:
        if not usage or not (usage.prompt_token_count or usage.candidates_token_count):
            return None
        output = count(usage.candidates_token_count)
        output_images = _image_tokens(usage.candidates_tokens_details)
        tokens = ImageTokens(
            input_tokens=count(usage.prompt_token_count),
            input_image_tokens=_image_tokens(usage.prompt_tokens_details) or 0,
            output_tokens=output + count(usage.thoughts_token_count),
            # Without details, the whole answer counts as the image.
            output_image_tokens=output if output_images is None else output_images,
        )
        return price_of_image(self.name, tokens)


def _parts(order: Order) -> list[Json]:
    fitted = [fit_image(image, *interactions.IMAGE_LIMITS) for image in order.images]
    images = [{"inline_data": {"data": image.data, "mime_type": image.media_type}} for image in fitted]
    return [{"text": order.prompt}, *images]


def _config(order: Order) -> Json:
    config: Json = {
        "response_modalities": ["TEXT", "IMAGE"],
        "automatic_function_calling": {"disable": True},
        "automatic_continuation": False,
    }
    if order.aspect:
        config["image_config"] = {"aspect_ratio": order.aspect}
    return config


def _gemini_image(answer: Any) -> Image:
    feedback = answer.prompt_feedback
    if feedback and feedback.block_reason:
        raise _declined(feedback.block_reason_message or feedback.block_reason.value)
    text = ""
    for candidate in (answer.candidates or [])[:1]:
        for part in (candidate.content and candidate.content.parts) or []:
            if part.inline_data and part.inline_data.data and not part.thought:
                return Image(part.inline_data.data, part.inline_data.mime_type or "image/png")
            text += part.text or ""
        if candidate.finish_reason and candidate.finish_reason.value in REFUSALS:
            raise _declined(candidate.finish_message or candidate.finish_reason.value)
    reply = f": {failure.as_sentence(text)}" if text.strip() else "."
    raise failure.error(f"Gemini answered without an image{reply} Ask for something else.")


def _image_tokens(details: Any) -> int | None:
    if not details:
        return None
    return sum(count(row.token_count) for row in details if row.modality and row.modality.value == "IMAGE")


def _declined(reason: Any) -> ProviderError:
    return failure.error(f"Gemini declined to make this image: {failure.as_sentence(str(reason))}")


class OpenAIImageMaker(VendorImageMaker):
    transparent = True
    typical_tokens = 1_500

    def connect(self, http: "httpx2.AsyncClient") -> Any:
        return responses.make_client(self.settings, http).images

    async def request_image(self, order: Order, charge: Charge) -> Image:
        images = await self.client()
        if order.images:
            uploads = await off_loop(_uploads, order)
            answer = await images.edit(**_body(self.settings.model, order), image=uploads)
        else:
            answer = await images.generate(**_body(self.settings.model, order))
        # If the answer is a web page instead of JSON, the SDK returns it as text.
        if isinstance(answer, str):
            raise failure.not_an_api(self.settings, answer)
        charge.pay(self._cost(answer.usage))
        return _openai_image(answer)

    def _cost(self, usage: Any) -> float | None:
        if not usage:
            return None
        inputs, outputs = usage.input_tokens_details, usage.output_tokens_details
        output = count(usage.output_tokens)
        tokens = ImageTokens(
            input_tokens=count(usage.input_tokens),
            input_image_tokens=count(inputs.image_tokens) if inputs else 0,
            output_tokens=output,
            output_image_tokens=count(outputs.image_tokens) if outputs else output,
        )
        return price_of_image(self.name, tokens)


def _openai_image(answer: Any) -> Image:
    images = [item.b64_json for item in answer.data or () if item.b64_json]
    if not images:
        raise failure.error("OpenAI answered without an image. Try again, or ask for something else.")
    try:
        data = base64.b64decode(images[0], validate=True)
    except binascii.Error:
        raise failure.error("OpenAI sent an image that is not valid base64. Try again.") from None
    return Image(data, f"image/{answer.output_format or 'png'}")


def _body(model: str, order: Order) -> Json:
    body: Json = {"model": model, "prompt": order.prompt, "n": 1, "output_format": "png"}
    if order.aspect:
        body["size"] = _SIZES[order.aspect]
    if order.transparent:
        body["background"] = "transparent"
    return body


def _uploads(order: Order) -> list[tuple[str, bytes, str]]:
    fitted = [fit_image(image, *IMAGE_LIMITS) for image in order.images]
    return [
        (f"image-{number}.{image.media_type.rpartition('/')[2]}", image.data, image.media_type)
        for number, image in enumerate(fitted, 1)
    ]
