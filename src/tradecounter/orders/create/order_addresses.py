"""Resolves the addresses of an order, full or named by id (specification, section 2)."""

from collections.abc import Mapping
from contextlib import suppress

import msgspec
from msgspec import Struct

from tradecounter.customers.address_rules import read_address
from tradecounter.customers.wire import CustomerAddress
from tradecounter.kit.error_codes import Code
from tradecounter.kit.errors import DomainError, ErrorCollector, invalid
from tradecounter.kit.json_text import read_json
from tradecounter.orders.wire import CreateOrderRequest


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
    found: list[CustomerAddress] = []
    for field, raw in (("billing_address", request.billing_address), ("shipping_address", request.shipping_address)):
        with collector.collecting():
            found.append(_resolve(raw, field, saved))
    collector.check()
    return Addresses(*found)


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
