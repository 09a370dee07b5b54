"""Placing an order: validated, priced, checked against the credit, held as pending.

Specification, sections 3 and 4 (`POST /order`).
"""

import secrets
from dataclasses import dataclass
from decimal import Decimal

from tradecounter.credit.exposure import outstanding_of
from tradecounter.credit.rules import require_credit
from tradecounter.customers.accounts import Account, find_account
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, invalid, not_found
from tradecounter.kit.money import NOTHING, percentage
from tradecounter.ordering.choose_shipping import choose_shipping, method_needed
from tradecounter.ordering.circumstances import Circumstances
from tradecounter.ordering.draft import cover_of, find_products, offer_shipping, price_lines, total_weight
from tradecounter.ordering.order_addresses import resolve_addresses
from tradecounter.ordering.queries import order_with_reference
from tradecounter.ordering.records import Kind as OrderKind
from tradecounter.ordering.rules import tax_rate, total_net, total_tax
from tradecounter.ordering.store import NewOrder, insert_order
from tradecounter.ordering.wire import CreateOrderRequest

_CODE_BYTES = 16


@dataclass(frozen=True, slots=True)
class Held:
    """A pending order or quote: its internal id and its confirmation code."""

    id: int
    code: str


async def place_order(tx: Transaction, request: CreateOrderRequest, circumstances: Circumstances) -> str:
    """Hold an order as pending and return its confirmation code. Raises DomainError as `hold` does."""
    return (await hold(tx, "order", request, circumstances)).code


async def hold(tx: Transaction, kind: OrderKind, request: CreateOrderRequest, circumstances: Circumstances) -> Held:
    """Hold an order or a quote as pending.

    Raises DomainError: invalid, payment required, conflict (the customer's reference was used before), precondition
    failed (to be confirmed at once, but without a shipping method).
    """
    if not request.customer_reference.strip():
        raise invalid("customer_reference", "must not be blank")
    order = await _draft(tx, kind, request, circumstances)
    account = await find_account(tx, circumstances.customer_id)
    if account is None:
        raise not_found("customer")
    outstanding = await outstanding_of(tx, circumstances.customer_id)
    _check_shipping_and_credit(order, account, outstanding, auto_confirm=bool(request.auto_confirm))
    if account.unique_references:
        await _require_unused(tx, request.customer_reference, circumstances)
    return Held(await insert_order(tx, order), order.confirmation_code)


async def _draft(
    tx: Transaction, kind: OrderKind, request: CreateOrderRequest, circumstances: Circumstances
) -> NewOrder:
    view, policy, now = circumstances.view, circumstances.policy, circumstances.now
    wanted = find_products(view, request.items)
    addresses = await resolve_addresses(tx, circumstances.customer_id, request)
    country = addresses.shipping.country_code
    weight = total_weight(view, wanted)
    shipping = offer_shipping(circumstances, country, request.shipping_region, weight, cover_of(view, wanted))
    rate = tax_rate(country, policy.vat_rate)
    return NewOrder(
        customer_id=circumstances.customer_id,
        kind=kind,
        confirmation_code=secrets.token_hex(_CODE_BYTES),
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
        expires_at=None if kind == "quote" else now + policy.pending_lifetime,  # a quote's time starts at its pricing
        lines=price_lines(view, wanted, rate),
    )


def _check_shipping_and_credit(order: NewOrder, account: Account, outstanding: Decimal, *, auto_confirm: bool) -> None:
    chosen = choose_shipping(order.shipping_options, order.shipping_method, account.shipping_method)
    if auto_confirm and chosen is None:
        raise method_needed(order.shipping_options)
    shipping = NOTHING if chosen is None else chosen.cost_net
    gross = total_net(order.lines) + total_tax(order.lines) + shipping + percentage(shipping, order.tax_rate)
    require_credit(account.credit_limit, outstanding, gross)


async def _require_unused(tx: Transaction, customer_reference: str, circumstances: Circumstances) -> None:
    other = await order_with_reference(tx, circumstances.customer_id, customer_reference, circumstances.now)
    if other is not None:
        raise DomainError(Kind.CONFLICT, f"customer_reference: {customer_reference!r} was used on {other} already")
