"""The import kind of customers, whose key is the e-mail address, and the events of an import."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from tradecounter.bulk.kinds import ImportKind, Stage, Staged
from tradecounter.bulk.rows import RowNotes, checked_key, folded, set_members
from tradecounter.bulk.statements import (
    merge_statement,
    required_when_new,
    stored_keys,
    taken_external_ids,
    unknown_reference,
)
from tradecounter.customers.address_rules import check_address
from tradecounter.customers.queries.find_customers import ADD_FIRST_OWNERS
from tradecounter.customers.queries.importing import (
    ADD_ADDRESSES,
    CHECK_CREDIT_TERMS,
    CUSTOMER_VIEW,
    WARN_OF_SHIPPING_METHODS,
    customers_to_restore,
    delete_added,
    existing_customers,
    imported_customers,
)
from tradecounter.customers.settings import DEFAULTS, SETTINGS, CustomerChange, clean_settings
from tradecounter.customers.wire import AddressDetails, Email
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import NewEvent, record_events
from tradecounter.kit.keys import Spellings


async def record_imported_customers(tx: Transaction, import_id: int, _changed: int, now: datetime) -> None:
    """Record what an import did to customers."""
    customers = await imported_customers(tx, import_id)
    record_events(tx, "customer.created", [_event(customer.id) for customer in customers if customer.is_new], now)
    changed = [_event(customer.id, changed=customer.fields) for customer in customers if not customer.is_new]
    record_events(tx, "customer.changed", changed, now)


async def undo_imported_customers(tx: Transaction, now: datetime) -> None:
    """Delete what an import added, as `delete_added` does, and record what its roll-back does to customers."""
    customers = await customers_to_restore(tx)
    await delete_added(tx)
    kept = await existing_customers(tx, [customer.id for customer in customers if customer.is_new])
    changed = [
        _event(customer.id, changed=["deleted"] if customer.is_new else customer.fields)
        for customer in customers
        if customer.id not in kept
    ]
    record_events(tx, "customer.changed", changed, now)


def _event(customer_id: int, **data: Any) -> NewEvent:
    return NewEvent(f"customer/{customer_id}", customer_id, {"customer_id": customer_id, **data})


Name = Annotated[str, Meta(min_length=1, max_length=200)]


class CustomerRow(CustomerChange, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A customer; new addresses are added to its address book."""

    email_address: Email
    first_name: Name | UnsetType = UNSET
    last_name: Name | UnsetType = UNSET
    company: Annotated[str, Meta(max_length=200)] | UnsetType = UNSET
    price_list: str | UnsetType | None = UNSET
    addresses: list[AddressDetails] | UnsetType = UNSET


async def _stage(tx: Transaction) -> Stage[CustomerRow]:
    lists = Spellings(await stored_keys(tx, "price_list"))
    return lambda customer, notes: _staged(customer, lists, notes)


def _staged(customer: CustomerRow, lists: Spellings, notes: RowNotes) -> Iterator[Staged]:
    values = set_members(customer)
    if isinstance(customer.price_list, str):
        price_list = checked_key(notes, "price_list", customer.price_list)
        values["price_list"] = lists.of(price_list) if isinstance(price_list, str) else price_list
    cleaned = clean_settings(customer, notes.collecting)
    values |= {name: str(value) if isinstance(value, Decimal) else value for name, value in cleaned.items()}
    if isinstance(customer.addresses, list):
        for number, address in enumerate(customer.addresses):
            with notes.collecting():
                check_address(address, f"addresses[{number}]")
    yield folded(customer.email_address), values


CUSTOMERS = ImportKind(
    shape=CustomerRow,
    area="customers",
    hint="Each row is a customer, known by its e-mail address.",
    table="customer",
    key=("email_address",),
    prepare=_stage,
    checks=(
        required_when_new("customer", "email_key", ("first_name", "last_name"), "customer"),
        unknown_reference("price_list", "price_list", "key"),
        CHECK_CREDIT_TERMS,
        taken_external_ids("customer", "email_key", "email_address"),
    ),
    merge=merge_statement(
        "customer",
        "email_key",
        SETTINGS,
        DEFAULTS,
    ),
    after=(
        ADD_ADDRESSES, ADD_FIRST_OWNERS,
    ),
    warnings=(
        WARN_OF_SHIPPING_METHODS,
    ),
    removal=None,
    view=CUSTOMER_VIEW,
    undo=undo_imported_customers,
    applied=record_imported_customers,
    topics=("customers",),
)  # fmt: skip
