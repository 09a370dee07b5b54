"""What a thief, a liar or an impatient program gets from the issuer and from `/mcp`."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import httpx2
import pytest

from support.agent_consent import JSON, Connecting, call_list, connecting, returned
from support.consent import Consenting, running_consent
from support.orders import create, rows
from support.pages import customer_user
from support.service import Customer, Service, running_service
from tradecounter.access.users import UserChange, change_user, disable_own_user, invite_user
from tradecounter.agents.consents import clean_up_agents
from tradecounter.customers.change_account import block_customer
from tradecounter.privacy.personal_data import erase_customer

pytestmark = pytest.mark.sweep


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture
def program(shop: Service, customer: Customer) -> Connecting:
    return connecting(shop, customer_user(shop, customer.id, "owner"))


@pytest.fixture(scope="module")
def consenting(database_url: str) -> Iterator[Consenting]:
    with running_consent(database_url) as running:
        yield running


def test_tokens_of_the_api_and_consents_are_rejected(consenting: Consenting) -> None:
    given = consenting.given()
    token = consenting.access_token(given["access_token"])
    assert consenting.use(token).status_code == 200
    for wrong in (token, given["access_token"], given["refresh_token"]):
        response = call_list(consenting.service, wrong)
        assert response.status_code == 401
        assert 'error="invalid_token"' in response.headers["WWW-Authenticate"]


def test_an_application_gets_no_token_for_agents_and_an_agent_none_for_the_api(consenting: Consenting) -> None:
    server = f"{consenting.service.url}/mcp"
    assert consenting.redeem(consenting.code(), resource=server).json()["error"] == "invalid_target"
    owner = customer_user(consenting.service, consenting.customer.id, "owner")
    request = consenting.request(resource=server)
    assert returned(owner.get("/auth/authorize", params=request))["error"] == "invalid_target"
    program = connecting(consenting.service, owner)
    assert returned(program.page(resource=consenting.service.url))["error"] == "invalid_target"
    assert program.redeem(program.code(), resource=consenting.service.url).json()["error"] == "invalid_target"
    agent_token = program.tokens()["access_token"]
    assert consenting.exchange(agent_token).json()["error"] == "invalid_grant"
    assert consenting.refresh(program.tokens()["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_standing_consent_to_an_application_covers_no_agent(consenting: Consenting) -> None:
    owner = customer_user(consenting.service, consenting.customer.id, "owner")
    consenting.given()
    program = connecting(consenting.service, owner)
    program.tokens()
    assert "Allow Assistant?" in program.page().text
    other = consenting.register(name="Other")
    assert "Allow Other?" in owner.get("/auth/authorize", params=consenting.request(other)).text


def test_a_code_is_good_once_and_its_second_use_ends_what_it_gave(program: Connecting) -> None:
    code = program.code()
    tokens = program.redeem(code).json()
    assert program.redeem(code).json() == {"error": "invalid_grant"}
    assert call_list(program.service, tokens["access_token"]).status_code == 401
    assert program.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"


def test_of_simultaneous_uses_of_a_code_at_most_one_gets_tokens(program: Connecting) -> None:
    code = program.code()
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: program.redeem(code), range(6)))
    given = [each.json() for each in found if each.status_code == 200]
    assert len(given) == 1
    assert call_list(program.service, given[0]["access_token"]).status_code == 401


def test_a_refresh_token_that_is_used_again_ends_everything(program: Connecting) -> None:
    first = program.tokens()
    second = program.refresh(first["refresh_token"]).json()
    assert call_list(program.service, second["access_token"]).status_code == 200
    assert program.refresh(first["refresh_token"]).json() == {"error": "invalid_grant"}
    assert call_list(program.service, second["access_token"]).status_code == 401
    assert program.refresh(second["refresh_token"]).json() == {"error": "invalid_grant"}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_verifier": None}, "invalid_request"),
        ({"code_verifier": "w" * 43}, "invalid_grant"),
        ({"redirect_uri": "http://127.0.0.1:33418/other"}, "invalid_grant"),
        ({"redirect_uri": None}, "invalid_request"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
    ],
)
def test_a_stolen_code_is_worth_nothing(program: Connecting, changes: dict[str, str | None], error: str) -> None:
    assert program.redeem(program.code(), **changes).json()["error"] == error


def test_another_clients_codes_and_tokens_are_rejected(program: Connecting) -> None:
    other = connecting(program.service, program.person)
    assert other.redeem(program.code(), code_verifier=program.verifier).json()["error"] == "invalid_grant"
    tokens = program.tokens()
    assert other.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    fields = {"token": tokens["refresh_token"], "client_id": other.client_id}
    assert program.http.post("/auth/revoke", data=fields).status_code == 200
    assert call_list(program.service, tokens["access_token"]).status_code == 200


@pytest.mark.parametrize("kind", ["refresh_token", "access_token"])
def test_an_agent_revokes_its_own_tokens(program: Connecting, kind: str) -> None:
    tokens = program.tokens()
    fields = {"token": tokens[kind], "client_id": program.client_id}
    assert program.http.post("/auth/revoke", data=fields).status_code == 200
    assert call_list(program.service, tokens["access_token"]).status_code == 401
    assert (program.refresh(tokens["refresh_token"]).status_code == 200) == (kind == "access_token")


def test_an_unknown_client_is_not_authenticated(program: Connecting) -> None:
    response = program.redeem(program.code(), client_id="0" * 32)
    assert (response.status_code, response.json()["error"]) == (401, "invalid_client")


def _blocked(program: Connecting, customer: Customer) -> None:
    now = program.service.clock.now()
    program.service.in_transaction(partial(block_customer, customer_id=customer.id, reason="does not pay", now=now))


def _demoted(program: Connecting, customer: Customer) -> None:
    service, change = program.service, UserChange(roles=["buyer"])
    customer_user(service, customer.id, "owner")
    service.in_transaction(lambda tx: change_user(tx, customer.id, program.person.id, change, service.clock.now()))


def _disabled(program: Connecting, customer: Customer) -> None:
    service, person = program.service, program.person.id
    customer_user(service, customer.id, "owner")
    service.in_transaction(lambda tx: disable_own_user(tx, customer.id, person, service.clock.now()))


def _erased(program: Connecting, customer: Customer) -> None:
    now = program.service.clock.now()
    program.service.in_transaction(partial(erase_customer, customer_id=customer.id, now=now))


def _revoked(program: Connecting, _customer: Customer) -> None:
    [(agent_id,)] = rows(program.service, "select id from agent_consent where client_id = %s", program.client_id)
    assert program.person.send(f"/account/developer/agent/{agent_id}/revoke").status_code == 303


@pytest.mark.parametrize("ended", [_revoked, _blocked, _demoted, _disabled, _erased])
def test_what_ends_a_consent_ends_it_at_once_in_every_process(
    program: Connecting, customer: Customer, ended: Callable[[Connecting, Customer], None]
) -> None:
    tokens = program.tokens()
    with running_service(program.service.database_url, now=program.service.clock.now()) as other:
        assert [call_list(each, tokens["access_token"]).status_code for each in (program.service, other)] == [200, 200]
        ended(program, customer)
        assert [call_list(each, tokens["access_token"]).status_code for each in (program.service, other)] == [401, 401]
    assert program.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"


@pytest.mark.parametrize("cleaned_up", [False, True])
@pytest.mark.parametrize("ended", [_demoted, _disabled])
def test_an_agent_does_not_come_back_with_the_rights_of_its_user(
    program: Connecting, customer: Customer, ended: Callable[[Connecting, Customer], None], *, cleaned_up: bool
) -> None:
    service, now = program.service, program.service.clock.now()
    tokens = program.tokens()
    ended(program, customer)
    if cleaned_up:
        service.in_transaction(lambda tx: clean_up_agents(tx, now))
    service.in_transaction(lambda tx: invite_user(tx, customer.id, program.person.email, "developer", "s" * 64, now))
    assert call_list(service, tokens["access_token"]).status_code == 401
    assert program.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    service.in_transaction(lambda tx: clean_up_agents(tx, now))
    ended_at = "select ended_at is not null from agent_consent where client_id = %s"
    assert rows(service, ended_at, program.client_id) == [(True,)]


def test_an_ended_token_blocks_no_address_and_guesses_do(own_shop: Service) -> None:
    program = connecting(own_shop, customer_user(own_shop, own_shop.customer().id, "owner"))
    tokens = program.tokens()
    program.refresh(tokens["refresh_token"])
    program.refresh(tokens["refresh_token"])
    assert {call_list(own_shop, tokens["access_token"]).status_code for _ in range(12)} == {401}
    assert {call_list(own_shop, f"{n:064}").status_code for n in range(10)} == {401}
    assert call_list(own_shop, f"{11:064}").status_code == 403


def test_a_lacking_scope_is_a_challenge_that_names_all_scopes_to_ask_for(program: Connecting) -> None:
    token = program.tokens(order=None)["access_token"]
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "price_order", "arguments": {}}}
    headers = {**JSON, "Authorization": f"Bearer {token}"}
    response = httpx2.post(program.resource, json=body, headers=headers)
    assert (response.status_code, response.json()["code"]) == (403, "scope_needed")
    metadata = f"{program.service.url}/.well-known/oauth-protected-resource/mcp"
    assert response.headers["WWW-Authenticate"] == (
        f'Bearer error="insufficient_scope", scope="read order", resource_metadata="{metadata}"'
    )
    modern = {**headers, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "price_order"}
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body["params"]["_meta"] = meta  # type: ignore[index]
    assert httpx2.post(program.resource, json=body, headers=modern).status_code == 403


def test_another_customers_order_is_not_found(program: Connecting) -> None:
    theirs = create(program.service.customer())
    option = theirs["shipping_options"][0]
    stolen = {"confirmation_code": theirs["confirmation_code"], "shipping_method": option["id"]}
    assert program.agent().error("confirm_order", **stolen, total=option["total_gross"])["code"] == "not_found"


def test_another_customers_agent_cannot_be_ended(program: Connecting) -> None:
    tokens = program.tokens()
    [(agent_id,)] = rows(program.service, "select id from agent_consent where client_id = %s", program.client_id)
    other = customer_user(program.service, program.service.customer().id, "owner")
    assert other.send(f"/account/developer/agent/{agent_id}/revoke").status_code == 404
    assert call_list(program.service, tokens["access_token"]).status_code == 200


def test_a_name_is_shown_as_text_in_one_line(program: Connecting) -> None:
    evil = connecting(program.service, program.person, client_name="<script>x</script>\n\u202eBank")
    page = evil.page().text
    assert "<script>x" not in page
    assert "\u202e" not in page


def test_a_form_from_another_site_allows_nothing(program: Connecting) -> None:
    fields = {**program.request(), "decision": "allow", "read": "true"}
    response = program.person.send("/auth/authorize", fields, headers={"Sec-Fetch-Site": "cross-site"})
    assert response.status_code == 403
    assert rows(program.service, "select from agent_consent where client_id = %s", program.client_id) == []
