"""Two servers on one database, of which one has no response cache."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from support.service import Customer, Service, running_service
from support.shop import price, stock_shop


@dataclass(frozen=True)
class Twins:
    caching: Service
    plain: Service
    customers: list[Customer]

    def refresh(self) -> None:
        self.caching.refresh()
        self.plain.refresh()


@contextmanager
def running_twins(database_url: str, *customers: dict[str, Any], base_url: str | None = None) -> Iterator[Twins]:
    """Run both; `customers` have these terms. The price list `gold` has a price of its own for PHONE."""
    with (
        running_service(database_url, base_url=base_url) as caching,
        running_service(database_url, base_url=base_url, answer_memory=0) as plain,
    ):
        stock_shop(caching)
        caching.must_load("price-list", [price("PHONE", 48, price_list="gold")])
        yield Twins(caching, plain, [caching.customer(**terms) for terms in customers])
