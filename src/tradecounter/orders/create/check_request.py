"""Reads a request for an order or a quote, and checks it against the catalogue, the shipping and the account."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Struct

from tradecounter.customers.address_rules import address_errors, read_address
from tradecounter.customers.queries.addresses import find_address
from tradecounter.customers.wire import CustomerAddress
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import uk_date
from tradecounter.kit.email_addresses import NOT_AN_EMAIL, parse_email
from tradecounter.kit.errors import Code, DomainError, ErrorCollector, FieldError, invalid, invalid_fields
from tradecounter.kit.json_text import decode_json, read_json
from tradecounter.kit.text import is_blank
from tradecounter.kit.validation_messages import field_errors_of
from tradecounter.orders.create.draft import (
    WantedLine,
    cover_of,
    known_method,
    known_region,
    offer_shipping,
    region_of,
    total_weight,
    unknown_skus,
    wanted_lines,
)
from tradecounter.orders.order_context import OrderContext
from tradecounter.orders.queries.create import AccountStanding
from tradecounter.orders.shipping_options import ShippingOption, named_option
from tradecounter.orders.states import OrderKind
from tradecounter.orders.wire import LONGEST_SKU, MOST_ITEMS, CreateOrderRequest
from tradecounter.shipping.methods import Shipping, current_shipping
from tradecounter.shipping.rules import Region
from tradecounter.storefront.view import current_view


class Addresses(Struct, frozen=True):
    """The addresses to bill and to ship to."""

    billing: CustomerAddress
    shipping: CustomerAddress


class AddressChoice(msgspec.Struct):
    """An address of an order: the id of a saved address, or a full address without an id."""

    id: int | None = None


def named_addresses(request: CreateOrderRequest) -> set[int]:
    """Return the ids of the saved addresses in a request. `resolve_addresses` reports errors."""
    ids = set()
    for raw in (request.billing_address, request.shipping_address):
        with suppress(DomainError):
            if (address_id := chosen_address(raw, "")) is not None:
                ids.add(address_id)
    return ids


def resolve_addresses(request: CreateOrderRequest, saved: Mapping[int, CustomerAddress]) -> Addresses:
    """Return the request's addresses; `saved` are the existing addresses that the request names.

    Raises DomainError (invalid) with the errors of both.
    """
    collector = ErrorCollector()
    addresses: list[CustomerAddress] = []
    for field, raw in (("billing_address", request.billing_address), ("shipping_address", request.shipping_address)):
        with collector.collecting():
            addresses.append(_resolve(raw, field, saved))
    collector.check()
    return Addresses(*addresses)


def _resolve(raw: msgspec.Raw, field: str, saved: Mapping[int, CustomerAddress]) -> CustomerAddress:
    address_id = chosen_address(raw, field)
    if address_id is None:
        return CustomerAddress(**msgspec.structs.asdict(read_address(raw, field)))
    if address_id not in saved:
        raise unknown_address(address_id, field)
    return saved[address_id]


def chosen_address(raw: msgspec.Raw, field: str) -> int | None:
    """Return the id of the saved address that an order names, or None for a full address. Raises DomainError."""
    chosen = read_json(raw, AddressChoice, field).id
    if chosen is not None and not 0 < chosen < 2**63:
        raise unknown_address(chosen, field)
    return chosen


def unknown_address(address_id: int, field: str) -> DomainError:
    """Return the error for an id that no saved address of the customer has."""
    return invalid(f"{field}.id", f"{address_id} is not one of your addresses", Code.UNKNOWN_ADDRESS)


_CONTACTS = ("order_notifications", "courier_notifications")
_ADDRESSES = ("billing_address", "shipping_address")


async def read_request(
    raw: bytes,
    context: OrderContext,
    reading: Callable[[], AbstractAsyncContextManager[Transaction]],
    kind: OrderKind = "order",
) -> CreateOrderRequest:
    """Return the request in a body. If a field has the wrong type, raises DomainError (invalid) with all errors.

    `check_request` needs a whole request and cannot run then. So this function also reports what `check_request` would
    find, as far as it does not depend on the wrong fields. `reading` opens a transaction for that.
    """
    try:
        return read_json(raw, CreateOrderRequest)
    except DomainError as error:
        body = decode_json(raw) if error.field_errors else None
        if not isinstance(body, dict):
            raise
        further = [
            *_reference_errors(body.get("customer_reference")),
            *_address_errors(body),
            *_contact_errors({name: body.get(name) for name in _CONTACTS}),
        ]
        unwanted: list[FieldError] = []
        if kind == "quote":
            unit_costs = _of_items(body.get("items"), "max_unit_cost")
            unwanted += _quote_errors(body.get("auto_confirm"), unit_costs, body.get("max_cost_gross"))
        further += unwanted
        async with reading() as tx:
            further += _shipping_errors(body, await current_shipping(tx, context.shipping))
            further += await _unknown_products(tx, body, context)
            further += await _unknown_addresses(tx, body, context.customer_id)
        places = {each.field for each in unwanted}
        wrong = [each for each in error.field_errors if each.field not in places]  # what must go need not be right
        raise invalid_fields(list(dict.fromkeys([*wrong, *further]))) from error


def _reference_errors(reference: Any) -> Iterator[FieldError]:
    if isinstance(reference, str) and reference and is_blank(reference):
        yield FieldError("customer_reference", "must not be blank")


def _quote_errors(
    auto_confirm: Any, max_unit_costs: Iterable[tuple[int, Any]], max_cost_gross: Any
) -> Iterator[FieldError]:
    """Yield the errors of what a quote may not have; the price of one is not known yet. The costs are by item."""
    if auto_confirm is True:
        yield FieldError("auto_confirm", "must not be set on a quote: confirm the quote once support has priced it")
    amounts = {f"items[{n}].max_unit_cost": amount for n, amount in max_unit_costs}
    for name, amount in {**amounts, "max_cost_gross": max_cost_gross}.items():
        if amount is not None:
            yield FieldError(name, "must not be set on a quote: send max_cost_gross when you confirm the quote")


def _of_items(items: Any, name: str) -> Iterator[tuple[int, Any]]:
    """Yield a field of each of a body's items, with the item's index."""
    for n, item in enumerate(items[:MOST_ITEMS] if isinstance(items, list) else ()):
        if isinstance(item, dict):
            yield n, item.get(name)


def _is_sku(sku: Any) -> bool:
    return isinstance(sku, str) and not is_blank(sku) and len(sku) <= LONGEST_SKU


def _contact_errors(contacts: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield the errors of contacts' e-mail addresses, also of those that match the decoder's pattern."""
    for name, contact in contacts.items():
        email = contact.get("email_address") if isinstance(contact, dict) else None
        if isinstance(email, str) and parse_email(email) is None:
            yield FieldError(f"{name}.email_address", NOT_AN_EMAIL)


