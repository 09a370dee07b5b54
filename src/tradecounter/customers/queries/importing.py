"""The SQL of the import of customers."""

from collections.abc import Sequence
from typing import LiteralString

from msgspec import Struct
from psycopg.sql import SQL, Identifier

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

CHECK_CREDIT_TERMS = Statement("""
    select s.line, '', 'credit_limit and term_days go together'
    from staged s left join customer c on c.email_key = s.key
    where s.key is not null
      and (case when jsonb_exists(s.row, 'credit_limit') then s.row ->> 'credit_limit'
                else c.credit_limit::text end is null)
       <> (case when jsonb_exists(s.row, 'term_days') then s.row ->> 'term_days'
                else c.term_days::text end is null)
""")

ADD_ADDRESSES = Statement("""
    with new as (
        select c.id, given.details, min(given.position) as position
        from staged s join customer c on c.email_key = s.key,
             jsonb_array_elements(s.row -> 'addresses') with ordinality as given (details, position)
        where not exists (select from address a where a.customer_id = c.id and a.details = given.details
                          and a.deleted_at is null)
        group by c.id, given.details
    ), added as (
        insert into address (customer_id, details) select id, details from new order by id, position
        returning customer_id
    )
    select count(distinct c.id) from added join customer c on c.id = added.customer_id
    where c.xmin::text <> pg_current_xact_id()::xid::text
""")

WARN_OF_SHIPPING_METHODS = Statement("""
    select s.line, 'shipping_method', format('shipping method %s does not exist', s.row ->> 'shipping_method')
    from staged s left join shipping_method m on m.id = (s.row ->> 'shipping_method')::integer and m.active
    where s.row ->> 'shipping_method' is not null and m.id is null
""")

CUSTOMER_VIEW: LiteralString = """
    select email_key as key,
           to_jsonb(c) - '{id,email_key,created_at,changed_at}'::text[] || jsonb_build_object('addresses', (
               select coalesce(jsonb_agg(a.details order by a.id), '[]') from address a
               where a.customer_id = c.id and a.deleted_at is null)) as row
    from customer c
"""


class ImportedCustomer(Struct, frozen=True):
    """A customer that an import added or changed, with the fields that have new values."""

    id: int
    is_new: bool
    fields: list[str]


_CHANGES = SQL("""
    select c.id, i.before is null as is_new, array(select jsonb_object_keys(coalesce(i.before, '{{}}'))) as fields
    from {} i join customer c on c.email_key = i.key {} order by c.id
""")
_IMPORTED = Statement(
    _CHANGES.format(SQL("import_change"), SQL("where i.import_id = :import_id")),
    ImportedCustomer,
)
_UNDONE = Statement(_CHANGES.format(SQL("undone"), SQL("")), ImportedCustomer)
_EXISTING = Statement("select id from customer where id = any(:ids::bigint[])")


async def imported_customers(tx: Transaction, import_id: int) -> list[ImportedCustomer]:
    """Return the customers that an import has added or changed."""
    return await tx.fetch_all(_IMPORTED, import_id=import_id)


async def customers_to_restore(tx: Transaction) -> list[ImportedCustomer]:
    """Return the customers in `undone`, before it is undone."""
    return await tx.fetch_all(_UNDONE)


async def existing_customers(tx: Transaction, customer_ids: Sequence[int]) -> set[int]:
    """Return those of the customers that exist."""
    return {customer_id for (customer_id,) in await tx.fetch_all(_EXISTING, ids=list(customer_ids))}


_DELETE_ADDED_ADDRESSES = Statement("""
    delete from address a using undone u join customer c on c.email_key = u.key
    where a.customer_id = c.id and a.deleted_at is null
      and a.details in (select * from jsonb_array_elements(u.after -> 'addresses'))
      and not coalesce(u.before -> 'addresses', '[]') @> jsonb_build_array(a.details)
""")

_REFERENCES = Statement("""
    select f.conrelid::regclass::text, a.attname
    from pg_constraint f join pg_attribute a on a.attrelid = f.conrelid and a.attnum = f.conkey[1]
    where f.contype = 'f' and f.confrelid = 'customer'::regclass and f.confdeltype <> 'c'
    order by 1
""")


# So that `delete_added` sees the records that others are adding to these customers.
_LOCK_ADDED = Statement("""
    select from customer where email_key in (select key from undone where before is null) order by id for update
""")


async def delete_added(tx: Transaction) -> None:
    """Delete the addresses that an import added, and the customers, except those with orders, keys or other records."""
    await tx.execute(_LOCK_ADDED)
    await tx.execute(_DELETE_ADDED_ADDRESSES)
    references = [
        SQL("and not exists (select from {} r where r.{} = c.id)").format(Identifier(table), Identifier(column))
        for table, column in await tx.fetch_all(_REFERENCES)
    ]
    sql = SQL("""
        delete from customer c
        where c.email_key in (select key from undone where before is null)
          and not exists (select from customer_user u where u.customer_id = c.id and u.password_hash is not null) {}
    """)
    await tx.execute(Statement(sql.format(SQL(" ").join(references))))
