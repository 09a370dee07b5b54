"""Placing an order: validated, priced, checked against the credit, held as pending.

Specification, sections 3 and 4 (`POST /order`).
"""

import secrets
from decimal import ROUND_HALF_UP, Decimal

from tradecounter.credit.rules import require_credit
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, FaultCollector, Kind, invalid
from tradecounter.kit.money import NOTHING, percentage
from tradecounter.ordering.choose_shipping import choose_shipping, method_needed
from tradecounter.ordering.circumstances import Circumstances
from tradecounter.ordering.draft import cover_of, find_products, offer_shipping, price_lines, total_weight
from tradecounter.ordering.most_pending import require_room
from tradecounter.ordering.order_addresses import resolve_addresses
from tradecounter.ordering.queries import order_with_reference
from tradecounter.ordering.records import Kind as OrderKind
from tradecounter.ordering.rules import tax_rate, total_net, total_tax
from tradecounter.ordering.standing import Standing, count_pending
from tradecounter.ordering.store import NewOrder, insert_order
from tradecounter.ordering.wire import CreateOrderRequest

_CODE_BYTES = 16
_GRAM = Decimal("0.001")  # of a kilogram: as exact as the weight is kept


async def place_order(
    tx: Transaction, request: CreateOrderRequest, standing: Standing, circumstances: Circumstances
) -> NewOrder:
    """Hold an order as pending and return it. Raises DomainError as `hold` does."""
    return await hold(tx, "order", request, standing, circumstances)


async def hold(
    tx: Transaction, kind: OrderKind, request: CreateOrderRequest, standing: Standing, circumstances: Circumstances
) -> NewOrder:
    """Hold an order or a quote as pending and return it.

    Raises DomainError: invalid, payment required, conflict (as many as the customer may have, or its reference was used
    before), precondition failed (to be confirmed at once, but without a shipping method).
    """
    order = _draft(kind, request, standing, circumstances)
    _check_shipping_and_credit(order, standing, auto_confirm=bool(request.auto_confirm))
    if standing.near_cap:
        count = await count_pending(tx, circumstances.customer_id, kind, circumstances.now)
        require_room(kind, circumstances.policy, count)
    if standing.unique_references:
        await _require_unused(tx, request.customer_reference, circumstances)
    insert_order(tx, order)
    return order


def _draft(kind: OrderKind, request: CreateOrderRequest, standing: Standing, circumstances: Circumstances) -> NewOrder:
    view, policy, now = circumstances.view, circumstances.policy, circumstances.now
    collector = FaultCollector()
    with collector.collecting():
        if not request.customer_reference.strip():
            raise invalid("customer_reference", "must not be blank")
    with collector.collecting():
        wanted = find_products(view, request.items)
    with collector.collecting():
        addresses = resolve_addresses(request, standing.saved_addresses())
    collector.check()
    country = addresses.shipping.country_code
    weight = total_weight(view, wanted)
    needed = cover_of(view, wanted, now)
    shipping = offer_shipping(kind, circumstances, addresses.shipping, request.shipping_region, weight, needed)
    rate = tax_rate(country, policy.vat_rate)
    lines = price_lines(view, wanted, rate)
    return NewOrder(
        id=standing.order_id,
        line_ids=standing.line_ids,
        customer_id=circumstances.customer_id,
        kind=kind,
        confirmation_code=circumstances.code or secrets.token_hex(_CODE_BYTES),
        customer_reference=request.customer_reference,
        external_customer_id=request.external_customer_id,
        billing_address=addresses.billing,
        shipping_address=addresses.shipping,
        order_notifications=request.order_notifications,
        courier_notifications=request.courier_notifications,
        shipping_region=shipping.region,
        shipping_options=shipping.options,
        shipping_method=None if request.shipping_method is None else request.shipping_method.id,
        shipping_weight=weight.quantize(_GRAM, ROUND_HALF_UP),
        cost_net=total_net(lines),
        cost_tax=total_tax(lines),
        tax_rate=rate,
        created_at=now,
        expires_at=None if kind == "quote" else now + policy.pending_lifetime,  # a quote's time starts at its pricing
        lines=lines,
    )


def _check_shipping_and_credit(order: NewOrder, standing: Standing, *, auto_confirm: bool) -> None:
    chosen = choose_shipping(order.shipping_options, order.shipping_method, standing.shipping_method)
    if auto_confirm and chosen is None:
        raise method_needed(order.shipping_options)
    shipping = NOTHING if chosen is None else chosen.cost_net
    gross = order.cost_net + order.cost_tax + shipping + percentage(shipping, order.tax_rate)
    require_credit(standing.credit_limit, standing.outstanding, gross)


async def _require_unused(tx: Transaction, customer_reference: str, circumstances: Circumstances) -> None:
    other = await order_with_reference(tx, circumstances.customer_id, customer_reference, circumstances.now)
    if other is not None:
        raise DomainError(Kind.CONFLICT, f"customer_reference: {customer_reference!r} is already used by {other}")
