"""Reads the body of a new order or quote. One response lists all errors."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec

from tradecounter.customers.address_rules import address_errors
from tradecounter.customers.queries.addresses import find_address
from tradecounter.db.transaction import Transaction
from tradecounter.kit.email_addresses import NOT_AN_EMAIL, parse_email
from tradecounter.kit.errors import DomainError, ErrorCollector, FieldError, invalid_fields
from tradecounter.kit.json_text import decode_json, read_json
from tradecounter.kit.local_time import uk_date
from tradecounter.kit.text import is_blank
from tradecounter.kit.validation_messages import field_errors_of
from tradecounter.orders.create.draft import known_method, known_region, unknown_skus
from tradecounter.orders.create.order_addresses import AddressChoice, unknown_address
from tradecounter.orders.order_context import OrderContext
from tradecounter.orders.wire import LONGEST_SKU, MOST_ITEMS, CreateOrderRequest
from tradecounter.shipping.methods import Shipping, current_shipping
from tradecounter.storefront.current_view import current_view

_CONTACTS = ("order_notifications", "courier_notifications")
_ADDRESSES = ("billing_address", "shipping_address")


async def read_request(
    raw: bytes, context: OrderContext, reading: Callable[[], AbstractAsyncContextManager[Transaction]]
) -> CreateOrderRequest:
    """Return the request in a body. Raises DomainError (invalid) with all errors if a field has the wrong type.

    Then `check_request`, which checks the other requests, cannot run: what it would find is found here, as far as it
    does not depend on the wrong fields. `reading` opens a transaction for that.
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
        async with reading() as tx:
            further += _shipping_errors(body, await current_shipping(tx, context.shipping))
            further += await _unknown_products(tx, body, context)
            further += await _unknown_addresses(tx, body, context.customer_id)
        raise invalid_fields(list(dict.fromkeys([*error.field_errors, *further]))) from error


def contact_errors(request: CreateOrderRequest) -> list[FieldError]:
    """Return the errors of the contacts' e-mail addresses that match the decoder's pattern."""
    return list(_contact_errors({name: msgspec.to_builtins(getattr(request, name)) for name in _CONTACTS}))


def _reference_errors(reference: Any) -> Iterator[FieldError]:
    if isinstance(reference, str) and reference and is_blank(reference):
        yield FieldError("customer_reference", "must not be blank")


def _named_skus(items: Any) -> Iterator[tuple[int, str]]:
    """Yield the SKUs of a body's items, with each item's index."""
    for n, item in enumerate(items[:MOST_ITEMS] if isinstance(items, list) else ()):
        sku = item.get("sku") if isinstance(item, dict) else None
        if isinstance(sku, str) and not is_blank(sku) and len(sku) <= LONGEST_SKU:
            yield n, sku


def _contact_errors(contacts: Mapping[str, Any]) -> Iterator[FieldError]:
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
    named = list(_named_skus(body.get("items")))
    skus = [sku for _, sku in named]
    view = await current_view(tx, context.view, context.customer_id, skus, uk_date(context.now))
    return list(unknown_skus(view, named))


async def _unknown_addresses(tx: Transaction, body: dict[str, Any], customer_id: int) -> list[FieldError]:
    found: list[FieldError] = []
    for field in _ADDRESSES:
        address = body.get(field)
        address_id = address.get("id") if isinstance(address, dict) else None
        if type(address_id) is int and not (0 < address_id < 2**63 and await find_address(tx, customer_id, address_id)):
            found += unknown_address(address_id, field).field_errors
    return found
