-- What `PUT /order/{confirmation_code}` with `order_notifications` says to the database, for pgbench: the same statements
-- in the same five round trips. Variables from outside: first_customer, customers, orders, as `confirm_with_mail.py` makes
-- them.
--
-- What pgbench cannot carry from one round trip into the next is read again where it is needed. An order that was
-- confirmed before in the same run is confirmed once more.

\set n random(1, :orders)
\set customer :first_customer + :n % :customers

\startpipeline
begin;
select from orders where customer_id = :customer and confirmation_code = md5('confirm ' || :n::text) and number is null for update;
select * from orders where customer_id = :customer and confirmation_code = md5('confirm ' || :n::text);
select l.* from order_line l join orders o on o.id = l.order_id
where o.customer_id = :customer and o.confirmation_code = md5('confirm ' || :n::text) order by l.position;
select * from customer where id = :customer;
\endpipeline

\startpipeline
insert into credit_exposure (customer_id, outstanding) values (:customer, 9835.88)
on conflict (customer_id) do update set outstanding = credit_exposure.outstanding + excluded.outstanding
returning credit_exposure.outstanding - 9835.88 as outstanding;
select credit_limit from customer where id = :customer;
insert into stock_level (product_id)
select l.product_id from order_line l join orders o on o.id = l.order_id
where o.confirmation_code = md5('confirm ' || :n::text) group by l.product_id order by l.product_id
on conflict do nothing;
with wanted as (
    select l.product_id, sum(l.quantity) as quantity from order_line l join orders o on o.id = l.order_id
    where o.confirmation_code = md5('confirm ' || :n::text) group by l.product_id
), locked as (
    select product_id, available, back_ordered
    from stock_level where product_id in (select product_id from wanted) order by product_id for update
)
select product_id, least(quantity, available) as taken, back_ordered as earlier from locked join wanted using (product_id);
select nextval('order_number') as number;
\endpipeline

\startpipeline
update stock_level s set back_ordered = s.back_ordered + l.quantity, changed_by = pg_current_xact_id()
from order_line l join orders o on o.id = l.order_id
where o.confirmation_code = md5('confirm ' || :n::text) and s.product_id = l.product_id;
update order_line l set allocated = 0, back_ordered = l.quantity
from orders o where o.id = l.order_id and o.confirmation_code = md5('confirm ' || :n::text);
update orders
set state = 'confirmed', number = currval('order_number'), order_reference = 'ORD-' || currval('order_number'),
    shipping_method = 101, shipping_options = shipping_options, shipping_net = 6.40, shipping_tax = 1.28,
    status = 'Back-ordered', term_days = 30, confirmed_at = now()
where confirmation_code = md5('confirm ' || :n::text);
\endpipeline

select unnest(procrastinate_defer_jobs_v1(array[row(
    'default', 'mail_order_confirmed', 0, null, null, '{"order_id": 1}'::jsonb, null
)::procrastinate_job_to_defer_v1])) as id;

commit;
