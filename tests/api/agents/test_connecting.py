"""Agents find out where to ask, register, are allowed by a person, and get tokens for `/mcp` alone."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from mcp import Client

from support.agent_consent import (
    CALLBACK,
    JSON,
    LIST,
    Connecting,
    OfficialClient,
    call_list,
    connecting,
    register,
    returned,
)
from support.orders import rows
from support.pages import Person, browser, customer_user, text_of
from support.service import Customer, Service, running_service
from support.shop import order
from tradecounter.agents.consents import clean_up_agents


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture(scope="module")
def owner(shop: Service, customer: Customer) -> Person:
    return customer_user(shop, customer.id, "owner")


@pytest.fixture
def program(shop: Service, owner: Person) -> Connecting:
    return connecting(shop, owner)


@pytest.mark.sweep
def test_the_official_client_goes_from_an_address_to_a_confirmed_order(shop: Service, owner: Person) -> None:
    client = OfficialClient(shop, owner)

    async def work(mcp: Client) -> Any:
        priced: Any = (await mcp.call_tool("price_order", order([("PHONE", 2)]))).structured_content
        option = priced["shipping_options"][0]
        shown = {"shipping_method": option["id"], "total": option["total_gross"]}
        return await mcp.call_tool("confirm_order", {"confirmation_code": priced["confirmation_code"], **shown})

    confirmed = client.use(work).structured_content
    assert confirmed["code"] == "confirmed"
    assert client.asked == ["read order"]
    again = client.use(lambda mcp: mcp.call_tool("get_order", {"reference": confirmed["order"]["order_reference"]}))
    assert again.structured_content["id"] == confirmed["order"]["order_id"]
    assert len(client.asked) == 1


def test_an_agent_asks_for_more_when_a_scope_lacks(shop: Service, owner: Person) -> None:
    client = OfficialClient(shop, owner, {"order": "no"})
    assert not client.use(lambda mcp: mcp.call_tool("search_products", {"query": "phone"})).is_error
    assert client.tokens is not None
    assert client.tokens.scope == "read"
    client.chosen.clear()
    assert not client.use(lambda mcp: mcp.call_tool("price_order", order())).is_error
    assert client.asked == ["read order", "read order"]
    assert client.tokens.scope == "read order"


def test_without_a_token_an_agent_learns_where_to_ask(shop: Service) -> None:
    response = httpx2.post(f"{shop.url}/mcp", json=LIST, headers=JSON)
    metadata = f"{shop.url}/.well-known/oauth-protected-resource/mcp"
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == f'Bearer scope="read order", resource_metadata="{metadata}"'
    for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"):
        found = shop.client().get(path).json()
        assert (found["resource"], found["authorization_servers"]) == (f"{shop.url}/mcp", [f"{shop.url}/auth"])
    issuer = shop.client().get("/.well-known/oauth-authorization-server/auth").json()
    assert issuer["registration_endpoint"] == f"{shop.url}/auth/register"
    assert issuer["client_id_metadata_document_supported"]
    assert "none" in issuer["token_endpoint_auth_methods_supported"]


@pytest.mark.sweep
def test_where_consent_comes_from_elsewhere_only_keys_order(database_url: str) -> None:
    with running_service(database_url, auth_url="https://login.example") as service:
        response = httpx2.post(f"{service.url}/mcp", json=LIST, headers=JSON)
        assert response.headers["WWW-Authenticate"] == "Bearer"
        assert httpx2.get(f"{service.url}/.well-known/oauth-protected-resource/mcp").status_code == 404


def test_the_page_names_the_agent_and_what_it_may_do(program: Connecting) -> None:
    said = text_of(program.page())
    assert "A program that calls itself Assistant" in said
    assert "127.0.0.1:33418, a program on your own computer" in said
    assert "One order may cost" in said
    assert "One order may cost" not in text_of(program.page(scope="read"))


@pytest.mark.parametrize("role", ["buyer", "approver", "accounts"])
def test_only_owners_and_developers_allow_agents(shop: Service, customer: Customer, role: str) -> None:
    program = connecting(shop, customer_user(shop, customer.id, role))  # type: ignore[arg-type]
    assert "Only an owner or a developer" in text_of(program.page())
    assert program.answer(read="true").status_code == 403


def test_a_developer_allows_what_is_ticked_for_as_long_as_chosen(shop: Service, customer: Customer) -> None:
    program = connecting(shop, customer_user(shop, customer.id, "developer"))
    tokens = program.tokens(order=None, days="1")
    assert (tokens["scope"], tokens["token_type"], tokens["expires_in"]) == ("read", "Bearer", 3600)
    found = rows(
        shop, "select scopes, order_limit, expires_at - given_at from agent_consent where client_id = %s",
        program.client_id,
    )  # fmt: skip
    assert found == [(["read"], None, timedelta(days=1))]


@pytest.mark.parametrize(
    ("chosen", "field"),
    [
        ({"read": None, "order": None}, "choose at least one"),
        ({"order_limit": ""}, "One order may cost"),
        ({"order_limit": "0"}, "One order may cost"),
        ({"order_limit": "12,50"}, "One order may cost"),
        ({"order_limit": "600", "day_limit": "500"}, "All its orders of a day may cost"),
        ({"days": "3000"}, "For how long"),
    ],
)
def test_what_cannot_be_allowed_is_said_at_its_field(
    program: Connecting, chosen: dict[str, str | None], field: str
) -> None:
    response = program.answer(**chosen)
    assert response.status_code == 400
    assert field in text_of(response)
    assert rows(program.service, "select from agent_consent where client_id = %s", program.client_id) == []


def test_the_way_back_has_the_state_and_the_issuer(shop: Service, program: Connecting) -> None:
    allowed = returned(program.answer())
    assert (allowed["state"], allowed["iss"]) == ("some state", f"{shop.url}/auth")
    denied = returned(program.answer(decision="deny"))
    assert (denied["error"], denied["state"], denied["iss"]) == ("access_denied", "some state", f"{shop.url}/auth")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"scope": "account"}, "invalid_scope"),
        ({"prompt": "none"}, "consent_required"),
    ],
)
def test_a_wrong_request_goes_back_with_its_error(
    program: Connecting, changes: dict[str, str | None], error: str
) -> None:
    assert returned(program.page(**changes))["error"] == error


@pytest.mark.parametrize("signed_in", [True, False])
def test_a_link_with_a_mistake_leads_to_no_other_site_by_itself(shop: Service, owner: Person, signed_in: bool) -> None:
    program = connecting(shop, owner, "https://evil.example/callback", client_name="Your bank")
    for changes in ({"response_type": "token"}, {"prompt": "none"}, {"scope": "account"}):
        [named] = changes
        asked = program.request(**changes)
        page = program.page(**changes) if signed_in else browser(shop.url).get("/auth/authorize", params=asked)
        assert page.status_code == 400
        assert "Location" not in page.headers
        assert "http-equiv" not in page.text
        assert f"What is wrong {named}: must" in text_of(page)
        assert "Go back to evil.example" in text_of(page)
        assert 'href="https://evil.example/callback?error=' in page.text
    denied = returned(program.answer(decision="deny"))
    assert denied["error"] == "access_denied"


@pytest.mark.parametrize(
    "address",
    ["https://evil.example/callback", CALLBACK + "/", CALLBACK + "?x=1", "http://127.0.0.1:33418@evil.example/callback",
     "http://127.0.0.2:33418/callback", "http://localhost:33418/callback", "javascript:alert(1)"],
)  # fmt: skip
def test_a_browser_is_sent_to_registered_addresses_only(program: Connecting, address: str) -> None:
    response = program.page(redirect_uri=address)
    assert response.status_code == 400
    assert "Location" not in response.headers


def test_a_program_on_the_persons_computer_may_listen_on_any_port(program: Connecting) -> None:
    program.redirect_uri = CALLBACK.replace("33418", "50123")
    assert program.answer().headers["Location"].startswith("http://127.0.0.1:50123/callback?code=")
    assert program.redeem(program.code(), redirect_uri=CALLBACK).json()["error"] == "invalid_grant"


def test_consent_is_asked_for_each_time(program: Connecting) -> None:
    program.tokens()
    assert "Allow Assistant?" in text_of(program.page())


@pytest.mark.parametrize(
    ("uris", "error"),
    [
        ([], "invalid_redirect_uri"),
        (["http://evil.example/callback"], "invalid_redirect_uri"),
        (["https://agent.example/callback#x"], "invalid_redirect_uri"),
        (["https://agent.example/callback"] * 21, "invalid_redirect_uri"),
        ("https://agent.example", "invalid_client_metadata"),
        (None, "invalid_client_metadata"),
    ],
)
def test_a_wrong_registration_says_what_is_wrong(shop: Service, uris: object, error: str) -> None:
    response = shop.client().post("/auth/register", json={"redirect_uris": uris})
    assert (response.status_code, response.json()["error"]) == (400, error)


def test_a_registered_client_has_no_secret(shop: Service) -> None:
    made = register(shop, token_endpoint_auth_method="client_secret_basic").json()
    assert made["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in made


def test_registrations_are_limited_by_address(own_shop: Service) -> None:
    def registered(address: str) -> int:
        client = own_shop.client(**{"X-Forwarded-For": address})
        return client.post("/auth/register", json={"redirect_uris": [CALLBACK]}).status_code

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: registered("203.0.113.9"), range(26)))
    assert sorted(found) == [201] * 20 + [429] * 6
    assert registered("203.0.113.10") == 201
    own_shop.clock.advance(timedelta(hours=1, seconds=1))
    assert registered("203.0.113.9") == 201


def test_what_nobody_allows_is_deleted_after_a_day(own_shop: Service) -> None:
    owner = customer_user(own_shop, own_shop.customer().id, "owner")
    allowed, ignored = connecting(own_shop, owner), register(own_shop).json()["client_id"]
    token = allowed.tokens(days="30")["refresh_token"]
    own_shop.clock.advance(timedelta(days=1, seconds=1))
    own_shop.in_transaction(lambda tx: clean_up_agents(tx, own_shop.clock.now()))
    assert rows(own_shop, "select client_id from agent_client") == [(allowed.client_id,)]
    assert ignored != allowed.client_id
    assert allowed.refresh(token).status_code == 200


@pytest.mark.sweep
def test_tokens_are_renewed_until_the_consent_ends(own_shop: Service) -> None:
    program = connecting(own_shop, customer_user(own_shop, own_shop.customer().id, "owner"))
    first = program.tokens(days="1")
    own_shop.clock.advance(timedelta(hours=1))
    assert call_list(own_shop, first["access_token"]).status_code == 401
    second = program.refresh(first["refresh_token"]).json()
    assert call_list(own_shop, second["access_token"]).status_code == 200
    own_shop.clock.advance(timedelta(hours=22, minutes=30))
    third = program.refresh(second["refresh_token"]).json()
    assert third["expires_in"] == 1800
    own_shop.clock.advance(timedelta(minutes=30))
    assert call_list(own_shop, third["access_token"]).status_code == 401
    assert program.refresh(third["refresh_token"]).json()["error"] == "invalid_grant"


@pytest.mark.sweep
def test_an_agent_with_order_reads_what_ordering_needs(program: Connecting) -> None:
    helper = program.agent(read=None)
    assert "credit" in helper.call("get_account")
    assert helper.call("get_invoice", order_reference="ORD-1") == {"invoices": []}
    message = {"kind": "message", "order_reference": "ORD-1", "text": "When?"}
    assert helper.error("open_request", **message)["code"] == "scope_needed"


def test_what_an_agent_changes_names_the_person_who_allowed_it(
    shop: Service, owner: Person, program: Connecting
) -> None:
    program.agent().call("price_order", **order())
    [(kind, name)] = rows(shop, "select actor_kind, actor_name from audit_entry order by id desc limit 1")
    assert (kind, name) == ("agent", f"Assistant, allowed by {owner.email}")


@pytest.mark.sweep
def test_a_new_consent_ends_the_former_and_the_audit_log_says_so(shop: Service, program: Connecting) -> None:
    first, second = (program.tokens()["access_token"] for _ in range(2))
    assert (call_list(shop, first).status_code, call_list(shop, second).status_code) == (401, 200)
    [former, _] = rows(shop, "select id from agent_consent where client_id = %s order by id", program.client_id)
    assert rows(
        shop, "select action, after->>'reason' from audit_entry where subject = %s order by id", f"agent/{former[0]}"
    ) == [("agent.allow", None), ("agent.revoke", "replaced by a new consent")]


@pytest.mark.sweep
def test_the_accounts_page_lists_agents_and_ends_them(shop: Service, owner: Person, program: Connecting) -> None:
    helper = program.agent(order_limit="250", day_limit="1,000")
    helper.call("list_orders")
    said = text_of(owner.get("/account/developer/agent"))
    assert "£250.00 £1,000.00" in said
    [(agent_id,)] = rows(shop, "select id from agent_consent where client_id = %s", program.client_id)
    assert owner.send(f"/account/developer/agent/{agent_id}/revoke").status_code == 303
    assert call_list(shop, helper.headers["Authorization"].split()[1]).status_code == 401
    assert rows(shop, "select action from audit_entry where subject = %s order by id", f"agent/{agent_id}") == [
        ("agent.allow",),
        ("agent.revoke",),
    ]


def test_the_token_is_for_the_agents_server_alone(shop: Service, program: Connecting) -> None:
    tokens = program.tokens()
    for token in (tokens["access_token"], tokens["refresh_token"]):
        for headers in ({"Authorization": f"Bearer {token}"}, {"X-Api-Key": token}):
            with shop.client(**headers) as client:
                assert {client.get(path).status_code for path in ("/customer", "/product", "/order", "/event")} == {401}
                assert client.post("/order", json=order()).status_code == 401
    assert call_list(shop, tokens["refresh_token"]).status_code == 401
    assert call_list(shop, tokens["access_token"]).status_code == 200
