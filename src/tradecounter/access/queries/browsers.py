"""The browsers in which people have signed in."""

from datetime import datetime

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import Site, owner_of

_SEE = Statement("""
    update known_browser set seen_at = :now where hash = :hash and (staff_id = :staff_id or user_id = :user_id)
""")
_ADD = Statement("""
    insert into known_browser (hash, staff_id, user_id, seen_at) values (:hash, :staff_id, :user_id, :now)
    on conflict do nothing
""")


async def see_browser(tx: Transaction, site: Site, person_id: int, digest: bytes, now: datetime) -> bool:
    """Record that a person signs in in a browser; return whether the person has done so before."""
    owner = owner_of(site, person_id)
    if await tx.execute(_SEE, hash=digest, now=now, **owner):
        return True
    await tx.execute(_ADD, hash=digest, now=now, **owner)
    return False


_DELETE_OLD = Statement("delete from known_browser where seen_at < :before")


async def delete_old_browsers(tx: Transaction, before: datetime) -> int:
    """Delete browsers not used since a moment; return how many."""
    return await tx.execute(_DELETE_OLD, before=before)
