"""Finds all rows of a customer by its foreign keys, so that new tables are included, and erases personal data."""

import re
from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct
from psycopg.sql import SQL, Composable, Identifier, Literal

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.text import fold

# Not exported: hashes and secrets of credentials, which are of use only to a thief.
_SECRET = re.compile(r"hash|secret|password|totp|fingerprint")


class StoredTable(Struct, frozen=True):
    """A table with rows of one customer.

    `rows` selects them as JSON, `files` the files in them with names that begin with the row's key.
    """

    name: str
    rows: Statement[tuple[str]]
    files: Statement[tuple[str, bytes]] | None


_REFERENCES = Statement("""
    select f.conrelid::regclass::text, a.attname, f.confrelid::regclass::text, b.attname, a.attnotnull
    from pg_constraint f
    join pg_attribute a on a.attrelid = f.conrelid and a.attnum = f.conkey[1]
    join pg_attribute b on b.attrelid = f.confrelid and b.attnum = f.confkey[1]
    where f.contype = 'f' and cardinality(f.conkey) = 1 and f.connamespace = 'public'::regnamespace
    order by 1, 3
""")

_COLUMNS = Statement("""
    select table_name, column_name, data_type from information_schema.columns
    where table_schema = 'public' order by table_name, ordinal_position
""")


# The addresses that a customer has had, each until when, and the one that it has: the oldest first.
_ADDRESSES = Statement("""
    select before ->> 'email_address' as address, at as until from audit_entry
    where subject = 'customer/' || :id::bigint and action = 'customer.edit' and before ->> 'email_address' is not null
    union all select email_address, null from customer where id = :id
    order by until nulls last
""")
# There are millions of changes. With `exists`, PostgreSQL may read all of them; this looks one up for each import.
_OLDEST_CHANGES = Statement("""
    select min(i.at) from import_run i
    where i.kind = 'customers' and (select true from import_change c where c.import_id = i.id limit 1)
""")
# Only what was left since the oldest changes counts, so that the audit log is read from there on.
_LEFT_BY_OTHERS = Statement("""
    select before ->> 'email_address', at from audit_entry
    where at >= :oldest and (:until::timestamptz is null or at < :until) and action = 'customer.edit'
      and subject <> 'customer/' || :id::bigint and before ->> 'email_address' is not null
    order by at desc
""")


async def imported_of(tx: Transaction, customer_id: int) -> Composable:
    """Return the condition for what imports changed in a customer, under the e-mail address that it had then.

    The customer had its first address from the beginning on, or since another customer had it last.
    """
    had: list[tuple[str, datetime | None, datetime | None]] = []
    since: datetime | None = None
    for address, until in await tx.fetch_all(_ADDRESSES, id=customer_id):
        if since is None:
            since = await _left_by_another(tx, customer_id, fold(address), until)
        had.append((fold(address), since, until))
        since = until
    addresses = SQL(", ").join(SQL("({}, {}::timestamptz, {}::timestamptz)").format(*each) for each in had)
    return SQL("""
        (import_id, key) in (
            select i.id, a.key from import_run i, (values {}) a (key, since, until)
            where i.kind = 'customers' and (a.since is null or i.at >= a.since) and (a.until is null or i.at < a.until))
    """).format(addresses)


async def _left_by_another(tx: Transaction, customer_id: int, key: str, until: datetime | None) -> datetime | None:
    """Return when another customer had an address last before a moment, or None if it left none of its changes."""
    oldest = await tx.fetch_value(_OLDEST_CHANGES)
    left = await tx.fetch_all(_LEFT_BY_OTHERS, id=customer_id, oldest=oldest, until=until)
    return next((at for address, at in left if fold(address) == key), None)


async def stored_tables(tx: Transaction, customer_id: int) -> list[StoredTable]:
    """Return the tables with rows that belong to a customer, directly or by its orders and other records."""
    references = await tx.fetch_all(_REFERENCES)
    own = SQL("customer_id = {}").format(Literal(customer_id))
    conditions: dict[str, Composable] = {
        "customer": SQL("id = {}").format(Literal(customer_id)),
        # These have no foreign key, since they outlive what they describe.
        "event": own,
        "unnumbered_event": own,
        "audit_entry": SQL("subject = {}").format(Literal(f"customer/{customer_id}")),
        "import_change": await imported_of(tx, customer_id),
    }
    found = ["customer"]
    # First by columns that every row has: a shipment has no invoice yet, and a program's request no user.
    for required in (True, False):
        waiting = found.copy()
        while waiting:
            parent = waiting.pop(0)
            for child, column, target, key, is_required in references:
                if target == parent and child not in conditions and is_required >= required:
                    conditions[child] = SQL("{} in (select {} from {} where {})").format(
                        Identifier(column), Identifier(key), Identifier(parent), conditions[parent]
                    )
                    waiting.append(child)
                    found.append(child)
    columns: dict[str, dict[str, str]] = {}
    for table, column, type_ in await tx.fetch_all(_COLUMNS):
        columns.setdefault(table, {})[column] = type_
    return [_readable(table, condition, columns[table]) for table, condition in conditions.items()]


def _readable(table: str, condition: Composable, columns: Mapping[str, str]) -> StoredTable:
    names = [name for name, type_ in columns.items() if type_ != "bytea" and not _SECRET.search(name)]
    source = SQL("{} where {}").format(Identifier(table), condition)
    rows = SQL("select to_jsonb(r)::text from (select {} from {} order by 1) r").format(
        SQL(", ").join(map(Identifier, names)), source
    )
    key, file = Identifier(next(iter(columns))), None
    if columns.get("pdf") == "bytea":
        file = SQL("select {}::text || '.pdf', pdf from {}").format(key, source)
    elif columns.get("content") == "bytea" and "name" in columns:
        file = SQL("select {}::text || '-' || name, content from {}").format(key, source)
    return StoredTable(table, Statement(rows), None if file is None else Statement(file))
