"""Agents that connect with OAuth: a person allows them over HTTP, as a browser does, and they get tokens."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from support.agents import Agent
from support.consent import challenge_of
from support.pages import Person, fields_of
from support.service import Service

CALLBACK = "http://127.0.0.1:33418/callback"
JSON = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


@dataclass
class Connecting:
    """A program that speaks the protocol by hand, so that it can also speak it wrong."""

    service: Service
    person: Person
    client_id: str
    redirect_uri: str = CALLBACK
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    @property
    def http(self) -> httpx2.Client:
        return self.service.client()

    @property
    def resource(self) -> str:
        return f"{self.service.url}/mcp"

    def request(self, **changes: str | None) -> dict[str, str]:
        """The fields of a good authorisation request; a change to None leaves a field out."""
        fields = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "state": "some state",
            "code_challenge": challenge_of(self.verifier),
            "code_challenge_method": "S256",
            "resource": self.resource,
            **changes,
        }
        return {name: value for name, value in fields.items() if value is not None}

    def page(self, **changes: str | None) -> httpx2.Response:
        return self.person.get("/auth/authorize", params=self.request(**changes))

    def answer(self, **chosen: str | None) -> httpx2.Response:
        """Send the form of the consent page; a choice of None leaves a field out."""
        fields = {**fields_of(self.page()), "decision": "allow", **chosen}
        return self.person.send("/auth/authorize", {name: value for name, value in fields.items() if value is not None})

    def code(self, **chosen: str | None) -> str:
        return returned(self.answer(**chosen))["code"]

    def redeem(self, code: str, **changes: str | None) -> httpx2.Response:
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": self.verifier,
            "client_id": self.client_id,
            "resource": self.resource,
            **changes,
        }
        return self.http.post("/auth/token", data={k: v for k, v in fields.items() if v is not None})

    def tokens(self, **chosen: str | None) -> dict[str, Any]:
        response = self.redeem(self.code(**chosen))
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    def refresh(self, token: str, **changes: str) -> httpx2.Response:
        fields = {"grant_type": "refresh_token", "refresh_token": token, "client_id": self.client_id, **changes}
        return self.http.post("/auth/token", data=fields)

    def agent(self, **chosen: str | None) -> Agent:
        """An agent with a token of its own."""
        return with_token(self.service, self.tokens(**chosen)["access_token"])


def with_token(service: Service, token: str) -> Agent:
    return Agent(service, {"Authorization": f"Bearer {token}"})


def call_list(service: Service, token: str) -> httpx2.Response:
    return httpx2.post(
        f"{service.url}/mcp", json=LIST, headers={**JSON, "Authorization": f"Bearer {token}"}, timeout=30
    )


def returned(response: httpx2.Response) -> dict[str, str]:
    """What a redirect back to the agent says."""
    assert response.status_code == 303, response.text
    query = parse_qs(urlsplit(response.headers["Location"]).query)
    return {name: value for name, [value] in query.items()}


def register(service: Service, *redirect_uris: str, **fields: Any) -> httpx2.Response:
    body = {"redirect_uris": list(redirect_uris or [CALLBACK]), "client_name": "Assistant", **fields}
    return service.client().post("/auth/register", json=body)


def connecting(service: Service, person: Person, *redirect_uris: str, **fields: Any) -> Connecting:
    """A registered program, and a person who may allow it."""
    response = register(service, *redirect_uris, **fields)
    assert response.status_code == 201, response.text
    return Connecting(service, person, response.json()["client_id"], (redirect_uris or (CALLBACK,))[0])


@dataclass
class OfficialClient:
    """The official client from an address alone; a person answers what it asks, with these choices."""

    service: Service
    person: Person
    chosen: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)  # the scopes of each consent
    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None
    document: str | None = None
    _answer: str = ""

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info

    async def _show(self, address: str) -> None:
        self.asked.append(parse_qs(urlsplit(address).query).get("scope", [""])[0])
        page = await asyncio.to_thread(self.person.get, address)
        fields = {**fields_of(page), "decision": "allow", **self.chosen}
        given = {name: value for name, value in fields.items() if value != "no"}
        self._answer = (await asyncio.to_thread(self.person.send, "/auth/authorize", given)).headers["Location"]

    async def _returned(self) -> AuthorizationCodeResult:
        found = {name: value for name, [value] in parse_qs(urlsplit(self._answer).query).items()}
        return AuthorizationCodeResult(code=found["code"], state=found["state"], iss=found["iss"])

    def use(self, work: Callable[[Client], Awaitable[Any]]) -> Any:
        """Connect, do something, and disconnect."""

        async def run() -> Any:
            provider = OAuthClientProvider(
                f"{self.service.url}/mcp",
                OAuthClientMetadata(client_name="Official", redirect_uris=[CALLBACK]),  # type: ignore[list-item]
                self,
                self._show,
                self._returned,
                self.document,
            )
            async with httpx2.AsyncClient(auth=provider, timeout=30) as http:
                transport = streamable_http_client(f"{self.service.url}/mcp", http_client=http)
                async with Client(transport) as client:
                    return await work(client)

        return asyncio.run(run())
