"""Codes, refresh tokens, exchanges, revocations and keys that are used at the same moment."""

import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import psycopg
import pytest
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.httpx_client import OAuth2Client

from support.applications import assert_rejected
from support.consent import Code, Consenting, running_consent
from support.orders import rows
from support.pages import customer_user, fields_of
from support.service import running_service
from support.waiting import waiting_for_a_lock
from tradecounter.consent.issuer import issuer_vault, signing_key
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.identity.oauth.manage_applications import revoke_given_access
from tradecounter.kit.clock import SystemClock

pytestmark = pytest.mark.sweep

AT_ONCE = 8


@pytest.fixture(scope="module")
def consenting(database_url: str) -> Iterator[Consenting]:
    with running_consent(database_url) as running:
        running.given()  # the key is made
        yield running


def at_once(call: Callable[[], httpx2.Response]) -> list[httpx2.Response]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [found.result() for found in [pool.submit(call) for _ in range(AT_ONCE)]]


def held(consenting: Consenting, *calls: Callable[[], Any]) -> list[Any]:
    """Run calls in this order, each waiting for a grant that someone has locked; then let them go."""
    url = consenting.service.database_url
    with ThreadPoolExecutor(len(calls)) as pool:
        with psycopg.connect(url) as holder:
            holder.execute("select from consent_grant for update")
            running = []
            for call in calls:
                running.append(pool.submit(call))
                waiting_for_a_lock(url, processes=len(running))
        return [found.result() for found in running]


def test_of_concurrent_uses_of_one_code_one_wins_and_its_tokens_end(consenting: Consenting) -> None:
    code = consenting.code()
    found = at_once(lambda: consenting.redeem(code))
    assert sorted(response.status_code for response in found) == [200] + [400] * (AT_ONCE - 1)
    [won] = [response.json() for response in found if response.status_code == 200]
    assert_rejected(consenting.refresh(won["refresh_token"]), "invalid_grant")
    assert_rejected(consenting.exchange(won["access_token"]), "invalid_grant")


def test_of_two_uses_that_overlap_the_first_wins(consenting: Consenting) -> None:
    code = consenting.code()
    first, second = held(consenting, lambda: consenting.redeem(code), lambda: consenting.redeem(code))
    assert (first.status_code, second.status_code) == (200, 400)


def test_of_concurrent_uses_of_one_refresh_token_one_wins_and_the_family_ends(consenting: Consenting) -> None:
    token = consenting.given()["refresh_token"]
    found = at_once(lambda: consenting.refresh(token))
    assert sorted(response.status_code for response in found) == [200] + [400] * (AT_ONCE - 1)
    [won] = [response.json() for response in found if response.status_code == 200]
    assert_rejected(consenting.refresh(won["refresh_token"]), "invalid_grant")


def test_an_exchange_that_overlaps_with_the_end_of_its_grant_gives_nothing_that_lasts(consenting: Consenting) -> None:
    given = consenting.given()
    revoked, exchanged = held(
        consenting,
        lambda: consenting.revoke(given["refresh_token"]),
        lambda: consenting.exchange(given["access_token"]),
    )
    assert (revoked.status_code, exchanged.status_code) == (200, 400)
    given = consenting.given()
    exchanged, revoked = held(
        consenting,
        lambda: consenting.exchange(given["access_token"]),
        lambda: consenting.revoke(given["refresh_token"]),
    )
    assert revoked.status_code == 200
    if exchanged.status_code == 200:
        consenting.service.refresh()
        assert consenting.use(exchanged.json()["access_token"]).status_code == 401


def test_a_code_that_is_redeemed_while_the_consent_is_revoked_gives_nothing_that_lasts(consenting: Consenting) -> None:
    def revoke() -> None:
        async def work(tx: Transaction) -> None:
            now = consenting.service.clock.now()
            await revoke_given_access(tx, consenting.customer.id, consenting.application.client_id, now)

        consenting.service.in_transaction(work)

    code = consenting.code()
    redeemed, _ = held(consenting, lambda: consenting.redeem(code), revoke)
    if redeemed.status_code == 200:
        assert_rejected(consenting.exchange(redeemed.json()["access_token"]), "invalid_grant")
        assert_rejected(consenting.refresh(redeemed.json()["refresh_token"]), "invalid_grant")
    else:
        assert_rejected(redeemed, "invalid_grant")


