"""Makes, changes and deletes customers' feeds, and gives them new addresses."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from tradecounter.audit.record import audit, audit_edit
from tradecounter.customers.queries.accounts import lock_account
from tradecounter.db.transaction import Transaction
from tradecounter.feeds.queries import (
    FeedRecord,
    FeedValues,
    delete_feed,
    feeds_of,
    insert_feed,
    lock_feed,
    lock_secrets,
    replace_secret,
    store_secret,
    update_feed,
)
from tradecounter.feeds.render import columns_text, read_columns
from tradecounter.feeds.rules import LONGEST_NAME, MOST_OF_A_CUSTOMER, check_markup
from tradecounter.feeds.wire import FeedTerms, stored_filter
from tradecounter.identity.credentials import new_secret, secret_hash
from tradecounter.identity.vault import Vault
from tradecounter.kit.errors import DomainError, ErrorCollector, Kind, require_text
from tradecounter.kit.wire import made_from
from tradecounter.storefront.find_in_view import find_products
from tradecounter.storefront.view import CustomerView


class NewAddress(Struct, frozen=True):
    """A feed's id, and the secret in its new address."""

    id: int
    secret: str


def feed_vault(keys: Callable[[], Sequence[str]]) -> Vault:
    """Return the vault with the secrets in feeds' addresses."""
    return Vault("feed addresses", keys)


async def add_feed(
    tx: Transaction, vault: Vault, customer_id: int, wanted: FeedTerms, view: CustomerView, now: datetime
) -> NewAddress:
    """Make a feed; `view` is the customer's. Raises DomainError (invalid, conflict)."""
    values = _checked(wanted, view)
    await lock_account(tx, customer_id)  # so that feeds that are made at the same time count each other
    if len(await feeds_of(tx, customer_id)) >= MOST_OF_A_CUSTOMER:
        raise DomainError(Kind.CONFLICT, f"there are {MOST_OF_A_CUSTOMER} feeds already; delete one first")
    secret = new_secret()
    sealed = await vault.seal(tx, secret.encode())
    feed_id = await insert_feed(tx, customer_id, values, secret_hash(secret), sealed, now)
    audit(tx, "feed.add", f"feed/{feed_id}", now, after={**_shown(values), "customer_id": customer_id})
    return NewAddress(feed_id, secret)


async def change_feed(
    tx: Transaction, customer_id: int, feed_id: int, wanted: FeedTerms, view: CustomerView, now: datetime
) -> None:
    """Change a feed; its address stays. Raises DomainError (not found, invalid)."""
    before = await lock_feed(tx, customer_id, feed_id)
    values = _checked(wanted, view)
    await update_feed(tx, feed_id, values)
    audit_edit(tx, "feed.edit", f"feed/{feed_id}", now, before=_shown(before), after=_shown(values))


async def renew_address(tx: Transaction, vault: Vault, customer_id: int, feed_id: int, now: datetime) -> NewAddress:
    """Give a feed a new address; the old one ends at once. Raises DomainError (not found)."""
    await lock_feed(tx, customer_id, feed_id)
    secret = new_secret()
    await replace_secret(tx, feed_id, secret_hash(secret), await vault.seal(tx, secret.encode()), now)
    audit(tx, "feed.renew_address", f"feed/{feed_id}", now, after={"addressed_at": now})
    return NewAddress(feed_id, secret)


async def remove_feed(tx: Transaction, customer_id: int, feed_id: int, now: datetime) -> None:
    """Delete a feed; its address ends at once. Raises DomainError (not found)."""
    feed = await lock_feed(tx, customer_id, feed_id)
    await delete_feed(tx, feed_id)
    audit(tx, "feed.remove", f"feed/{feed_id}", now, before=_shown(feed))


def secret_of(vault: Vault, feed: FeedRecord) -> str | None:
    """Return the secret in a feed's address; None when no secret key decrypts it."""
    secret = vault.unseal(feed.secret)
    return None if secret is None else secret.decode()


async def reseal_feeds(tx: Transaction, keys: Sequence[str]) -> None:
    """Re-encrypt the secrets of all feeds with the first key; unreadable ones stay as they are."""
    vault = feed_vault(lambda: keys)
    for feed_id, secret in await lock_secrets(tx):
        await store_secret(tx, feed_id, vault.reseal(secret) or secret)


def _checked(wanted: FeedTerms, view: CustomerView) -> FeedValues:
    """Return what is stored of a feed. Raises DomainError (invalid), which names all invalid fields."""
    errors, name, columns = ErrorCollector(), "", []
    with errors.collecting():
        name = require_text("name", wanted.name, LONGEST_NAME)
    with errors.collecting():
        columns = read_columns(wanted.columns)
    with errors.collecting():
        find_products(view, wanted.filter.parameters)
    with errors.collecting():
        check_markup(wanted.markup)
    errors.check()
    chosen = {"name": name, "columns": columns, "filter": stored_filter(wanted.filter)}
    return made_from(wanted, FeedValues, **chosen)


def _shown(values: FeedValues) -> dict[str, Any]:
    """Return a feed for the audit log."""
    return asdict(made_from(values, FeedValues)) | {"columns": columns_text(values.columns)}
