"""The demo's orders, at least one in each state, placed during the last weeks; add new ones at the end of the list."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

import msgspec
from msgspec import Struct

from tradecounter.customers.queries.accounts import list_accounts
from tradecounter.customers.queries.addresses import list_addresses
from tradecounter.customers.settings import Account
from tradecounter.db.jobs import remove_queued
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.kit.errors import DomainError, invalid
from tradecounter.kit.json_text import to_json
from tradecounter.orders.cancel_order import expire_orders
from tradecounter.orders.create.place_order import current_standing, place_order
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.order_context import OrderContext, OrderContexts, OrderingPolicy, read_contexts
from tradecounter.orders.serve_back_orders import update_expected_dates
from tradecounter.orders.wire import CreateOrderItem, CreateOrderRequest, NotificationDetails, ShippingChoice
from tradecounter.quotes.handle_quotes import remind_of_quotes, request_quote
from tradecounter.sandbox.steps import (
    Announced,
    Asked,
    Cancelled,
    Configured,
    Credited,
    Dispatched,
    Filmed,
    Invoiced,
    PartCancelled,
    Priced,
    Reseller,
    Settled,
    Step,
    Tracked,
)
from tradecounter.shipping.rules import UK_MAINLAND, fitting_methods
from tradecounter.storefront.view import CustomerView

HARBOURLINE, FENWICK_BROOK, PETREL_COVE, _, NORDKAI = range(5)  # line numbers in data/customers.jsonl, from 0

DemoKind = Literal["pending", "confirmed", "quote"]


class DemoOrder(Struct, frozen=True, kw_only=True):
    """An order to place and its later steps.

    Examples in the interface document use these orders' ids, so add new orders at the end. Only orders with `send_mail`
    cause e-mails, so that the mail folder contains one or two of each kind.

    If the catalogue contains none of the `skus`, the order has `lines` cheap products, which are in stock
    (`from_stock`) or out of stock.
    """

    customer: int
    days_ago: float
    quantity: int
    kind: DemoKind = "confirmed"
    skus: Sequence[str] = ()
    lines: int = 1
    from_stock: bool = True
    send_mail: bool = False
    steps: Sequence[tuple[float, Step]] = ()  # with the days before the start of the demo

    @property
    def age(self) -> timedelta:
        """How long before the start of the demo the order was created."""
        return timedelta(days=self.days_ago)


DEMO_ORDERS: Sequence[DemoOrder] = (
    DemoOrder(
        customer=HARBOURLINE,
        days_ago=64,
        lines=3,
        quantity=6,
        steps=(
            (63.9, Dispatched(tracking="NW-4410-2265")),
            (63, Invoiced()),
            (20, Settled()),
            (18, Credited(Decimal("2.00"), "A box arrived dented.")),
        ),
    ),
    DemoOrder(
        customer=HARBOURLINE,
        days_ago=58,
        lines=2,
        quantity=12,
        steps=((57.9, Dispatched()), (57, Invoiced()), (12, Settled(percent=40))),
    ),
    DemoOrder(
        customer=PETREL_COVE,
        days_ago=26,
        quantity=2,
        steps=((25.9, Dispatched(tracking="MX-7718")), (25, Invoiced())),
    ),
    DemoOrder(
        customer=HARBOURLINE,
        days_ago=9,
        skus=("CV-320G", "CV-445G"),
        quantity=3,
        send_mail=True,
        steps=(
            (8.9, Dispatched(tracking="NW-4410-9871", numbered=True)),
            (8.8, Filmed()),
            (8.6, Tracked("Collected", "The courier has the parcel.", "Southampton")),
            (7.9, Tracked("Delivered", "Signed for by M Adeyemi-Holt.", "Southampton")),
            (7, Invoiced()),
            (0.5, Settled(percent=50)),
        ),
    ),
    DemoOrder(
        customer=HARBOURLINE,
        days_ago=8,
        quantity=5,
        send_mail=True,
        steps=((7.5, Cancelled("You asked us to cancel it: the wrong model was ordered.")),),
    ),
    DemoOrder(customer=NORDKAI, days_ago=7, lines=2, quantity=10, steps=((6.5, Dispatched()), (6, Invoiced()))),
    DemoOrder(customer=HARBOURLINE, days_ago=6, skus=("HM310",), quantity=8, steps=((5.9, Configured(units=2)),)),
    DemoOrder(customer=FENWICK_BROOK, days_ago=5, lines=2, quantity=5),
    DemoOrder(
        customer=HARBOURLINE,
        days_ago=4,
        skus=("HM-BRANCH-KIT",),
        quantity=2,
        steps=(
            (3.9, Dispatched(tracking="NW-4411-0042", numbered=True)),
            (3.8, Filmed()),
            (3.6, Tracked("Collected", "The courier has the parcel.", "Southampton")),
            (2.8, Tracked("Out for delivery", "The parcel is on the van.", "Eastleigh")),
            (0.4, Asked("The parcel has not come yet. Where is it?")),
        ),
    ),
    DemoOrder(customer=FENWICK_BROOK, days_ago=3, quantity=1, kind="pending"),
    DemoOrder(
        customer=HARBOURLINE,
        days_ago=2.5,
        lines=2,
        quantity=4,
        send_mail=True,
        steps=(
            (2.1, Dispatched(lines=1, tracking="NW-4411-0387")),
            (1.9, PartCancelled(units=1, reason="You asked us to send one unit less.")),
        ),
    ),
    DemoOrder(
        customer=HARBOURLINE,
        days_ago=2.2,
        lines=2,
        quantity=40,
        kind="quote",
        send_mail=True,
        steps=((1.5, Priced(discount=8, note="The price is valid for a single delivery.")),),
    ),
    DemoOrder(customer=PETREL_COVE, days_ago=2, quantity=1),
    DemoOrder(
        customer=HARBOURLINE,
        days_ago=1,
        quantity=4,
        from_stock=False,
        send_mail=True,
        steps=((0.5, Announced(in_days=9)),),
    ),
    DemoOrder(customer=HARBOURLINE, days_ago=0.2, lines=3, quantity=25, kind="quote", send_mail=True),
    DemoOrder(customer=HARBOURLINE, days_ago=0.1, lines=4, quantity=2, kind="pending"),
    DemoOrder(
        customer=FENWICK_BROOK,
        days_ago=7.2,
        quantity=20,
        kind="quote",
        send_mail=True,
        steps=((6.3, Priced(discount=5, note="Delivered in a single shipment.")),),
    ),
)


class Market(Struct, frozen=True):
    """The data needed to place orders."""

    contexts: OrderContexts
    accounts: list[Account]


async def place_demo_orders(database: Database, reseller: Reseller, now: datetime) -> None:
    """Place the demo's orders, dated in the last weeks, in one transaction."""
    market = await open_market(database, reseller.policy, now)
    without_mail: list[int] = []
    async with transaction(database) as tx:
        for number, demo_order in enumerate(DEMO_ORDERS, start=1):
            # With another catalogue, an order may be impossible: products may be too few, too expensive or too heavy.
            with suppress(DomainError):
                async with tx.savepoint():
                    code = await _place_with_steps(tx, demo_order, number, market, reseller, now)
                    if not demo_order.send_mail:
                        without_mail.append((await fetch_order(tx, code)).id)
        await expire_orders(tx, now)
        await remind_of_quotes(tx, now)
        await update_expected_dates(tx, now)
        await remove_queued(tx, without_mail)


