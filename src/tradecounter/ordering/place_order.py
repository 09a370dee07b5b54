"""Placing an order: validated, priced, checked against the credit, held as pending.

Specification, sections 3 and 4 (`POST /order`).
"""

import secrets
from collections.abc import Collection
from datetime import datetime
from decimal import Decimal

from tradecounter.credit.exposure import outstanding_of
from tradecounter.credit.rules import require_credit
from tradecounter.customers.accounts import Account, find_account
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, invalid, not_found
from tradecounter.kit.money import NOTHING, percentage
from tradecounter.ordering.choose_shipping import choose_shipping, method_needed
from tradecounter.ordering.draft import (
    cover_of,
    find_rows,
    offer_shipping,
    price_items,
    resolve_addresses,
    total_weight,
)
from tradecounter.ordering.policy import OrderingPolicy
from tradecounter.ordering.queries import order_with_reference
from tradecounter.ordering.rules import tax_rate, total_net, total_tax
from tradecounter.ordering.store import NewOrder, insert_order
from tradecounter.ordering.wire import CreateOrderRequest
from tradecounter.shipping.rules import ShippingMethod
from tradecounter.storefront.view import CustomerView

_CODE_BYTES = 24


async def place_order(
    tx: Transaction,
    *,
    customer_id: int,
    request: CreateOrderRequest,
    view: CustomerView,
    methods: Collection[ShippingMethod],
    policy: OrderingPolicy,
    now: datetime,
) -> str:
    """Hold an order as pending and return its confirmation code.

    Raises DomainError: invalid, payment required, conflict (the customer's reference was used before), precondition
    failed (to be confirmed at once, but without a shipping method).
    """
    if not request.customer_reference.strip():
        raise invalid("customer_reference", "must not be blank")
    order = await _draft(tx, customer_id, request, view, methods, policy, now)
    account = await find_account(tx, customer_id)
    if account is None:
        raise not_found("customer")
    _check_shipping_and_credit(
        order, account, await outstanding_of(tx, customer_id), auto_confirm=bool(request.auto_confirm)
    )
    if account.unique_references:
        await _require_unused(tx, customer_id, request.customer_reference, now)
    await insert_order(tx, order)
    return order.confirmation_code


async def _draft(
    tx: Transaction,
    customer_id: int,
    request: CreateOrderRequest,
    view: CustomerView,
    methods: Collection[ShippingMethod],
    policy: OrderingPolicy,
    now: datetime,
) -> NewOrder:
    rows = find_rows(view, request.items)
    addresses = await resolve_addresses(tx, customer_id, request)
    country = addresses.shipping.country_code
    rate = tax_rate(country, policy.vat_rate)
    weight = total_weight(view, rows, request.items)
    needed = cover_of(view, rows, request.items)
    shipping = offer_shipping(methods, country, request.shipping_region, weight, needed, now)
    return NewOrder(
        customer_id=customer_id,
        kind="order",
        confirmation_code=secrets.token_urlsafe(_CODE_BYTES),
        customer_reference=request.customer_reference,
        external_customer_id=request.external_customer_id,
        billing_address=addresses.billing,
        shipping_address=addresses.shipping,
        order_notifications=request.order_notifications,
        courier_notifications=request.courier_notifications,
        shipping_region=shipping.region,
        shipping_options=shipping.options,
        shipping_method=None if request.shipping_method is None else request.shipping_method.id,
        shipping_weight=weight,
        tax_rate=rate,
        created_at=now,
        expires_at=now + policy.pending_lifetime,
        lines=price_items(view, rows, request.items, rate),
    )


def _check_shipping_and_credit(order: NewOrder, account: Account, outstanding: Decimal, *, auto_confirm: bool) -> None:
    chosen = choose_shipping(order.shipping_options, order.shipping_method, account.shipping_method)
    if auto_confirm and chosen is None:
        raise method_needed()
    shipping = NOTHING if chosen is None else chosen.cost_net
    gross = total_net(order.lines) + total_tax(order.lines) + shipping + percentage(shipping, order.tax_rate)
    require_credit(account.credit_limit, outstanding, gross)


async def _require_unused(tx: Transaction, customer_id: int, customer_reference: str, now: datetime) -> None:
    other = await order_with_reference(tx, customer_id, customer_reference, now)
    if other is not None:
        raise DomainError(Kind.CONFLICT, f"customer_reference: {customer_reference!r} was used on {other} already")