def test_two_users_who_consent_at_once_give_one_consent(consenting: Consenting) -> None:
    application, other = consenting.register(), consenting.user("developer")
    with ThreadPoolExecutor(2) as pool:
        codes = list(pool.map(lambda user: consenting.code(application, user), [consenting.owner, other]))
    stand = "select count(*) from consent where client_id = %s and revoked_at is null"
    assert rows(consenting.service, stand, application.client_id) == [(1,)]
    assert [consenting.redeem(code, application).status_code for code in codes] == [200, 200]


def test_two_tabs_that_allow_and_one_that_does_not_each_get_their_own_response(consenting: Consenting) -> None:
    application = consenting.register()
    owner = customer_user(consenting.service, consenting.customer.id)
    tabs = [fields_of(owner.get("/auth/authorize", params=consenting.request(application))) for _ in range(3)]
    decisions = ("allow", "allow", "deny")
    with ThreadPoolExecutor(len(tabs)) as pool:
        sent = [
            pool.submit(owner.send, "/auth/authorize", {**tab, "decision": decision})
            for tab, decision in zip(tabs, decisions, strict=True)
        ]
        first, second, denied = [parse_qs(urlsplit(found.result().headers["Location"]).query) for found in sent]
    assert denied["error"] == ["access_denied"]
    assert "code" not in denied
    codes = [Code(found["code"][0], "v" * 43, application.redirect_uris[0]) for found in (first, second)]
    assert codes[0].code != codes[1].code
    given = [consenting.redeem(code, application) for code in codes]
    assert [response.status_code for response in given] == [200, 200]
    consenting.access_token(given[0].json()["access_token"], application)
    stand = "select count(*) from consent where client_id = %s and revoked_at is null"
    assert rows(consenting.service, stand, application.client_id) == [(1,)]


def test_a_tab_that_does_not_allow_takes_nothing_back_that_another_allowed(consenting: Consenting) -> None:
    application = consenting.register()
    owner = customer_user(consenting.service, consenting.customer.id)
    tab = fields_of(owner.get("/auth/authorize", params=consenting.request(application)))
    allowed = owner.send("/auth/authorize", {**tab, "decision": "allow"}).headers["Location"]
    denied = owner.send("/auth/authorize", {**tab, "decision": "deny"}).headers["Location"]
    assert "error=access_denied" in denied
    [code] = parse_qs(urlsplit(allowed).query)["code"]
    assert consenting.redeem(Code(code, "v" * 43, application.redirect_uris[0]), application).status_code == 200


def test_stock_clients_of_two_servers_that_refresh_the_same_token_at_once_end_its_family(
    consenting: Consenting,
) -> None:
    application = consenting.register()
    with running_service(consenting.service.database_url) as second:
        urls = (consenting.service.url, second.url)

        def rotate(url: str, token: str) -> dict[str, Any] | None:
            client = OAuth2Client(application.client_id, application.client_secret, timeout=30)
            with client, suppress(OAuthError):
                return dict(client.refresh_token(f"{url}/auth/token", refresh_token=token))
            return None

        token = consenting.given(application)["refresh_token"]
        for url in urls:  # one after the other, each server takes what the other gave
            rotated = rotate(url, token)
            assert rotated is not None
            token = rotated["refresh_token"]
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda url: rotate(url, token), urls))
        [won] = [given for given in found if given is not None]
        assert [rotate(url, won["refresh_token"]) for url in urls] == [None, None]
        assert_rejected(consenting.exchange(won["access_token"], application), "invalid_grant")


def test_guessed_codes_of_an_application_are_rejected_and_use_no_code_up(consenting: Consenting) -> None:
    code, client = consenting.code(), consenting.application
    assert len(bytes.fromhex(code.code)) == 32
    near = [code.code[:-1] + letter for letter in "01234567" if code.code[-1] != letter]
    guesses = [
        *near,
        *(secrets.token_hex(32) for _ in range(92)),
        code.code[:-1],
        code.code + "0",
        code.code.upper(),
    ]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(lambda guess: consenting.redeem(replace(code, code=guess), client), guesses))
    assert {(response.status_code, response.json().get("error", response.text)) for response in found} == {
        (400, "invalid_grant")
    }
    assert consenting.redeem(code).status_code == 200


def test_processes_that_need_the_first_key_at_once_make_one(consenting: Consenting) -> None:
    vault = issuer_vault(lambda: ["s" * 64])
    rows(consenting.service, "delete from issuer_key returning kid")

    async def make() -> str:
        async with Database(consenting.service.database_url, connections=1) as database, transaction(database) as tx:
            return str((await signing_key(tx, vault, SystemClock().now())).kid)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        made = set(pool.map(lambda _: consenting.service.call(make), range(AT_ONCE)))
    assert [(kid,) for kid in made] == rows(consenting.service, "select kid from issuer_key")
