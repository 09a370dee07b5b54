"""The addresses of an order: given in full, or named by the id of a saved one (specification, section 2)."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from tradecounter.customers.address_rules import check_address
from tradecounter.customers.wire import AddressDetails, CustomerAddress
from tradecounter.kit.errors import DomainError, invalid
from tradecounter.ordering.wire import CreateOrderRequest
from tradecounter.rest.json_text import read_json


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the order is billed and where it goes."""

    billing: CustomerAddress
    shipping: CustomerAddress


class _AddressChoice(msgspec.Struct):
    id: int | None = None


def named_addresses(request: CreateOrderRequest) -> set[int]:
    """Return the ids of the saved addresses that a request names; what is wrong with it, `resolve_addresses` says."""
    ids = set()
    for raw in (request.billing_address, request.shipping_address):
        with suppress(DomainError):
            if (address_id := _chosen_id(raw, "")) is not None:
                ids.add(address_id)
    return ids


def resolve_addresses(request: CreateOrderRequest, saved: Mapping[int, CustomerAddress]) -> Addresses:
    """Return the request's addresses; `saved` are those that it names, as far as there are any.

    Raises DomainError (invalid).
    """
    raw = {"billing_address": request.billing_address, "shipping_address": request.shipping_address}
    chosen = {field: _chosen_id(value, field) for field, value in raw.items()}
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
    return CustomerAddress(**{name: getattr(details, name) for name in details.__struct_fields__})
