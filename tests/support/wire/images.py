"""Image endpoints: the answers of OpenAI's and Gemini's, and what a multipart upload held."""

import base64
import email.parser
import email.policy
import json
from dataclasses import dataclass
from typing import Any

from tests.support.wire.steps import Reply, json_reply


@dataclass(frozen=True)
class Upload:
    """A file of a multipart request."""

    name: str
    media_type: str
    data: bytes


def read_body(headers: dict[str, str], body: bytes) -> dict[str, Any]:
    """A request's body: parsed JSON, or the fields of a form, with the uploads of each name in a list."""
    kind = headers.get("content-type", "")
    if not kind.startswith("multipart/form-data"):
        return json.loads(body or b"{}")  # type: ignore[no-any-return]
    head = f"content-type: {kind}\r\n\r\n".encode()
    form = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
    fields: dict[str, Any] = {}
    for part in form.iter_parts():
        name = str(part.get_param("name", header="content-disposition"))
        data = part.get_payload(decode=True)
        assert isinstance(data, bytes)
        if filename := part.get_filename():
            fields.setdefault(name, []).append(Upload(filename, part.get_content_type(), data))
        else:
            fields[name] = data.decode()
    return fields


def openai_images(*images: bytes, **fields: Any) -> Reply:
    """What `/images/generations` and `/images/edits` answer."""
    data = [{"b64_json": base64.b64encode(image).decode()} for image in images]
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"text_tokens": 10, "image_tokens": 0},
        "output_tokens": 1290,
        "output_tokens_details": {"text_tokens": 0, "image_tokens": 1290},
        "total_tokens": 1300,
    }
    answer = {"created": 1, "data": data, "output_format": "png", "usage": usage, **fields}
    return json_reply(answer)


def gemini_image(image: bytes | None = None, text: str = "", finish: str = "STOP", **fields: Any) -> Reply:
    """What `:generateContent` answers when it was asked for an image."""
    parts: list[dict[str, Any]] = [{"text": text}] if text else []
    if image is not None:
        data = base64.b64encode(image).decode()
        parts.append({"inlineData": {"mimeType": "image/png", "data": data}})
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": finish}
    usage = {
        "promptTokenCount": 10,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 10}],
        "candidatesTokenCount": 1150,
        "candidatesTokensDetails": [
            {"modality": "TEXT", "tokenCount": 30},
            {"modality": "IMAGE", "tokenCount": 1120},
        ],
        "thoughtsTokenCount": 100,
        "totalTokenCount": 1260,
    }
    answer = {"candidates": [candidate], "modelVersion": "m", "usageMetadata": usage, **fields}
    return json_reply(answer)
