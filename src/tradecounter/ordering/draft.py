"""From a request to a priced draft: lines at the customer's prices, weight, shipping options. Writes nothing."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from tradecounter.customers.wire import AddressDetails
from tradecounter.kit.errors import DomainError, Fault, invalid, invalid_fields
from tradecounter.kit.money import from_pence
from tradecounter.ordering.circumstances import Circumstances
from tradecounter.ordering.records import Kind, OfferedShipping, offer
from tradecounter.ordering.rules import Component, PricedLine, price_line
from tradecounter.ordering.wire import CreateOrderItem
from tradecounter.pricing.rules import UnitCosts
from tradecounter.shipping.regions import UK_MAINLAND, Region
from tradecounter.shipping.rules import fitting_methods, shipping_dates
from tradecounter.stock.rules import Cover, cover, latest
from tradecounter.storefront.view import CustomerView

_MOST_SUGGESTING = 5  # unknown SKUs of a request, since looking for similar ones takes time
_MOST_KG = 1_000_000_000
_QUOTE_INSTEAD = "request a quote instead (POST /quote)"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A line of a request: the product's catalogue row, its unit costs for the customer, and the quantity."""

    row: int
    costs: UnitCosts
    quantity: int


def find_products(view: CustomerView, items: Sequence[CreateOrderItem]) -> list[Wanted]:
    """Return the products of a request's items.

    Raises DomainError (invalid) with all SKUs that the customer cannot buy.
    """
    found = [(view.find(item.sku.strip()), item.quantity) for item in items]
    wanted = [Wanted(*product, quantity) for product, quantity in found if product is not None]
    if len(wanted) < len(items):
        raise invalid_fields(list(unknown_skus(view, ((n, item.sku) for n, item in enumerate(items)))))
    return wanted


def unknown_skus(view: CustomerView, skus: Iterable[tuple[int, str]]) -> Iterator[Fault]:
    """Yield a fault for every SKU, given with its item's index, that the customer cannot buy."""
    suggesting = _MOST_SUGGESTING
    for number, sku in skus:
        if view.find(sku.strip()) is None:
            similar = view.similar_skus(sku) if suggesting else []
            suggesting = max(suggesting - 1, 0)
            hint = f"; did you mean {' or '.join(similar)}?" if similar else ""
            yield Fault(f"items[{number}].sku", f"there is no product {sku!r}{hint}")


def price_lines(view: CustomerView, wanted: Iterable[Wanted], rate: Decimal) -> list[PricedLine]:
    """Return lines at the customer's prices, by each line's own quantity; `rate` is the VAT in per cent."""
    lines = []
    for item in wanted:
        product, unit_cost = view.product(item.row), from_pence(item.costs.at(item.quantity))
        components = _components(view, item) if product.components else ()
        lines.append(price_line(product.id, product.sku, product.name, item.quantity, unit_cost, rate, components))
    return lines


def _components(view: CustomerView, item: Wanted) -> list[Component]:
    components = []
    for held in view.product(item.row).components:
        product = view.product(view.snapshot.row_of_sku[held["key"]])
        components.append(Component(product.id, product.sku, product.name, held["quantity"] * item.quantity))
    return components


def total_weight(view: CustomerView, wanted: Iterable[Wanted]) -> Decimal:
    """Return the weight of all items in kilograms; unknown weights are 0. Raises DomainError (invalid)."""
    weight = sum((view.product(item.row).weight_kg * item.quantity for item in wanted), Decimal(0))
    if weight > _MOST_KG:
        raise invalid("items", f"must weigh at most {_MOST_KG} kg together")
    return weight


def cover_of(view: CustomerView, wanted: Iterable[Wanted], now: datetime) -> Cover:
    """Return when all items can be had, by the stock of this moment; lines of one product count together."""
    units: dict[int, int] = {}
    for item in wanted:
        units[item.row] = units.get(item.row, 0) + item.quantity
    return latest(
        [
            cover(
                quantity,
                view.available(row),
                int(view.stock.back_ordered[row]),
                view.stock.deliveries.get(row, ()),
                now,
            )
            for row, quantity in units.items()
        ]
    )


@dataclass(frozen=True, slots=True)
class ShippingOffer:
    """The region, and the methods that fit, cheapest first; only a quote may have none."""

    region: int
    options: list[OfferedShipping]


def offer_shipping(
    kind: Kind,
    circumstances: Circumstances,
    address: AddressDetails,
    wanted_region: int | None,
    weight_kg: Decimal,
    needed: Cover,
) -> ShippingOffer:
    """Return the shipping options to an address.

    Where no method fits, a quote has no options: support names the carriage with the price. Raises DomainError
    (invalid) when no method fits an order, or no region has the number that is wanted.
    """
    region = _region(kind, circumstances, address, wanted_region)
    fitting = fitting_methods(circumstances.methods, region.id, address.country_code, weight_kg)
    if not fitting and kind == "order":
        raise _nothing_fits(circumstances, region, address.country_code, weight_kg)
    return ShippingOffer(
        region.id,
        [
            offer(method, weight_kg).dated(
                shipping_dates(circumstances.now, method.cut_off, method.transit_days, needed)
            )
            for method in fitting
        ],
    )


def _region(kind: Kind, circumstances: Circumstances, address: AddressDetails, wanted: int | None) -> Region:
    """Return the region that is named, else the address's; for a quote to an address in no region, the UK mainland.

    Raises DomainError (invalid).
    """
    regions = circumstances.regions
    if wanted is not None:
        region = regions.get(wanted)
        if region is None:
            raise invalid("shipping_region", f"there is no region {wanted}; the regions are {regions}")
        return region
    number = regions.of_address(address.country_code, address.zip)
    if number is None and kind == "order":
        country = address.country_code
        problem = f"we do not ship to {country}; the regions are {regions}; {_QUOTE_INSTEAD}"
        raise invalid("shipping_address.country_code", problem)
    number = UK_MAINLAND if number is None else number
    return regions.get(number) or Region(number)


def _nothing_fits(circumstances: Circumstances, region: Region, country: str, weight_kg: Decimal) -> DomainError:
    """Return the refusal of an order that no method takes, with what the region's methods do take."""
    methods = [method for method in circumstances.methods if method.region == region.id]
    there = [method for method in methods if country in method.countries]
    limits = [
        f"{method.id} ({method.provider}, {method.description}) takes {method.max_weight_kg.normalize():f} kg"
        for method in there
    ]
    served = sorted({code for method in methods for code in method.countries})
    problem = f"no shipping method takes {weight_kg} kg to {country} in region {region}"
    if limits:
        return invalid("shipping_address", f"{problem}: {', '.join(limits)}; {_QUOTE_INSTEAD}")
    return invalid(
        "shipping_address",
        f"{problem}, which serves {', '.join(served) or 'no country'}; the regions are {circumstances.regions}; "
        f"{_QUOTE_INSTEAD}",
    )
