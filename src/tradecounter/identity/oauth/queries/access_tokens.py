"""Access tokens, issued to an application for a customer; only their hashes are stored."""

from datetime import datetime, timedelta
from typing import ClassVar

from msgspec import Struct

from tradecounter.db.changes import bump
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.identity.oauth.queries.consents import end_consent
from tradecounter.identity.secret_hash import new_secret, secret_hash

# Until then, an expired token is known to be expired, not wrong (`ExpiredCredentialError`).
_KEPT_AFTER_EXPIRY = timedelta(days=1)


class LiveToken(Struct, frozen=True):
    """The customer of a token that is not revoked, its expiry, which may have passed, and its application."""

    customer_id: int
    expires_at: datetime
    id: str
    name: str
    limits: ClassVar[None] = None  # a token may do everything that the customer may


_ISSUE_TOKEN = Statement("""
    insert into access_token (hash, client_id, customer_id, grant_id, created_at, expires_at)
    select :hash, :client_id, id, :grant_id, :now, :expires_at from customer
    where id = :customer_id and blocked_at is null
""")


async def issue_token(
    tx: Transaction,
    client_id: str,
    customer_id: int,
    now: datetime,
    lifetime: timedelta,
    grant_id: int | None = None,
) -> str | None:
    """Create a token for an application that acts for a customer, under a grant of the own issuer or of none.

    Returns None when the customer does not exist or is blocked.
    """
    token = new_secret()
    made = await tx.execute(
        _ISSUE_TOKEN,
        hash=secret_hash(token),
        client_id=client_id,
        grant_id=grant_id,
        now=now,
        expires_at=now + lifetime,
        customer_id=customer_id,
    )
    return token if made else None


_FIND_TOKEN = Statement(
    """
    select token.customer_id, token.expires_at, application.client_id as id, application.name
    from access_token token join application using (client_id) join customer on customer.id = token.customer_id
    where token.hash = :hash and token.revoked_at is null and application.disabled_at is null
      and customer.blocked_at is null
    """,
    LiveToken,
)


async def find_token(tx: Transaction, digest: bytes) -> LiveToken | None:
    """Return the token with a hash unless it is revoked, its application disabled or its customer blocked."""
    return await tx.fetch_one(_FIND_TOKEN, hash=digest)


_REVOKE_TOKEN = Statement("""
    update access_token set revoked_at = :now where hash = :hash and client_id = :client_id and revoked_at is null
""")


async def revoke_token(tx: Transaction, token: str, client_id: str, now: datetime) -> bool:
    """Revoke one token of an application, in every process within a few seconds; return whether it was valid."""
    count = await tx.execute(_REVOKE_TOKEN, now=now, hash=secret_hash(token), client_id=client_id)
    if count:
        await bump(tx, "keys")
    return count == 1


_LOCK_APPLICATION = Statement("select from application where client_id = :client_id for update")

_REVOKE_CONSENT = Statement("""
    insert into revoked_consent (client_id, customer_id, revoked_at) values (:client_id, :customer_id, :now)
    on conflict (client_id, customer_id) do update set revoked_at = excluded.revoked_at
""")

_REVOKE_TOKENS = Statement("""
    update access_token set revoked_at = :now
    where client_id = :client_id and customer_id = :customer_id and revoked_at is null and expires_at > :now
""")


async def revoke_tokens(tx: Transaction, client_id: str, customer_id: int, now: datetime) -> int:
    """Revoke an application's tokens for a customer and the earlier consent, in every process within a few seconds.

    Returns the number of tokens.
    """
    # Waits for running exchanges, so the update sees their tokens; later exchanges wait for this transaction.
    await tx.execute(_LOCK_APPLICATION, client_id=client_id)
    await tx.execute(_REVOKE_CONSENT, client_id=client_id, customer_id=customer_id, now=now)
    await end_consent(tx, client_id, customer_id, now)
    count = await tx.execute(_REVOKE_TOKENS, now=now, client_id=client_id, customer_id=customer_id)
    await bump(tx, "keys")
    return count


_CONSENT_REVOKED_AT = Statement(
    "select revoked_at from revoked_consent where client_id = :client_id and customer_id = :customer_id"
)


async def consent_revoked_at(tx: Transaction, client_id: str, customer_id: int) -> datetime | None:
    """Return when a customer's consent to an application was last revoked, or None.

    Call this after `issue_token` in the same transaction. A concurrent revocation is then either returned or revokes
    the new token.
    """
    revoked_at: datetime | None = await tx.fetch_value(
        _CONSENT_REVOKED_AT, client_id=client_id, customer_id=customer_id
    )
    return revoked_at


_DELETE_EXPIRED_TOKENS = Statement("delete from access_token where expires_at <= :until")


async def delete_expired_tokens(tx: Transaction, now: datetime) -> int:
    """Delete tokens that expired more than a day ago; return their number."""
    return await tx.execute(_DELETE_EXPIRED_TOKENS, until=now - _KEPT_AFTER_EXPIRY)
