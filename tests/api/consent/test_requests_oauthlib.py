"""requests-oauthlib goes the whole way: consent in a browser, code, refresh, exchange, a call."""

from collections.abc import Iterator

import pytest
from requests_oauthlib import OAuth2Session

from support.applications import GRANT, JWT
from support.consent import CALLBACK, Consenting, running_consent
from support.pages import customer_user, fields_of


@pytest.fixture(scope="module")
def consenting(database_url: str) -> Iterator[Consenting]:
    with running_consent(database_url) as running:
        yield running


def test_requests_oauthlib_goes_the_whole_way(consenting: Consenting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    owner = customer_user(consenting.service, consenting.customer.id, "owner")
    application, url = consenting.register(name="requests-oauthlib"), consenting.service.url
    client_id, secret = application.client_id, application.client_secret
    with OAuth2Session(client_id, redirect_uri=CALLBACK, pkce="S256") as session:
        address, _ = session.authorization_url(f"{url}/auth/authorize")
        page = owner.get(address)
        came_back = owner.send("/auth/authorize", {**fields_of(page), "decision": "allow"}).headers["Location"]
        consent = session.fetch_token(
            f"{url}/auth/token", authorization_response=came_back, client_secret=secret, include_client_id=True
        )
        refreshed = session.refresh_token(f"{url}/auth/token", auth=(client_id, secret))
        assert (consent["token_type"], refreshed["token_type"]) == ("Bearer", "Bearer")
        assert refreshed["refresh_token"] != consent["refresh_token"]
        form = {"grant_type": GRANT, "subject_token": refreshed["access_token"], "subject_token_type": JWT}
        exchanged = session.post(f"{url}/oauth/token", form, withhold_token=True, auth=(client_id, secret))
    with OAuth2Session(client_id, token=exchanged.json()) as acting:
        assert acting.get(f"{url}/customer").json() == consenting.customer.get("/customer").json()
