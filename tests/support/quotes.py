"""Requests with idempotency keys, and quotes requested over HTTP and priced as support does."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import httpx2

from support.orders import rows
from support.service import Customer, Service
from support.shop import order
from tradecounter.identity.installation_secret import secret_key
from tradecounter.quotes.price_quote import price_quote
from tradecounter.quotes.wire import QuotedItem, QuotedShipping, QuotePrice

Items = Iterable[tuple[str, int]]

_ONE_PHONE = (("PHONE", 1),)


def keyed(customer: Customer, key: str, body: Any = None, path: str = "/order") -> httpx2.Response:
    """The response to a creation with an idempotency key, by default of an order for one phone."""
    return customer.post(path, order() if body is None else body, headers={"Idempotency-Key": key})


def was_replayed(response: httpx2.Response) -> bool:
    """Whether the response says that it is an earlier one."""
    return bool(response.headers.get("Idempotent-Replay") == "true")


def request_quote(customer: Customer, items: Items = _ONE_PHONE, **values: Any) -> dict[str, Any]:
    """A quote, as the API returned it."""
    response = customer.post("/quote", order(items, **values))
    assert response.status_code == 201, response.text
    quote: dict[str, Any] = response.json()
    return quote


def price_as_support(
    service: Service,
    quote: dict[str, Any],
    *unit_costs: tuple[str, str],
    carriage: Iterable[tuple[int, str]] = (),
    note: str | None = None,
    **options: Any,
) -> None:
    """Price a quote by the service's clock; by default at any price."""
    options = {"force": True, **options}
    items = [QuotedItem(sku, Decimal(cost)) for sku, cost in unit_costs]
    shipping = [QuotedShipping(method, Decimal(cost)) for method, cost in carriage]
    price = QuotePrice(items=items, shipping=shipping, note=note, **options)
    now, lifetime = service.clock.now(), service.settings.quote_lifetime
    code, secret = quote["confirmation_code"], secret_key(service.settings)
    service.in_transaction(lambda tx: price_quote(tx, code, price, now, lifetime, secret))


def jobs(service: Service, name: str, created: dict[str, Any]) -> list[dict[str, Any]]:
    """The arguments of the jobs of a name that are queued for an order or a quote, in order."""
    found = rows(
        service,
        "select args from procrastinate_jobs where task_name = %s and (args->>'order_id')::bigint ="
        " (select id from orders where confirmation_code = %s) order by id",
        name,
        created["confirmation_code"],
    )
    return [args for (args,) in found]
