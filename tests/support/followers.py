"""A client that keeps a copy of the catalogue with the change feed, as the guide says."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx2

from support.service import Customer

Product = dict[str, Any]


def whole(customer: Customer) -> dict[str, Product]:
    """A fresh full read: all products by SKU."""
    return by_sku(customer.get("/product?limit=0"))


def by_sku(response: httpx2.Response) -> dict[str, Product]:
    return {product["sku"]: product for product in response.json()}


@dataclass
class Follower:
    """A copy of what a customer sees, and its cursor. `servers` are the customer at one server or several."""

    servers: list[Customer]
    limit: int = 100
    products: dict[str, Product] = field(default_factory=dict)
    cursor: str = ""
    requests: int = 0

    @classmethod
    def of(cls, *servers: Customer, limit: int = 100) -> "Follower":
        """A follower that has read the catalogue."""
        follower = cls([*servers], limit)
        follower.read()
        return follower

    def read(self) -> None:
        """Read the catalogue in one response, and go on from its cursor."""
        response = self._next().get("/product?limit=0")
        self.products, self.cursor = by_sku(response), response.headers["X-Cursor"]

    def ask(self, wait: int = 0) -> httpx2.Response:
        """Send one request, and apply its changes."""
        self.requests += 1
        address = f"/catalogue/change?after={quote(self.cursor)}&limit={self.limit}&wait={wait}"
        response = self._next().get(address, timeout=wait + 30)
        if response.status_code == 200:
            for change in response.json():
                if change["change"] == "changed":
                    self.products[change["sku"]] = change["product"]
                else:
                    assert change["product"] is None
                    self.products.pop(change["sku"], None)
            self.cursor = response.headers["X-Cursor"]
        return response

    def follow(self) -> list[tuple[str, str]]:
        """Ask until nothing has changed; return the changes, each as SKU and what happened."""
        told: list[tuple[str, str]] = []
        while found := self.ask().json():
            told += [(change["sku"], change["change"]) for change in found]
            assert self.requests < 1000
        return told

    def _next(self) -> Customer:
        self.servers = [*self.servers[1:], self.servers[0]]
        return self.servers[-1]
