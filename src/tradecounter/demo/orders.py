"""Orders to look at: confirmed long ago and just now, back-ordered, pending and expired."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

import msgspec

from tradecounter.customers.accounts import list_accounts
from tradecounter.customers.addresses import list_addresses
from tradecounter.db.changes import read_versions
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.kit.clock import FrozenClock
from tradecounter.kit.errors import DomainError, invalid
from tradecounter.ordering.circumstances import Circumstances
from tradecounter.ordering.confirm_order import confirm_order
from tradecounter.ordering.place_order import place_order
from tradecounter.ordering.policy import OrderingPolicy
from tradecounter.ordering.store import expire_orders
from tradecounter.ordering.wire import CreateOrderItem, CreateOrderRequest, ShippingChoice
from tradecounter.rest.answers import to_json
from tradecounter.shipping.methods import ShippingMethods
from tradecounter.shipping.rules import UK_MAINLAND, fitting_methods, region_of
from tradecounter.storefront.storefront import Storefront
from tradecounter.storefront.view import CustomerView


@dataclass(frozen=True, slots=True)
class _Wish:
    """An order to place: by whom, how long ago, how many of how many products, and whether it is confirmed."""

    customer: int
    days_ago: int
    lines: int
    quantity: int
    confirmed: bool
    from_stock: bool = True


_WISHES = (
    _Wish(0, days_ago=40, lines=3, quantity=6, confirmed=True),
    _Wish(0, days_ago=9, lines=2, quantity=12, confirmed=True),
    _Wish(0, days_ago=1, lines=1, quantity=4, confirmed=True, from_stock=False),
    _Wish(0, days_ago=0, lines=4, quantity=2, confirmed=False),
    _Wish(1, days_ago=5, lines=2, quantity=5, confirmed=True),
    _Wish(1, days_ago=3, lines=1, quantity=1, confirmed=False),
    _Wish(2, days_ago=2, lines=1, quantity=1, confirmed=True),
    _Wish(4, days_ago=6, lines=2, quantity=10, confirmed=True),
)


async def place_demo_orders(database: Database, policy: OrderingPolicy, now: datetime) -> None:
    """Place the demo's orders, as if over the last weeks."""
    clock = FrozenClock(now)
    storefront, methods = Storefront(clock, low_stock=1), ShippingMethods()
    async with reading(database) as tx:
        versions = await read_versions(tx)
        await storefront.refresh(tx, versions)
        await methods.refresh(tx, versions)
        accounts = await list_accounts(tx)
    for number, wish in enumerate(_WISHES, start=1):
        customer_id = accounts[wish.customer].id
        view = storefront.view(customer_id)
        if view is None:
            continue
        moment = now - timedelta(days=wish.days_ago)
        circumstances = Circumstances(
            customer_id=customer_id, view=view, methods=methods.all, policy=policy, now=moment
        )
        # A catalogue from elsewhere may be too small, too dear or too heavy for an order: then there is one less.
        with suppress(DomainError):
            async with transaction(database) as tx:
                await _place(tx, wish, number, circumstances)
    async with transaction(database) as tx:
        await expire_orders(tx, now)


async def _place(tx: Transaction, wish: _Wish, number: int, circumstances: Circumstances) -> None:
    [saved, *_] = await list_addresses(tx, circumstances.customer_id)
    address = msgspec.Raw(to_json({"id": saved.id}))
    region = region_of(saved.country_code, circumstances.methods)
    fitting = fitting_methods(circumstances.methods, region or UK_MAINLAND, saved.country_code, Decimal(0))
    skus = _cheap_skus(circumstances.view, wish, skip=number * 3)
    request = CreateOrderRequest(
        customer_reference=f"DEMO-{number:03}",
        items=[CreateOrderItem(sku, wish.quantity) for sku in skus],
        billing_address=address,
        shipping_address=address,
        shipping_method=ShippingChoice(fitting[0].id),
    )
    code = await place_order(tx, request, circumstances)
    if wish.confirmed:
        await confirm_order(tx, code, None, circumstances)


def _cheap_skus(view: CustomerView, wish: _Wish, skip: int) -> list[str]:
    """Return a few SKUs, from the cheap end, that are in stock or not as wished. Raises DomainError without any."""
    rows = [
        row
        for row in view.snapshot.active
        if view.unit_costs(row) is not None and (view.available(row) >= wish.quantity) == wish.from_stock
    ]
    rows.sort(key=lambda row: (view.unit_costs(row), row))
    if not rows:
        raise invalid("items", "no product is in stock, or out of it, as wished")
    start = skip % len(rows)
    return [view.product(row).sku for row in rows[start : start + wish.lines]]
