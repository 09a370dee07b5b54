"""A service that is its own issuer of consent, an application with a redirect URI, and a customer's users."""

import base64
import hashlib
import itertools
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

from support.applications import ACCESS_TOKEN, GRANT, JWT
from support.service import Customer, Service, running_service
from tradecounter.access.queries.people import put_user
from tradecounter.consent.authorize import Fields, allow, fetch_target, read_request
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.permissions import UserRole
from tradecounter.identity.oauth.manage_applications import register_application
from tradecounter.identity.oauth.queries.applications import NewApplication

CALLBACK = "http://127.0.0.1:9/callback"

_numbers = itertools.count(1)


def challenge_of(verifier: str) -> str:
    """The challenge of the method S256."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


@dataclass
class Registered:
    """An application that customers can consent to."""

    client_id: str
    client_secret: str
    redirect_uris: list[str]

    @property
    def basic(self) -> httpx2.Auth:
        return httpx2.BasicAuth(self.client_id, self.client_secret)


@dataclass
class Code:
    """A code, and what its application needs to redeem it."""

    code: str
    verifier: str
    redirect_uri: str

    def form(self, **changes: str | None) -> dict[str, str]:
        fields = {
            "grant_type": "authorization_code",
            "code": self.code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": self.verifier,
            **changes,
        }
        return {name: value for name, value in fields.items() if value is not None}


@dataclass
class Consenting:
    """A service, one of its customers with an owner, and an application."""

    service: Service
    customer: Customer
    owner: CustomerUser
    application: Registered
    http: httpx2.Client = field(repr=False)

    @property
    def issuer(self) -> str:
        return f"{self.service.url}/auth"

    def register(self, *redirect_uris: str, name: str = "ERP") -> Registered:
        return register(self.service, *redirect_uris, name=name)

    def user(self, role: UserRole = "owner", customer: Customer | None = None) -> CustomerUser:
        return add_user(self.service, customer or self.customer, role)

    def request(self, application: Registered | None = None, **changes: str | None) -> dict[str, str]:
        """The fields of a good authorisation request; a change to None leaves a field out."""
        application = application or self.application
        fields = {
            "response_type": "code",
            "client_id": application.client_id,
            "redirect_uri": application.redirect_uris[0],
            "state": "some state",
            "code_challenge": challenge_of("v" * 43),
            "code_challenge_method": "S256",
            **changes,
        }
        return {name: value for name, value in fields.items() if value is not None}

    def code(self, application: Registered | None = None, user: CustomerUser | None = None) -> Code:
        """A code that a user allows."""
        application, verifier = application or self.application, secrets.token_urlsafe(48)
        given = self.request(application, code_challenge=challenge_of(verifier))

        async def work(tx: Transaction) -> str:
            fields = Fields(given, frozenset())
            request = read_request(await fetch_target(tx, fields), fields)
            return await allow(tx, request, user or self.owner, self.service.clock.now())

        return Code(self.service.in_transaction(work), verifier, application.redirect_uris[0])

    def redeem(self, code: Code, application: Registered | None = None, /, **changes: str | None) -> httpx2.Response:
        """Redeem a code, with HTTP Basic."""
        return self.http.post("/auth/token", data=code.form(**changes), auth=(application or self.application).basic)

    def given(self, application: Registered | None = None) -> dict[str, Any]:
        """What a new code gives: the consent and the refresh token."""
        response = self.redeem(self.code(application), application)
        assert response.status_code == 200, response.text
        body: dict[str, Any] = response.json()
        return body

    def refresh(self, token: str, application: Registered | None = None) -> httpx2.Response:
        fields = {"grant_type": "refresh_token", "refresh_token": token}
        return self.http.post("/auth/token", data=fields, auth=(application or self.application).basic)

    def revoke(self, token: str, application: Registered | None = None, **fields: str) -> httpx2.Response:
        auth = (application or self.application).basic
        return self.http.post("/auth/revoke", data={"token": token, **fields}, auth=auth)

    def exchange(self, consent: str, application: Registered | None = None) -> httpx2.Response:
        """Exchange a consent for an access token."""
        fields = {"grant_type": GRANT, "subject_token_type": JWT, "subject_token": consent,
                  "requested_token_type": ACCESS_TOKEN}  # fmt: skip
        return self.http.post("/oauth/token", data=fields, auth=(application or self.application).basic)

    def access_token(self, consent: str, application: Registered | None = None) -> str:
        response = self.exchange(consent, application)
        assert response.status_code == 200, response.text
        token: str = response.json()["access_token"]
        return token

    def use(self, token: str) -> httpx2.Response:
        return self.http.get("/customer", headers={"Authorization": f"Bearer {token}"})


def register(service: Service, *redirect_uris: str, name: str = "ERP") -> Registered:
    uris = list(redirect_uris or [CALLBACK])

    async def add(tx: Transaction) -> NewApplication:
        return await register_application(tx, name, service.clock.now(), uris)

    made = service.in_transaction(add)
    return Registered(made.client_id, made.client_secret, uris)


def add_user(service: Service, customer: Customer, role: UserRole) -> CustomerUser:
    async def add(tx: Transaction) -> CustomerUser | None:
        email = f"user{next(_numbers)}@consenting.example"
        return await put_user(tx, customer.id, email, role, service.clock.now())

    found = service.in_transaction(add)
    assert found is not None
    return found


@contextmanager
def running_consent(database_url: str, **settings: Any) -> Iterator[Consenting]:
    """Run a service that is its own issuer while the block runs."""
    with running_service(database_url, **settings) as service:
        customer = service.customer(first_name="Ada")
        owner = add_user(service, customer, "owner")
        yield Consenting(service, customer, owner, register(service), service.client())
