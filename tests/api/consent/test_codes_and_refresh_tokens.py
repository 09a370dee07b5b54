"""`POST /auth/token` and `POST /auth/revoke`: what they give, and what an attacker gets (RFC 6749, 7009, 9700)."""

import io
import json
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from structlog.testing import capture_logs

from support.applications import JWT, assert_rejected
from support.applications import switch_off as switch_off_application
from support.consent import CALLBACK, Consenting, challenge_of, running_consent
from support.orders import rows
from support.service import running_service
from tradecounter.consent.authorize import clean_up_consent
from tradecounter.db.transaction import Transaction
from tradecounter.identity.oauth.manage_applications import revoke_given_access
from tradecounter.identity.oauth.queries.applications import NewApplication
from tradecounter.privacy.personal_data import erase_customer, export_customer

MINUTE = timedelta(minutes=1)


@pytest.fixture(scope="module")
def consenting(database_url: str) -> Iterator[Consenting]:
    with running_consent(database_url) as running:
        yield running


def revoke(consenting: Consenting) -> None:
    async def work(tx: Transaction) -> None:
        client_id, now = consenting.application.client_id, consenting.service.clock.now()
        await revoke_given_access(tx, consenting.customer.id, client_id, now)

    consenting.service.in_transaction(work)


def ended(consenting: Consenting, token: str) -> bool:
    """Whether an access token is rejected once the service has noticed the change."""
    consenting.service.refresh()
    return consenting.use(token).status_code == 401


def audited(consenting: Consenting, action: str) -> list[Any]:
    return rows(
        consenting.service,
        "select actor_kind, actor_name, after from audit_entry where action = %s and subject = %s order by id",
        action,
        f"application/{consenting.application.client_id}",
    )


def test_a_code_gives_a_consent_that_is_exchanged_for_an_access_token(consenting: Consenting) -> None:
    response = consenting.redeem(consenting.code())
    body = response.json()
    assert response.status_code == 200
    assert (response.headers["cache-control"], response.headers["pragma"]) == ("no-store", "no-cache")
    assert body.keys() == {"access_token", "issued_token_type", "token_type", "expires_in", "refresh_token"}
    assert (body["issued_token_type"], body["token_type"], body["expires_in"]) == (JWT, "Bearer", 600)
    token = consenting.access_token(body["access_token"])
    assert consenting.use(token).json() == consenting.customer.get("/customer").json()


def test_a_consent_is_not_itself_an_access_token(consenting: Consenting) -> None:
    given = consenting.given()
    assert consenting.use(given["access_token"]).status_code == 401
    assert consenting.use(given["refresh_token"]).status_code == 401


def test_client_credentials_may_be_in_the_form(consenting: Consenting) -> None:
    application = consenting.application
    form = consenting.code().form(client_id=application.client_id, client_secret=application.client_secret)
    assert consenting.http.post("/auth/token", data=form).status_code == 200


def test_a_consent_ends_after_ten_minutes(consenting: Consenting) -> None:
    given = consenting.given()
    consenting.service.clock.advance(timedelta(minutes=11))
    assert_rejected(consenting.exchange(given["access_token"]), "invalid_grant")


def test_a_consent_is_good_for_its_application_only(consenting: Consenting) -> None:
    other = consenting.register(name="other")
    assert_rejected(consenting.exchange(consenting.given()["access_token"], other), "invalid_grant")


def test_a_consent_is_good_for_its_service_only(consenting: Consenting) -> None:
    given, now = consenting.given(), consenting.service.clock.now()
    with running_service(consenting.service.database_url, base_url="https://other.example", now=now) as other:
        form = {"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token_type": JWT,
                "subject_token": given["access_token"]}  # fmt: skip
        response = other.client().post("/oauth/token", data=form, auth=consenting.application.basic)
    assert_rejected(response, "invalid_grant")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"grant_type": None}, "invalid_request"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"code": None}, "invalid_request"),
        ({"redirect_uri": None}, "invalid_request"),
        ({"code_verifier": None}, "invalid_request"),
        ({"grant_type": "refresh_token"}, "invalid_request"),
        ({"code": "0" * 64}, "invalid_grant"),
        ({"code": "x"}, "invalid_grant"),
    ],
)
def test_a_wrong_field_is_an_oauth_error(consenting: Consenting, changes: dict[str, str | None], error: str) -> None:
    assert_rejected(consenting.redeem(consenting.code(), **changes), error)


