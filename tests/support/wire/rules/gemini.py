"""What Gemini's Interactions API and `generate_content` refuse."""

from collections.abc import Iterator
from typing import Any

from tests.support.wire.rules.rule import Asked, Fault, Json, Rule


def interactions_error_body(error: Json) -> Json:
    return {"error": {"code": error.get("code", "invalid_request"), "message": error["message"]}}


def error_body(error: Json) -> Json:
    status = error.get("grpc_status", "INVALID_ARGUMENT")
    return {"error": {"code": error["status"], "message": error["message"], "status": status}}


def thinking_config(asked: Asked) -> Json:
    found: Json = (asked.body.get("generationConfig") or {}).get("thinkingConfig") or {}
    return found


def _level_of_2_5(asked: Asked) -> Iterator[Fault]:
    if "thinkingLevel" in thinking_config(asked):
        yield "Thinking level is not supported for this model."


def _minimal(asked: Asked) -> Iterator[Fault]:
    if str(thinking_config(asked).get("thinkingLevel")).lower() == "minimal":
        yield (
            "Thinking level MINIMAL is not supported for this model. Please retry with other thinking level."
        )


def _minimal_interaction(asked: Asked) -> Iterator[Fault]:
    if (asked.body.get("generation_config") or {}).get("thinking_level") == "minimal":
        yield (
            "'minimal' is not a supported thinking level for this model. "
            "Allowed values are: medium, low, high."
        )


def _empty_parts(asked: Asked) -> Iterator[Fault]:
    for index, content in enumerate(asked.body.get("contents") or ()):
        if not content.get("parts"):
            yield f"* GenerateContentRequest.contents[{index}].parts: contents.parts must not be empty.\n"


NO_MINIMAL = r"gemini-3\.[78]-flash(?!-lite)|gemini-3(\.1)?-pro|gemini-4"


def _generate(model: str, **changes: Any) -> Asked:
    return Asked(model, {"contents": [{"role": "user", "parts": [{"text": "Hello?"}]}], **changes})


def _interaction(model: str, **changes: Any) -> Asked:
    return Asked(model, {"model": model, "input": "Hello?", **changes})


RULES = (
    Rule(
        id="ge-level25",
        protocol="gemini_generate",
        family=r"gemini-2\.5",
        check=_level_of_2_5,
        source="RooCodeInc/Roo-Code#10700; Kilo-Org/kilocode#4490",
        example=_generate("gemini-2.5-flash", generationConfig={"thinkingConfig": {"thinkingLevel": "LOW"}}),
    ),
    Rule(
        id="ge-minimal",
        protocol="gemini_generate",
        family=NO_MINIMAL,
        check=_minimal,
        source="pi#9455 (3.8); vellum#32687 (3.1-pro); BerriAI/litellm-docs#1505",
        example=_generate(
            "gemini-3.8-flash", generationConfig={"thinkingConfig": {"thinkingLevel": "MINIMAL"}}
        ),
    ),
    Rule(
        id="ge-empty-parts",
        protocol="gemini_generate",
        check=_empty_parts,
        source="chatwise#250; vercel/ai#3775",
        example=_generate("gemini-4-argon", contents=[{"role": "user", "parts": []}]),
    ),
    Rule(
        id="gi-level",
        protocol="gemini",
        family=NO_MINIMAL,
        check=_minimal_interaction,
        source="kiss-translator#1048",
        example=_interaction("gemini-3.7-flash", generation_config={"thinking_level": "minimal"}),
    ),
)
