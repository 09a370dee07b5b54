"""The SQL of feeds."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict
from psycopg.sql import SQL

from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.feeds.rules import Rounding
from tradecounter.kit.errors import or_not_found

_READ_EVERY = timedelta(minutes=1)


class FeedValues(Struct, frozen=True):
    """What a customer chooses of a feed; `columns` are pairs of a column and its heading."""

    name: str
    columns: Sequence[Sequence[str]]
    filter: dict[str, Any]
    markup: Decimal
    rounding: Rounding
    vat_included: bool


class FeedRecord(FeedValues, frozen=True, kw_only=True):
    """A feed; the secret in its address is encrypted."""

    id: int
    customer_id: int
    secret: bytes
    created_at: datetime
    addressed_at: datetime
    last_read_at: datetime | None


_COLUMNS = SQL(
    "id, customer_id, name, columns, filter, markup, rounding, vat_included, secret, created_at, addressed_at,"
    " last_read_at"
)


_INSERT = Statement("""
    insert into feed (customer_id, name, columns, filter, markup, rounding, vat_included, hash, secret, created_at,
                      addressed_at)
    values (:customer_id, :name, :columns, :filter, :markup, :rounding, :vat_included, :hash::bytea, :secret::bytea,
            :now, :now)
    returning id
""")


async def insert_feed(
    tx: Transaction, customer_id: int, values: FeedValues, digest: bytes, secret: bytes, now: datetime
) -> int:
    """Store a feed, and return its id."""
    feed_id: int = await tx.fetch_value(
        _INSERT, customer_id=customer_id, **_stored(values), hash=digest, secret=secret, now=now
    )
    return feed_id


_UPDATE = Statement("""
    update feed set name = :name, columns = :columns, filter = :filter, markup = :markup, rounding = :rounding,
                    vat_included = :vat_included
    where id = :id
""")


async def update_feed(tx: Transaction, feed_id: int, values: FeedValues) -> None:
    """Replace what a customer has chosen of a feed."""
    await tx.execute(_UPDATE, id=feed_id, **_stored(values))


def _stored(values: FeedValues) -> dict[str, Any]:
    return {**asdict(values), "columns": json_of(values.columns), "filter": json_of(values.filter)}


_REPLACE_SECRET = Statement(
    "update feed set hash = :hash::bytea, secret = :secret::bytea, addressed_at = :now where id = :id"
)


async def replace_secret(tx: Transaction, feed_id: int, digest: bytes, secret: bytes, now: datetime) -> None:
    """Give a feed another address; the old one ends."""
    await tx.execute(_REPLACE_SECRET, id=feed_id, hash=digest, secret=secret, now=now)


_DELETE = Statement("delete from feed where id = :id")


async def delete_feed(tx: Transaction, feed_id: int) -> None:
    """Delete a feed."""
    await tx.execute(_DELETE, id=feed_id)


_LIST = Statement(SQL("select {} from feed where customer_id = :customer_id order by id").format(_COLUMNS), FeedRecord)


async def feeds_of(tx: Transaction, customer_id: int) -> list[FeedRecord]:
    """Return a customer's feeds, the oldest first."""
    return await tx.fetch_all(_LIST, customer_id=customer_id)


_ONE = SQL("select {} from feed where id = :id and customer_id = :customer_id {}")
_FETCH = Statement(_ONE.format(_COLUMNS, SQL("")), FeedRecord)
_LOCK = Statement(_ONE.format(_COLUMNS, SQL("for no key update")), FeedRecord)


async def fetch_feed(tx: Transaction, customer_id: int, feed_id: int) -> FeedRecord:
    """Return one of a customer's feeds. Raises DomainError (not found)."""
    feed = await tx.find_row(_FETCH, id=feed_id, customer_id=customer_id)
    return or_not_found(feed, "feed", feed_id)


async def lock_feed(tx: Transaction, customer_id: int, feed_id: int) -> FeedRecord:
    """Return one of a customer's feeds, locked until the transaction ends. Raises DomainError (not found)."""
    feed = await tx.find_row(_LOCK, id=feed_id, customer_id=customer_id)
    return or_not_found(feed, "feed", feed_id)


_FIND_BY_HASH = Statement(
    SQL(
        "select {} from feed where hash = :hash::bytea"
        " and exists (select from customer c where c.id = customer_id and c.blocked_at is null)"
    ).format(_COLUMNS),
    FeedRecord,
)


async def find_feed_at(tx: Transaction, digest: bytes) -> FeedRecord | None:
    """Return the feed whose secret has a hash, or None, also if its customer is blocked."""
    return await tx.find_row(_FIND_BY_HASH, hash=digest)


# A request must not wait for a change of the feed: its commit may wait for a replica.
_RECORD_READ = Statement("""
    update feed set last_read_at = :now
    where id = (select id from feed where id = :id for no key update skip locked)
""")


async def record_read(tx: Transaction, feed: FeedRecord, now: datetime) -> None:
    """Record when a feed was last read, at most once a minute."""
    if feed.last_read_at is None or feed.last_read_at < now - _READ_EVERY:
        tx.commit_at_once()
        await tx.execute(_RECORD_READ, id=feed.id, now=now)


_LOCK_SECRETS = Statement("select id, secret from feed order by id for no key update")
_RESEAL = Statement("update feed set secret = :secret::bytea where id = :id")


async def lock_secrets(tx: Transaction) -> list[tuple[Any, ...]]:
    """Return ids and encrypted secrets of all feeds, with their rows locked."""
    return await tx.fetch_all(_LOCK_SECRETS)


async def store_secret(tx: Transaction, feed_id: int, secret: bytes) -> None:
    """Store the secret of a feed that was encrypted again."""
    await tx.execute(_RESEAL, id=feed_id, secret=secret)
