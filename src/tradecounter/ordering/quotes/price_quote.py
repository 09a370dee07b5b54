"""Prices a quote: support sets the unit costs, and the customer gets an e-mail (specification, section 3)."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from msgspec.structs import replace

from tradecounter.catalogue.queries.lookup import purchase_costs
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, ErrorCollector, Kind, invalid, not_found
from tradecounter.kit.keys import key_form
from tradecounter.kit.local_time import local_text
from tradecounter.kit.money import rounded
from tradecounter.ordering.history import audit_order, record_order_event
from tradecounter.ordering.lines import OrderLine, products_of, total_costs
from tradecounter.ordering.queries.changes import store_pricing
from tradecounter.ordering.queries.lines import lines_of_order
from tradecounter.ordering.queries.orders import lock_by_code
from tradecounter.ordering.quotes.margin import require_sound_prices
from tradecounter.ordering.quotes.quote_links import make_quote_link
from tradecounter.ordering.rules import check_cost
from tradecounter.ordering.shipping_options import ShippingOption, option_of
from tradecounter.ordering.states import (
    AnyOrder,
    DeclinedOrder,
    NumberedOrder,
    PendingOrder,
    PricedQuote,
    Pricing,
    Quote,
    UnpricedQuote,
    shown_state,
)
from tradecounter.shipping.queries import read_methods
from tradecounter.shipping.rules import ShippingMethod

LONGEST_NOTE = 2000

_WHOLE = Decimal(100)  # per cent

CostsBySku = Sequence[tuple[str, Decimal]]
Carriage = Sequence[tuple[int, Decimal]]


async def price_quote(
    tx: Transaction,
    code: str,
    unit_costs: CostsBySku,
    note: str | None,
    now: datetime,
    lifetime: timedelta,
    secret: str | None,
    *,
    carriage: Carriage = (),
    discount: Decimal | None = None,
    force: bool = False,
) -> None:
    """Price a quote for `lifetime` from `now` (UTC), and queue the e-mail to the customer.

    A caller that only wants a preview rolls the transaction back.

    `unit_costs` are SKUs with net pounds. A cost applies to all lines of its SKU. Other lines get the `discount`, in
    per cent off their prices at the request, or keep their price. `force` allows prices below cost or more than half
    off.
    `carriage` are ids of shipping methods with net pounds: each adds a shipping option or changes an option's price.
    `secret` is the installation's secret key, from which the link in the e-mail is derived; None makes no link.
    A quote can be priced again until it is confirmed or expires. The note, or None, replaces the earlier note.

    Raises DomainError: invalid (also when the quote has no shipping option), not found, conflict (not an open quote).
    """
    _check_pricing(unit_costs, carriage, discount, note)
    quote = _open_quote(await lock_by_code(tx, code), code, now)
    lines = await lines_of_order(tx, quote.id)
    pricing = Pricing(
        priced_at=now,
        expires_at=now + lifetime,
        pricings=1 if isinstance(quote, UnpricedQuote) else quote.pricing.pricings + 1,
        quote_note=note,
    )
    options = _options(quote, await read_methods(tx) if carriage else (), carriage)
    repriced = _repriced(quote, lines, unit_costs, discount)
    if not force:
        require_sound_prices(repriced, await purchase_costs(tx, products_of(lines)))
    await store_pricing(tx, quote.id, pricing, repriced, options)
    await make_quote_link(tx, quote.id, secret, now)
    await queue(tx, "mail_quote_priced", order_id=quote.id, pricing=pricing.pricings)
    cost_net, cost_tax = total_costs(repriced)
    record_order_event(tx, "quote.priced", quote, now, cost_gross=cost_net + cost_tax, expires_at=pricing.expires_at)
    before, after = _prices(lines, quote.shipping_options), _prices(repriced, options)
    told = {"expires_at": pricing.expires_at, **({} if note is None else {"note": note})}
    audit_order(
        tx, "quote.price", quote, now, before=before, after={**after, **told, **({"force": True} if force else {})}
    )


def _check_pricing(unit_costs: CostsBySku, carriage: Carriage, discount: Decimal | None, note: str | None) -> None:
    """Raise DomainError (invalid) with all that is wrong whatever the quote is."""
    collector = ErrorCollector()
    for sku, cost in unit_costs:
        with collector.collecting():
            check_cost(sku, "unit cost", cost)
    for method_id, cost in carriage:
        with collector.collecting():
            check_cost(f"shipping {method_id}", "cost", cost)
    with collector.collecting():
        check_discount("discount", discount)
    with collector.collecting():
        if note is not None and len(note) > LONGEST_NOTE:
            raise invalid("note", f"must have at most {LONGEST_NOTE} characters")
    collector.check()


def check_discount(field: str, discount: Decimal | None) -> None:
    """Raise DomainError (invalid) unless a discount is in per cent."""
    if discount is not None and not (discount.is_finite() and 0 <= discount <= _WHOLE):
        raise invalid(field, "must be between 0 and 100 per cent")


def _prices(lines: Sequence[OrderLine], options: Sequence[ShippingOption]) -> dict[str, Decimal]:
    prices = {f"{line.sku} ({line.id})": line.unit_cost for line in lines}
    return prices | {f"shipping {option.id}": option.cost_net for option in options}


def _open_quote(order: AnyOrder | None, code: str, now: datetime) -> Quote:
    """Return a quote that can be priced. Raises DomainError: not found, conflict."""
    if order is None:
        raise not_found("quote", code)
    if order.kind == "order" or isinstance(order, PendingOrder):
        raise DomainError(Kind.CONFLICT, f"{code} is an order, not a quote")
    match order:
        case NumberedOrder():
            state = shown_state(order, now)
            raise DomainError(Kind.CONFLICT, f"the quote is already order {order.order_reference}, which is {state}")
        case DeclinedOrder():
            raise DomainError(Kind.CONFLICT, f"the quote is {order.ended_as}")
        case PricedQuote() if order.has_expired(now):
            when = local_text(order.expires_at)
            raise DomainError(Kind.CONFLICT, f"the quote expired at {when}: the customer must request it again")
    return order


def _repriced(
    quote: Quote, lines: Sequence[OrderLine], unit_costs: CostsBySku, discount: Decimal | None
) -> list[OrderLine]:
    costs: dict[str, Decimal] = {}
    skus = {key_form(line.sku) for line in lines}
    for sku, cost in unit_costs:
        if key_form(sku) not in skus:
            raise invalid(sku, "the quote has no line with this SKU")
        if key_form(sku) in costs:
            raise invalid(sku, "is named twice")
        costs[key_form(sku)] = rounded(cost)
    return [
        replace(
            line.at_price(costs.get(key_form(line.sku), discounted_cost(line, discount)), quote.tax_rate),
            requested_unit_cost=line.cost_at_request,
        )
        for line in lines
    ]


def discounted_cost(line: OrderLine, discount: Decimal | None) -> Decimal:
    """Return the unit cost of a line at per cent off its price at the request; without them, as it is."""
    if discount is None:
        return line.unit_cost
    return rounded(line.cost_at_request * (_WHOLE - discount) / _WHOLE)


def _options(quote: Quote, methods: Collection[ShippingMethod], carriage: Carriage) -> list[ShippingOption]:
    """Return a quote's shipping options with support's carriage, cheapest first."""
    options = {option.id: option for option in quote.shipping_options}
    by_id = {method.id: method for method in methods}
    costs: dict[int, Decimal] = {}
    for method_id, cost in carriage:
        if method_id in costs:
            raise invalid(f"shipping {method_id}", "is named twice")
        if method_id not in options and method_id not in by_id:
            known = ", ".join(f"{m.id} ({m.provider}, {m.description})" for m in methods) or "none"
            raise invalid(f"shipping {method_id}", f"this shipping method does not exist; the methods are {known}")
        costs[method_id] = rounded(cost)
        options.setdefault(method_id, option_of(by_id[method_id], quote.shipping_weight))
    if not options:
        raise invalid("shipping", "no method fits this quote: name the carriage, as a shipping method with its cost")
    priced = [replace(option, cost_net=costs.get(option.id, option.cost_net)) for option in options.values()]
    return sorted(priced, key=lambda option: (option.cost_net, option.id))
