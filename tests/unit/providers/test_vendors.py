"""A vendor is one row: everything else is derived from it."""

from operator import attrgetter

import pytest

from agent_nb.core.errors import MissingKeyError
from agent_nb.core.messages import Usage
from agent_nb.providers import model
from agent_nb.providers.prices import has_price, price_of
from agent_nb.providers.registry import PROVIDERS
from agent_nb.providers.studio import IMAGE_MAKERS
from agent_nb.providers.vendors import APIS, EFFORT, NO_PRICE, VENDORS, Vendor
from tests.support.kernels import KEYS
from tests.support.wire import WireServer
from tests.support.wire.cases import CASE, KEY, sent_by
from tests.support.wire.dialects import DIALECTS

ACME = Vendor(
    name="acme",
    title="Acme",
    keys=("ACME_API_KEY",),
    recommended="deepseek-v4-pro",
    base_url_variable="ACME_BASE_URL",
    price_id="deepseek",
    effort_fields={"think": {"how": EFFORT}},
    headers={"X-Client": "a notebook"},
)


@pytest.fixture
def acme(monkeypatch: pytest.MonkeyPatch) -> Vendor:
    monkeypatch.setitem(VENDORS, ACME.name, ACME)
    return ACME


@pytest.mark.parametrize("vendor", VENDORS.values(), ids=attrgetter("name"))
def test_a_recommended_model_has_a_price_or_its_row_says_that_it_has_none(vendor: Vendor):
    assert has_price(f"{vendor.name}:{vendor.recommended}") == (vendor.price_id != NO_PRICE)


@pytest.mark.parametrize("vendor", VENDORS.values(), ids=attrgetter("name"))
def test_the_last_family_of_a_vendor_matches_every_name(vendor: Vendor):
    assert vendor.models[-1].pattern == ""
    assert all(family.pattern for family in vendor.models[:-1])


def test_every_vendor_with_an_image_model_has_an_image_maker():
    assert {row.name for row in VENDORS.values() if row.image_model} == {*IMAGE_MAKERS}


@pytest.mark.parametrize("vendor", VENDORS.values(), ids=attrgetter("name"))
def test_tests_see_no_variable_of_a_vendor(vendor: Vendor):
    options = [name for option in vendor.client_options for name in option.variables]
    names = (*vendor.secret_variables, vendor.base_url_variable, *options)
    assert all(name.startswith(KEYS) for name in names if name)


async def test_one_row_makes_a_compatible_vendor(acme: Vendor, monkeypatch: pytest.MonkeyPatch):
    async with WireServer() as server:
        monkeypatch.setenv("ACME_API_KEY", KEY)
        monkeypatch.setenv("ACME_BASE_URL", server.base_url("chat"))
        provider = model("acme:", effort="high", trace=False)
        request = await sent_by(provider, server)
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["x-client"] == "a notebook"
    sent = {name: request.body[name] for name in ("model", "think", "trace")}
    assert sent == {"model": acme.recommended, "think": {"how": "high"}, "trace": False}
    assert price_of(provider.name, Usage(input=1000)) == price_of(
        "deepseek:deepseek-v4-pro", Usage(input=1000)
    )


def test_a_vendor_names_the_variable_of_its_key(acme: Vendor):
    with pytest.raises(MissingKeyError, match="Set `ACME_API_KEY`"):
        model("acme:")


def test_every_protocol_is_spoken_by_the_server_of_the_tests_and_has_a_case():
    asked = {key for key, api in APIS.items() if api.package}
    assert asked == set(PROVIDERS) == set(DIALECTS) == set(CASE)
