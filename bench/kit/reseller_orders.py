"""A reseller with 100,000 orders of all statuses, their shipments, invoices and payments, for benchmarks of its pages.

Not for people: `tradecounter demo` has a plausible history. Here one order is placed, dispatched and invoiced through
the product, and copied by SQL, because the use cases would take an hour. Twentieths of the orders are still to be
dispatched, dispatched in part, or not invoiced yet; three are unpaid, one is paid in part, the others are paid.
"""

from typing import Any

import psycopg

from bench.kit.million_orders import copy_orders, place_original
from bench.kit.product import Server, tradecounter
from bench.kit.store import Store

COUNT = 100_000
SELLER = {
    "TRADECOUNTER_SELLER_NAME": "Bench Ltd",
    "TRADECOUNTER_SELLER_ADDRESS": "1 Bench Street|Leeds|LS1 1AA",
    "TRADECOUNTER_SELLER_VAT_NUMBER": "GB123456789",
}
_ENOUGH_STOCK = """
    insert into stock_level (product_id, available) select id, 1000 from product where sku = any(%s)
    on conflict (product_id) do update set available = stock_level.available + 1000
"""
# `share` says what has become of an order; the dates are spread over three years.
_STEPS = (
    """
    create temporary table aged as
    select id, number, customer_id, gross, (n %% 20)::integer as share, now() - n * interval '15 minutes' as at
    from (select *, row_number() over (order by number desc) as n from orders where id <> %(original)s and number > 0) o
    """,
    "create unique index on aged (id)",
    "analyze aged",
    """
    update orders o set created_at = at, confirmed_at = at, term_days = 30,
        customer_reference = 'BENCH-' || o.number, paid = case when share = 6 then round(o.gross / 3, 2)
        when share > 6 then o.gross else 0 end,
        status = case share when 0 then 'Awaiting dispatch' when 1 then 'Part dispatched' when 2 then 'Dispatched'
                 when 3 then 'Invoiced' when 4 then 'Invoiced' when 5 then 'Invoiced' when 6 then 'Invoiced'
                 else 'Completed' end
    from aged where aged.id = o.id
    """,
    """
    update order_line l set
        dispatched = case when share > 1 or share = 1 and position = 1 then quantity else 0 end,
        allocated = case when share > 1 or share = 1 and position = 1 then 0 else quantity end
    from aged where aged.id = l.order_id
    """,
    """
    insert into shipment (order_id, shipping_method, tracking_number, dispatched_at, invoice)
    select id, (select shipping_method from orders where id = %(original)s), 'NW-' || number, at + interval '6 hours',
           case when share > 2 then %(last)s + row_number() over (order by share <= 2, number) end
    from aged where share > 0
    """,
    """
    insert into shipment_line (shipment_id, line_id, quantity)
    select s.id, l.id, l.dispatched from shipment s join aged on aged.id = s.order_id
    join order_line l on l.order_id = aged.id where l.dispatched > 0
    """,
    """
    insert into invoice (number, order_id, customer_id, issued_at, supplied_at, due_at, net, vat, gross, document, pdf)
    select s.invoice, aged.id, aged.customer_id, at + interval '7 hours', at + interval '6 hours',
           at + interval '30 days', i.net, i.vat, i.gross, i.document, i.pdf
    from aged join shipment s on s.order_id = aged.id
         cross join (select * from invoice where number = %(last)s) as i
    where s.invoice is not null
    """,
    """
    insert into invoice_line (invoice, position, line_id, quantity, net, vat)
    select i.number, l.position, l.id, o.quantity, o.net, o.vat from invoice i join order_line l using (order_id)
    join invoice_line o on o.invoice = %(last)s and o.position = l.position and o.line_id is not null
    where i.number > %(last)s
    """,
    """
    insert into invoice_line (invoice, position, line_id, quantity, net, vat)
    select i.number, o.position, null, o.quantity, o.net, o.vat
    from invoice i join invoice_line o on o.invoice = %(last)s and o.line_id is null where i.number > %(last)s
    """,
    """
    insert into invoice_balance (invoice, order_id, customer_id, due_at, gross, paid)
    select i.number, o.id, o.customer_id, i.due_at, i.gross, o.paid from invoice i join orders o on o.id = i.order_id
    where i.number > %(last)s
    """,
    """
    insert into payment (amount, recorded_at, customer_id, received_on, counts_from, method, reference)
    select paid, due_at, customer_id, due_at::date, due_at, 'bank_transfer',
           'BACS ' || invoice
    from invoice_balance where invoice > %(last)s and paid > 0
    """,
    """
    insert into allocation (payment_id, invoice, amount, at)
    select p.id, b.invoice, b.paid, b.due_at from invoice_balance b join payment p on p.reference = 'BACS ' || b.invoice
    where b.invoice > %(last)s
    """,
    "update invoice_number set last = (select max(number) from invoice)",
    "insert into account_balance (customer_id) select id from customer on conflict do nothing",
    "delete from credit_exposure",
    """
    insert into credit_exposure (customer_id, outstanding)
    select customer_id, sum(gross - paid - credited) from orders where state = 'confirmed' group by 1
    """,
    """
    update stock_level s set allocated = l.allocated from (
        select product_id, sum(allocated) as allocated from order_line group by 1) l where l.product_id = s.product_id
    """,
)


def make_reseller_orders(server: Server, store: Store, count: int = COUNT) -> None:
    """Give all customers of the store this many orders in rotation; takes about a minute for 100,000."""
    with store.connect() as connection:
        skus = [product["sku"] for product in store.products[:3]]
        connection.execute(_ENOUGH_STOCK, [skus])
        place_original(server, store, 0)
        copy_orders(connection, count, store.customer_ids, whole=True)
        row = connection.execute("select id, order_reference from orders where number is not null order by id limit 1")
        original, reference = row.fetchone() or (0, "")
        for step in ("dispatch", "invoice"):
            tradecounter({**store.env, **SELLER}, "order", step, reference)
        last = connection.execute("select max(number) from invoice").fetchone()
        _age(connection, {"original": original, "last": None if last is None else last[0]})
        connection.execute("vacuum analyze")


def _age(connection: psycopg.Connection[Any], values: dict[str, Any]) -> None:
    with connection.transaction():
        connection.execute("set local synchronous_commit = off")
        connection.execute("set local session_replication_role = replica")  # the keys are known to be good
        for step in _STEPS:
            connection.execute(step.encode(), values if "%(" in step else None)
