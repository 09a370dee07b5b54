"""One-time links, stored only as hashes."""

from datetime import datetime

from msgspec import Struct

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import Site, owner_of


class LinkRecord(Struct, frozen=True):
    """Whose password a link sets, and until when; either `staff_id` or `user_id` is set."""

    id: int
    staff_id: int | None
    user_id: int | None
    email: str
    name: str
    expires_at: datetime

    @property
    def site(self) -> Site:
        """The site at which the person signs in."""
        return "account" if self.staff_id is None else "staff"

    @property
    def person_id(self) -> int:
        """The id of the staff member or of the user."""
        return (self.user_id if self.staff_id is None else self.staff_id) or 0


_DELETE_OTHERS = Statement(
    "delete from one_time_link where used_at is null and (staff_id = :staff_id or user_id = :user_id)"
)
_DELETE_UNUSED = Statement("delete from one_time_link where used_at is null")
_INSERT = Statement(
    "insert into one_time_link (id, hash, staff_id, user_id, created_at, expires_at)"
    " values (:id, :hash, :staff_id, :user_id, :now, :expires_at)"
)


async def insert_link(
    tx: Transaction, site: Site, person_id: int, link_id: int, digest: bytes, now: datetime, expires_at: datetime
) -> None:
    """Store a link; it replaces the person's unused ones."""
    owner = owner_of(site, person_id)
    await tx.execute(_DELETE_OTHERS, **owner)
    await tx.execute(_INSERT, id=link_id, hash=digest, now=now, expires_at=expires_at, **owner)


_DELETE_OF = Statement("delete from one_time_link where staff_id = :staff_id or user_id = :user_id")


async def delete_links(tx: Transaction, site: Site, person_id: int) -> None:
    """Delete all links of a person."""
    await tx.execute(_DELETE_OF, **owner_of(site, person_id))


_SINCE = Statement("""
    select exists(
        select from one_time_link
        where (staff_id = :staff_id or user_id = :user_id) and used_at is null and created_at > :since)
""")


async def has_link_since(tx: Transaction, site: Site, person_id: int, since: datetime) -> bool:
    """Return whether a person has an unused link that was made after a moment."""
    found: bool = await tx.fetch_value(_SINCE, since=since, **owner_of(site, person_id))
    return found


_OPEN = """
    select l.id, l.staff_id, l.user_id, coalesce(s.email, u.email) as email, coalesce(s.name, u.name) as name,
           l.expires_at
    from one_time_link l left join staff_member s on s.id = l.staff_id left join customer_user u on u.id = l.user_id
    where l.used_at is null and l.expires_at > :now and coalesce(s.disabled_at, u.disabled_at) is null
      and {}
"""
_BY_HASH = Statement(_OPEN.replace("{}", "l.hash = :hash"), LinkRecord)
_BY_ID = Statement(_OPEN.replace("{}", "l.id = :id"), LinkRecord)


async def find_link(tx: Transaction, digest: bytes, now: datetime) -> LinkRecord | None:
    """Return the link with a hash if it can be used."""
    return await tx.fetch_one(_BY_HASH, hash=digest, now=now)


async def find_link_by_id(tx: Transaction, link_id: int, now: datetime) -> LinkRecord | None:
    """Return a link if it can be used."""
    return await tx.fetch_one(_BY_ID, id=link_id, now=now)


_HASH = Statement("select hash from one_time_link where id = :id")


async def find_hash_of_link(tx: Transaction, link_id: int) -> bytes | None:
    """Return the hash of a link's secret; None if there is no such link."""
    digest: bytes | None = await tx.fetch_value(_HASH, id=link_id)
    return digest


_USE = Statement("update one_time_link set used_at = :now where id = :id and used_at is null and expires_at > :now")


async def use_link(tx: Transaction, link_id: int, now: datetime) -> bool:
    """Mark a link as used; return False when it is used already or has expired."""
    return await tx.execute(_USE, id=link_id, now=now) == 1


async def delete_unused_links(tx: Transaction) -> int:
    """Delete everybody's links that were not used; return how many."""
    return await tx.execute(_DELETE_UNUSED)