def _address_errors(body: dict[str, Any]) -> Iterator[FieldError]:
    for field in _ADDRESSES:
        if field not in body:
            continue
        address = body[field]
        yield from field_errors_of(address, AddressChoice, field)
        if isinstance(address, dict) and address.get("id") is None:
            yield from address_errors(address, field)


def _shipping_errors(body: dict[str, Any], shipping: Shipping) -> list[FieldError]:
    collector = ErrorCollector()
    method, region = body.get("shipping_method"), body.get("shipping_region")
    with collector.collecting():
        if isinstance(method, dict) and type(method.get("id")) is int:
            known_method(shipping.methods, method["id"])
    with collector.collecting():
        if type(region) is int:
            known_region(shipping.regions, region)
    return collector.errors


async def _unknown_products(tx: Transaction, body: dict[str, Any], context: OrderContext) -> list[FieldError]:
    named = [(n, sku) for n, sku in _of_items(body.get("items"), "sku") if _is_sku(sku)]
    skus = [sku for _, sku in named]
    view = await current_view(tx, context.view, context.customer_id, skus, uk_date(context.now))
    return list(unknown_skus(view, named))


async def _unknown_addresses(tx: Transaction, body: dict[str, Any], customer_id: int) -> list[FieldError]:
    field_errors: list[FieldError] = []
    for field in _ADDRESSES:
        address = body.get(field)
        address_id = address.get("id") if isinstance(address, dict) else None
        if type(address_id) is int and not (0 < address_id < 2**63 and await find_address(tx, customer_id, address_id)):
            field_errors += unknown_address(address_id, field).field_errors
    return field_errors


class OfferedShipping(Struct, frozen=True):
    """How a request can be shipped: its weight in kilograms, the region, and the options, cheapest first."""

    weight: Decimal
    region: Region
    options: Sequence[ShippingOption]


class CheckedRequest(Struct, frozen=True):
    """What a request without errors asks for."""

    lines: Sequence[WantedLine]
    addresses: Addresses
    shipping: OfferedShipping


def check_request(
    kind: OrderKind, request: CreateOrderRequest, standing: AccountStanding, context: OrderContext
) -> CheckedRequest:
    """Return the products, the addresses and the shipping of a request. Raises DomainError (invalid) with all errors.

    What depends on a wrong field is checked as far as possible: a shipping method must at least exist.
    """
    collector = ErrorCollector()
    collector.errors += _reference_errors(request.customer_reference)
    wanted = collector.attempt(lambda: wanted_lines(context.view, request.items))
    addresses = collector.attempt(lambda: resolve_addresses(request, standing.saved_addresses()))
    collector.errors += _contact_errors({name: msgspec.to_builtins(getattr(request, name)) for name in _CONTACTS})
    if kind == "quote":
        unit_costs = ((n, item.max_unit_cost) for n, item in enumerate(request.items))
        collector.errors += _quote_errors(request.auto_confirm, unit_costs, request.max_cost_gross)
    offered = None
    if wanted is not None and addresses is not None:
        offered = collector.attempt(lambda: _offered(kind, request, context, wanted, addresses))
    elif (region := request.shipping_region) is not None:
        collector.attempt(lambda: known_region(context.shipping.regions, region))
    with collector.collecting():
        _check_method(request, context, offered)
    if collector.errors or wanted is None or addresses is None or offered is None:
        raise invalid_fields(collector.errors)
    return CheckedRequest(wanted, addresses, offered)


def _offered(
    kind: OrderKind,
    request: CreateOrderRequest,
    context: OrderContext,
    wanted: Sequence[WantedLine],
    addresses: Addresses,
) -> OfferedShipping:
    weight = total_weight(wanted)
    region = region_of(kind, context, addresses.shipping, request.shipping_region)
    needed = cover_of(context.view, ((item.row, item.quantity) for item in wanted), context.now)
    options = offer_shipping(kind, context, addresses.shipping, region, weight, needed)
    return OfferedShipping(weight, region, options)


def _check_method(request: CreateOrderRequest, context: OrderContext, offered: OfferedShipping | None) -> None:
    if request.shipping_method is None:
        return
    if offered is not None:
        named_option(offered.options, request.shipping_method.id)
    else:
        known_method(context.shipping.methods, request.shipping_method.id)
