"""SQL shared by several import kinds; `staged (line, key, row)` holds the rows of the file."""

from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

from psycopg.sql import SQL, Identifier, Literal
from psycopg.types.json import Jsonb

from tradecounter.db.statement import Statement

UNKNOWN_SKU = Statement("""
    select s.line, format('sku: product %s does not exist', to_json(s.row ->> 'sku'))
    from staged s left join product p on p.sku_key = s.row ->> 'sku_key'
    where s.row ->> 'sku_key' is not null and p.id is null
""")


def required_when_new(
    table: str, key: str, names: Sequence[str], what: LiteralString, *, key_type: LiteralString = "text"
) -> Statement[Any]:
    """Return the check that a row for a new record has the members `names`."""
    sql = SQL(
        """
        select s.line, format('%s: is required for a new {what}', needed.name)
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

    Members that a row lacks keep their values, or get the defaults in a new record. Without `materialized`, reading a
    column of `r` would compute the whole row again.
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
