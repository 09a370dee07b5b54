"""SQL for several import kinds; `staged (line, key, row)` has the file's rows. Keys keep their spelling."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, LiteralString

from psycopg.sql import SQL, Identifier, Literal
from psycopg.types.json import Jsonb

from tradecounter.bulk.kinds import Check
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.keys import Spellings


def unknown_reference(
    name: str, table: str, key: str, *, compared: str | None = None, key_type: LiteralString = "text"
) -> Statement[Any]:
    """Return the check that the member `compared`, by default `name` itself, is the key of a record."""
    sql = SQL(
        """
        select s.line, {name}::text, format('%s %s does not exist', {what}::text, s.row -> {name})
        from staged s left join {table} t on t.{key} = (s.row ->> {compared})::{key_type}
        where s.row ->> {compared} is not null and t.{key} is null
        """
    ).format(
        name=Literal(name), what=Literal(table.replace("_", " ")), compared=Literal(compared or name),
        table=Identifier(table), key=Identifier(key), key_type=SQL(key_type),
    )  # fmt: skip
    return Statement(sql)


UNKNOWN_SKU = unknown_reference("sku", "product", "sku_key", compared="sku_key")


def taken_external_ids(table: str, key: str, shown: str) -> Statement[Any]:
    """Return the check that rows have different external ids, and none of a record that keeps its own."""
    sql = SQL(
        """
        select s.line, 'external_id', format('%s is that of %s', s.row -> 'external_id', t.{shown})
        from staged s join {table} t on t.external_id = s.row ->> 'external_id'
        where t.{key} is distinct from s.key
          and not exists (select from staged o where o.key = t.{key} and jsonb_exists(o.row, 'external_id'))
        union all
        select line, 'external_id', format('%s is there twice', external_id) from (
            select line, row -> 'external_id' as external_id,
                   row_number() over (partition by row ->> 'external_id' order by line) as place
            from staged where row ->> 'external_id' is not null) as given
        where place > 1
        """
    ).format(table=Identifier(table), key=Identifier(key), shown=Identifier(shown))
    return Statement(sql)


def required_when_new(
    table: str, key: str, names: Sequence[str], what: LiteralString, *, key_type: LiteralString = "text"
) -> Statement[Any]:
    """Return the check that rows for new records have the members `names`."""
    sql = SQL(
        """
        select s.line, needed.name, 'is required for a new {what}'
        from staged s left join {table} t on t.{key} = s.key::{key_type}, unnest({names}::text[]) as needed (name)
        where s.key is not null and t.{key} is null and not jsonb_exists(s.row, needed.name)
        """
    ).format(
        what=SQL(what), table=Identifier(table), key=Identifier(key), key_type=SQL(key_type), names=Literal(list(names))
    )
    return Statement(sql)


def merge_statement(
    table: str, key: str, columns: Sequence[str], defaults: Mapping[str, Any], *, key_type: LiteralString = "text"
) -> Statement[Any]:
    """Return the statement that merges staged rows into a table by its key column.

    Missing members keep their values, or get the defaults in a new record. Without `materialized`, reading a column of
    `r` would compute the whole row again.
    """
    names = SQL(", ").join(Identifier(column) for column in columns)
    sql = SQL(
        """
        with merged as materialized (
            select s.line, s.key, jsonb_populate_record(
                coalesce(t, jsonb_populate_record(null::{table}, {defaults})), s.row
            ) as r
            from staged s left join {table} t on t.{key} = s.key::{key_type}
        )
        insert into {table} ({key}, {names})
        select key::{key_type}, {values} from merged order by line
        on conflict ({key}) do update set {assignments}
        where ({old}) is distinct from ({new})
        returning xmax = 0
        """
    ).format(
        table=Identifier(table),
        key=Identifier(key),
        key_type=SQL(key_type),
        names=names,
        defaults=Literal(Jsonb(dict(defaults))),
        values=SQL(", ").join(SQL("(r).{}").format(Identifier(c)) for c in columns),
        assignments=SQL(", ").join(SQL("{0} = excluded.{0}").format(Identifier(c)) for c in columns),
        old=SQL(", ").join(Identifier(table, c) for c in columns),
        new=SQL(", ").join(Identifier("excluded", c) for c in columns),
    )
    return Statement(sql)


async def stored_keys(tx: Transaction, table: str) -> Sequence[str]:
    """Return all keys of a table."""
    sql = SQL("select key from {} order by key").format(Identifier(table))
    return [key for (key,) in await tx.fetch_all(Statement(sql))]


def no_twins(table: str, staged: SQL, name: str) -> Check:
    """Return the check that staged keys are spelled as the stored ones, also those stored since rows were staged."""
    sql = Statement(SQL("select min(line), {0} from staged s where {0} is not null group by 2").format(staged))

    async def twins(tx: Transaction) -> Iterable[tuple[int, str, str]]:
        stored = Spellings(await stored_keys(tx, table))
        return [
            (line, name, f"{key!r} has meanwhile become {stored.of(key)!r}: import the file again")
            for line, key in await tx.fetch_all(sql)
            if stored.of(key) != key
        ]

    return twins
