-- What `POST /order` of three lines with an `Idempotency-Key` says to the database, for pgbench: the same statements in the
-- same two round trips. Variables from outside: first_customer, customers, first_product, products.
--
-- One thing is moved: the ids of the lines are drawn where the lines are inserted, since pgbench cannot carry the answers
-- of one round trip into the next.

\set customer :first_customer + random(0, :customers - 1)
\set key random(1, 9000000000000000000)
\set one :first_product + random(0, :products - 1)
\set two :first_product + random(0, :products - 1)
\set three :first_product + random(0, :products - 1)

\startpipeline
begin;

select k.fingerprint, k.status, k.body,
       case when k.key is null then pg_try_advisory_xact_lock(hashtextextended(wanted.key, wanted.customer_id))
       end as claimed
from (select :customer::bigint as customer_id, md5(:key::text) as key) as wanted
left join idempotency_key k using (customer_id, key);

select c.credit_limit, c.shipping_method, c.unique_references, c.blocked_at is not null as blocked,
       coalesce((select e.outstanding from credit_exposure e where e.customer_id = c.id), 0.00) as outstanding,
       (select jsonb_agg(a.details || jsonb_build_object('id', a.id))::text from address a
        where a.id = any('{}'::bigint[]) and a.customer_id = c.id and a.deleted_at is null) as addresses,
       nextval('orders_id_seq') as order_id,
       case when 1000::bigint is null then false
            when pending.count < 1000::bigint - current_setting('max_connections')::bigint
            then pg_advisory_xact_lock_shared(8, hashint8(c.id)) is null
            else pg_advisory_xact_lock(8, hashint8(c.id)) is not null
       end as near_cap,
       concat_ws(
           ' ',
           extract(epoch from pg_postmaster_start_time()),
           extract(epoch from pg_stat_get_bgwriter_stat_reset_time()),
           case when not pg_is_in_recovery() then substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end
       ) as server,
       (select coalesce(sum(version), 0)::bigint from change
        where topic in ('catalogue', 'prices', 'contracts', 'customers', 'deliveries')) as catalogue,
       (select coalesce(sum(version), 0)::bigint from change where topic in ('shipping')) as shipping
from customer c cross join lateral (
    select count(*) as count from orders o where o.customer_id = c.id and o.kind = 'order' and o.state = 'pending'
    and case o.kind when 'quote' then o.expires_at is null else not expires_at < now() end
) as pending
where c.id = :customer;
\endpipeline

\startpipeline
with created as (
    insert into orders (id, customer_id, kind, state, confirmation_code, customer_reference, external_customer_id,
                        billing_address, shipping_address, order_notifications, courier_notifications,
                        shipping_region, shipping_options, shipping_method, shipping_weight, cost_net, cost_tax,
                        tax_rate, allow_back_orders, created_at, expires_at)
    overriding system value
    values (currval('orders_id_seq'), :customer, 'order', 'pending', md5(:key::text), 'PO-1', null,
            '{"zip": "LS1 4AP", "city": "Leeds", "street_one": "1 Site Road", "contact_name": "Sam Fitter", "country_code": "GB"}',
            '{"zip": "LS1 4AP", "city": "Leeds", "street_one": "1 Site Road", "contact_name": "Sam Fitter", "country_code": "GB"}',
            null, null, 1,
            '[{"id": 101, "arrival": "2026-11-26T17:30:00Z", "cut_off": "17:00:00", "cost_net": "4.33", "dispatch": "2026-11-23T17:00:00Z", "provider": "Northway Parcels", "description": "UK mainland economy", "transit_days": 3}, {"id": 102, "arrival": "2026-11-24T17:30:00Z", "cut_off": "17:00:00", "cost_net": "6.58", "dispatch": "2026-11-23T17:00:00Z", "provider": "Northway Parcels", "description": "UK mainland next day", "transit_days": 1}, {"id": 103, "arrival": "2026-11-24T17:30:00Z", "cut_off": "17:00:00", "cost_net": "12.03", "dispatch": "2026-11-23T17:00:00Z", "provider": "Northway Parcels", "description": "UK mainland noon", "transit_days": 1}]',
            null, 1.100, 8189.22, 1637.84, 20, true, now(), now() + interval '1 day')
)
insert into order_line (id, order_id, position, product_id, sku, name, quantity, unit_cost, cost_net, cost_tax,
                        bundle_line_id)
overriding system value
select nextval('order_line_id_seq'), currval('orders_id_seq'), l.position, (array[:one, :two, :three]::bigint[])[l.position],
       l.sku, l.name, l.quantity, l.unit_cost, l.cost_net, l.cost_tax, l.bundle_line_id
from rows from (
    json_to_recordset('[{"id": 1, "order_id": 1, "product_id": 1, "sku": "WS-C2960-24TC-L", "name": "Cisco Catalyst 2960-24TC-L", "quantity": 2, "unit_cost": "1333.48", "cost_net": "2666.96", "cost_tax": "533.39", "allocated": 0, "back_ordered": 0, "dispatched": 0, "bundle_line_id": null, "components": []}, {"id": 2, "order_id": 1, "product_id": 2, "sku": "AT-GS980MX/10HSm", "name": "Allied Telesis GS980MX/10HSm", "quantity": 2, "unit_cost": "1160.80", "cost_net": "2321.60", "cost_tax": "464.32", "allocated": 0, "back_ordered": 0, "dispatched": 0, "bundle_line_id": null, "components": []}, {"id": 3, "order_id": 1, "product_id": 3, "sku": "MR36", "name": "Cisco Meraki MR36", "quantity": 2, "unit_cost": "1600.33", "cost_net": "3200.66", "cost_tax": "640.13", "allocated": 0, "back_ordered": 0, "dispatched": 0, "bundle_line_id": null, "components": []}]'::json)
        as (id bigint, product_id bigint, sku text, name text, quantity integer, unit_cost numeric,
            cost_net numeric, cost_tax numeric, bundle_line_id bigint)
) with ordinality
  as l (id, product_id, sku, name, quantity, unit_cost, cost_net, cost_tax, bundle_line_id, position);

insert into unnumbered_event (id, type, occurred_at, subject, customer_id, for_customer, data)
values ('evt_' || md5(:key::text), 'order.created', now(), 'order/' || currval('orders_id_seq'), :customer, true,
        '{"order_id": 1, "confirmation_code": "5417fc98db0f9cf4c67baceff5629b04", "customer_reference": "PO-1", "status": "Pending", "cost_gross": 9827.06}');

insert into audit_entry (at, actor_kind, actor_id, actor_name, acting_user, address, action, subject, before, after)
values (now(), 'key', '1', 'bench', null, '127.0.0.1', 'order.create', 'order/5417fc98db0f9cf4c67baceff5629b04', '{}',
        '{"customer_id": 1, "cost_gross": 9827.06}');

insert into idempotency_key (customer_id, key, fingerprint, status, body, created_at)
values (:customer, md5(:key::text), sha256(md5(:key::text)::bytea), 201,
        convert_to(repeat('{"sku":"WS-C2960"}', 80), 'UTF8'), now());

commit;
\endpipeline
