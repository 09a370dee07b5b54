"""The SQL of access tokens, and of their consents and grants. Only the hashes of tokens are stored.

Locks are taken in the order application, consent, grant.
"""

from datetime import datetime, timedelta
from typing import ClassVar

from msgspec import Struct

from tradecounter.db.changes import bump
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.identity.credentials import new_secret, secret_hash

_LOCK_CONSENT = Statement("""
    select from consent where client_id = :client_id and customer_id = :customer_id and revoked_at is null for update
""")

_REVOKE_CONSENT = Statement("""
    update consent set revoked_at = :now
    where client_id = :client_id and customer_id = :customer_id and revoked_at is null
""")

_LOCK_GRANTS = Statement("""
    select from consent_grant g
    where g.ended_at is null and g.consent_id in (
        select c.id from consent c where c.client_id = :client_id and c.customer_id = :customer_id)
    order by g.id for update
""")

_END_GRANTS = Statement("""
    update consent_grant set ended_at = :now
    where ended_at is null and consent_id in (
        select c.id from consent c where c.client_id = :client_id and c.customer_id = :customer_id)
""")


_LOCK_GRANT = Statement("select from consent_grant where id = :id for update")
_END_GRANT = Statement("update consent_grant set ended_at = :now where id = :id and ended_at is null")
_REVOKE_ITS_TOKENS = Statement("""
    update access_token set revoked_at = :now where grant_id = :id and revoked_at is null and expires_at > :now
""")


async def end_grant(tx: Transaction, grant_id: int, now: datetime) -> bool:
    """End a grant, its refresh tokens and its access tokens, in every process within a few seconds.

    Returns whether it was open.
    """
    await tx.execute(_LOCK_GRANT, id=grant_id)  # waits for running exchanges, so the update sees their tokens
    ended = await tx.execute(_END_GRANT, id=grant_id, now=now)
    if ended:
        await tx.execute(_REVOKE_ITS_TOKENS, id=grant_id, now=now)
        await bump(tx, "keys")
    return ended == 1


class GrantState(Struct, frozen=True):
    """Whose grant it is, and whether it has ended."""

    client_id: str
    customer_id: int
    ended: bool


_GRANT_STATE = Statement(
    """
    select c.client_id, c.customer_id, g.ended_at is not null as ended
    from consent_grant g join consent c on c.id = g.consent_id where g.id = :id
    for key share of g
    """,
    GrantState,
)


async def lock_grant_state(tx: Transaction, grant_id: int) -> GrantState | None:
    """Return the state of a grant, locked so that it cannot end before the transaction; None when it does not exist.

    Call this after `issue_token` in the same transaction, as with `consent_revoked_at`.
    """
    return await tx.find_row(_GRANT_STATE, id=grant_id)


class GivenAccess(Struct, frozen=True):
    """An application that may act for a customer: who consented when, under the own issuer, and its latest token.

    Under another issuer, nothing is known of the consent; the application is listed while it has a token.
    """

    client_id: str
    name: str
    given_at: datetime | None
    given_by: str | None
    latest_token_at: datetime | None


_ACCESS_GIVEN = Statement(
    """
    with token as (
        select t.client_id, max(t.created_at) as latest from access_token t
        where t.customer_id = :customer_id and t.revoked_at is null and t.expires_at > :now group by t.client_id
    ), given as (
        select c.client_id, c.given_at, u.email from consent c left join customer_user u on u.id = c.user_id
        where c.customer_id = :customer_id and c.revoked_at is null
    )
    select a.client_id, a.name, given.given_at, given.email as given_by, token.latest as latest_token_at
    from application a left join token using (client_id) left join given using (client_id)
    where a.disabled_at is null and (token.client_id is not null or given.client_id is not null)
    order by lower(a.name), a.client_id
    """,
    GivenAccess,
)


async def access_given(tx: Transaction, customer_id: int, now: datetime) -> list[GivenAccess]:
    """Return the applications that may act for a customer, by name."""
    return await tx.fetch_all(_ACCESS_GIVEN, customer_id=customer_id, now=now)


class AllowedApplication(Struct, frozen=True):
    """An application that may act for a customer, and the address of the user who allowed it."""

    customer_id: int
    name: str
    given_at: datetime
    email: str | None


_ALLOWED_APPLICATION = Statement(
    "select c.customer_id, a.name, c.given_at, u.email from consent c join application a using (client_id)"
    " left join customer_user u on u.id = c.user_id where c.id = :id and c.revoked_at is null",
    AllowedApplication,
)


async def find_allowed_application(tx: Transaction, consent_id: int) -> AllowedApplication | None:
    """Return the application of a consent that stands, or None."""
    return await tx.find_row(_ALLOWED_APPLICATION, id=consent_id)


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
    tx: Transaction, client_id: str, customer_id: int, now: datetime, lifetime: timedelta, grant_id: int | None = None
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
    return await tx.find_row(_FIND_TOKEN, hash=digest)


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

_REVOKE_ALL_CONSENT = Statement("""
    insert into revoked_consent (client_id, customer_id, revoked_at) values (:client_id, :customer_id, :now)
    on conflict (client_id, customer_id) do update set revoked_at = excluded.revoked_at
""")

_REVOKE_TOKENS = Statement("""
    update access_token set revoked_at = :now
    where client_id = :client_id and customer_id = :customer_id and revoked_at is null and expires_at > :now
""")


async def revoke_tokens(tx: Transaction, client_id: str, customer_id: int, now: datetime) -> int:
    """End a customer's consent to an application, with its grants and tokens, in every process within a few seconds.

    Returns the number of tokens.
    """
    # Waits for running exchanges, so the update sees their tokens; later exchanges wait for this transaction.
    await tx.execute(_LOCK_APPLICATION, client_id=client_id)
    await tx.execute(_REVOKE_ALL_CONSENT, client_id=client_id, customer_id=customer_id, now=now)
    # Waits for codes that are being issued under the consent, then for exchanges that are running under a grant.
    await tx.execute(_LOCK_CONSENT, client_id=client_id, customer_id=customer_id)
    await tx.execute(_REVOKE_CONSENT, now=now, client_id=client_id, customer_id=customer_id)
    await tx.execute(_LOCK_GRANTS, client_id=client_id, customer_id=customer_id)
    await tx.execute(_END_GRANTS, now=now, client_id=client_id, customer_id=customer_id)
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
    revoked_at: datetime | None = await tx.find_value(_CONSENT_REVOKED_AT, client_id=client_id, customer_id=customer_id)
    return revoked_at


_DELETE_EXPIRED_TOKENS = Statement("delete from access_token where expires_at <= :until")


async def delete_expired_tokens(tx: Transaction, now: datetime) -> int:
    """Delete tokens that expired more than a day ago; return their number."""
    return await tx.execute(_DELETE_EXPIRED_TOKENS, until=now - _KEPT_AFTER_EXPIRY)
