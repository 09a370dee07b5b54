"""Wrong passwords, by account and address."""

from datetime import datetime

from msgspec import Struct

from tradecounter.access.rules import FREE_GUESSES, Guesses
from tradecounter.db.advisory_locks import COUNT_PASSWORDS
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

LINKS = "link "  # before the address, for a request for a link; accounts begin with the name of a site


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
    found = await tx.fetch_one(_GUESSES, account=account, address=address, since=since, links=LINKS)
    return found or Guesses(0, 0, None, None)


class SlowedAddress(Struct, frozen=True):
    """An address with so many wrong passwords that every sign-in from it is slowed down."""

    address: str
    wrong: int
    accounts: int
    latest: datetime


_SLOWED = Statement(
    """
    select address, count(*) as wrong, count(distinct account) as accounts, max(failed_at) as latest
    from password_failure where failed_at > :since and not starts_with(account, :links)
    group by address having count(*) >= :free order by latest desc, address limit 100
    """,
    SlowedAddress,
)


async def slowed_addresses(tx: Transaction, since: datetime) -> list[SlowedAddress]:
    """Return the addresses that are slowed down, the latest 100."""
    return await tx.fetch_all(_SLOWED, since=since, free=FREE_GUESSES, links=LINKS)


_INSERT = Statement(
    "insert into password_failure (account, address, failed_at) values (:account, :address, :now) returning id"
)


async def insert_guess(tx: Transaction, account: str, address: str, now: datetime) -> int:
    """Store a wrong password and return its id."""
    guess_id: int = await tx.fetch_value(_INSERT, account=account, address=address, now=now)
    return guess_id


_DELETE = Statement("delete from password_failure where id = :id")


async def delete_guess(tx: Transaction, guess_id: int) -> None:
    """Delete one guess, which was right."""
    await tx.execute(_DELETE, id=guess_id)


_FORGET = Statement("delete from password_failure where account = :account and address = :address")


async def forget_guesses(tx: Transaction, account: str, address: str) -> None:
    """Delete the wrong passwords of a pair, after a right one."""
    await tx.execute(_FORGET, account=account, address=address)
