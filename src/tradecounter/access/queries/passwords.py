"""One-time links to set a password, requests for them, and wrong passwords."""

from datetime import datetime

from msgspec import Struct

from tradecounter.access.rules import FREE_GUESSES, Guesses
from tradecounter.db.advisory_locks import COUNT_PASSWORDS
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
    created_at: datetime
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
_INSERT_LINK = Statement(
    "insert into one_time_link (id, hash, staff_id, user_id, created_at, expires_at)"
    " values (:id, :hash, :staff_id, :user_id, :now, :expires_at)"
)


async def insert_link(
    tx: Transaction, site: Site, person_id: int, link_id: int, digest: bytes, now: datetime, expires_at: datetime
) -> None:
    """Store a link; it replaces the person's unused ones."""
    owner = owner_of(site, person_id)
    await tx.execute(_DELETE_OTHERS, **owner)
    await tx.execute(_INSERT_LINK, id=link_id, hash=digest, now=now, expires_at=expires_at, **owner)


_DELETE_LINKS = Statement("delete from one_time_link where staff_id = :staff_id or user_id = :user_id")


async def delete_links(tx: Transaction, site: Site, person_id: int) -> None:
    """Delete all links of a person."""
    await tx.execute(_DELETE_LINKS, **owner_of(site, person_id))


_LINK_SINCE = Statement("""
    select exists(
        select from one_time_link
        where (staff_id = :staff_id or user_id = :user_id) and used_at is null and created_at > :since)
""")


async def has_link_since(tx: Transaction, site: Site, person_id: int, since: datetime) -> bool:
    """Return whether a person has an unused link that was made after a moment."""
    has_link: bool = await tx.fetch_value(_LINK_SINCE, since=since, **owner_of(site, person_id))
    return has_link


_OPEN_LINK = """
    select l.id, l.staff_id, l.user_id, coalesce(s.email, u.email) as email, coalesce(s.name, u.name) as name,
           l.created_at, l.expires_at
    from one_time_link l left join staff_member s on s.id = l.staff_id left join customer_user u on u.id = l.user_id
    where l.used_at is null and l.expires_at > :now and coalesce(s.disabled_at, u.disabled_at) is null
      and {}
"""
_LINK_BY_HASH = Statement(_OPEN_LINK.replace("{}", "l.hash = :hash"), LinkRecord)
_LINK_BY_ID = Statement(_OPEN_LINK.replace("{}", "l.id = :id"), LinkRecord)


async def find_link(tx: Transaction, digest: bytes, now: datetime) -> LinkRecord | None:
    """Return the link with a hash if it can be used."""
    return await tx.find_row(_LINK_BY_HASH, hash=digest, now=now)


async def find_link_by_id(tx: Transaction, link_id: int, now: datetime) -> LinkRecord | None:
    """Return a link if it can be used."""
    return await tx.find_row(_LINK_BY_ID, id=link_id, now=now)


_HASH_OF_LINK = Statement("select hash from one_time_link where id = :id")


async def find_hash_of_link(tx: Transaction, link_id: int) -> bytes | None:
    """Return the hash of a link's secret; None if there is no such link."""
    digest: bytes | None = await tx.find_value(_HASH_OF_LINK, id=link_id)
    return digest


_USE_LINK = Statement(
    "update one_time_link set used_at = :now where id = :id and used_at is null and expires_at > :now"
)


async def use_link(tx: Transaction, link_id: int, now: datetime) -> bool:
    """Mark a link as used; return False when it is used already or has expired."""
    return await tx.execute(_USE_LINK, id=link_id, now=now) == 1


async def delete_unused_links(tx: Transaction) -> int:
    """Delete everybody's links that were not used; return how many."""
    return await tx.execute(_DELETE_UNUSED)


class PasswordRequest(Struct, frozen=True):
    """What was typed at a site; the address may be nobody's."""

    site: Site
    email: str


_INSERT_REQUEST = Statement(
    "insert into forgotten_password (site, email, created_at) values (:site, :email, :now) returning id"
)


async def insert_request(tx: Transaction, site: Site, email: str, now: datetime) -> int:
    """Store a request and return its id."""
    request_id: int = await tx.fetch_value(_INSERT_REQUEST, site=site, email=email, now=now)
    return request_id


_TAKE_REQUEST = Statement("delete from forgotten_password where id = :id returning site, email", PasswordRequest)


async def take_request(tx: Transaction, request_id: int) -> PasswordRequest | None:
    """Remove a request and return it, or None when it was taken before."""
    return await tx.find_row(_TAKE_REQUEST, id=request_id)


LINK_REQUESTS_OF = "link "  # before the address, for a request for a link; accounts begin with the name of a site


async def lock_guesses(tx: Transaction, address: str) -> None:
    """Make other sign-ins from an address wait for this transaction."""
    await tx.execute(COUNT_PASSWORDS, address=address)


_GUESSES = Statement(
    """
    select (select count(*) from password_failure where account = :account and failed_at > :since) as of_account,
           count(*) as from_address,
           max(failed_at) filter (where account = :account) as latest_of_pair,
           max(failed_at) as latest_from_address
    from password_failure
    where address = :address and failed_at > :since and starts_with(account, :links) = starts_with(:account, :links)
    """,
    Guesses,
)


async def guesses_since(tx: Transaction, account: str, address: str, since: datetime) -> Guesses:
    """Return the wrong passwords of an account and from an address after a moment; or the requests for links."""
    return await tx.fetch_row(_GUESSES, account=account, address=address, since=since, links=LINK_REQUESTS_OF)


class SlowedAddress(Struct, frozen=True):
    """An address with so many wrong passwords that every sign-in from it is slowed down."""

    address: str
    wrong: int
    accounts: int
    latest: datetime


_SLOWED_ADDRESSES = Statement(
    """
    select address, count(*) as wrong, count(distinct account) as accounts, max(failed_at) as latest
    from password_failure where failed_at > :since and not starts_with(account, :links)
    group by address having count(*) >= :free order by latest desc, address limit 100
    """,
    SlowedAddress,
)


async def slowed_addresses(tx: Transaction, since: datetime) -> list[SlowedAddress]:
    """Return the addresses that are slowed down, the latest 100."""
    return await tx.fetch_all(_SLOWED_ADDRESSES, since=since, free=FREE_GUESSES, links=LINK_REQUESTS_OF)


_INSERT_GUESS = Statement(
    "insert into password_failure (account, address, failed_at) values (:account, :address, :now) returning id"
)


async def insert_guess(tx: Transaction, account: str, address: str, now: datetime) -> int:
    """Store a wrong password and return its id."""
    guess_id: int = await tx.fetch_value(_INSERT_GUESS, account=account, address=address, now=now)
    return guess_id


_DELETE_GUESS = Statement("delete from password_failure where id = :id")


async def delete_guess(tx: Transaction, guess_id: int) -> None:
    """Delete one guess, which was right."""
    await tx.execute(_DELETE_GUESS, id=guess_id)


_FORGET_GUESSES = Statement("delete from password_failure where account = :account and address = :address")


async def forget_guesses(tx: Transaction, account: str, address: str) -> None:
    """Delete the wrong passwords of a pair, after a right one."""
    await tx.execute(_FORGET_GUESSES, account=account, address=address)
