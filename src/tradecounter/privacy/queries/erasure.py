"""Erases the personal data of a customer, and says how much there is."""

from datetime import datetime
from decimal import Decimal

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.privacy.queries.stored_rows import imported_of

_LOCK_AGENTS = Statement("select from agent_consent where customer_id = :id order by id for update")
_LOCK_MONEY = Statement("select from account_balance where customer_id = :id for update")
_LOCK_ORDERS = Statement("select from orders where customer_id = :id order by id for update")
_LOCK_TABLES = Statement("lock table customer, contract_price in row exclusive mode")
_LOCK_CUSTOMER = Statement("select from customer where id = :id for update")
_LOCK_CREDIT = Statement("select from credit_exposure where customer_id = :id for update")


async def lock_all_of(tx: Transaction, customer_id: int) -> None:
    """Lock a customer's agents, money and orders, the customer and its credit, in the order of every transaction.

    Imports that hold a table with rows of the customer are over then, and others wait.
    """
    await tx.execute(_LOCK_TABLES)
    for statement in (_LOCK_AGENTS, _LOCK_MONEY, _LOCK_ORDERS, _LOCK_CUSTOMER, _LOCK_CREDIT):
        await tx.execute(statement, id=customer_id)


class OpenBusiness(Struct, frozen=True):
    """Orders that are not finished, ids of open returns, the orders that open requests are about, and money.

    `owed` is the sum of what is owed, `unallocated` the money on the account.
    """

    orders: list[str]
    returns: list[int]
    requests: list[str]
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
           array(
               select a.order_reference from customer_request q join orders a on a.id = q.order_id
               where a.customer_id = :id and q.closed_at is null order by q.id
           ) as requests,
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
    set billing_address = :erased::jsonb || jsonb_build_object(
            'zip', billing_address -> 'zip', 'country_code', billing_address -> 'country_code'),
        shipping_address = :erased::jsonb || jsonb_build_object(
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
        update order_approval
        set note = '', reason = case when reason = '' then '' else 'erased' end, former_declines = '[]'
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
    await tx.execute(Statement(imported))
    for statement in _STATEMENTS:
        await tx.execute(statement, id=customer_id)
    await tx.execute(_ERASE_ORDERS, id=customer_id, erased=json_of(_ERASED_ADDRESS))
    await tx.execute(_DISABLE_KEYS, id=customer_id, now=now)
    await tx.execute(_ERASE_ACCOUNT, id=customer_id, email=email)
