"""What the API and the pages of customers share: changes of accounts, keys, users and addresses."""

from datetime import datetime

from msgspec import structs

from tradecounter.access.queries.users import list_users
from tradecounter.access.users import disable_user
from tradecounter.backoffice.customer_wire import CreatedKey, CustomerChange
from tradecounter.customers.address_book import save_address
from tradecounter.customers.address_rules import check_address
from tradecounter.customers.checked_change import checked_change
from tradecounter.customers.queries.accounts import AccountChange, the_account
from tradecounter.customers.wire import AddressDetails, SavedAddress
from tradecounter.db.transaction import Transaction
from tradecounter.identity.manage_keys import create_key, end_key_of
from tradecounter.identity.queries.api_keys import key_of
from tradecounter.kit.errors import not_found
from tradecounter.shipping.methods import require_method


async def account_change(tx: Transaction, body: CustomerChange) -> AccountChange:
    """Return the change that a body asks for. Raises DomainError (invalid) with all errors."""
    values = structs.asdict(body) | ({"company": ""} if body.company is None else {})
    change = checked_change(AccountChange(**values))
    if isinstance(change.shipping_method, int):
        await require_method(tx, change.shipping_method)
    return change


async def make_key(tx: Transaction, customer_id: int, name: str, now: datetime) -> CreatedKey:
    """Create a key of a customer, and return it with its secret. Raises DomainError (not found)."""
    await the_account(tx, customer_id)
    added = await create_key(tx, customer_id, name.strip(), now)
    record = await key_of(tx, customer_id, added.id)
    if record is None:
        raise LookupError(f"no key {added.id}")
    return CreatedKey(record.id, record.name, record.prefix, added.key, record.created_at)


async def disable_key_of(tx: Transaction, customer_id: int, key_id: int, now: datetime) -> None:
    """Disable one of a customer's keys. Raises DomainError (not found)."""
    await end_key_of(tx, customer_id, key_id, now)


async def disable_user_of(tx: Transaction, customer_id: int, user_id: int, now: datetime) -> None:
    """Disable one of a customer's users. Raises DomainError (not found)."""
    user = next((user for user in await list_users(tx, customer_id) if user.id == user_id), None)
    if user is None:
        raise not_found("user", user_id)
    await disable_user(tx, user.email, now)


async def save_address_of(tx: Transaction, customer_id: int, body: AddressDetails, now: datetime) -> SavedAddress:
    """Add an address to a customer's address book. Raises DomainError: invalid, not found."""
    check_address(body)
    await the_account(tx, customer_id)
    return await save_address(tx, customer_id, body, now)
