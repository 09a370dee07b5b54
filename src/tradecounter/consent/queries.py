"""The SQL of consents and the issuer's keys. Of codes and refresh tokens, only hashes are stored."""

from datetime import datetime

from msgspec import Struct

from tradecounter.db.advisory_locks import CHANGE_ISSUER_KEYS
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.identity.credentials import new_secret, secret_hash

# `for key share`: a revocation, which locks the row, waits until the code under this consent is issued.
_STANDING_CONSENT = Statement("""
    select id from consent where client_id = :client_id and customer_id = :customer_id and revoked_at is null
    for key share
""")

_GIVE_CONSENT = Statement("""
    insert into consent (client_id, customer_id, user_id, given_at) values (:client_id, :customer_id, :user_id, :now)
    on conflict (client_id, customer_id) where revoked_at is null do nothing returning id
""")


async def lock_standing_consent(tx: Transaction, client_id: str, customer_id: int) -> int | None:
    """Return the id of a customer's consent to an application, or None; it stands until the transaction ends."""
    consent_id: int | None = await tx.find_value(_STANDING_CONSENT, client_id=client_id, customer_id=customer_id)
    return consent_id


async def insert_consent(tx: Transaction, client_id: str, customer_id: int, user_id: int, now: datetime) -> int | None:
    """Store a customer's consent; return its id, or None when one stands already."""
    made: int | None = await tx.find_value(
        _GIVE_CONSENT, client_id=client_id, customer_id=customer_id, user_id=user_id, now=now
    )
    return made


_INSERT_GRANT = Statement("""
    insert into consent_grant (consent_id, code_hash, code_challenge, redirect_uri, created_at, code_expires_at)
    values (:consent_id, :code_hash, :code_challenge, :redirect_uri, :now, :expires_at)
""")


async def insert_grant(
    tx: Transaction, consent_id: int, code_challenge: str, redirect_uri: str, now: datetime, expires_at: datetime
) -> str:
    """Store a grant and return its code."""
    code = new_secret()
    await tx.execute(
        _INSERT_GRANT,
        consent_id=consent_id,
        code_hash=secret_hash(code),
        code_challenge=code_challenge,
        redirect_uri=redirect_uri,
        now=now,
        expires_at=expires_at,
    )
    return code


class GrantRecord(Struct, frozen=True):
    """A grant with its consent; `usable` is False when it has ended, or its customer is blocked."""

    id: int
    client_id: str
    customer_id: int
    code_challenge: str
    redirect_uri: str
    code_expires_at: datetime
    code_used_at: datetime | None
    usable: bool


_GRANT_OF_CODE = Statement("select id from consent_grant where code_hash = :hash")
_GRANT_OF_REFRESH_TOKEN = Statement("select grant_id from refresh_token where hash = :hash")
_LOCK_GRANT = Statement("select from consent_grant where id = :id for update")
_GRANT = Statement(
    """
    select g.id, c.client_id, c.customer_id, g.code_challenge, g.redirect_uri, g.code_expires_at, g.code_used_at,
           g.ended_at is null and c.revoked_at is null and customer.blocked_at is null as usable
    from consent_grant g join consent c on c.id = g.consent_id join customer on customer.id = c.customer_id
    where g.id = :id
    """,
    GrantRecord,
)


async def lock_grant_of_code(tx: Transaction, code: str) -> GrantRecord | None:
    """Return the grant of a code, locked, or None: of several requests with the code, the others see the first."""
    return await _locked_grant(tx, await tx.find_value(_GRANT_OF_CODE, hash=secret_hash(code)))


async def lock_grant_of_refresh_token(tx: Transaction, token: str) -> GrantRecord | None:
    """Return the grant of a refresh token, locked, or None."""
    return await _locked_grant(tx, await tx.find_value(_GRANT_OF_REFRESH_TOKEN, hash=secret_hash(token)))


async def _locked_grant(tx: Transaction, grant_id: int | None) -> GrantRecord | None:
    if grant_id is None:
        return None
    # The row is read by a statement of its own, which sees what was committed while this one waited.
    await tx.execute(_LOCK_GRANT, id=grant_id)
    return await tx.find_row(_GRANT, id=grant_id)


_USE_CODE = Statement("update consent_grant set code_used_at = :now where id = :id")


async def use_code(tx: Transaction, grant_id: int, now: datetime) -> None:
    """Record that a code was used."""
    await tx.execute(_USE_CODE, id=grant_id, now=now)


_INSERT_REFRESH_TOKEN = Statement(
    "insert into refresh_token (hash, grant_id, created_at, expires_at) values (:hash, :grant_id, :now, :expires_at)"
)


