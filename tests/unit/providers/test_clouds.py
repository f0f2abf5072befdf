"""Models in the clouds: where the credentials come from, and what is said of the one thing that is missing."""

import json
import re
from urllib.parse import quote

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from agent_nb import Agent
from agent_nb._base.secrets import mask
from agent_nb.acp.known import KNOWN_AGENTS
from agent_nb.core.errors import ConfigError, ProviderError
from agent_nb.core.events import TurnRetrying
from agent_nb.core.messages import Usage
from agent_nb.notebook.magic.listings import model_rows
from agent_nb.providers import model
from agent_nb.providers.prices import price_of
from agent_nb.providers.requirements import missing
from agent_nb.providers.vendors import VENDORS
from tests.support.wire import Say, Tokens, WireServer, problem, reply
from tests.support.wire.cases import CLIENT_OPTIONS, CLOUD_CASES, KEY, sent_by, turn_of

TOKEN = "tok3n-of-the-stand-in-91f0"
CLOUDS = [VENDORS[name] for name in CLIENT_OPTIONS]
NAMES = {str(case): case.name for case in CLOUD_CASES}
COMPLETE = {
    "azure": {
        "AZURE_OPENAI_ENDPOINT": "https://lab.openai.azure.com/",
        "OPENAI_API_VERSION": "2025-04-01-preview",
        "AZURE_OPENAI_API_KEY": KEY,
    },
    "vertex": {
        "GOOGLE_CLOUD_PROJECT": "lab",
        "GOOGLE_CLOUD_LOCATION": "europe-west1",
        "GOOGLE_APPLICATION_CREDENTIALS": __file__,
    },
    "bedrock": {"AWS_REGION": "eu-central-1", "AWS_BEARER_TOKEN_BEDROCK": KEY},
}
"""The variables of each cloud, in the order in which a missing one is named."""
REMEDIES = {"GOOGLE_APPLICATION_CREDENTIALS": "run gcloud auth application-default login"}
"""What is named in place of a variable."""


@pytest.fixture
def tokens(server: WireServer) -> str:
    """The address of tokens, as a cloud gives one to its machines."""
    token = {"access_token": TOKEN, "token_type": "Bearer", "expires_on": 4_000_000_000, "expires_in": 3600}
    server.facts["/token"] = token
    return f"http://127.0.0.1:{server.port}/token"


