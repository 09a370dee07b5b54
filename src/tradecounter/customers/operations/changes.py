"""What the API, the pages and the command share: who may change a field; changes and exports of accounts."""

from contextlib import ExitStack
from datetime import datetime
from decimal import Decimal
from tempfile import TemporaryFile
from typing import Any

from msgspec import UNSET, structs
from starlette.responses import Response

from tradecounter.access.queries.people import fetch_user_of
from tradecounter.access.users import disable_user
from tradecounter.audit.record import audit, audit_edit
from tradecounter.customers.change_account import record_customer_change
from tradecounter.customers.operations.wire import CreatedKey
from tradecounter.customers.queries.accounts import (
    add_account,
    edit_account,
    fetch_account,
    lock_account,
    stored_price_list,
)
from tradecounter.customers.settings import SETTINGS, Account, CustomerChange, clean_settings
from tradecounter.db.transaction import Transaction
from tradecounter.edge.permissions import Role, roles_of
from tradecounter.edge.rest.negotiation import ZIP
from tradecounter.edge.rest.responses import OpenFileResponse
from tradecounter.events.record import record_event
from tradecounter.identity.manage_keys import KeyRequest, create_key
from tradecounter.identity.queries.api_keys import fetch_key
from tradecounter.kit.errors import ErrorCollector, invalid
from tradecounter.kit.json_text import decode_json, read_json, to_json
from tradecounter.kit.validation_messages import field_errors_of
from tradecounter.kit.wire import made_from
from tradecounter.privacy.personal_data import export_customer
from tradecounter.shipping.methods import require_method

# The settings by who may change them, as the forms have them.
CONTACT = ("email_address", "first_name", "last_name", "company", "accounts_email", "order_mails")
CREDIT = ("credit_limit", "term_days")
TRADE = tuple(name for name in SETTINGS if name not in CONTACT + CREDIT)


def scope_of_field(name: str) -> str:
    """Return the scope that changing a field of a customer needs."""
    return "billing:write" if name in CREDIT else "customers:write"


def roles_of_field(name: str) -> tuple[Role, ...]:
    """Return the roles that may change a field of a customer."""
    return ("administrator",) if name in TRADE else roles_of(scope_of_field(name))


async def create_customer(tx: Transaction, change: CustomerChange, now: datetime) -> Account:
    """Add a customer. Raises DomainError: invalid with all errors, or conflict (the e-mail is taken)."""
    account = await add_account(tx, await _checked(tx, change, new=True))
    subject = f"customer/{account.id}"
    audit(tx, "customer.create", subject, now, after=structs.asdict(account))
    record_event(tx, "customer.created", subject, now, account.id, {"customer_id": account.id})
    return account


async def change_customer(tx: Transaction, customer_id: int, change: CustomerChange, now: datetime) -> Account:
    """Change a customer; a change in which nothing differs is not recorded.

    Raises DomainError: not found, invalid with all errors, or conflict (the e-mail is taken).
    """
    checked = await _checked(tx, change, new=False)
    before = await lock_account(tx, customer_id, to_change=True)
    _require_paired(*(_named_or(getattr(checked, name), getattr(before, name)) for name in CREDIT))
    account = await edit_account(tx, customer_id, checked)
    old, new = structs.asdict(before), structs.asdict(account)
    changed = audit_edit(tx, "customer.edit", f"customer/{customer_id}", now, before=old, after=new)
    if changed:
        record_customer_change(tx, customer_id, changed, now)
    return account


async def check_account_change(tx: Transaction, raw: bytes, *, new: bool = False) -> None:
    """Check the fields of a body that have the right type, where others have not. Raises DomainError (invalid)."""
    body = decode_json(raw)
    if not isinstance(body, dict):
        return
    wrong = {error.field for error in field_errors_of(body, CustomerChange)}
    right = {
        field.name: body[field.name]
        for field in structs.fields(CustomerChange)
        if field.name in body and field.name not in wrong
    }
    await _checked(tx, read_json(to_json(right), CustomerChange), new=new and wrong.isdisjoint(CREDIT))


async def _checked(tx: Transaction, change: CustomerChange, *, new: bool) -> CustomerChange:
    """Return what a change stores: amounts in pence, the price list as it is spelled.

    Raises DomainError (invalid) with all errors; of the credit terms of an account that is not `new`, only of each.
    """
    collector = ErrorCollector()
    values = clean_settings(change, collector.collecting)
    with collector.collecting():
        if new:
            _require_paired(_named_or(change.credit_limit, None), _named_or(change.term_days, None))
    with collector.collecting():
        if isinstance(change.price_list, str):
            values["price_list"] = await stored_price_list(tx, change.price_list)
    with collector.collecting():
        if isinstance(change.shipping_method, int):
            await require_method(tx, change.shipping_method)
    collector.check()
    return structs.replace(change, **values)


def _named_or(value: Any, otherwise: Any) -> Any:
    return otherwise if value is UNSET else value


def _require_paired(credit_limit: Decimal | None, term_days: int | None) -> None:
    if (credit_limit is None) != (term_days is None):
        raise invalid("credit_limit", "must go together with term_days: set both or neither")


async def make_key(tx: Transaction, customer_id: int, request: KeyRequest, now: datetime) -> CreatedKey:
    """Create a key of a customer, and return it with its secret. Raises DomainError (not found)."""
    await fetch_account(tx, customer_id)
    added = await create_key(tx, customer_id, request, now)
    record = await fetch_key(tx, customer_id, added.id)
    return made_from(record, CreatedKey, key=added.key)


async def disable_user_of(tx: Transaction, customer_id: int, user_id: int, now: datetime) -> None:
    """Disable one of a customer's users, also the last owner. Raises DomainError (not found)."""
    await disable_user(tx, await fetch_user_of(tx, customer_id, user_id), now)


async def exported_customer(tx: Transaction, customer_id: int) -> Response:
    """Respond with all that is stored of a customer, as a ZIP file. Raises DomainError (not found)."""
    with ExitStack() as stack:
        file = stack.enter_context(TemporaryFile())
        await export_customer(tx, customer_id, file)
        stack.pop_all()  # the response closes it
    return OpenFileResponse(file, f"customer-{customer_id}.zip", ZIP)
