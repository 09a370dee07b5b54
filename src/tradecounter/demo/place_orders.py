"""Places the orders of `demo_orders.py` and applies their steps."""

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

import msgspec

from tradecounter.customers.queries.accounts import list_accounts
from tradecounter.customers.queries.addresses import list_addresses
from tradecounter.customers.settings import Account
from tradecounter.db.jobs import remove_queued
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.demo.demo_orders import DEMO_ORDERS, DemoKind, DemoOrder
from tradecounter.kit.errors import DomainError, invalid
from tradecounter.kit.json_text import to_json
from tradecounter.orders.back_orders.expected_dates import update_expected_dates
from tradecounter.orders.confirm_order import confirm_order
from tradecounter.orders.create.account_standing import account_standing
from tradecounter.orders.create.place_order import place_order
from tradecounter.orders.expire_orders import expire_orders
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.order_context import OrderContext, OrderContexts, read_contexts
from tradecounter.orders.policy import OrderingPolicy
from tradecounter.orders.wire import CreateOrderItem, CreateOrderRequest, NotificationDetails, ShippingChoice
from tradecounter.quotes.remind_of_quotes import remind_of_quotes
from tradecounter.quotes.request_quote import request_quote
from tradecounter.sandbox.steps import Reseller
from tradecounter.shipping.regions import UK_MAINLAND
from tradecounter.shipping.rules import fitting_methods
from tradecounter.storefront.view import CustomerView


@dataclass(frozen=True, slots=True)
class Market:
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
    )
    standing = await account_standing(tx, "quote" if kind == "quote" else "order", request, context)
    if kind == "quote":
        quote, _ = await request_quote(tx, request, standing, context)
        return quote.confirmation_code
    order, _ = await place_order(tx, request, standing, context)
    if kind == "confirmed":
        await confirm_order(tx, account.id, order.confirmation_code, None, context.policy, context.now)
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
