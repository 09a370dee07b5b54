"""Prices a quote: support sets the unit costs, guarded by the margin (specification, section 3).

Amounts are net pounds.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import local_text
from tradecounter.kit.errors import (
    DomainError,
    ErrorCollector,
    FieldError,
    Kind,
    invalid,
    invalid_fields,
    named_by,
    not_found,
)
from tradecounter.kit.keys import key_form
from tradecounter.kit.money import NOTHING, in_pounds, rounded
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.lines import OrderLine, products_of, total_costs
from tradecounter.orders.queries.orders import lines_of, lines_of_order, lock_by_code
from tradecounter.orders.rules import check_cost
from tradecounter.orders.shipping_options import ShippingOption, listed_methods, option_of
from tradecounter.orders.states import (
    AnyOrder,
    CancelledUnconfirmed,
    NumberedOrder,
    PendingOrder,
    PricedQuote,
    Pricing,
    Quote,
    UnpricedQuote,
    ordered_already,
)
from tradecounter.prices.importing import suspicion
from tradecounter.products.queries.products import purchase_costs
from tradecounter.quotes.queries import fetch_quote, store_pricing
from tradecounter.quotes.quote_links import make_quote_link
from tradecounter.quotes.wire import Margin, QuotedShipping, QuotePrice
from tradecounter.shipping.queries import read_methods
from tradecounter.shipping.rules import ShippingMethod


def margin_of(lines: Sequence[OrderLine], costs: Mapping[int, Decimal]) -> Margin | None:
    """Return the margin of all lines, or None when the purchase cost of a product is unknown."""
    if any(line.product_id not in costs for line in lines):
        return None
    net = sum((line.cost_net for line in lines), NOTHING)
    purchase = sum((costs[line.product_id] * line.quantity for line in lines), NOTHING)
    margin = net - purchase
    return Margin(net, purchase, margin, rounded(margin * 100 / net) if net else None)


def require_sound_prices(lines: Sequence[OrderLine], costs: Mapping[int, Decimal]) -> None:
    """Raise DomainError (invalid) when a lowered price is below cost, or less than half of that at the request."""
    errors = [
        FieldError(line.sku, f"{in_pounds(line.unit_cost)} {why}; use force to allow it")
        for line in lines
        if (why := suspicion(line.unit_cost, line.cost_at_request, costs.get(line.product_id))) is not None
    ]
    if errors:
        raise invalid_fields(list(dict.fromkeys(errors)))  # once for all lines of a product


class CostedQuote(Struct, frozen=True):
    """A quote with its lines; `costs` has what a unit of each product costs the reseller, where that is known."""

    quote: AnyOrder
    lines: Sequence[OrderLine]
    costs: Mapping[int, Decimal]

    @property
    def margin(self) -> Margin | None:
        """The margin of all lines; None when a cost is not known."""
        return margin_of(self.lines, self.costs)


async def with_costs(tx: Transaction, quotes: Sequence[AnyOrder]) -> list[CostedQuote]:
    """Return quotes with their lines and costs."""
    lines = await lines_of(tx, [quote.id for quote in quotes])
    costs = await purchase_costs(tx, {line.product_id for found in lines.values() for line in found})
    return [CostedQuote(quote, lines[quote.id], costs) for quote in quotes]


async def fetch_costed_quote(tx: Transaction, code: str) -> CostedQuote:
    """Return a quote by its confirmation code, in any state. Raises DomainError (not found)."""
    [costed_quote] = await with_costs(tx, [await fetch_quote(tx, code)])
    return costed_quote


LONGEST_NOTE = 2000

_WHOLE = Decimal(100)  # per cent


async def price_quote(
    tx: Transaction, code: str, price: QuotePrice, now: datetime, lifetime: timedelta, secret: str | None
) -> None:
    """Price a quote for `lifetime` from `now` (UTC), and queue the e-mail to the customer.

    A caller that only wants a preview rolls the transaction back.

    A cost applies to all lines of its SKU. A shipping method adds a shipping option or changes an option's price.
    `secret` is the installation's secret key, from which the link in the e-mail is derived; None makes no link.
    A quote can be priced again until it is confirmed or expires. The note, or None, replaces the earlier note.

    Raises DomainError: invalid (also when the quote has no shipping option), not found, conflict (not an open quote).
    """
    _check_pricing(price)
    note = (price.note or "").strip() or None
    quote = _open_quote(await lock_by_code(tx, code), code, now)
    lines = await lines_of_order(tx, quote.id)
    pricing = Pricing(
        priced_at=now,
        expires_at=now + lifetime,
        pricings=1 if isinstance(quote, UnpricedQuote) else quote.pricing.pricings + 1,
        quote_note=note,
    )
    options = _options(quote, await read_methods(tx) if price.shipping else (), price.shipping)
    repriced = _repriced(quote, lines, price)
    if not price.force:
        places = {key_form(item.sku): f"items[{number}].cost_net" for number, item in enumerate(price.items)}
        with named_by(lambda sku: places.get(key_form(sku), sku)):
            require_sound_prices(repriced, await purchase_costs(tx, products_of(lines)))
    await store_pricing(tx, quote.id, pricing, repriced, options)
    await make_quote_link(tx, quote.id, secret, now)
    queue(tx, "mail_quote_priced", order_id=quote.id, pricing=pricing.pricings)
    cost_net, cost_tax = total_costs(repriced)
    record_order_event(tx, "quote.priced", quote, now, cost_gross=cost_net + cost_tax, expires_at=pricing.expires_at)
    before, after = _prices(lines, quote.shipping_options), _prices(repriced, options)
    told = {"expires_at": pricing.expires_at} | ({} if note is None else {"note": note})
    forced = {"force": True} if price.force else {}
    audit_order(tx, "quote.price", quote, now, before=before, after={**after, **told, **forced})


def _check_pricing(price: QuotePrice) -> None:
    """Raise DomainError (invalid) with all that is wrong whatever the quote is."""
    collector = ErrorCollector()
    for number, item in enumerate(price.items):
        with collector.collecting():
            check_cost(f"items[{number}].cost_net", "unit cost", item.cost_net)
    for number, option in enumerate(price.shipping):
        with collector.collecting():
            check_cost(f"shipping[{number}].cost_net", "cost", option.cost_net)
    with collector.collecting():
        check_discount("discount", price.discount)
    with collector.collecting():
        if price.note is not None and len(price.note.strip()) > LONGEST_NOTE:
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
            raise ordered_already(order)
        case CancelledUnconfirmed():
            raise DomainError(Kind.CONFLICT, f"the quote is {order.ended_as}")
        case PricedQuote() if order.has_expired(now):
            when = local_text(order.expires_at)
            raise DomainError(Kind.CONFLICT, f"the quote expired at {when}: the customer must request it again")
    return order


def _repriced(quote: Quote, lines: Sequence[OrderLine], price: QuotePrice) -> list[OrderLine]:
    costs: dict[str, Decimal] = {}
    skus = {key_form(line.sku) for line in lines}
    for number, item in enumerate(price.items):
        key, place = key_form(item.sku), f"items[{number}].sku"
        if key not in skus:
            raise invalid(place, "the quote has no line with this SKU")
        if key in costs:
            raise invalid(place, "is named twice")
        costs[key] = rounded(item.cost_net)
    return [
        replace(
            line.at_price(costs.get(key_form(line.sku), discounted_cost(line, price.discount)), quote.tax_rate),
            requested_unit_cost=line.cost_at_request,
        )
        for line in lines
    ]


def discounted_cost(line: OrderLine, discount: Decimal | None) -> Decimal:
    """Return the unit cost of a line at per cent off its price at the request; without them, as it is."""
    if discount is None:
        return line.unit_cost
    return rounded(line.cost_at_request * (_WHOLE - discount) / _WHOLE)


def _options(
    quote: Quote, methods: Collection[ShippingMethod], carriage: Sequence[QuotedShipping]
) -> list[ShippingOption]:
    """Return a quote's shipping options with support's carriage, cheapest first."""
    options = {option.id: option for option in quote.shipping_options}
    by_id = {method.id: method for method in methods}
    costs: dict[int, Decimal] = {}
    for number, named in enumerate(carriage):
        place = f"shipping[{number}].id"
        if named.id in costs:
            raise invalid(place, "is named twice")
        if named.id not in options and named.id not in by_id:
            known = listed_methods(methods) or "none"
            raise invalid(place, f"this shipping method does not exist; the methods are {known}")
        costs[named.id] = rounded(named.cost_net)
        options.setdefault(named.id, option_of(by_id[named.id], quote.shipping_weight))
    if not options:
        raise invalid("shipping", "no method fits this quote: name the carriage, as a shipping method with its cost")
    priced = [replace(option, cost_net=costs.get(option.id, option.cost_net)) for option in options.values()]
    return sorted(priced, key=lambda option: (option.cost_net, option.id))
