"""A model that the vendor does not have: the failure names those that may have been meant."""

import pytest

from agent_nb import Agent
from agent_nb.core.events import RunFinished
from tests.support.wire import Reply, WireServer, json_reply, problem
from tests.support.wire.cases import CASE, case_of


def refused(status: int, error: dict[str, object], **beside: str) -> Reply:
    return json_reply({"error": error, **beside}, status)


OPENAI = {"type": "invalid_request_error", "param": "model", "code": "model_not_found"}
GOOGLE = (
    "models/{} is not found for API version v1, or is not supported for generateContent. Call ListModels to "
    "see the list of available models and their supported methods."
)
REFUSALS = {
    # skorokithakis/sysaidmin#9; BerriAI/litellm#39457 has the newer status
    ("responses", "openai:gpt-6.1-sool", "openai:gpt-6.1-sol"): [
        refused(400, {"message": "The requested model 'gpt-6.1-sool' does not exist.", **OPENAI}),
        refused(404, {"message": "The model `gpt-6.1-sool` does not exist.", **OPENAI}),
    ],
    # mattermost/mattermost-plugin-agents#257
    ("anthropic_messages", "anthropic:claude-opus-55", "anthropic:claude-opus-5-5"): [
        refused(404, {"type": "not_found_error", "message": "model: claude-opus-55"}, type="error")
    ],
    # continuedev/continue#9939; google-gemini/gemini-cli#7507
    ("generate_content", "gemini:gemini-4-argom", "gemini:gemini-4-argon"): [
        refused(404, {"code": 404, "message": GOOGLE.format("gemini-4-argom"), "status": "NOT_FOUND"}),
        refused(404, {"code": 404, "message": "Requested entity was not found.", "status": "NOT_FOUND"}),
    ],
    ("interactions", "gemini:gemini-4-argom", "gemini:gemini-4-argon"): [
        refused(404, {"code": "not_found", "message": "Requested entity was not found."}),
    ],
    # MuiseDestiny/zotero-gpt#483
    ("chat", "openrouter:anthropic/claude-opus-55", "openrouter:anthropic/claude-opus-5.5"): [
        refused(400, {"message": "anthropic/claude-opus-55 is not a valid model ID", "code": 400}),
    ],
    # deepwn/addi#13
    ("chat", "deepseek:deepseek-v4-prp", "deepseek:deepseek-v4-pro"): [
        refused(400, {"message": "Model Not Exist", "code": "invalid_request_error"}),
    ],
}
"""By protocol, the model's name, and the one that was meant."""


async def ended(protocol: str, name: str, refusal: Reply) -> RunFinished:
    async with WireServer() as server:
        server.plan(refusal)
        provider = CASE[protocol].provider(server, name=name)
        run = await Agent(provider).run("A page")
        assert len(server.requests) == 1
    last = run.events[-1]
    assert isinstance(last, RunFinished)
    return last


@pytest.mark.parametrize(
    ("protocol", "name", "meant", "refusal"),
    [(*which, refusal) for which, refusals in REFUSALS.items() for refusal in refusals],
)
async def test_the_nearest_names_and_the_default_are_offered(
    protocol: str, name: str, meant: str, refusal: Reply
):
    end = await ended(protocol, name, refusal)
    assert meant in end.other_models
    assert end.error
    assert f"has no model {name.partition(':')[2]!r}" in end.error
    assert all(f"`{other}`" in end.error for other in end.other_models)
    assert len(set(end.other_models)) == len(end.other_models) <= 3


async def test_the_default_is_offered_if_no_name_is_near():
    end = await ended("responses", "openai:zzz", refused(404, {"message": "No model zzz", **OPENAI}))
    assert end.other_models == ("openai:gpt-6.1-sol",)


async def test_a_model_that_is_refused_is_not_offered_itself():
    end = await ended("responses", "openai:gpt-6.1-sol", refused(404, {"message": "No access", **OPENAI}))
    assert end.other_models
    assert "openai:gpt-6.1-sol" not in end.other_models


@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini"])
@pytest.mark.parametrize("refusal", [problem(404, "No such path"), problem(403, "This model is not for you")])
async def test_other_refusals_offer_none(name: str, refusal: Reply):
    case = case_of(name)
    assert (await ended(case.protocol, case.name, refusal)).other_models == ()
