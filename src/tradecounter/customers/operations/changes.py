"""What the API, the pages and the command share: who may change a field; changes of accounts, keys and users."""

from datetime import datetime

from msgspec import UNSET, structs

from tradecounter.access.users import disable_user, fetch_user_of
from tradecounter.customers.change_account import checked_change
from tradecounter.customers.operations.wire import CreatedKey
from tradecounter.customers.queries.accounts import fetch_account, require_price_list, unpaired_terms
from tradecounter.customers.settings import SETTINGS, CustomerChange
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import wrong_fields
from tradecounter.edge.permissions import Role, roles_of
from tradecounter.identity.manage_keys import create_key, fetch_key
from tradecounter.identity.requests import KeyRequest
from tradecounter.kit.errors import ErrorCollector
from tradecounter.kit.json_text import decode_json, read_json, to_json
from tradecounter.kit.wire import made_from
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


_NONE = (None, UNSET)
_TERMS = {"credit_limit", "term_days"}


async def account_change(tx: Transaction, body: CustomerChange, *, new: bool = False) -> CustomerChange:
    """Return the change that a body asks for, or a new account. Raises DomainError (invalid) with all errors."""
    change, collector = body, ErrorCollector()
    with collector.collecting():
        change = checked_change(change)
    with collector.collecting():
        if new and (change.credit_limit in _NONE) != (change.term_days in _NONE):
            raise unpaired_terms()
    with collector.collecting():
        if isinstance(change.price_list, str):
            await require_price_list(tx, change.price_list)
    with collector.collecting():
        if isinstance(change.shipping_method, int):
            await require_method(tx, change.shipping_method)
    collector.check()
    return change


async def check_account_change(tx: Transaction, raw: bytes, *, new: bool = False) -> None:
    """Check the fields of a body that have the right type, where others have not. Raises DomainError (invalid)."""
    body = decode_json(raw)
    if not isinstance(body, dict):
        return
    wrong = wrong_fields(body, CustomerChange)
    right = {
        field.name: body[field.name]
        for field in structs.fields(CustomerChange)
        if field.name in body and field.name not in wrong
    }
    complete = not wrong & _TERMS
    await account_change(tx, read_json(to_json(right), CustomerChange), new=new and complete)


async def make_key(tx: Transaction, customer_id: int, request: KeyRequest, now: datetime) -> CreatedKey:
    """Create a key of a customer, and return it with its secret. Raises DomainError (not found)."""
    await fetch_account(tx, customer_id)
    added = await create_key(tx, customer_id, request, now)
    record = await fetch_key(tx, customer_id, added.id)
    return made_from(record, CreatedKey, key=added.key)


async def disable_user_of(tx: Transaction, customer_id: int, user_id: int, now: datetime) -> None:
    """Disable one of a customer's users, also the last owner. Raises DomainError (not found)."""
    user = await fetch_user_of(tx, customer_id, user_id)
    await disable_user(tx, user.email, now)