async def open_market(database: Database, policy: OrderingPolicy, now: datetime) -> Market:
    """Load the catalogue, the prices and the shipping methods."""
    async with reading(database) as tx:
        return Market(await read_contexts(tx, policy, now), await list_accounts(tx))


async def _place_with_steps(
    tx: Transaction, demo_order: DemoOrder, number: int, market: Market, reseller: Reseller, now: datetime
) -> str:
    """Place an order, apply its steps and return its confirmation code."""
    account = market.accounts[demo_order.customer]
    context = market.contexts.of(account.id, now - demo_order.age, demo_code(number))
    code = await _place(tx, demo_order, number, context, account)
    for days_ago, step in demo_order.steps:
        await step(tx, code, reseller, now - timedelta(days=days_ago))
    return code


async def _place(tx: Transaction, demo_order: DemoOrder, number: int, context: OrderContext, account: Account) -> str:
    view = context.view
    named = [sku for sku in demo_order.skus if view.find(sku)]  # another catalogue may lack these products
    skus = named or _cheap_skus(view, demo_order, skip=number * 3)
    items = [CreateOrderItem(sku, demo_order.quantity) for sku in skus]
    told = account.email_address if demo_order.send_mail else None
    return await place(tx, demo_order.kind, f"DEMO-{number:03}", items, context, account, told=told)


async def place(
    tx: Transaction,
    kind: DemoKind,
    reference: str,
    items: list[CreateOrderItem],
    context: OrderContext,
    account: Account,
    *,
    told: str | None = None,
) -> str:
    """Place an order to the customer's first address and return its confirmation code. Raises DomainError.

    `told` is the address for e-mails about the order.
    """
    [saved, *_] = await list_addresses(tx, account.id)
    address = msgspec.Raw(to_json({"id": saved.id}))
    region = context.shipping.regions.of_address(saved.country_code, saved.zip)
    fitting = fitting_methods(context.shipping.methods, region or UK_MAINLAND, saved.country_code, Decimal(0))
    request = CreateOrderRequest(
        customer_reference=reference,
        items=items,
        billing_address=address,
        shipping_address=address,
        shipping_method=ShippingChoice(fitting[0].id),
        order_notifications=NotificationDetails(email_address=told) if told else None,
        auto_confirm=kind == "confirmed",
    )
    standing, context = await current_standing(tx, "quote" if kind == "quote" else "order", request, context)
    if kind == "quote":
        quote, _ = await request_quote(tx, request, standing, context)
        return quote.confirmation_code
    order, _ = await place_order(tx, request, standing, context)
    return order.confirmation_code


def demo_code(number: int) -> str:
    """Return a confirmation code; it is the same in every demo, because the interface document shows some codes."""
    return hashlib.sha256(f"demo order {number}".encode()).hexdigest()[:32]


def _cheap_skus(view: CustomerView, demo_order: DemoOrder, skip: int) -> list[str]:
    """Return cheap SKUs that are in stock or out of stock, as the order requires. Raises DomainError."""
    rows = [
        row
        for row in view.snapshot.active
        if view.unit_costs(row) is not None and (view.available(row) >= demo_order.quantity) == demo_order.from_stock
    ]
    rows.sort(key=lambda row: (view.unit_costs(row), row))
    if not rows:
        raise invalid("items", "no product has the stock level that the order needs")
    start = skip % len(rows)
    return [view.product(row).sku for row in rows[start : start + demo_order.lines]]
