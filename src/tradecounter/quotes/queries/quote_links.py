"""One-time links to quotes, stored only as hashes."""

from datetime import datetime

from msgspec import Struct

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class QuoteLink(Struct, frozen=True):
    """The link to a quote."""

    order_id: int
    id: int
    hash: bytes
    used_at: datetime | None


_PUT = Statement("""
    insert into quote_link (order_id, id, hash, created_at) values (:order_id, :id, :hash, :now)
    on conflict (order_id) do update
    set id = excluded.id, hash = excluded.hash, created_at = excluded.created_at, used_at = null
""")


async def put_quote_link(tx: Transaction, order_id: int, link_id: int, digest: bytes, now: datetime) -> None:
    """Store a quote's link in place of its earlier one. The caller has locked the quote."""
    await tx.execute(_PUT, order_id=order_id, id=link_id, hash=digest, now=now)


_DELETE = Statement("delete from quote_link where order_id = :order_id")


async def delete_quote_link(tx: Transaction, order_id: int) -> None:
    """Delete a quote's link."""
    await tx.execute(_DELETE, order_id=order_id)


_OF_QUOTE = Statement("select order_id, id, hash, used_at from quote_link where order_id = :order_id", QuoteLink)
_BY_HASH = Statement("select order_id, id, hash, used_at from quote_link where hash = :hash", QuoteLink)


async def find_link_of_quote(tx: Transaction, order_id: int) -> QuoteLink | None:
    """Return a quote's link, used or not, or None."""
    return await tx.fetch_one(_OF_QUOTE, order_id=order_id)


async def find_quote_link(tx: Transaction, digest: bytes) -> QuoteLink | None:
    """Return the link with a hash, used or not, or None."""
    return await tx.fetch_one(_BY_HASH, hash=digest)


_USE = Statement("update quote_link set used_at = :now where hash = :hash and used_at is null")


async def use_quote_link(tx: Transaction, digest: bytes, now: datetime) -> bool:
    """Mark a link as used; return False when it is used already or was replaced."""
    return await tx.execute(_USE, hash=digest, now=now) == 1