@pytest.fixture
def home(tmp_path, monkeypatch: pytest.MonkeyPatch):
    """A home without anybody's credentials."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def set_all(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("vendor", "variable"), [(vendor, name) for vendor, names in COMPLETE.items() for name in names]
)
def test_the_one_thing_that_is_missing_is_named(vendor: str, variable: str, monkeypatch: pytest.MonkeyPatch):
    set_all(monkeypatch, COMPLETE[vendor])
    for action in ("socket.socket.connect", "socket.getaddrinfo", "subprocess.Popen"):
        monkeypatch.setattr(action, None)  # only variables and files may be read
    assert missing(VENDORS[vendor]) == ""
    assert model(NAMES[vendor]).name == NAMES[vendor]
    monkeypatch.delenv(variable)
    to_do = {row[0].partition(":")[0]: row[1] for row in model_rows("")}[vendor]
    assert to_do.startswith(REMEDIES.get(variable, f"set {variable}"))
    if option := next((row for row in VENDORS[vendor].client_options if variable in row.variables), None):
        assert option.meaning in to_do
        with pytest.raises(ConfigError, match=f"set `{variable}` or pass `{option.name}`"):
            model(NAMES[vendor])


@pytest.mark.parametrize("vendor", CLOUDS, ids=lambda vendor: vendor.name)
def test_secrets_are_masked_and_not_passed_on(vendor, monkeypatch: pytest.MonkeyPatch):
    set_all(monkeypatch, COMPLETE[vendor.name])
    values = {name: f"value-of-{name}-7f3" for name in vendor.secret_variables}
    set_all(monkeypatch, values)
    model(NAMES[vendor.name])
    assert not [value for value in values.values() if value in mask(f"Seen: {value}.")]
    for agent in KNOWN_AGENTS:
        if agent.keys is None:  # it uses the keys of every vendor
            continue
        assert not values.keys() & agent.environment(with_tools=False).keys()


@pytest.mark.parametrize(
    ("variables", "sent"),
    [
        ({"AZURE_OPENAI_API_KEY": KEY}, ("api-key", KEY)),
        ({"AZURE_OPENAI_API_KEY": KEY, "AZURE_OPENAI_AD_TOKEN": TOKEN}, ("authorization", f"Bearer {TOKEN}")),
    ],
)
async def test_azure_is_asked_as_its_sdk_asks(server: WireServer, monkeypatch, variables, sent):
    set_all(monkeypatch, COMPLETE["azure"] | variables | {"OPENAI_ORG_ID": "org", "OPENAI_API_KEY": "other"})
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", f"http://127.0.0.1:{server.port}/")
    request = await sent_by(model("azure:my-deployment"), server)
    assert request.path == "/openai/responses?api-version=2025-04-01-preview"
    assert request.body["model"] == "my-deployment"
    credentials = {name: request.headers.get(name) for name in ("api-key", "authorization")}
    assert credentials == {**dict.fromkeys(credentials), sent[0]: sent[1]}
    assert "openai-organization" not in request.headers


@pytest.mark.usefixtures("home")
async def test_azure_takes_the_token_of_a_managed_identity(server: WireServer, tokens: str, monkeypatch):
    pytest.importorskip("azure.identity")
    set_all(monkeypatch, {"IDENTITY_ENDPOINT": tokens, "IDENTITY_HEADER": "header-of-the-machine"})
    provider = model("azure:d", base_url=server.base_url("responses"), **CLIENT_OPTIONS["azure"])
    assert (await sent_by(provider, server)).headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    ("answered_by", "known"), [("gpt-4.1-2025-04-14", True), ("gpt-nobody-knows", False)]
)
async def test_a_deployment_costs_what_the_model_in_its_answer_costs(answered_by: str, known: bool):
    async with WireServer(strict=False) as server:
        server.plan(
            problem(400, "Unsupported parameter: 'reasoning.summary'", param="reasoning.summary"),
            problem(400, "Encrypted content is not supported with this model.", param="include"),
            reply(Say("Hello."), Tokens(input=1000, output=100), options={"model": answered_by}),
        )
        options = {"api_key": KEY, "base_url": server.base_url("responses"), **CLIENT_OPTIONS["azure"]}
        run = await Agent(model("azure:gpt-6.1-sol", **options)).run("Hello?")
    assert run.text == "Hello."
    assert len(list(run.events.of(TurnRetrying))) == 2
    assert not {"reasoning", "include"} & server.requests[-1].body.keys()
    usage = Usage(input=1000, output=100)
    assert run.cost == (price_of(f"openai:{answered_by}", usage) if known else None)
    assert price_of("azure:gpt-6.1-sol", usage) is None


def service_account(token_uri: str) -> str:
    """The file of a service account whose tokens come from this address."""
    pem = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(*pem).decode()
    account = {"type": "service_account", "client_email": "lab@lab.example", "private_key": key}
    return json.dumps({**account, "project_id": "other", "token_uri": token_uri})


async def test_vertex_uses_the_credentials_of_google_cloud_and_no_key(
    server: WireServer, tokens, home, monkeypatch
):
    (home / "account.json").write_text(service_account(tokens))
    keys = {"GOOGLE_API_KEY": "AIza-never-used", "GEMINI_API_KEY": "AIza-never-used"}
    set_all(monkeypatch, keys | {"GOOGLE_APPLICATION_CREDENTIALS": str(home / "account.json")})
    address = server.base_url("generate_content")
    request = await sent_by(model("vertex:", base_url=address, **CLIENT_OPTIONS["vertex"]), server)
    assert "/projects/lab/locations/europe-west1/publishers/google/models/gemini-4-argon:" in request.path
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert "never-used" not in str(request.headers)


async def test_credentials_that_cannot_be_used_name_the_remedy(home, monkeypatch: pytest.MonkeyPatch):
    (home / "account.json").write_text("{}")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(home / "account.json"))
    provider = model("vertex:", base_url="http://127.0.0.1:9", **CLIENT_OPTIONS["vertex"])
    with pytest.raises(ProviderError, match=r"no credentials for Vertex AI: .* Run `gcloud auth"):
        await turn_of(provider)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("is_signed", [True, False])
async def test_bedrock_takes_a_key_or_signs_the_request(server: WireServer, monkeypatch, is_signed: bool):
    pytest.importorskip("boto3")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-never-used")
    key = {"AWS_BEARER_TOKEN_BEDROCK": KEY}
    pair = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s3cret-of-the-account-77"}
    set_all(monkeypatch, pair if is_signed else key)
    address = server.base_url("anthropic_messages").removesuffix("/v1") + "/anthropic"
    request = await sent_by(model("bedrock:", base_url=address, **CLIENT_OPTIONS["bedrock"]), server)
    assert request.path == "/anthropic/v1/messages"
    authorization = request.headers["authorization"]
    if is_signed:
        assert re.match(
            r"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\d{8}/eu-central-1/bedrock-mantle/", authorization
        )
        assert re.search(r"SignedHeaders=.*host.*, Signature=[0-9a-f]{64}$", authorization)
    else:
        assert authorization == f"Bearer {KEY}"
    assert "never-used" not in str(request.headers)


async def error_of(provider, server: WireServer, answer: str) -> str:
    """The error of a run whose server refuses the request with this text."""
    server.plan(problem(403, answer))
    run = await Agent(provider).run("Hello?")
    assert run.reason == "failed"
    return run.error


async def test_a_token_that_the_library_fetched_is_masked(server: WireServer, tokens, home, monkeypatch):
    fresh = "ya29-fetched-for-this-test-5c1e"
    server.facts["/token"]["access_token"] = fresh
    (home / "account.json").write_text(service_account(tokens))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(home / "account.json"))
    provider = model("vertex:", base_url=server.base_url("generate_content"), **CLIENT_OPTIONS["vertex"])
    error = await error_of(provider, server, f"The token {fresh} may not do this.")
    assert "The token ••• may not" in error


@pytest.mark.usefixtures("home")
async def test_a_session_token_of_aws_is_masked(server: WireServer, monkeypatch):
    pytest.importorskip("boto3")
    session = "FwoGZXIvYXdzE-session-of-this-test"
    pair = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s3cret-of-the-account-77"}
    set_all(monkeypatch, {**pair, "AWS_SESSION_TOKEN": session})
    address = server.base_url("anthropic_messages").removesuffix("/v1") + "/anthropic"
    provider = model("bedrock:", base_url=address, **CLIENT_OPTIONS["bedrock"])
    error = await error_of(provider, server, f"{session} has expired, and so has {quote(session + '/')}")
    assert session not in error
    assert error.count("•••") == 2


def test_a_key_in_the_query_of_the_address_is_masked_and_not_recorded():
    provider = model("chat:m", base_url="https://gateway.example/v1?key=q9-of-the-gateway-7f31", api_key=KEY)
    assert provider.settings.server == "https://gateway.example/v1"
    assert mask("The key q9-of-the-gateway-7f31 is unknown.") == "The key ••• is unknown."
