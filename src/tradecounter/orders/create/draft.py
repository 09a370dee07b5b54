"""The parts of a new order: lines at the customer's prices, weight, shipping options."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from tradecounter.customers.wire import AddressDetails
from tradecounter.kit.errors import Code, DomainError, FieldError, invalid, invalid_fields
from tradecounter.kit.money import from_pence
from tradecounter.kit.numbers import in_kilograms
from tradecounter.orders.lines import OrderLine, added_up
from tradecounter.orders.order_context import OrderContext
from tradecounter.orders.shipping_options import ShippingOption, listed_methods, option_of
from tradecounter.orders.states import OrderKind
from tradecounter.orders.wire import CreateOrderItem
from tradecounter.prices.rules import UnitCosts
from tradecounter.products.queries.records import OrderableProduct
from tradecounter.shipping.rules import UK_MAINLAND, Region, Regions, ShippingMethod, fitting_methods
from tradecounter.stock.rules import Cover, cover, latest
from tradecounter.storefront.view import CustomerView

_MOST_SUGGESTING = 5  # unknown SKUs per request that get suggestions: finding similar SKUs takes time
_MOST_KG = 1_000_000_000
_QUOTE_INSTEAD = "request a quote instead"


class WantedLine(Struct, frozen=True):
    """A line of a request: the product and its catalogue row, the customer's unit costs, and the quantity."""

    row: int
    product: OrderableProduct
    costs: UnitCosts
    quantity: int


def wanted_lines(view: CustomerView, items: Sequence[CreateOrderItem]) -> list[WantedLine]:
    """Return a line for each of a request's items.

    Raises DomainError (invalid) with all SKUs that the customer cannot buy.
    """
    wanted = []
    for item in items:
        product = view.find(item.sku)
        if product is not None:
            row, costs = product
            wanted.append(WantedLine(row, view.orderable(row), costs, item.quantity))
    if len(wanted) < len(items):
        raise invalid_fields(list(unknown_skus(view, ((n, item.sku) for n, item in enumerate(items)))))
    return wanted


def unknown_skus(view: CustomerView, skus: Iterable[tuple[int, str]]) -> Iterator[FieldError]:
    """Yield an error for every SKU that the customer cannot buy; each SKU comes with its item's index."""
    suggesting = _MOST_SUGGESTING
    for number, sku in skus:
        if view.find(sku) is None:
            hint = view.suggestion(sku) if suggesting else ""
            suggesting = max(suggesting - 1, 0)
            yield FieldError(f"items[{number}].sku", f"product {sku!r} does not exist{hint}", Code.UNKNOWN_SKU)


def count_lines(view: CustomerView, items: Iterable[CreateOrderItem]) -> int:
    """Return the number of lines for a request's items: one per item and one per component of a bundle."""
    rows = [view.snapshot.row(item.sku) for item in items]
    return sum(1 if row is None else 1 + len(view.orderable(row).components) for row in rows)


def price_lines(
    view: CustomerView, wanted: Iterable[WantedLine], rate: Decimal, order_id: int, line_ids: Sequence[int]
) -> list[OrderLine]:
    """Return lines at the customer's prices. Price breaks apply per line. `rate` is the VAT in per cent.

    `line_ids` lists the ids of the lines, then the ids of their components.
    """
    wanted = list(wanted)
    ids, component_ids = line_ids[: len(wanted)], iter(line_ids[len(wanted) :])
    lines = []
    for line_id, item in zip(ids, wanted, strict=True):
        line = _line(item.product, item.quantity, order_id, line_id)
        components = []
        for c, component_id in zip(item.product.components, component_ids, strict=False):
            product = view.orderable(view.snapshot.row_of_sku[c["key"]])
            component = _line(product, c["quantity"] * item.quantity, order_id, component_id)
            components.append(replace(component, bundle_line_id=line_id))
        priced = line.at_price(from_pence(item.costs.at(item.quantity)), rate)
        lines.append(replace(priced, components=tuple(components)) if components else priced)
    return lines


def _line(product: OrderableProduct, quantity: int, order_id: int, line_id: int) -> OrderLine:
    return OrderLine(
        id=line_id, order_id=order_id, product_id=product.id, sku=product.sku, name=product.name, quantity=quantity
    )


