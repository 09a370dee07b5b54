"""Reads the body of a new order or quote. One response lists all errors."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tradecounter.customers.address_rules import address_errors
from tradecounter.db.transaction import Transaction
from tradecounter.kit.email_addresses import NOT_AN_EMAIL, parse_email
from tradecounter.kit.errors import DomainError, FieldError, invalid_fields
from tradecounter.kit.local_time import uk_date
from tradecounter.ordering.create.draft import unknown_skus
from tradecounter.ordering.create.order_addresses import AddressChoice
from tradecounter.ordering.order_context import OrderContext
from tradecounter.ordering.wire import LONGEST_SKU, MOST_ITEMS, CreateOrderRequest
from tradecounter.rest.field_errors import field_errors_of
from tradecounter.rest.json_text import decode_json, read_json
from tradecounter.storefront.current_view import current_view
from tradecounter.storefront.view import CustomerView

_CONTACTS = ("order_notifications", "courier_notifications")
_ADDRESSES = ("billing_address", "shipping_address")


def read_request(raw: bytes, view: CustomerView) -> CreateOrderRequest:
    """Return the request in a body. Raises DomainError (invalid) with all errors.

    A field of the wrong type does not stop the checks of the others.
    """
    try:
        request = read_json(raw, CreateOrderRequest)
    except DomainError as error:
        body = decode_json(raw) if error.field_errors else None
        if not isinstance(body, dict):
            raise
        further = (
            *_item_errors(body.get("items"), view),
            *_address_errors(body),
            *_contact_errors({name: body.get(name) for name in _CONTACTS}),
        )
        raise invalid_fields(list(dict.fromkeys([*error.field_errors, *further]))) from error
    contacts = {name: msgspec.to_builtins(getattr(request, name)) for name in _CONTACTS}
    if errors := list(_contact_errors(contacts)):
        raise invalid_fields(errors)
    return request


async def read_rejected(tx: Transaction, raw: bytes, context: OrderContext, error: DomainError) -> CreateOrderRequest:
    """Read a body again that `read_request` rejected with an error, with the products that the database has by now.

    Raises DomainError (invalid): that error, or one with other unknown products.
    """
    body = decode_json(raw) if error.field_errors else None
    skus = [sku for _, sku in _named_skus(body.get("items"))] if isinstance(body, dict) else []
    if skus:
        view = await current_view(tx, context.view, context.customer_id, skus, uk_date(context.now))
        if view is not context.view:
            return read_request(raw, view)
    raise error


def _item_errors(items: Any, view: CustomerView) -> Iterator[FieldError]:
    yield from unknown_skus(view, _named_skus(items))


def _named_skus(items: Any) -> Iterator[tuple[int, str]]:
    """Yield the SKUs of a body's items, with each item's index."""
    for n, item in enumerate(items[:MOST_ITEMS] if isinstance(items, list) else ()):
        sku = item.get("sku") if isinstance(item, dict) else None
        if isinstance(sku, str) and sku.strip() and len(sku) <= LONGEST_SKU:
            yield n, sku


def _contact_errors(contacts: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield the invalid e-mail addresses that match the decoder's pattern."""
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
