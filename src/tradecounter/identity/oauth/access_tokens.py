"""Access tokens: issued to an application for a customer, found, revoked; stored as hashes only."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from tradecounter.db.changes import bump
from tradecounter.db.rows import execute, fetch_one, fetch_value
from tradecounter.db.transaction import Transaction
from tradecounter.identity.secret_hash import new_secret, secret_hash

# Expired tokens are still told apart from wrong ones for so long (`ExpiredTokenError`).
_KEPT_AFTER_EXPIRY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class LiveToken:
    """What a token stands for unless it is revoked; it may have expired."""

    customer_id: int
    expires_at: datetime


async def issue_token(
    tx: Transaction, client_id: str, customer_id: int, now: datetime, lifetime: timedelta
) -> str | None:
    """Make a token for an application acting for a customer; None when there is no such customer."""
    token = new_secret()
    made = await execute(
        tx,
        """
        insert into access_token (hash, client_id, customer_id, created_at, expires_at)
        select %s, %s, id, %s, %s from customer where id = %s
        """,
        [secret_hash(token), client_id, now, now + lifetime, customer_id],
    )
    return token if made else None


async def find_token(tx: Transaction, digest: bytes) -> LiveToken | None:
    """Return the token with a hash unless it is revoked or its application disabled."""
    return await fetch_one(
        tx,
        LiveToken,
        """
        select token.customer_id, token.expires_at
        from access_token token join application using (client_id)
        where token.hash = %s and token.revoked_at is null and application.disabled_at is null
        """,
        [digest],
    )


async def revoke_tokens(tx: Transaction, client_id: str, customer_id: int, now: datetime) -> int:
    """Revoke an application's tokens for a customer, and the consent given so far; return the number of tokens.

    Takes effect in every process within a few seconds.
    """
    # Waits for exchanges under way, whose tokens the update then sees; later ones wait for this transaction.
    await execute(tx, "select from application where client_id = %s for update", [client_id])
    await execute(
        tx,
        """
        insert into revoked_consent (client_id, customer_id, revoked_at) values (%s, %s, %s)
        on conflict (client_id, customer_id) do update set revoked_at = excluded.revoked_at
        """,
        [client_id, customer_id, now],
    )
    count = await execute(
        tx,
        """
        update access_token set revoked_at = %s
        where client_id = %s and customer_id = %s and revoked_at is null and expires_at > %s
        """,
        [now, client_id, customer_id, now],
    )
    await bump(tx, "keys")
    return count


async def consent_revoked_at(tx: Transaction, client_id: str, customer_id: int) -> datetime | None:
    """Return when a customer's consent to an application was last revoked, or None.

    Ask after `issue_token` in the same transaction: a concurrent revocation is then either seen or revokes the token.
    """
    revoked_at: datetime | None = await fetch_value(
        tx,
        "select revoked_at from revoked_consent where client_id = %s and customer_id = %s",
        [client_id, customer_id],
    )
    return revoked_at


async def delete_expired_tokens(tx: Transaction, now: datetime) -> int:
    """Delete tokens that expired a day ago or earlier; return how many."""
    return await execute(tx, "delete from access_token where expires_at <= %s", [now - _KEPT_AFTER_EXPIRY])
