"""Access and refresh tokens of agents; only their hashes are stored."""

from datetime import datetime, timedelta

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.agents.queries.consents import CONSENT_TABLES, USABLE_CONSENT
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.identity.credentials import ExpiredCredentialError, LiveAgent, new_secret, secret_hash

_USED_EVERY = timedelta(minutes=1)


_INSERT_TOKEN = Statement("""
    insert into agent_token (hash, consent_id, refreshes, created_at, expires_at)
    values (:hash, :consent_id, :refreshes, :now, :expires_at)
""")


async def insert_token(
    tx: Transaction, consent_id: int, now: datetime, expires_at: datetime, *, refreshes: bool
) -> str:
    """Store and return a new token."""
    token = new_secret()
    await tx.execute(
        _INSERT_TOKEN,
        hash=secret_hash(token),
        consent_id=consent_id,
        refreshes=refreshes,
        now=now,
        expires_at=expires_at,
    )
    return token


_TOKEN_USED = Statement("select used_at from agent_token where hash = :hash")
_USE_TOKEN = Statement("update agent_token set used_at = :now where hash = :hash")
_END_ACCESS = Statement("""
    delete from agent_token t using agent_consent c
    where t.hash = :hash and not t.refreshes and c.id = t.consent_id and c.client_id = :client_id
""")


async def find_use_of_refresh_token(tx: Transaction, token: str) -> datetime | None:
    """Return when a refresh token, whose consent is locked, was used, or None."""
    used_at: datetime | None = await tx.find_value(_TOKEN_USED, hash=secret_hash(token))
    return used_at


async def use_refresh_token(tx: Transaction, token: str, now: datetime) -> None:
    """Record that a refresh token was used."""
    await tx.execute(_USE_TOKEN, hash=secret_hash(token), now=now)


async def end_access_token(tx: Transaction, token: str, client_id: str) -> None:
    """End one access token of a client; do nothing for an unknown one."""
    await tx.execute(_END_ACCESS, hash=secret_hash(token), client_id=client_id)


class _PresentedToken(Struct, frozen=True):
    id: int
    customer_id: int
    user_id: int | None
    client_id: str
    name: str
    allowed_by: str | None
    scopes: list[str]
    last_used_at: datetime | None
    valid: bool


_PRESENTED = Statement(
    SQL("""
    select c.id, c.customer_id, u.id as user_id, c.client_id, c.name, u.email as allowed_by, c.scopes,
           c.last_used_at, t.expires_at > :now and {usable} as valid
    {tables} join agent_token t on t.consent_id = c.id where t.hash = :hash and not t.refreshes
    """).format(usable=USABLE_CONSENT, tables=CONSENT_TABLES),
    _PresentedToken,
)
# Not while an order of the agent has it locked: reading does not wait for that.
_RECORD_USE = Statement("""
    update agent_consent set last_used_at = :now
    where id = (select id from agent_consent where id = :id for update skip locked)
""")


async def find_agent_of_token(tx: Transaction, digest: bytes, now: datetime) -> LiveAgent | None:
    """Return the agent whose access token has a hash, and record its use, at most once a minute; None if it is unknown.

    Raises ExpiredCredentialError for a token that has ended.
    """
    row = await tx.find_row(_PRESENTED, hash=digest, now=now)
    if row is None:
        return None
    if not row.valid or row.allowed_by is None or row.user_id is None:
        raise ExpiredCredentialError
    if row.last_used_at is None or row.last_used_at < now - _USED_EVERY:
        tx.commit_at_once()
        await tx.execute(_RECORD_USE, id=row.id, now=now)
    return LiveAgent(
        id=row.id,
        customer_id=row.customer_id,
        user_id=row.user_id,
        client_id=row.client_id,
        agent=row.name,
        allowed_by=row.allowed_by,
        scopes=row.scopes,
    )
