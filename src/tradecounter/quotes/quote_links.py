"""One-time links in the e-mails of priced quotes, for recipients without a user.

A link shows its quote any number of times, and accepts it once. It ends with the quote's expiry, decline or
confirmation, and with a new price, which makes a new link.
"""

import secrets
from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec import Struct

from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.settings import Account
from tradecounter.db.transaction import Transaction
from tradecounter.identity.credentials import secret_hash
from tradecounter.identity.installation_secret import derived_key
from tradecounter.kit.actor import Actor
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.confirm_order import confirm_order
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.order_context import OrderingPolicy
from tradecounter.orders.queries.orders import find_order_by_id, lines_of_order, lock_order
from tradecounter.orders.rules import account_blocked
from tradecounter.orders.states import AnyOrder, ConfirmedOrder, PricedQuote
from tradecounter.quotes.queries import (
    delete_quote_link,
    find_link_of_quote,
    find_quote_link,
    put_quote_link,
    use_quote_link,
)

ACTOR_NAME = "quote link"

_ID_BITS = 62


class OfferedQuote(Struct, frozen=True):
    """A quote that its customer can accept, with its lines and the account."""

    quote: PricedQuote
    lines: list[OrderLine]
    account: Account


async def make_quote_link(tx: Transaction, order_id: int, secret: str | None, now: datetime) -> None:
    """Make the link of a quote, which the caller has locked; an earlier link ends.

    `secret` is the installation's secret key; without it, no link is made.
    """
    if secret is None:
        await delete_quote_link(tx, order_id)
        return
    link_id = secrets.randbits(_ID_BITS)
    await put_quote_link(tx, order_id, link_id, secret_hash(_token(secret, link_id)), now)


async def quote_token(tx: Transaction, order_id: int, secret_keys: Callable[[], Sequence[str]]) -> str | None:
    """Return the secret of a quote's link; None if it has no unused link, or one of a key that is gone."""
    link = await find_link_of_quote(tx, order_id)
    if link is None or link.used_at is not None:
        return None
    tokens = (_token(secret_key, link.id) for secret_key in secret_keys())
    return next((token for token in tokens if secret_hash(token) == link.hash), None)


def link_actor(address: str | None) -> Actor:
    """Return who acts with a link, for the audit log: an unnamed user of the customer, at a network address."""
    return Actor("user", ACTOR_NAME, address=address)


async def quote_by_link(tx: Transaction, token: str, now: datetime) -> OfferedQuote:
    """Return the quote of a link, and change nothing.

    Raises DomainError: gone (unknown, used or ended), conflict (the customer is blocked).
    """
    link = await find_quote_link(tx, secret_hash(token))
    order = None if link is None or link.used_at is not None else await find_order_by_id(tx, link.order_id)
    quote = _open_quote(order, now)
    account = await fetch_account(tx, quote.customer_id)
    if account.blocked:
        raise account_blocked()
    return OfferedQuote(quote, await lines_of_order(tx, quote.id), account)


async def accept_by_link(
    tx: Transaction,
    token: str,
    method_id: int | None,
    policy: OrderingPolicy,
    now: datetime,
) -> ConfirmedOrder:
    """Confirm the quote of a link, with the checks of `confirm_order`; the link ends.

    The transaction's actor is `link_actor`.
    Raises DomainError: gone (unknown, used or ended), and the errors of `confirm_order`, after which the link is
    still good if the transaction is rolled back.
    """
    digest = secret_hash(token)
    link = await find_quote_link(tx, digest)
    quote = _open_quote(None if link is None else await lock_order(tx, link.order_id), now)
    if not await use_quote_link(tx, digest, now):  # used, or replaced by a new price before the lock
        raise _ended()
    order, _ = await confirm_order(tx, quote.customer_id, quote.confirmation_code, method_id, policy, now)
    return order


def _token(secret: str, link_id: int) -> str:
    return derived_key(secret, f"quote link {link_id}")


def _open_quote(order: AnyOrder | None, now: datetime) -> PricedQuote:
    if not isinstance(order, PricedQuote) or order.has_expired(now):
        raise _ended()
    return order


def _ended() -> DomainError:
    return DomainError(
        Kind.GONE, "this link has ended: the quote was accepted, declined or priced again, or it has expired"
    )