async def insert_refresh_token(tx: Transaction, grant_id: int, now: datetime, expires_at: datetime) -> str:
    """Store and return a new refresh token."""
    token = new_secret()
    await tx.execute(_INSERT_REFRESH_TOKEN, hash=secret_hash(token), grant_id=grant_id, now=now, expires_at=expires_at)
    return token


class RefreshTokenState(Struct, frozen=True):
    """Until when a refresh token is valid, and when it was used."""

    expires_at: datetime
    used_at: datetime | None


_REFRESH_TOKEN_STATE = Statement("select expires_at, used_at from refresh_token where hash = :hash", RefreshTokenState)
_USE_REFRESH_TOKEN = Statement("update refresh_token set used_at = :now where hash = :hash")


async def find_refresh_token_state(tx: Transaction, token: str) -> RefreshTokenState | None:
    """Return the state of a refresh token, whose grant is locked."""
    return await tx.find_row(_REFRESH_TOKEN_STATE, hash=secret_hash(token))


async def use_refresh_token(tx: Transaction, token: str, now: datetime) -> None:
    """Record that a refresh token was used."""
    await tx.execute(_USE_REFRESH_TOKEN, hash=secret_hash(token), now=now)


_DELETE_EXPIRED_TOKENS = Statement("delete from refresh_token where expires_at < :before")
_DELETE_UNUSED_GRANTS = Statement("delete from consent_grant where code_used_at is null and code_expires_at < :before")
_DELETE_ENDED_GRANTS = Statement("delete from consent_grant where ended_at < :before")
_DELETE_FORGOTTEN_GRANTS = Statement("""
    delete from consent_grant g
    where g.code_used_at < :before and not exists (select from refresh_token r where r.grant_id = g.id)
""")


async def delete_old_grants(tx: Transaction, now: datetime, ended_before: datetime) -> int:
    """Delete refresh tokens that have expired, and codes and grants that ended before a moment; return how many."""
    return (
        await tx.execute(_DELETE_EXPIRED_TOKENS, before=now)
        + await tx.execute(_DELETE_UNUSED_GRANTS, before=ended_before)
        + await tx.execute(_DELETE_ENDED_GRANTS, before=ended_before)
        + await tx.execute(_DELETE_FORGOTTEN_GRANTS, before=ended_before)
    )


async def lock_keys(tx: Transaction) -> None:
    """Make other changes of the keys wait for this transaction."""
    await tx.execute(CHANGE_ISSUER_KEYS)


_CURRENT_KEY = Statement("select private_key from issuer_key where retired_at is null")


async def find_current_key(tx: Transaction) -> bytes | None:
    """Return the encrypted key that signs, or None before the first one is made."""
    sealed_key: bytes | None = await tx.find_value(_CURRENT_KEY)
    return sealed_key


_PUBLIC_KEYS = Statement("""
    select public_key from issuer_key where retired_at is null or retired_at > :since
    order by retired_at desc nulls first
""")


async def public_keys(tx: Transaction, since: datetime) -> list[str]:
    """Return the public keys, the one that signs first, with those that retired after a moment."""
    return [text for (text,) in await tx.fetch_all(_PUBLIC_KEYS, since=since)]


_RETIRE_KEY = Statement("update issuer_key set retired_at = :now where retired_at is null")
_INSERT_KEY = Statement(
    "insert into issuer_key (kid, public_key, private_key, created_at) values (:kid, :public_key, :private_key, :now)"
)


async def replace_key(tx: Transaction, kid: str, public_key: str, private_key: bytes, now: datetime) -> None:
    """Retire the key that signs, if any, and store its successor."""
    await tx.execute(_RETIRE_KEY, now=now)
    await tx.execute(_INSERT_KEY, kid=kid, public_key=public_key, private_key=private_key, now=now)


_SEALED_KEYS = Statement("select kid, private_key from issuer_key order by kid for no key update")
_STORE_SEALED_KEY = Statement("update issuer_key set private_key = :private_key where kid = :kid")
_DELETE_KEY = Statement("delete from issuer_key where kid = :kid")
_DELETE_OLD_KEYS = Statement("delete from issuer_key where retired_at < :before")


async def lock_sealed_keys(tx: Transaction) -> list[tuple[str, bytes]]:
    """Return the ids and encrypted keys of all, with their rows locked."""
    return [(kid, sealed) for kid, sealed in await tx.fetch_all(_SEALED_KEYS)]


async def store_sealed_key(tx: Transaction, kid: str, private_key: bytes | None) -> None:
    """Store a key that was encrypted again; delete one that cannot be decrypted."""
    if private_key is None:
        await tx.execute(_DELETE_KEY, kid=kid)
    else:
        await tx.execute(_STORE_SEALED_KEY, kid=kid, private_key=private_key)


async def delete_old_keys(tx: Transaction, before: datetime) -> int:
    """Delete the keys that retired before a moment; return how many."""
    return await tx.execute(_DELETE_OLD_KEYS, before=before)
