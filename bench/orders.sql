-- What `POST /order` of three lines with an `Idempotency-Key` says to the database, for pgbench.
-- Variables from outside: first_customer, customers, first_product, products.

\set customer :first_customer + random(0, :customers - 1)
\set key random(1, 9000000000000000000)
\set one :first_product + random(0, :products - 1)
\set two :first_product + random(0, :products - 1)
\set three :first_product + random(0, :products - 1)

begin;

select k.fingerprint, k.status, k.body,
       case when k.key is null then pg_try_advisory_xact_lock(hashtextextended(wanted.key, wanted.customer_id)) end as claimed
from (select :customer::bigint as customer_id, md5(:key::text) as key) as wanted
left join idempotency_key k using (customer_id, key);

select id, email_address, first_name, last_name, company, accounts_email, trade_account, price_list, discount, credit_limit,
       term_days, packing, shipping_method, unique_references, created_at
from customer where id = :customer;

select outstanding from credit_exposure where customer_id = :customer;

with held as (
    insert into orders (customer_id, kind, state, confirmation_code, customer_reference, external_customer_id,
                        billing_address, shipping_address, order_notifications, courier_notifications, shipping_region,
                        shipping_options, shipping_method, shipping_weight, cost_net, cost_tax, tax_rate, created_at,
                        expires_at)
    values (:customer, 'order', 'pending', md5(:key::text), 'PO-1', null,
            '{"zip": "LS1 4AP", "city": "Leeds", "street_one": "1 Site Road", "contact_name": "Sam Fitter", "country_code": "GB"}',
            '{"zip": "LS1 4AP", "city": "Leeds", "street_one": "1 Site Road", "contact_name": "Sam Fitter", "country_code": "GB"}',
            null, null, 1,
            '[{"id": 101, "arrival": "2026-11-26T17:30:00Z", "cut_off": "17:00:00", "cost_net": "4.33", "dispatch": "2026-11-23T17:00:00Z", "provider": "Northway Parcels", "description": "UK mainland economy", "transit_days": 3}, {"id": 102, "arrival": "2026-11-24T17:30:00Z", "cut_off": "17:00:00", "cost_net": "6.58", "dispatch": "2026-11-23T17:00:00Z", "provider": "Northway Parcels", "description": "UK mainland next day", "transit_days": 1}, {"id": 103, "arrival": "2026-11-24T17:30:00Z", "cut_off": "17:00:00", "cost_net": "12.03", "dispatch": "2026-11-23T17:00:00Z", "provider": "Northway Parcels", "description": "UK mainland noon", "transit_days": 1}]',
            null, 1.10, 8189.22, 1637.84, 20, now(), now() + interval '1 day')
    returning id
), lines as (
    insert into order_line (order_id, position, product_id, sku, name, quantity, unit_cost, cost_net, cost_tax)
    select held.id, l.position, l.product_id, l.sku, l.name, l.quantity, l.unit_cost, l.cost_net, l.cost_tax
    from held, unnest(array[:one, :two, :three]::bigint[],
                      '{WS-C2960-24TC-L,AT-GS980MX/10HSm,MR36}'::text[],
                      '{"Cisco Catalyst 2960-24TC-L","Allied Telesis GS980MX/10HSm","Cisco Meraki MR36"}'::text[],
                      '{2,2,2}'::integer[], '{1333.48,1160.80,1600.33}'::numeric[],
                      '{2666.96,2321.60,3200.66}'::numeric[], '{533.39,464.32,640.13}'::numeric[])
         with ordinality as l (product_id, sku, name, quantity, unit_cost, cost_net, cost_tax, position)
    order by l.position
    returning id, position
), components as (
    insert into order_line (order_id, position, product_id, sku, name, quantity, unit_cost, cost_net, cost_tax,
                            bundle_line_id)
    select held.id, c.position, c.product_id, c.sku, c.name, c.quantity, 0, 0, 0, lines.id
    from held, unnest('{}'::integer[], '{}'::integer[], '{}'::bigint[], '{}'::text[], '{}'::text[], '{}'::integer[])
         as c (position, bundle, product_id, sku, name, quantity)
         join lines on lines.position = c.bundle
    order by c.position
)
select id as order_id from held \gset

select id, customer_id, kind, state, confirmation_code, number, order_reference, customer_reference,
       external_customer_id, billing_address, shipping_address, order_notifications, courier_notifications,
       shipping_region, shipping_options, shipping_method, shipping_weight, shipping_net, shipping_tax, cost_net,
       cost_tax, tax_rate, gross, paid, status, term_days, created_at, expires_at, confirmed_at, priced_at, pricings,
       quote_note, cancelled_at, cancel_reason
from orders where customer_id = :customer and confirmation_code = md5(:key::text);

select id, order_id, product_id, sku, name, quantity, unit_cost, cost_net, cost_tax, allocated, back_ordered, dispatched,
       bundle_line_id
from order_line where order_id = :order_id order by order_id, position;

insert into idempotency_key (customer_id, key, fingerprint, status, body, created_at)
values (:customer, md5(:key::text), sha256(md5(:key::text)::bytea), 201, convert_to(repeat('{"sku":"WS-C2960"}', 80), 'UTF8'), now())
on conflict do nothing;

commit;
