"""Checks a request for an order or a quote against the catalogue, the shipping and the account, all of it at once."""

from collections.abc import Sequence
from decimal import Decimal

from msgspec import Struct

from tradecounter.kit.errors import ErrorCollector, invalid, invalid_fields
from tradecounter.kit.text import is_blank
from tradecounter.orders.create.draft import (
    Wanted,
    cover_of,
    find_products,
    known_method,
    known_region,
    offer_shipping,
    region_of,
    total_weight,
)
from tradecounter.orders.create.order_addresses import Addresses, resolve_addresses
from tradecounter.orders.create.read_request import contact_errors
from tradecounter.orders.guards import guard_errors
from tradecounter.orders.order_context import OrderContext
from tradecounter.orders.queries.create import AccountStanding
from tradecounter.orders.shipping_options import ShippingOption, named_option
from tradecounter.orders.states import OrderKind
from tradecounter.orders.wire import CreateOrderRequest
from tradecounter.shipping.regions import Region


class Offered(Struct, frozen=True):
    """How a request can be shipped: its weight in kilograms, the region, and the options, cheapest first."""

    weight: Decimal
    region: Region
    options: Sequence[ShippingOption]


def check_request(
    kind: OrderKind, request: CreateOrderRequest, standing: AccountStanding, context: OrderContext
) -> tuple[list[Wanted], Addresses, Offered]:
    """Return the products, the addresses and the shipping of a request. Raises DomainError (invalid) with all errors.

    What depends on something that is wrong is checked as far as it can be: a shipping method must exist at least.
    """
    collector = ErrorCollector()
    with collector.collecting():
        if is_blank(request.customer_reference):
            raise invalid("customer_reference", "must not be blank")
    wanted = collector.attempt(lambda: find_products(context.view, request.items))
    addresses = collector.attempt(lambda: resolve_addresses(request, standing.saved_addresses()))
    collector.errors += contact_errors(request)
    collector.errors += guard_errors(kind, request)
    with collector.collecting():
        if kind == "quote" and request.auto_confirm:
            raise invalid("auto_confirm", "must not be set on a quote: confirm the quote once support has priced it")
    offered = None
    if wanted is not None and addresses is not None:
        offered = collector.attempt(lambda: _offered(kind, request, context, wanted, addresses))
    elif (region := request.shipping_region) is not None:
        collector.attempt(lambda: known_region(context.shipping.regions, region))
    with collector.collecting():
        _check_method(request, context, offered)
    if collector.errors or wanted is None or addresses is None or offered is None:
        raise invalid_fields(collector.errors)
    return wanted, addresses, offered


def _offered(
    kind: OrderKind, request: CreateOrderRequest, context: OrderContext, wanted: Sequence[Wanted], addresses: Addresses
) -> Offered:
    weight = total_weight(wanted)
    region = region_of(kind, context, addresses.shipping, request.shipping_region)
    needed = cover_of(context.view, ((item.row, item.quantity) for item in wanted), context.now)
    options = offer_shipping(kind, context, addresses.shipping, region, weight, needed)
    return Offered(weight, region, options)


def _check_method(request: CreateOrderRequest, context: OrderContext, offered: Offered | None) -> None:
    if request.shipping_method is None:
        return
    if offered is not None:
        named_option(offered.options, request.shipping_method.id)
    else:
        known_method(context.shipping.methods, request.shipping_method.id)
