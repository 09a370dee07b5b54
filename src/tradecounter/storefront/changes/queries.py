"""The noted changes of the catalogue in the database; the triggers of migration 0064 write them."""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from psycopg.sql import SQL

from tradecounter.db.arrays import find_binary
from tradecounter.db.changes import Topic
from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.digest import digest_of

Ids = NDArray[np.int64]

# The topics whose changes are noted by product. Customers' terms are in cursors, stock levels have `changed_by`.
NOTED: tuple[Topic, ...] = ("catalogue", "prices", "contracts", "deliveries")


class NotedChange(Struct, frozen=True):
    """The products that a version changed, as packed 64-bit numbers; None: all. Of one price list, or one customer.

    `former_skus` is a JSON object: for each product whose SKU has a new spelling, its id and its former SKUs.
    """

    topic: Topic
    version: int
    price_list: str | None
    customer_id: int | None
    product_ids: bytes | None
    former_skus: str | None


def distinct_ids(packed: bytes) -> Ids:
    """Return packed 64-bit numbers in ascending order, each once."""
    return np.unique(np.frombuffer(packed, dtype=">i8").astype(np.int64))


_ROWS_AT_ONCE = 100  # an import's row has 800 kB for 100,000 products

_CHANGES = Statement(
    """
    select c.topic, c.version, c.price_list, c.customer_id,
           case when c.product_ids is not null then
               coalesce((select string_agg(int8send(id), '') from unnest(c.product_ids) as id), '')
           end as product_ids,
           c.former_skus::text
    from catalogue_change c, json_each_text(:after::json) as seen (topic, version)
    where c.topic = seen.topic and c.version > seen.version::bigint
    order by c.topic, c.version, c.id
    """,
    NotedChange,
)


def read_changes(tx: Transaction, after: Mapping[Topic, int]) -> AsyncIterator[NotedChange]:
    """Yield the changes of each topic after a version, in order of version; few are in memory at a time."""
    return tx.stream(_CHANGES, _ROWS_AT_ONCE, after=json_of(dict(after)))


# What a transaction noted after it raised the version has no version yet.
_CHANGED_PRODUCTS = Statement("""
    with noted as (
        select product_ids from catalogue_change where topic = :topic and (version > :after or version is null)
    )
    select coalesce((select string_agg(int8send(id), '') from noted, unnest(product_ids) as id), '')
    where (select coalesce(sum(cardinality(product_ids)), 0) <= :most and count(*) = count(product_ids) from noted)
      and not exists (select from catalogue_change_mark where forgotten and (versions ->> :topic)::bigint > :after)
""")


async def read_changed_products(tx: Transaction, topic: Topic, after: int, most: int) -> Ids | None:
    """Return the products that changed after a version; None if they are more than `most`, or not known."""
    packed = await find_binary(tx, _CHANGED_PRODUCTS, topic=topic, after=after, most=most)
    return None if packed is None else distinct_ids(packed)


_FORGOTTEN = Statement("select versions::text from catalogue_change_mark where forgotten")


async def read_forgotten(tx: Transaction) -> str | None:
    """Return the versions up to which changes have been deleted, as JSON; None if none have."""
    text: str | None = await tx.find_value(_FORGOTTEN)
    return text


# A restored database has another log, timeline, number or table than the one that issued a cursor.
_LOG = Statement("""
    select concat_ws(
        ' ',
        system_identifier,
        substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
        (select oid from pg_database where datname = current_database()),
        'change'::regclass::oid
    ) from pg_control_system()
""")
_LOG_BYTES = 8


async def read_log(tx: Transaction) -> bytes:
    """Return what names the primary's log: versions and transactions are comparable within one log."""
    return digest_of((await tx.fetch_value(_LOG)).encode())[:_LOG_BYTES]


_MARK = Statement("""
    insert into catalogue_change_mark (at, versions)
    select :now, coalesce((
        select jsonb_object_agg(topic, version) from change
        where topic in (select json_array_elements_text(:topics::json))
    ), '{}')
    where not exists (select from catalogue_change_mark where at > :last)
    on conflict do nothing
""")


async def mark_versions(tx: Transaction, now: datetime, last: datetime) -> None:
    """Note the versions at this time, unless a mark is newer than `last`."""
    await tx.execute(_MARK, now=now, last=last, topics=json_of(list(NOTED)))


_FORGET = Statement(
    SQL("""
        with newest as (
            select at, versions from catalogue_change_mark where at < :before order by at desc limit 1
        ), forgotten as (
            update catalogue_change_mark m set forgotten = true from newest where m.at = newest.at and not m.forgotten
            returning m.versions
        ), older as (
            delete from catalogue_change_mark m using newest where m.at < newest.at and exists (select from forgotten)
        )
        delete from catalogue_change c using forgotten
        where c.version <= (forgotten.versions ->> c.topic)::bigint
    """)
)


async def delete_changes(tx: Transaction, before: datetime) -> int:
    """Delete the changes that were shown before a time; return how many."""
    return await tx.execute(_FORGET, before=before)