def test_wrong_client_credentials_are_401_and_use_no_code_up(consenting: Consenting) -> None:
    code = consenting.code()
    form = code.form(client_id=consenting.application.client_id, client_secret="0" * 64)
    assert_rejected(consenting.http.post("/auth/token", data=form), "invalid_client")
    assert_rejected(consenting.http.post("/auth/token", data=code.form()), "invalid_client")
    assert consenting.redeem(code).status_code == 200


def test_ten_wrong_client_secrets_block_the_address(consenting: Consenting) -> None:
    form = consenting.code().form(client_id=consenting.application.client_id, client_secret="0" * 64)
    address = {"X-Forwarded-For": "198.51.100.9"}
    found = [consenting.http.post("/auth/token", data=form, headers=address).status_code for _ in range(11)]
    assert found == [401] * 10 + [403]


def test_a_code_that_is_used_again_revokes_what_it_gave(consenting: Consenting) -> None:
    code, other = consenting.code(), consenting.given()
    given = consenting.redeem(code).json()
    token = consenting.access_token(given["access_token"])
    assert not ended(consenting, token)
    with capture_logs() as logged:
        assert_rejected(consenting.redeem(code), "invalid_grant")
    assert [entry["reason"] for entry in logged] == ["the code was used before"]
    assert ended(consenting, token)
    assert_rejected(consenting.exchange(given["access_token"]), "invalid_grant")
    assert_rejected(consenting.refresh(given["refresh_token"]), "invalid_grant")
    kind, name, after = audited(consenting, "consent.end_grant")[-1]
    assert (kind, name) == ("key", "ERP")
    assert after == {"customer_id": consenting.customer.id, "reason": "the code was used before"}
    assert consenting.refresh(other["refresh_token"]).status_code == 200, "what another code gave is not affected"


def test_a_code_expires_after_a_minute(consenting: Consenting) -> None:
    code = consenting.code()
    consenting.service.clock.advance(MINUTE)
    assert_rejected(consenting.redeem(code), "invalid_grant")
    later = consenting.code()
    consenting.service.clock.advance(MINUTE - timedelta(seconds=1))
    assert consenting.redeem(later).status_code == 200


@pytest.mark.parametrize("verifier", ["w" * 43, "v" * 42, "", "v" * 129, "v" * 42 + "é", challenge_of("v" * 43)])
def test_a_wrong_verifier_uses_the_code_up(consenting: Consenting, verifier: str) -> None:
    code = consenting.code()
    error = "invalid_request" if not verifier else "invalid_grant"
    assert_rejected(consenting.redeem(code, code_verifier=verifier), error)
    assert consenting.redeem(code).status_code == (200 if not verifier else 400)


def test_the_challenge_is_no_verifier(consenting: Consenting) -> None:
    code = consenting.code()
    assert_rejected(consenting.redeem(code, code_verifier=challenge_of(code.verifier)), "invalid_grant")


@pytest.mark.parametrize("uri", [CALLBACK + "/", CALLBACK.upper(), "https://evil.example/callback"])
def test_a_code_needs_the_redirect_uri_of_its_request(consenting: Consenting, uri: str) -> None:
    assert_rejected(consenting.redeem(consenting.code(), redirect_uri=uri), "invalid_grant")


def test_a_code_of_another_application_is_rejected_and_stays_good(consenting: Consenting) -> None:
    code, thief = consenting.code(), consenting.register(name="thief")
    assert_rejected(consenting.redeem(code, thief), "invalid_grant")
    assert consenting.redeem(code).status_code == 200


def test_a_code_is_worth_nothing_after_the_revocation_of_the_consent(consenting: Consenting) -> None:
    code = consenting.code()
    revoke(consenting)
    assert_rejected(consenting.redeem(code), "invalid_grant")


def test_revoking_the_consent_ends_all_that_came_of_it(consenting: Consenting) -> None:
    given = consenting.given()
    token = consenting.access_token(given["access_token"])
    revoke(consenting)
    assert ended(consenting, token)
    assert_rejected(consenting.exchange(given["access_token"]), "invalid_grant")
    assert_rejected(consenting.refresh(given["refresh_token"]), "invalid_grant")
    consenting.access_token(consenting.given()["access_token"])  # a new consent counts at once