def total_weight(wanted: Iterable[WantedLine]) -> Decimal:
    """Return the weight of all items in kilograms; unknown weights are 0. Raises DomainError (invalid)."""
    weight = sum((item.product.weight_kg * item.quantity for item in wanted), Decimal(0))
    if weight > _MOST_KG:
        raise invalid("items", f"must weigh at most {_MOST_KG} kg together")
    return weight


def cover_of(view: CustomerView, wanted: Iterable[tuple[int, int]], now: datetime) -> Cover:
    """Return when the current stock covers units of catalogue rows; units of the same row are added up."""
    covers = []
    for row, quantity in added_up(wanted).items():
        back_ordered, deliveries = int(view.stock.back_ordered[row]), view.stock.deliveries.get(row, ())
        covers.append(cover(quantity, view.available(row), back_ordered, deliveries, now))
    return latest(covers)


def offer_shipping(
    kind: OrderKind, context: OrderContext, address: AddressDetails, region: Region, weight_kg: Decimal, needed: Cover
) -> list[ShippingOption]:
    """Return the shipping options to an address in a region, cheapest first.

    If no method fits, returns no options for a quote, because support names the carriage; raises DomainError (invalid)
    for an order.
    """
    fitting = fitting_methods(context.shipping.methods, region.id, address.country_code, weight_kg)
    if not fitting and kind == "order":
        raise _nothing_fits(context, region, address.country_code, weight_kg)
    return [option_of(method, weight_kg).dated(context.now, needed) for method in fitting]


def region_of(kind: OrderKind, context: OrderContext, address: AddressDetails, wanted: int | None) -> Region:
    """Return the requested region, or else the address's. Without either, a quote gets the UK mainland.

    Raises DomainError (invalid).
    """
    regions = context.shipping.regions
    if wanted is not None:
        return known_region(regions, wanted)
    number = regions.of_address(address.country_code, address.zip)
    if number is None and kind == "order":
        country = address.country_code
        problem = f"we do not ship to {country}; the regions are {regions}; {_QUOTE_INSTEAD}"
        raise invalid("shipping_address.country_code", problem, Code.NO_SHIPPING_METHOD)
    number = UK_MAINLAND if number is None else number
    return regions.get(number) or Region(number)


def known_region(regions: Regions, wanted: int) -> Region:
    """Return a requested region. Raises DomainError (invalid)."""
    region = regions.get(wanted)
    if region is None:
        raise invalid("shipping_region", f"region {wanted} does not exist; the regions are {regions}")
    return region


def known_method(methods: Collection[ShippingMethod], wanted: int) -> None:
    """Raise DomainError (invalid) unless a requested shipping method exists; it may not fit."""
    if all(method.id != wanted for method in methods):
        problem = f"method {wanted} does not exist; the methods are {listed_methods(methods)}"
        raise invalid("shipping_method.id", problem, Code.UNKNOWN_SHIPPING_METHOD)


def _nothing_fits(context: OrderContext, region: Region, country: str, weight_kg: Decimal) -> DomainError:
    """Return the error for an order that no method can ship; the message has the limits of the region's methods."""
    methods = [method for method in context.shipping.methods if method.region == region.id]
    to_country = [method for method in methods if country in method.countries]
    limits = [
        f"{method.provider} {method.description} takes {in_kilograms(method.max_weight_kg)}" for method in to_country
    ]
    served = sorted({code for method in methods for code in method.countries})
    regions = context.shipping.regions
    problem = f"no shipping method takes {in_kilograms(weight_kg)} to {country} in region {region}"
    if limits:
        problem = f"{problem}: {', '.join(limits)}; {_QUOTE_INSTEAD}"
        return invalid("shipping_address", problem, Code.NO_SHIPPING_METHOD)
    return invalid(
        "shipping_address",
        f"{problem}, whose methods deliver to {', '.join(served) or 'no country'}; the regions are {regions}; "
        f"{_QUOTE_INSTEAD}",
        Code.NO_SHIPPING_METHOD,
    )
