"""An application that exchanges customers' consent for access tokens."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx2

from support.issuer import Issuer, running_issuer
from support.service import Customer, Service, running_service
from tradecounter.db.transaction import Transaction
from tradecounter.identity.oauth.queries.applications import NewApplication, add_application, disable_application

GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
JWT = "urn:ietf:params:oauth:token-type:jwt"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"


def register(service: Service, name: str = "ERP") -> NewApplication:
    async def add(tx: Transaction) -> NewApplication:
        return await add_application(tx, name, service.clock.now())

    return service.in_transaction(add)


def switch_off(service: Service, application: NewApplication) -> None:
    async def disable(tx: Transaction) -> datetime | None:
        return await disable_application(tx, application.client_id, service.clock.now())

    assert service.in_transaction(disable)


@dataclass
class Exchange:
    """A service and its issuer, a customer and the application that it consents to."""

    service: Service
    issuer: Issuer
    customer: Customer
    application: NewApplication
    http: httpx2.Client

    def claims(self, **changes: Any) -> dict[str, Any]:
        """The claims of a good subject token; a change to None leaves a claim out."""
        moment = int(self.service.clock.now().timestamp())
        claims = {
            "iss": self.issuer.url,
            "aud": self.service.url,
            "sub": str(self.customer.id),
            "client_id": self.application.client_id,
            "iat": moment,
            "exp": moment + 300,
            **changes,
        }
        return {name: value for name, value in claims.items() if value is not None}

    def subject_token(self, *, key: Any = None, alg: str = "ES256", header: Any = None, **changes: Any) -> str:
        return self.issuer.token(self.claims(**changes), key=key, alg=alg, **(header or {}))

    def form(self, **changes: Any) -> dict[str, str]:
        """The fields of a good request without client credentials; a change to None leaves a field out."""
        fields = {"grant_type": GRANT, "subject_token_type": JWT, **changes}
        if "subject_token" not in fields:
            fields["subject_token"] = self.subject_token()
        return {name: value for name, value in fields.items() if value is not None}

    @property
    def basic(self) -> httpx2.Auth:
        return httpx2.BasicAuth(self.application.client_id, self.application.client_secret)

    def request_token(self, **changes: Any) -> httpx2.Response:
        """Request a token, with HTTP Basic."""
        return self.http.post("/oauth/token", data=self.form(**changes), auth=self.basic)

    def exchange(self, subject_token: str) -> httpx2.Response:
        return self.request_token(subject_token=subject_token)

    def access_token(self) -> str:
        response = self.request_token()
        assert response.status_code == 200, response.text
        token: str = response.json()["access_token"]
        return token

    def use(self, token: str, path: str = "/customer", **headers: str) -> httpx2.Response:
        return self.http.get(path, headers={"Authorization": f"Bearer {token}", **headers})


@contextmanager
def running_exchange(database_url: str, *, issuer_path: str = "", **settings: Any) -> Iterator[Exchange]:
    """Run an issuer, and a service that believes it, while the block runs."""
    with (
        running_issuer(issuer_path) as issuer,
        running_service(database_url, auth_url=issuer.url, **settings) as service,
    ):
        customer = service.customer(first_name="Ada")
        yield Exchange(service, issuer, customer, register(service), service.client())


def assert_rejected(response: httpx2.Response, error: str) -> None:
    """Check an OAuth error and that the response must not be cached."""
    body = response.json()
    assert (response.status_code, body.pop("error")) == (401 if error == "invalid_client" else 400, error), (
        response.text
    )
    assert response.headers["content-type"] == "application/json"
    assert (response.headers["cache-control"], response.headers["pragma"]) == ("no-store", "no-cache")
    assert ("www-authenticate" in response.headers) == (error == "invalid_client")
    assert set(body) <= ({"error_description"} if error != "invalid_grant" else set())