def test_a_disabled_application_and_a_blocked_customer_get_nothing(consenting: Consenting) -> None:
    application = consenting.register(name="disabled")
    given, code = consenting.given(application), consenting.code(application)
    token = consenting.access_token(given["access_token"], application)
    switch_off_application(consenting.service, NewApplication(application.client_id, application.client_secret))
    assert ended(consenting, token)
    assert_rejected(consenting.redeem(code, application), "invalid_client")
    assert_rejected(consenting.refresh(given["refresh_token"], application), "invalid_client")
    given, code = consenting.given(), consenting.code()
    block = "update customer set blocked_at = {}, blocked_reason = 'x' where id = %s returning id"
    rows(consenting.service, block.format("now()"), consenting.customer.id)
    try:
        assert_rejected(consenting.redeem(code), "invalid_grant")
        assert_rejected(consenting.refresh(given["refresh_token"]), "invalid_grant")
        assert_rejected(consenting.exchange(given["access_token"]), "invalid_grant")
    finally:
        rows(
            consenting.service,
            "update customer set blocked_at = null, blocked_reason = null where id = %s returning id",
            consenting.customer.id,
        )


def test_a_refresh_token_is_replaced_at_each_use(consenting: Consenting) -> None:
    first = consenting.given()
    consenting.service.clock.advance(timedelta(days=89))
    second = consenting.refresh(first["refresh_token"]).json()
    assert second.keys() == first.keys()
    assert second["refresh_token"] != first["refresh_token"]
    consenting.access_token(second["access_token"])
    consenting.service.clock.advance(timedelta(days=89))
    assert consenting.refresh(second["refresh_token"]).status_code == 200


def test_an_unused_refresh_token_ends_after_ninety_days(consenting: Consenting) -> None:
    given = consenting.given()
    consenting.service.clock.advance(timedelta(days=90))
    assert_rejected(consenting.refresh(given["refresh_token"]), "invalid_grant")


def test_an_old_refresh_token_ends_its_whole_family(consenting: Consenting) -> None:
    first, other = consenting.given(), consenting.given()
    second = consenting.refresh(first["refresh_token"]).json()
    token = consenting.access_token(second["access_token"])
    with capture_logs() as logged:
        assert_rejected(consenting.refresh(first["refresh_token"]), "invalid_grant")
    assert [entry["reason"] for entry in logged] == ["the refresh token was used before"]
    assert ended(consenting, token)
    assert_rejected(consenting.refresh(second["refresh_token"]), "invalid_grant")
    assert_rejected(consenting.exchange(second["access_token"]), "invalid_grant")
    assert audited(consenting, "consent.end_grant")[-1][2]["reason"] == "the refresh token was used before"
    assert consenting.refresh(other["refresh_token"]).status_code == 200


def test_another_applications_refresh_token_is_rejected_and_stays_good(consenting: Consenting) -> None:
    given, thief = consenting.given(), consenting.register(name="thief")
    assert_rejected(consenting.refresh(given["refresh_token"], thief), "invalid_grant")
    assert consenting.refresh(given["refresh_token"]).status_code == 200


def test_codes_and_refresh_tokens_are_not_interchangeable(consenting: Consenting) -> None:
    code, given = consenting.code(), consenting.given()
    assert_rejected(consenting.refresh(code.code), "invalid_grant")
    assert_rejected(consenting.redeem(consenting.code(), code=given["refresh_token"]), "invalid_grant")


def test_revoking_a_refresh_token_ends_what_came_of_its_code(consenting: Consenting) -> None:
    given, other = consenting.given(), consenting.given()
    token = consenting.access_token(given["access_token"])
    response = consenting.revoke(given["refresh_token"], token_type_hint="access_token")
    assert (response.status_code, response.json()) == (200, {})
    assert response.headers["cache-control"] == "no-store"
    assert ended(consenting, token)
    assert_rejected(consenting.refresh(given["refresh_token"]), "invalid_grant")
    assert_rejected(consenting.exchange(given["access_token"]), "invalid_grant")
    assert audited(consenting, "consent.end_grant")[-1][2]["reason"] == "revoked by the application"
    assert consenting.refresh(other["refresh_token"]).status_code == 200
    assert consenting.revoke(given["refresh_token"]).status_code == 200, "again"


def test_revoking_a_consent_token_ends_what_came_of_its_code(consenting: Consenting) -> None:
    given = consenting.given()
    token = consenting.access_token(given["access_token"])
    assert consenting.revoke(given["access_token"]).status_code == 200
    assert ended(consenting, token)
    assert_rejected(consenting.refresh(given["refresh_token"]), "invalid_grant")


def test_revoking_an_access_token_ends_it_alone(consenting: Consenting) -> None:
    given = consenting.given()
    one, two = (consenting.access_token(given["access_token"]) for _ in range(2))
    assert consenting.revoke(one).status_code == 200
    assert ended(consenting, one)
    assert not ended(consenting, two)
    assert consenting.refresh(given["refresh_token"]).status_code == 200
    assert len(audited(consenting, "application.revoke_token")) == 1


