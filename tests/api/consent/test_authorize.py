"""`/auth/authorize`: the consent page, what it answers to applications, and attacks on it (RFC 6749, 9207, 9700)."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import httpx2
import pytest
from authlib.common.security import generate_token
from authlib.integrations.httpx_client import OAuth2Client

from support.applications import GRANT, JWT
from support.applications import switch_off as switch_off_application
from support.consent import CALLBACK, Code, Consenting, challenge_of, running_consent
from support.orders import rows
from support.pages import Person, browser, customer_user, fields_of, text_of
from support.people import PASSWORD
from support.people import customer_user as signing_in_user
from support.service import running_service
from support.signing_in import Place
from tradecounter.db.transaction import Transaction
from tradecounter.edge.pages.page_site import ACCOUNT
from tradecounter.identity.oauth.manage_applications import revoke_given_access
from tradecounter.identity.oauth.queries.access_tokens import access_given
from tradecounter.identity.oauth.queries.applications import NewApplication

VERIFIER = "v" * 43
FROM_ELSEWHERE = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}


@pytest.fixture(scope="module")
def consenting(database_url: str) -> Iterator[Consenting]:
    with running_consent(database_url) as running:
        yield running


@pytest.fixture(scope="module")
def owner(consenting: Consenting) -> Person:
    return customer_user(consenting.service, consenting.customer.id, "owner")


@pytest.fixture
def application(consenting: Consenting) -> Any:
    """An application to which nobody has consented yet."""
    return consenting.register("https://erp.example/callback?from=shop", CALLBACK, name="<b>ERP</b>")


def visit(person: Person, fields: dict[str, str]) -> httpx2.Response:
    """Arrive at the page from the application."""
    return person.get("/auth/authorize", params=fields, headers=FROM_ELSEWHERE)


def decide(
    person: Person, fields: dict[str, str], decision: str = "allow", headers: Mapping[str, str] | None = None
) -> httpx2.Response:
    return person.send("/auth/authorize", {**fields, "decision": decision}, headers=headers)


def sent_back(response: httpx2.Response) -> tuple[str, dict[str, str]]:
    """Where a response sends the browser: the address without its new parameters, and these."""
    assert response.status_code == 303, response.text
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["cache-control"] == "no-store"
    parts = urlsplit(response.headers["Location"])
    found = dict(parse_qsl(parts.query, keep_blank_values=True))
    return f"{parts.scheme}://{parts.netloc}{parts.path}", found


def error_of(consenting: Consenting, response: httpx2.Response) -> str:
    """The error that the application is told, which needs state and issuer."""
    _, found = sent_back(response)
    assert (found["state"], found["iss"]) == ("some state", consenting.issuer)
    assert "code" not in found
    return found["error"]


def shown(response: httpx2.Response) -> str:
    """What an error page says; the browser must not be sent anywhere."""
    assert response.status_code == 400
    assert "location" not in response.headers
    assert "refresh" not in response.text
    return text_of(response)


def test_a_user_allows_an_application_and_gets_back_with_a_code(
    consenting: Consenting, owner: Person, application: Any
) -> None:
    request = consenting.request(application)
    page = visit(owner, request)
    assert page.status_code == 200
    said = text_of(page)
    assert "<b>ERP</b> wants to act for" in said
    assert "<b>ERP</b>" not in page.text, "escaped"
    assert "It returns you to erp.example" in said
    assert fields_of(page) == request
    address, found = sent_back(decide(owner, fields_of(page)))
    assert address == "https://erp.example/callback"
    assert found.keys() == {"from", "code", "state", "iss"}
    assert (found["from"], found["state"], found["iss"]) == ("shop", "some state", consenting.issuer)
    code = Code(found["code"], VERIFIER, application.redirect_uris[0])
    given = consenting.redeem(code, application).json()
    token = consenting.access_token(given["access_token"], application)
    assert consenting.use(token).json() == consenting.customer.get("/customer").json()
    entries = (
        "select actor_kind, actor_name, address is not null, after from audit_entry"
        " where action = 'consent.give' and subject = %s"
    )
    assert rows(consenting.service, entries, f"application/{application.client_id}") == [
        ("user", owner.email, True, {"customer_id": consenting.customer.id})
    ]


def test_a_stock_client_goes_the_whole_way(consenting: Consenting, owner: Person) -> None:
    application = consenting.register(name="Stock client")
    metadata = httpx2.get(f"{consenting.issuer}/.well-known/openid-configuration").json()
    verifier = generate_token(48)
    with OAuth2Client(
        application.client_id,
        application.client_secret,
        redirect_uri=CALLBACK,
        code_challenge_method="S256",
        token_endpoint=metadata["token_endpoint"],
        revocation_endpoint_auth_method="client_secret_basic",
        timeout=30,
    ) as client:
        address, state = client.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
        page = owner.get(address)
        came_back = decide(owner, fields_of(page)).headers["Location"]
        consent = client.fetch_token(
            metadata["token_endpoint"], authorization_response=came_back, state=state, code_verifier=verifier
        )
        assert (consent["token_type"], consent["expires_in"]) == ("Bearer", 600)

        def exchanged(subject_token: str) -> dict[str, Any]:
            with OAuth2Client(application.client_id, application.client_secret, timeout=30) as other:
                found: dict[str, Any] = other.fetch_token(
                    f"{consenting.service.url}/oauth/token",
                    grant_type=GRANT,
                    subject_token=subject_token,
                    subject_token_type=JWT,
                )
                assert (
                    other.get(f"{consenting.service.url}/customer").json()
                    == consenting.customer.get("/customer").json()
                )
                return found

        first = exchanged(consent["access_token"])
        refreshed = client.refresh_token(metadata["token_endpoint"], refresh_token=consent["refresh_token"])
        assert refreshed["refresh_token"] != consent["refresh_token"]
        second = exchanged(refreshed["access_token"])
        client.revoke_token(metadata["revocation_endpoint"], token=refreshed["refresh_token"])
    consenting.service.refresh()
    assert [consenting.use(token["access_token"]).status_code for token in (first, second)] == [401, 401]


def test_a_standing_consent_is_not_asked_again(consenting: Consenting, owner: Person, application: Any) -> None:
    request = consenting.request(application)
    sent_back(decide(owner, request))
    developer = customer_user(consenting.service, consenting.customer.id, "developer")
    for person, prompt in ((owner, None), (owner, "none"), (developer, None), (developer, "none")):
        _, found = sent_back(visit(person, {**request, **({"prompt": prompt} if prompt else {})}))
        assert len(found["code"]) == 64
    page = visit(owner, {**request, "prompt": "consent"})
    assert page.status_code == 200, "asked although it stands"
    sent_back(decide(owner, fields_of(page)))
    stand = "select count(*) from consent where client_id = %s"
    assert rows(consenting.service, stand, application.client_id) == [(1,)]


def test_a_consent_is_one_customers_alone(consenting: Consenting, owner: Person, application: Any) -> None:
    request = consenting.request(application)
    sent_back(decide(owner, request))
    stranger = customer_user(consenting.service, consenting.service.customer().id, "owner")
    assert visit(stranger, request).status_code == 200
    assert error_of(consenting, visit(stranger, {**request, "prompt": "none"})) == "consent_required"


def test_after_a_revocation_it_is_asked_again(consenting: Consenting, owner: Person, application: Any) -> None:
    request = consenting.request(application)
    sent_back(decide(owner, request))

    async def revoke(tx: Transaction) -> list[str]:
        customer_id, now = consenting.customer.id, consenting.service.clock.now()
        before = [given.client_id for given in await access_given(tx, customer_id, now)]
        await revoke_given_access(tx, customer_id, application.client_id, now)
        return before

    assert application.client_id in consenting.service.in_transaction(revoke)
    assert visit(owner, request).status_code == 200
    assert error_of(consenting, visit(owner, {**request, "prompt": "none"})) == "consent_required"


def test_a_user_who_does_not_allow_it_gets_back_with_an_error(
    consenting: Consenting, owner: Person, application: Any
) -> None:
    request = consenting.request(application)
    assert error_of(consenting, decide(owner, request, "deny")) == "access_denied"
    assert error_of(consenting, visit(owner, {**request, "prompt": "none"})) == "consent_required"


@pytest.mark.parametrize("role", ["buyer", "accounts"])
def test_other_roles_cannot_give_consent(consenting: Consenting, owner: Person, application: Any, role: Any) -> None:
    person, request = customer_user(consenting.service, consenting.customer.id, role), consenting.request(application)
    page = visit(person, request)
    assert "Only an owner or a developer" in text_of(page)
    assert 'value="allow"' not in page.text
    assert error_of(consenting, decide(person, request)) == "access_denied"
    assert error_of(consenting, visit(person, {**request, "prompt": "none"})) == "access_denied"
    sent_back(decide(owner, request))
    assert visit(person, request).status_code == 200, "not with a standing consent either"


def test_a_person_signs_in_first_and_comes_back(consenting: Consenting, application: Any) -> None:
    request = consenting.request(application)
    with browser(consenting.service.url) as http:
        for response in (
            http.get("/auth/authorize", params=request),
            http.post("/auth/authorize", data={**request, "decision": "allow"},
                      headers={"Sec-Fetch-Site": "same-origin"}),
        ):  # fmt: skip
            assert response.status_code == 303
            parts = urlsplit(response.headers["Location"])
            assert parts.path == "/account/sign-in"
            back = urlsplit(parse_qs(parts.query)["next"][0])
            assert (back.scheme, back.netloc, back.path) == ("", "", "/auth/authorize")
            assert dict(parse_qsl(back.query)) == request
        silent = http.get("/auth/authorize", params={**request, "prompt": "none"})
    assert error_of(consenting, silent) == "login_required"


@pytest.mark.parametrize("state", ["s" * 500, "{}" * 1000])
def test_the_sign_in_page_leads_back_to_the_request(consenting: Consenting, application: Any, state: str) -> None:
    service = consenting.service
    place = Place(service, ACCOUNT, service.url, signing_in_user(service))
    visitor, request = place.browser(), consenting.request(application, state=state)
    sign_in = visitor.get(f"/auth/authorize?{urlencode(request)}", **FROM_ELSEWHERE).headers["Location"]
    done = visitor.fill(sign_in, email=place.who.email, password=PASSWORD)
    page = visitor.get(done.headers["Location"])
    assert fields_of(page) == request
    _, found = sent_back(visitor.send("/auth/authorize", **fields_of(page), decision="allow"))
    assert len(found["code"]) == 64


def test_after_a_sign_in_the_browser_goes_on_by_itself(consenting: Consenting, owner: Person, application: Any) -> None:
    request = consenting.request(application)
    sent_back(decide(owner, request))
    response = owner.get("/auth/authorize", params=request, headers={"Sec-Fetch-Site": "same-origin"})
    assert response.status_code == 200
    assert (
        '<meta http-equiv="refresh" content="0; url=https://erp.example/callback?from=shop&amp;code=' in response.text
    )


def test_a_disabled_or_blocked_persons_session_gives_nothing(consenting: Consenting, application: Any) -> None:
    customer = consenting.service.customer()
    person, request = customer_user(consenting.service, customer.id), consenting.request(application)
    sent_back(decide(person, request))
    block = "update customer set blocked_at = now(), blocked_reason = 'x' where id = %s returning id"
    rows(consenting.service, block, customer.id)
    assert error_of(consenting, visit(person, {**request, "prompt": "none"})) == "login_required"


@pytest.mark.sweep(every=8)
@pytest.mark.parametrize(
    "uri",
    [
        "https://erp.example/callback",  # without the query
        "https://erp.example/callback/?from=shop",
        "https://erp.example/Callback?from=shop",
        "https://ERP.example/callback?from=shop",
        "HTTPS://erp.example/callback?from=shop",
        "http://erp.example/callback?from=shop",
        "https://erp.example:443/callback?from=shop",
        "https://erp.example:8443/callback?from=shop",
        "https://erp.example./callback?from=shop",
        "https://www.erp.example/callback?from=shop",
        "https://erp.example.evil.example/callback?from=shop",
        "https://user@erp.example/callback?from=shop",
        "https://erp.example@evil.example/callback?from=shop",
        "https://erp.example/callback/../evil?from=shop",
        "https://erp.example/x/../callback?from=shop",
        "https://erp.example/%63allback?from=shop",
        "https://erp.example//callback?from=shop",
        "https://erp.example/callback?from=shop&more=1",
        "https://erp.example/callback?from=shop#part",
        "https://erp.example/callback?from=shop ",
        " https://erp.example/callback?from=shop",
        "https://erp.example/callback?from=shop\r\nX-Evil: 1",
        "https://erp.example\\@evil.example/callback?from=shop",
        "//erp.example/callback?from=shop",
        "/callback?from=shop",
        "javascript:alert(1)//https://erp.example/callback?from=shop",
        "data:text/html,x",
        "http://127.0.0.1:10/callback",  # another port of this machine
        "http://localhost:9/callback",
        "http://[::1]:9/callback",
        "https://evil.example/",
    ],
)
def test_only_a_registered_address_is_redirected_to(
    consenting: Consenting, owner: Person, application: Any, uri: str
) -> None:
    request = consenting.request(application, redirect_uri=uri)
    assert "has not registered the address" in shown(visit(owner, request))
    assert "has not registered the address" in shown(visit(owner, {**request, "prompt": "none"}))
    assert "has not registered the address" in shown(decide(owner, request))
    assert "has not registered the address" in shown(decide(owner, request, "deny"))


def test_a_bad_application_is_shown_also_to_people_who_have_not_signed_in(
    consenting: Consenting, owner: Person, application: Any
) -> None:
    request = consenting.request(application)
    disabled = consenting.register("https://gone.example/")
    switch_off_application(consenting.service, NewApplication(disabled.client_id, disabled.client_secret))
    another = consenting.register("https://other.example/")
    cases = [
        ({**request, "client_id": ""}, "did not say which one it is"),
        ({**request, "client_id": "0" * 32}, "is not registered here"),
        ({**request, "redirect_uri": ""}, "redirect_uri is required"),
        ({**request, "client_id": another.client_id}, "has not registered the address"),
        (consenting.request(disabled), "is disabled"),
    ]
    with browser(consenting.service.url) as http:
        for fields, message in cases:
            assert message in shown(visit(owner, fields))
            assert message in shown(http.get("/auth/authorize", params=fields))
        for name in ("client_id", "redirect_uri"):
            twice = urlencode(request) + f"&{name}=https://evil.example/"
            assert "more than once" in shown(http.get(f"/auth/authorize?{twice}"))
        for broken in ("client_id=%zz", "client_id=%ff", "client_id=%00", "x", ""):
            shown(http.get(f"/auth/authorize?{broken}"))


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": None}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code token"}, "unsupported_response_type"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": VERIFIER[1:]}, "invalid_request"),
        ({"code_challenge": "!" * 43}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": "s256"}, "invalid_request"),
        ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        ({"prompt": "login"}, "invalid_request"),
        ({"prompt": "none consent"}, "invalid_request"),
    ],
)
def test_the_application_is_told_what_else_is_wrong(
    consenting: Consenting, owner: Person, application: Any, changes: dict[str, str | None], error: str
) -> None:
    request = consenting.request(application, **changes)
    assert error_of(consenting, visit(owner, request)) == error
    assert error_of(consenting, decide(owner, request)) == error
    with browser(consenting.service.url) as http:
        assert error_of(consenting, http.get("/auth/authorize", params=request)) == error


def test_a_repeated_field_is_an_error(consenting: Consenting, owner: Person, application: Any) -> None:
    request = urlencode(consenting.request(application))
    for name in ("response_type", "code_challenge", "prompt"):
        response = owner.get(f"/auth/authorize?{request}&{name}=x&{name}=x", headers=FROM_ELSEWHERE)
        assert error_of(consenting, response) == "invalid_request"
    _, found = sent_back(owner.get(f"/auth/authorize?{request}&state=x", headers=FROM_ELSEWHERE))
    assert found["error"] == "invalid_request"
    assert "state" not in found


def test_the_state_comes_back_as_it_was_sent(consenting: Consenting, owner: Person, application: Any) -> None:
    state = "a&b=c #%\"'<>é\r\n\\"
    for request in (consenting.request(application, state=state), consenting.request(application, state=None)):
        page = visit(owner, request)
        _, found = sent_back(decide(owner, request))
        assert found.get("state") == request.get("state")
        assert "<>" not in page.text.partition('name="state"')[2].partition(">")[0]
        consenting.service.in_transaction(
            lambda tx: revoke_given_access(
                tx, consenting.customer.id, application.client_id, consenting.service.clock.now()
            )
        )


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
    ],
)
def test_a_form_of_another_site_gives_no_consent(
    consenting: Consenting, owner: Person, application: Any, headers: dict[str, str]
) -> None:
    request = consenting.request(application)
    response = decide(owner, request, headers=headers)
    assert (response.status_code, "location" in response.headers) == (403, False)
    assert error_of(consenting, visit(owner, {**request, "prompt": "none"})) == "consent_required"


def test_a_form_without_any_word_of_its_origin_gives_no_consent(
    consenting: Consenting, owner: Person, application: Any
) -> None:
    fields = {**consenting.request(application), "decision": "allow"}
    for headers in ({}, {"Origin": "null"}, {"Origin": "https://evil.example"}):
        assert owner.http.post("/auth/authorize", data=fields, headers=headers).status_code == 403
    own = owner.http.post("/auth/authorize", data=fields, headers={"Origin": consenting.service.url})
    assert own.status_code == 303


def test_a_link_cannot_decide(consenting: Consenting, owner: Person, application: Any) -> None:
    page = visit(owner, {**consenting.request(application), "decision": "allow"})
    assert page.status_code == 200
    assert "decision" not in fields_of(page)
    for decision in ("", "yes", "ALLOW"):
        shown(decide(owner, consenting.request(application), decision))


def test_the_page_can_neither_be_framed_nor_tell_where_it_came_from(
    consenting: Consenting, owner: Person, application: Any
) -> None:
    page = visit(owner, consenting.request(application))
    policy = page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self' https://erp.example;" in policy
    assert "script-src 'self'" in policy
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"
    local = visit(owner, consenting.request(application, redirect_uri=CALLBACK))
    assert "form-action 'self' http://127.0.0.1:9;" in local.headers["content-security-policy"]
    shown_error = visit(owner, consenting.request(application, redirect_uri="https://evil.example/"))
    assert "evil" not in shown_error.headers["content-security-policy"]
    six = consenting.register("http://[::1]:9/callback")
    assert "form-action 'self' http:;" in visit(owner, consenting.request(six)).headers["content-security-policy"]


def test_responses_of_different_services_can_be_told_apart(
    consenting: Consenting, owner: Person, application: Any
) -> None:
    request = consenting.request(application)
    _, ours = sent_back(decide(owner, request))
    now = consenting.service.clock.now()
    with running_service(consenting.service.database_url, base_url="https://other.example", now=now) as service:
        other = customer_user(service, consenting.customer.id)
        _, theirs = sent_back(visit(other, request))
    assert (ours["iss"], theirs["iss"]) == (consenting.issuer, "https://other.example/auth")


def test_a_stolen_code_needs_the_verifier_and_the_secret(
    consenting: Consenting, owner: Person, application: Any
) -> None:
    _, found = sent_back(decide(owner, consenting.request(application, code_challenge=challenge_of("w" * 43))))
    stolen = Code(found["code"], VERIFIER, application.redirect_uris[0])
    assert consenting.redeem(stolen, consenting.register(name="thief")).status_code == 400
    assert consenting.redeem(stolen, application).status_code == 400


def test_with_another_issuer_there_is_no_page(consenting: Consenting) -> None:
    with (
        running_service(consenting.service.database_url, auth_url="https://login.example") as service,
        browser(service.url) as http,
    ):
        assert http.get("/auth/authorize", params=consenting.request()).status_code == 404
