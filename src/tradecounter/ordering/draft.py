"""From a request to a priced draft: lines at the customer's prices, addresses, shipping options. Writes nothing."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import msgspec

from tradecounter.customers.address_rules import check_address
from tradecounter.customers.addresses import find_addresses
from tradecounter.customers.wire import AddressDetails, CustomerAddress
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import invalid
from tradecounter.kit.money import from_pence
from tradecounter.ordering.records import OfferedShipping, offer
from tradecounter.ordering.rules import PricedLine, price_line
from tradecounter.ordering.wire import CreateOrderItem, CreateOrderRequest
from tradecounter.rest.json_text import read_json
from tradecounter.shipping.rules import ShippingMethod, fitting_methods, region_of, shipping_dates
from tradecounter.stock.rules import Cover, cover, latest
from tradecounter.storefront.view import CustomerView


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the order is billed and where it goes."""

    billing: CustomerAddress
    shipping: CustomerAddress


class _AddressChoice(msgspec.Struct):
    id: int | None = None


async def resolve_addresses(tx: Transaction, customer_id: int, request: CreateOrderRequest) -> Addresses:
    """Return the request's addresses, saved ones looked up. Raises DomainError (invalid)."""
    raw = {"billing_address": request.billing_address, "shipping_address": request.shipping_address}
    chosen = {field: _chosen_id(value, field) for field, value in raw.items()}
    ids = {address_id for address_id in chosen.values() if address_id is not None}
    saved = await find_addresses(tx, customer_id, ids) if ids else {}
    found: dict[str, CustomerAddress] = {}
    for field, value in raw.items():
        address_id = chosen[field]
        if address_id is None:
            found[field] = _given(value, field)
        elif address_id in saved:
            found[field] = saved[address_id]
        else:
            raise invalid(f"{field}.id", f"{address_id} is not one of your addresses")
    return Addresses(found["billing_address"], found["shipping_address"])


def _chosen_id(raw: msgspec.Raw, field: str) -> int | None:
    chosen = read_json(raw, _AddressChoice, field).id
    if chosen is not None and not 0 < chosen < 2**63:
        raise invalid(f"{field}.id", f"{chosen} is not one of your addresses")
    return chosen


def _given(raw: msgspec.Raw, field: str) -> CustomerAddress:
    details = read_json(raw, AddressDetails, field)
    check_address(details, field)
    return msgspec.convert(msgspec.to_builtins(details), CustomerAddress)


def find_rows(view: CustomerView, items: Sequence[CreateOrderItem]) -> list[int]:
    """Return the catalogue row of each item. Raises DomainError (invalid) for what the customer cannot buy."""
    rows = []
    for number, item in enumerate(items):
        row = view.row(item.sku)
        if row is None:
            raise invalid(f"items[{number}].sku", f"there is no product {item.sku!r}")
        rows.append(row)
    return rows


def price_items(
    view: CustomerView, rows: Sequence[int], items: Sequence[CreateOrderItem], rate: Decimal
) -> list[PricedLine]:
    """Return the items as lines at the customer's prices, by each line's own quantity."""
    lines = []
    for row, item in zip(rows, items, strict=True):
        product, costs = view.product(row), view.unit_costs(row)
        if costs is None:
            raise LookupError(f"row {row} has no price")  # find_rows lets only priced rows through
        unit_cost = from_pence(costs.at(item.quantity))
        lines.append(price_line(product.id, product.sku, product.name, item.quantity, unit_cost, rate))
    return lines


def total_weight(view: CustomerView, rows: Sequence[int], items: Sequence[CreateOrderItem]) -> Decimal:
    """Return the weight of all items in kilograms; unknown weights are 0."""
    return sum(
        (view.product(row).weight_kg * item.quantity for row, item in zip(rows, items, strict=True)),
        Decimal(0),
    )


def cover_of(view: CustomerView, rows: Sequence[int], items: Sequence[CreateOrderItem]) -> Cover:
    """Tell when all items can be had, by the stock of this moment; lines of one product count together."""
    wanted: dict[int, int] = {}
    for row, item in zip(rows, items, strict=True):
        wanted[row] = wanted.get(row, 0) + item.quantity
    return latest(
        [
            cover(
                quantity,
                view.available(row),
                int(view.stock.back_ordered[row]),
                view.stock.deliveries.get(row, ()),
            )
            for row, quantity in wanted.items()
        ]
    )


@dataclass(frozen=True, slots=True)
class ShippingOffer:
    """The region, and the methods that fit, cheapest first; there is at least one."""

    region: int
    options: list[OfferedShipping]


def offer_shipping(
    methods: Collection[ShippingMethod],
    country: str,
    wanted_region: int | None,
    weight_kg: Decimal,
    needed: Cover,
    now: datetime,
) -> ShippingOffer:
    """Return the shipping options. Raises DomainError (invalid) when no method fits."""
    region = wanted_region if wanted_region is not None else region_of(country, methods)
    if wanted_region is not None and all(m.region != wanted_region for m in methods):
        raise invalid("shipping_region", f"there is no region {wanted_region}")
    if region is None:
        raise invalid("shipping_address.country_code", f"no shipping method serves {country}")
    fitting = fitting_methods(methods, region, country, weight_kg)
    if not fitting:
        raise invalid(
            "shipping_address",
            f"no shipping method takes {weight_kg} kg to {country} in region {region}; ask support for a quote",
        )
    return ShippingOffer(
        region,
        [
            offer(method, weight_kg).dated(shipping_dates(now, method.cut_off, method.transit_days, needed))
            for method in fitting
        ],
    )
