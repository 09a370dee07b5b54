"""The migration of invoices and payments keeps what a database holds."""

from decimal import Decimal

import psycopg

from support.cluster import Cluster
from tradecounter.db.migrate import upgrade

BEFORE = """
insert into customer (email_address, email_key, first_name, last_name, credit_limit, term_days)
values ('a@b.example', 'a@b.example', 'Ada', 'Buyer', 1000, 30);
insert into manufacturer (key, name) values ('m', 'M');
insert into product (sku, sku_key, name, manufacturer) values ('PHONE', 'phone', 'Phone', 'm');
insert into orders (customer_id, kind, state, confirmation_code, number, order_reference, customer_reference,
                    billing_address, shipping_address, shipping_region, shipping_options, shipping_method,
                    shipping_weight, shipping_net, shipping_tax, cost_net, cost_tax, tax_rate, paid, status, term_days,
                    created_at, confirmed_at)
select 1001, 'order', 'confirmed', 'c1', 100001, 'ORD-100001', 'PO-1', '{}', '{}', 1, '[]', 1, 1, 5.50, 1.10, 50, 10,
       20, 26.60, 'Invoiced', 30, now(), now();
insert into order_line (order_id, position, product_id, sku, name, quantity, unit_cost, cost_net, cost_tax, dispatched)
select o.id, 1, p.id, 'PHONE', 'Phone', 1, 50, 50, 10, 1 from orders o, product p;
insert into order_line (order_id, position, product_id, sku, name, quantity, unit_cost, cost_net, cost_tax,
                        bundle_line_id)
select l.order_id, 2, l.product_id, 'PART', 'Part', 1, 0, 0, 0, l.id from order_line l;
insert into shipment (order_id, shipping_method, dispatched_at) select id, 1, now() from orders;
insert into invoice (number, order_id, issued_at, supplied_at, due_at, gross, document, pdf)
select 10001, id, now(), now(), now(), 66.60,
       '{"net": "55.50", "vat": "11.10", "lines": [
           {"sku": "PHONE", "quantity": 1, "net": "50.00", "vat": "10.00"},
           {"sku": "", "quantity": 1, "net": "5.50", "vat": "1.10"}]}', '' from orders;
update invoice_number set last = 10001;
insert into payment (invoice, amount, paid_at) values (10001, 20, '2026-06-15 23:30Z'), (10001, 6.60, now());
"""


def test_invoices_and_payments_of_earlier_versions_are_kept(postgres: Cluster) -> None:
    with postgres.empty_database() as url:
        upgrade(url, revision="0013")
        with psycopg.connect(url) as connection:
            connection.execute(BEFORE)
        upgrade(url)
        with psycopg.connect(url) as connection:
            [line] = connection.execute("select id from order_line where sku = 'PHONE'").fetchall()
            assert connection.execute("select customer_id, net, vat from invoice").fetchall() == [
                (1001, Decimal("55.50"), Decimal("11.10"))
            ]
            assert connection.execute(
                "select line_id, quantity, net from invoice_line order by position"
            ).fetchall() == [
                (line[0], 1, Decimal("50.00")),
                (None, 1, Decimal("5.50")),
            ]
            assert connection.execute("select paid, credited, due from invoice_balance").fetchall() == [
                (Decimal("26.60"), Decimal("0.00"), Decimal("40.00"))
            ]
            assert connection.execute(
                "select sum(amount), count(*) from allocation where invoice = 10001"
            ).fetchall() == [(Decimal("26.60"), 2)]
            first = connection.execute(
                "select customer_id, received_on::text, method from payment order by id"
            ).fetchone()
            assert first == (1001, "2026-06-16", "bank_transfer")
            assert connection.execute("select invoice from shipment").fetchall() == [(10001,)]