@pytest.mark.parametrize("token", ["x", "0" * 64, "a.b.c", "é"])
def test_revoking_an_unknown_token_succeeds(consenting: Consenting, token: str) -> None:
    assert consenting.revoke(token).status_code == 200


def test_an_application_cannot_revoke_anothers_tokens(consenting: Consenting) -> None:
    given, other = consenting.given(), consenting.register(name="other")
    token = consenting.access_token(given["access_token"])
    assert_rejected_with_detail(consenting.revoke(given["refresh_token"], other))
    assert consenting.revoke(given["access_token"], other).status_code == 200
    assert consenting.revoke(token, other).status_code == 200
    assert not ended(consenting, token)
    assert consenting.refresh(given["refresh_token"]).status_code == 200


def assert_rejected_with_detail(response: Any) -> None:
    assert response.status_code == 400
    assert response.json() == {"error": "invalid_grant",
                               "error_description": "token: was issued to another application"}  # fmt: skip


def test_a_revocation_needs_credentials_and_a_token(consenting: Consenting) -> None:
    assert_rejected(consenting.http.post("/auth/revoke", data={"token": "x"}), "invalid_client")
    assert_rejected(consenting.revoke(""), "invalid_request")


def test_the_database_has_neither_codes_nor_tokens(consenting: Consenting) -> None:
    code = consenting.code()
    given = consenting.redeem(code).json()
    with psycopg.connect(consenting.service.database_url) as connection:
        contents = "".join(
            str(connection.execute(SQL("select t::text from {} t").format(Identifier(table))).fetchall())
            for table in ("consent", "consent_grant", "refresh_token", "access_token", "audit_entry")
        )
    assert challenge_of(code.verifier) in contents
    for secret in (code.code, code.verifier, given["refresh_token"], given["access_token"]):
        assert secret not in contents


def test_an_access_token_remembers_its_grant(consenting: Consenting) -> None:
    given = consenting.given()
    [(grant,)] = rows(
        consenting.service, "select max(id) from consent_grant where code_used_at is not null"
    )  # fmt: skip
    token = consenting.access_token(given["access_token"])
    assert rows(consenting.service, "select grant_id from access_token order by id desc limit 1") == [(grant,)]
    assert consenting.use(token).status_code == 200


def test_erasing_a_customer_ends_its_consent_and_an_export_has_no_secret(consenting: Consenting) -> None:
    customer = consenting.service.customer()
    user = consenting.user(customer=customer)
    code, later = (consenting.code(None, user) for _ in range(2))
    given = consenting.redeem(code).json()
    token, file = consenting.access_token(given["access_token"]), io.BytesIO()
    consenting.service.in_transaction(lambda tx: export_customer(tx, customer.id, file))
    with zipfile.ZipFile(file) as archive:
        assert len(json.loads(archive.read("consent.json"))) == 1
        [exported] = json.loads(archive.read("refresh_token.json"))
        assert not {"hash", "token"} & exported.keys()
    now = consenting.service.clock.now()
    consenting.service.in_transaction(lambda tx: erase_customer(tx, customer.id, now))
    assert ended(consenting, token)
    assert rows(consenting.service, "select count(*) from consent where customer_id = %s", customer.id) == [(0,)]
    assert_rejected(consenting.redeem(later), "invalid_grant")
    assert_rejected(consenting.refresh(given["refresh_token"]), "invalid_grant")
    assert_rejected(consenting.exchange(given["access_token"]), "invalid_grant")


def test_what_has_ended_is_deleted_in_time(consenting: Consenting) -> None:
    unused, used = consenting.code(), consenting.given()
    kept = consenting.given()
    consenting.revoke(used["refresh_token"])
    consenting.service.clock.advance(timedelta(days=31))
    kept = consenting.refresh(kept["refresh_token"]).json()

    async def clean_up(tx: Transaction) -> int:
        return await clean_up_consent(tx, consenting.service.clock.now())

    assert consenting.service.in_transaction(clean_up) > 0
    left = rows(
        consenting.service, "select count(*) from consent_grant where code_used_at is null or ended_at is not null"
    )
    assert left == [(0,)]
    assert_rejected(consenting.redeem(unused), "invalid_grant")
    assert consenting.refresh(kept["refresh_token"]).status_code == 200
    consenting.service.clock.advance(timedelta(days=200))
    consenting.service.in_transaction(clean_up)
    assert rows(consenting.service, "select count(*) from consent_grant") == [(0,)]
    assert rows(consenting.service, "select count(*) from refresh_token") == [(0,)]
