"""Finds all rows of a customer by its foreign keys, so that new tables are included, and erases personal data."""

import re
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from decimal import Decimal

from msgspec import Struct, field
from psycopg.sql import SQL, Composable, Identifier, Literal
from psycopg.types.json import Jsonb

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.text import fold

# Not exported: hashes and secrets of credentials, which are of use only to a thief.
_SECRET = re.compile(r"hash|secret|password|totp|fingerprint")


class StoredRows(Struct, frozen=True):
    """A table's rows of one customer: a JSON array, and the files in them by names that begin with the row's key."""

    table: str
    rows: str
    files: Mapping[str, bytes]


class _Table(Struct, frozen=True):
    name: str
    condition: Composable
    columns: list[str] = field(default_factory=list)
    file: Composable | None = None  # selects name and content


_REFERENCES = Statement("""
    select f.conrelid::regclass::text, a.attname, f.confrelid::regclass::text, b.attname
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


async def stored_rows(tx: Transaction, customer_id: int) -> AsyncIterator[StoredRows]:
    """Yield the rows of every table that belong to a customer, directly or by its orders and other records."""
    for table in await _tables(tx, customer_id):
        names = SQL(", ").join(map(Identifier, table.columns))
        rows = SQL("select coalesce(jsonb_agg(to_jsonb(r)), '[]')::text from (select {} from {} where {} order by 1) r")
        text = await tx.fetch_value(
            Statement(rows.format(names, Identifier(table.name), table.condition), prepared=False)
        )
        files = {}
        if table.file is not None:
            found = SQL("select * from (select {} from {} where {}) as f (name, content) where content is not null")
            statement = found.format(table.file, Identifier(table.name), table.condition)
            files = dict(await tx.fetch_all(Statement(statement, prepared=False)))
        yield StoredRows(table.name, text, files)


async def _tables(tx: Transaction, customer_id: int) -> list[_Table]:
    """Return the tables that refer to customers, nearest first, each with the condition for one customer's rows."""
    references = await tx.fetch_all(_REFERENCES)
    found = {"customer": _Table("customer", SQL("id = {}").format(Literal(customer_id)))}
    # These have no foreign key, since they outlive what they describe.
    for log in ("event", "unnumbered_event"):
        found[log] = _Table(log, SQL("customer_id = {}").format(Literal(customer_id)))
    subject = Literal(f"customer/{customer_id}")
    found["audit_entry"] = _Table("audit_entry", SQL("subject = {}").format(subject))
    found["import_change"] = _Table("import_change", await imported_of(tx, customer_id))
    waiting = ["customer"]
    while waiting:
        parent = waiting.pop(0)
        for child, column, target, key in references:
            if target == parent and child not in found:
                rows = SQL("{} in (select {} from {} where {})").format(
                    Identifier(column), Identifier(key), Identifier(parent), found[parent].condition
                )
                found[child] = _Table(child, rows)
                waiting.append(child)
    columns: dict[str, dict[str, str]] = {}
    for table, column, type_ in await tx.fetch_all(_COLUMNS):
        columns.setdefault(table, {})[column] = type_
    return [_readable(table, columns[table.name]) for table in found.values()]


def _readable(table: _Table, columns: Mapping[str, str]) -> _Table:
    names = [name for name, type_ in columns.items() if type_ != "bytea" and not _SECRET.search(name)]
    key = Identifier(next(iter(columns)))
    file = None
    if columns.get("pdf") == "bytea":
        file = SQL("{}::text || '.pdf', pdf").format(key)
    elif columns.get("content") == "bytea" and "name" in columns:
        file = SQL("{}::text || '-' || name, content").format(key)
    return _Table(table.name, table.condition, names, file)


_LOCK_AGENTS = Statement("select from agent_consent where customer_id = :id order by id for update")
_LOCK_MONEY = Statement("select from account_balance where customer_id = :id for update")
_LOCK_ORDERS = Statement("select from orders where customer_id = :id order by id for update")
_LOCK_CUSTOMER = Statement("select from customer where id = :id for update")
_LOCK_CREDIT = Statement("select from credit_exposure where customer_id = :id for update")


async def lock_all_of(tx: Transaction, customer_id: int) -> None:
    """Lock a customer's agents, money and orders, the customer and its credit, in the order of every transaction."""
    for statement in (_LOCK_AGENTS, _LOCK_MONEY, _LOCK_ORDERS, _LOCK_CUSTOMER, _LOCK_CREDIT):
        await tx.execute(statement, id=customer_id)


class OpenBusiness(Struct, frozen=True):
    """Orders that are not finished, ids of open returns, the sum of what is owed, and the money on the account."""

    orders: list[str]
    returns: list[int]
    owed: Decimal
    unallocated: Decimal


_OPEN_BUSINESS = Statement(
    """
    select coalesce(array_agg(coalesce(o.order_reference, o.confirmation_code) order by o.id) filter (
               where o.state = 'pending'
                  or (o.state = 'confirmed' and o.status not in ('Invoiced', 'Completed'))
           ), '{}') as orders,
           array(
               select r.id from order_return r join orders p on p.id = r.order_id
               where p.customer_id = :id and r.state = 'open' order by r.id
           ) as returns,
           coalesce((select e.outstanding from credit_exposure e where e.customer_id = :id), 0) as owed,
           coalesce((select b.unallocated from account_balance b where b.customer_id = :id), 0) as unallocated
    from orders o where o.customer_id = :id
    """,
    OpenBusiness,
)


async def open_business(tx: Transaction, customer_id: int) -> OpenBusiness:
    """Return what is open or owed."""
    return await tx.fetch_row(_OPEN_BUSINESS, id=customer_id)


class PersonalData(Struct, frozen=True):
    """How much is erased of a customer: rows by kind, and the orders that lose their addresses and notes."""

    users: int
    addresses: int
    keys: int
    applications: int
    agents: int
    webhooks: int
    feeds: int
    contract_prices: int
    orders: int
    configurations: int
    packing_videos: int


_PERSONAL_DATA = Statement(
    """
    select (select count(*) from customer_user where customer_id = :id) as users,
           (select count(*) from address where customer_id = :id) as addresses,
           (select count(*) from api_key where customer_id = :id) as keys,
           (select count(distinct client_id) from (
               select client_id from access_token where customer_id = :id
               union select client_id from consent where customer_id = :id and revoked_at is null) a) as applications,
           (select count(*) from agent_consent where customer_id = :id) as agents,
           (select count(*) from webhook where customer_id = :id) as webhooks,
           (select count(*) from feed where customer_id = :id) as feeds,
           (select count(*) from contract_price where customer_id = :id) as contract_prices,
           (select count(*) from orders where customer_id = :id) as orders,
           (select count(*) from configuration c join order_line l on l.id = c.line_id
            join orders o on o.id = l.order_id where o.customer_id = :id) as configurations,
           (select count(*) from packing_video v join orders o on o.id = v.order_id
            where o.customer_id = :id) as packing_videos
    """,
    PersonalData,
)


async def personal_data(tx: Transaction, customer_id: int) -> PersonalData:
    """Return how much there is to erase of a customer."""
    return await tx.fetch_row(_PERSONAL_DATA, id=customer_id)


# Postcodes and countries stay: they decided the tax.
_ERASE_ORDERS = Statement("""
    update orders
    set billing_address = :erased || jsonb_build_object(
            'zip', billing_address -> 'zip', 'country_code', billing_address -> 'country_code'),
        shipping_address = :erased || jsonb_build_object(
            'zip', shipping_address -> 'zip', 'country_code', shipping_address -> 'country_code'),
        external_customer_id = null, order_notifications = null, courier_notifications = null, quote_note = null,
        cancel_reason = case when cancel_reason is not null then 'erased' end
    where customer_id = :id
""")
_ERASED_ADDRESS = {"contact_name": "Erased", "street_one": "Erased", "city": "Erased"}

_STATEMENTS = (
    # Responses of the back office name the customer; their keys are those of tokens. It reads the whole table.
    Statement("""
        delete from caller_idempotency_key k using customer c
        where c.id = :id and (
            position(convert_to('"customer_id":' || c.id || ',', 'UTF8') in k.body) > 0
            or position(convert_to('"customer_id":' || c.id || '}', 'UTF8') in k.body) > 0
            or position(convert_to(to_json(c.email_address)::text, 'UTF8') in k.body) > 0
            or exists (
                select from customer_user u
                where u.customer_id = c.id and position(convert_to(to_json(u.email)::text, 'UTF8') in k.body) > 0)
        )
    """),
    # Others say only what was changed, such as an address or a note; their keys have the caller and the time of that.
    Statement("""
        delete from caller_idempotency_key k using audit_entry e
        where k.caller = e.actor_kind || '/' || e.actor_id and k.created_at = e.at and e.subject in (
            select 'customer/' || :id::bigint
            union all select 'invoice/' || i.number from invoice i where i.customer_id = :id
            union all select 'order/' || n.name
            from orders o, unnest(array[o.order_reference, o.confirmation_code]) n (name) where o.customer_id = :id)
    """),
    Statement("""
        update shipment set contact_email = null, contact_phone = null
        where order_id in (select o.id from orders o where o.customer_id = :id)
    """),
    Statement("""
        delete from configuration where line_id in (
            select l.id from order_line l join orders o on o.id = l.order_id where o.customer_id = :id)
    """),
    Statement("""
        delete from packing_video where order_id in (select o.id from orders o where o.customer_id = :id)
    """),
    Statement("delete from order_note where order_id in (select o.id from orders o where o.customer_id = :id)"),
    Statement("""
        update order_change set reason = 'erased'
        where order_id in (select o.id from orders o where o.customer_id = :id)
    """),
    Statement("""
        update taken_back_shipment set reason = 'erased'
        where order_id in (select o.id from orders o where o.customer_id = :id)
    """),
    Statement("""
        update order_approval set note = '', reason = case when reason = '' then '' else 'erased' end
        where order_id in (select o.id from orders o where o.customer_id = :id)
    """),
    Statement("""
        update customer_request set text = 'erased', answer = case when answer = '' then '' else 'erased' end
        where order_id in (select o.id from orders o where o.customer_id = :id)
    """),
    Statement("""
        update order_return set reason = 'erased'
        where order_id in (select o.id from orders o where o.customer_id = :id)
    """),
    Statement(
        "delete from one_time_link where user_id in (select u.id from customer_user u where u.customer_id = :id)"
    ),
    Statement("delete from saved_list where customer_id = :id"),
    Statement("""
        delete from request_file where request_id in (
            select r.id from customer_request r join orders o on o.id = r.order_id where o.customer_id = :id
        )
    """),
    Statement("delete from customer_contact where customer_id = :id"),
    Statement("delete from customer_note where customer_id = :id"),
    Statement("delete from customer_user where customer_id = :id"),
    Statement("delete from address where customer_id = :id"),
    Statement("delete from contract_price where customer_id = :id"),
    Statement("delete from idempotency_key where customer_id = :id"),
    Statement("delete from webhook where customer_id = :id"),
    Statement("delete from access_token where customer_id = :id"),
    Statement("delete from consent where customer_id = :id"),
    Statement("delete from agent_consent where customer_id = :id"),
    Statement("delete from feed where customer_id = :id"),
    Statement("delete from request_log where customer_id = :id"),
)

_DISABLE_KEYS = Statement("""
    update api_key set name = 'erased', networks = '{}', disabled_at = coalesce(disabled_at, :now)
    where customer_id = :id
""")

_ERASE_ACCOUNT = Statement("""
    update customer
    set email_address = :email, email_key = :email, first_name = 'Erased', last_name = 'customer', company = '',
        accounts_email = null, order_mails = false, credit_limit = null, term_days = null, price_list = null,
        discount = 0, blocked_reason = case when blocked_reason is not null then 'erased' end
    where id = :id
""")


async def erase_rows(tx: Transaction, customer_id: int, email: str, now: datetime) -> None:
    """Erase the personal data; `email` replaces the customer's address."""
    imported = SQL("delete from import_change where {}").format(await imported_of(tx, customer_id))
    await tx.execute(Statement(imported, prepared=False))
    for statement in _STATEMENTS:
        await tx.execute(statement, id=customer_id)
    await tx.execute(_ERASE_ORDERS, id=customer_id, erased=Jsonb(_ERASED_ADDRESS))
    await tx.execute(_DISABLE_KEYS, id=customer_id, now=now)
    await tx.execute(_ERASE_ACCOUNT, id=customer_id, email=email)
