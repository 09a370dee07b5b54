"""Reading the body of a new order or quote, so that one response names everything that is wrong with it."""

from collections.abc import Iterator
from typing import Any

from tradecounter.customers.address_rules import faults_of_address
from tradecounter.kit.errors import DomainError, Fault, invalid_fields
from tradecounter.ordering.create.draft import unknown_skus
from tradecounter.ordering.create.order_addresses import AddressChoice
from tradecounter.ordering.wire import LONGEST_SKU, MOST_ITEMS, CreateOrderRequest
from tradecounter.rest.faults import faults_of
from tradecounter.rest.json_text import decode_json, read_json
from tradecounter.storefront.view import CustomerView

_ADDRESSES = ("billing_address", "shipping_address")


def read_request(raw: bytes, view: CustomerView) -> CreateOrderRequest:
    """Return the request of a body. Raises DomainError (invalid) with all faults.

    Where a field is of the wrong type, the others are checked by the rules all the same.
    """
    try:
        return read_json(raw, CreateOrderRequest)
    except DomainError as error:
        body = decode_json(raw) if error.faults else None
        if not isinstance(body, dict):
            raise
        further = (*_faults_of_items(body.get("items"), view), *_faults_of_addresses(body))
        raise invalid_fields([*error.faults, *further]) from error


def _faults_of_items(items: Any, view: CustomerView) -> Iterator[Fault]:
    if isinstance(items, list):
        skus = ((n, item.get("sku")) for n, item in enumerate(items[:MOST_ITEMS]) if isinstance(item, dict))
        texts = ((n, sku) for n, sku in skus if isinstance(sku, str) and sku.strip())
        yield from unknown_skus(view, ((n, sku) for n, sku in texts if len(sku) <= LONGEST_SKU))


def _faults_of_addresses(body: dict[str, Any]) -> Iterator[Fault]:
    for field in _ADDRESSES:
        if field not in body:
            continue
        address = body[field]
        yield from faults_of(address, AddressChoice, field)
        if isinstance(address, dict) and address.get("id") is None:
            yield from faults_of_address(address, field)
