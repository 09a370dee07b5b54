"""Second factors and recovery codes; codes are stored only as hashes."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import Site, owner_of


class Factor(Struct, frozen=True):
    """A second factor; `secret` is encrypted."""

    id: int
    session_id: int | None
    secret: bytes
    last_step: int
    confirmed_at: datetime | None
    codes_left: int


_FACTOR_OF_PERSON = Statement(
    """
    select f.id, f.session_id, f.secret, f.last_step, f.confirmed_at,
           (select count(*) from recovery_code r where r.second_factor_id = f.id and r.used_at is null) as codes_left
    from second_factor f
    where (f.staff_id = :staff_id or f.user_id = :user_id) and (f.confirmed_at is not null) = :confirmed
    """,
    Factor,
)


async def find_factor(tx: Transaction, site: Site, person_id: int, *, confirmed: bool = True) -> Factor | None:
    """Return a person's second factor, or the one that awaits its first code."""
    return await tx.find_row(_FACTOR_OF_PERSON, confirmed=confirmed, **owner_of(site, person_id))


_DELETE_FACTORS = Statement("""
    delete from second_factor
    where (staff_id = :staff_id or user_id = :user_id) and ((confirmed_at is not null) = :confirmed or :both)
""")


async def delete_factors(tx: Transaction, site: Site, person_id: int, *, confirmed: bool | None = None) -> int:
    """Delete a person's second factors with their recovery codes: confirmed or not, or both; return how many."""
    return await tx.execute(
        _DELETE_FACTORS, confirmed=bool(confirmed), both=confirmed is None, **owner_of(site, person_id)
    )


_INSERT_FACTOR = Statement(
    "insert into second_factor (staff_id, user_id, session_id, secret, created_at)"
    " values (:staff_id, :user_id, :session_id, :secret, :now)"
)


async def insert_factor(
    tx: Transaction, site: Site, person_id: int, session_id: int, sealed: bytes, now: datetime
) -> None:
    """Store a second factor that awaits its first code."""
    await tx.execute(_INSERT_FACTOR, session_id=session_id, secret=sealed, now=now, **owner_of(site, person_id))


_CONFIRM_FACTOR = Statement("update second_factor set confirmed_at = :now where id = :id")


async def set_confirmed(tx: Transaction, factor_id: int, now: datetime) -> None:
    """Confirm a second factor."""
    await tx.execute(_CONFIRM_FACTOR, id=factor_id, now=now)


_USE_STEP = Statement("update second_factor set last_step = :step where id = :id and last_step < :step")


async def use_step(tx: Transaction, factor_id: int, step: int) -> bool:
    """Record that the code of a step was used; return False when it or a later one was used before."""
    return await tx.execute(_USE_STEP, id=factor_id, step=step) == 1


_DELETE_RECOVERY_CODES = Statement("delete from recovery_code where second_factor_id = :id")
_INSERT_CODES = Statement("insert into recovery_code (hash, second_factor_id) select unnest(:hashes::bytea[]), :id")


async def replace_codes(tx: Transaction, factor_id: int, hashes: Sequence[bytes]) -> None:
    """Store new recovery codes in place of the old ones."""
    await tx.execute(_DELETE_RECOVERY_CODES, id=factor_id)
    await tx.execute(_INSERT_CODES, id=factor_id, hashes=list(hashes))


_USE_CODE = Statement(
    "update recovery_code set used_at = :now where hash = :hash and second_factor_id = :id and used_at is null"
)


async def use_code(tx: Transaction, factor_id: int, digest: bytes, now: datetime) -> bool:
    """Mark a recovery code as used; return False when it is wrong or used already."""
    return await tx.execute(_USE_CODE, id=factor_id, hash=digest, now=now) == 1


_SEALED_SECRETS = Statement("select id, secret from second_factor order by id for update")
_STORE_SEALED_SECRET = Statement("update second_factor set secret = :secret where id = :id")


async def lock_sealed_secrets(tx: Transaction) -> list[tuple[int, bytes]]:
    """Return and lock the encrypted secrets of all second factors."""
    return [(id_, bytes(secret)) for id_, secret in await tx.fetch_all(_SEALED_SECRETS)]


async def replace_sealed_secret(tx: Transaction, factor_id: int, sealed: bytes) -> None:
    """Store a re-encrypted secret."""
    await tx.execute(_STORE_SEALED_SECRET, id=factor_id, secret=sealed)
