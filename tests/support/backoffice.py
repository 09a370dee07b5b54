"""A running back office with clients that send service tokens."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

from support.interface import backoffice_interface, checked_client
from support.service import Service, Site, own_address, running_backoffice
from tradecounter.access.tokens import add_token
from tradecounter.edge.permissions import AREAS

ALL_SCOPES = tuple(f"{area}:write" for area in AREAS)


@dataclass
class BackOfficeSite:
    """A back office on the database of a service."""

    service: Service
    site: Site
    clients: list[httpx2.Client] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.site.url

    def refresh(self) -> None:
        """Make the back office notice changes in the database immediately."""
        self.site.call(self.site.site.refresher.refresh)

    def client(self, token: str | None = None, **headers: str) -> httpx2.Client:
        """A client with a token; checks responses against the back office's interface document."""
        sent = {"Authorization": f"Bearer {token}", **headers} if token else headers
        made = checked_client(backoffice_interface, base_url=self.url, headers=sent)
        made.event_hooks["request"].append(own_address)
        self.clients.append(made)
        return made

    def token(self, *scopes: str, **options: Any) -> str:
        """A new service token, with all scopes by default."""
        chosen = scopes or ALL_SCOPES
        now = self.service.clock.now()
        return self.service.in_transaction(lambda tx: add_token(tx, "test", chosen, now, **options))[1]

    def caller(self, *scopes: str, **headers: str) -> httpx2.Client:
        """A client with a new token, with all scopes by default."""
        return self.client(self.token(*scopes), **headers)


@contextmanager
def backoffice_of(service: Service, **settings: Any) -> Iterator[BackOfficeSite]:
    """Run the back office of a service while the block runs."""
    with running_backoffice(service, **settings) as site:
        made = BackOfficeSite(service, site)
        try:
            yield made
        finally:
            for client in made.clients:
                client.close()


def pages(client: httpx2.Client, address: str) -> Iterable[list[Any]]:
    """Every page of a list, by its links."""
    following: str | None = address
    while following is not None:
        response = client.get(following)
        assert response.status_code == 200, response.text
        yield response.json()
        following = response.links.get("next", {}).get("url")
