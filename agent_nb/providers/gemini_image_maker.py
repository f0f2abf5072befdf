"""Gemini's images, made by `generate_content`. They cannot have a transparent background."""

from typing import TYPE_CHECKING, Any

from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json
from agent_nb.errors import ProviderError
from agent_nb.images.charge import Charge
from agent_nb.images.convert import fit_image
from agent_nb.images.maker import Order
from agent_nb.messages import Image
from agent_nb.providers import failure
from agent_nb.providers.generate_content import ANSWER_SECONDS, REFUSALS, refuse_page
from agent_nb.providers.http import responses_opened
from agent_nb.providers.image_maker import VendorImageMaker
from agent_nb.providers.interactions import IMAGE_LIMITS, make_client
from agent_nb.providers.prices import ImageTokens, count, price_of_image
from agent_nb.providers.streaming import SILENCE_SECONDS

if TYPE_CHECKING:
    import httpx2


class GeminiImageMaker(VendorImageMaker):
    transparent = False
    typical_tokens = 1_120

    def connect(self, http: "httpx2.AsyncClient") -> Any:
        client = make_client(self.settings, http, seconds=ANSWER_SECONDS)
        return client, client.aio.models

    async def made(self, order: Order, charge: Charge) -> Image:
        _, models = await self.client()
        opened: list[httpx2.Response] = []
        contents = [{"role": "user", "parts": await off_loop(_parts, order)}]
        try:
            with responses_opened(opened, SILENCE_SECONDS):
                answer = await models.generate_content(
                    model=self.settings.model, contents=contents, config=_config(order)
                )
        except ValueError:
            refuse_page(self.settings, opened)
            raise
        charge.pay(self._cost(answer.usage_metadata))
        return _image(answer)

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
    fitted = [fit_image(image, *IMAGE_LIMITS) for image in order.images]
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


def _image(answer: Any) -> Image:
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
    answered = f": {failure.as_sentence(text)}" if text.strip() else "."
    raise failure.error(f"Gemini answered without an image{answered} Ask for something else.")


def _image_tokens(details: Any) -> int | None:
    if not details:
        return None
    return sum(count(one.token_count) for one in details if one.modality and one.modality.value == "IMAGE")


def _declined(reason: Any) -> ProviderError:
    return failure.error(f"Gemini declined to make this image: {failure.as_sentence(str(reason))}")
