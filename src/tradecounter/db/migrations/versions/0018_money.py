"""Several invoices an order, money on accounts, credit notes, reminders, unbilled units, and blocked customers."""

from tradecounter.db.migrations.sql import run_sql

revision = "0018"
down_revision = "0017"

INVOICES = """
alter table invoice disable trigger invoice_never_changes;
alter table invoice
    drop constraint invoice_order_id_key,
    add column customer_id bigint references customer (id),
    add column net numeric(18, 2),
    add column vat numeric(18, 2);
update invoice i
set customer_id = o.customer_id, net = (document ->> 'net')::numeric, vat = (document ->> 'vat')::numeric
from orders o where o.id = i.order_id;
alter table invoice
    alter column customer_id set not null,
    alter column net set not null,
    alter column vat set not null;
alter table invoice enable trigger invoice_never_changes;
create index invoice_of_order on invoice (order_id);
create index invoice_of_customer on invoice (customer_id, number);

create table invoice_line (
    invoice bigint not null references invoice (number),
    position integer not null,
    line_id bigint references order_line (id),
    quantity integer not null check (quantity > 0),
    net numeric(18, 2) not null,
    vat numeric(18, 2) not null,
    primary key (invoice, position)
);
create index invoice_line_of_line on invoice_line (line_id) where line_id is not null;
comment on column invoice_line.position is 'The place of the line in the document, from 1.';
comment on column invoice_line.line_id is 'Null for shipping.';
insert into invoice_line (invoice, position, line_id, quantity, net, vat)
select i.number, d.position, l.id, (d.line ->> 'quantity')::integer, (d.line ->> 'net')::numeric,
       (d.line ->> 'vat')::numeric
from invoice i
cross join lateral jsonb_array_elements(i.document -> 'lines') with ordinality as d (line, position)
left join (
    select id, order_id, row_number() over (partition by order_id order by position) as position
    from order_line where bundle_line_id is null
) as l on l.order_id = i.order_id and l.position = d.position and d.line ->> 'sku' <> '';

alter table shipment add column invoice bigint references invoice (number);
update shipment s set invoice = i.number from invoice i where i.order_id = s.order_id;
comment on column shipment.invoice is 'The invoice of its units; null until they are invoiced.';

create table invoice_balance (
    invoice bigint primary key references invoice (number),
    order_id bigint not null references orders (id),
    customer_id bigint not null references customer (id),
    due_at timestamptz not null,
    gross numeric(18, 2) not null,
    paid numeric(18, 2) not null default 0 check (paid >= 0),
    credited numeric(18, 2) not null default 0 check (credited >= 0),
    due numeric(18, 2) not null generated always as (gross - paid - credited) stored check (due >= 0)
);
create index invoice_balance_of_order on invoice_balance (order_id);
create index invoice_unpaid on invoice_balance (customer_id, due_at, invoice) where due > 0;
comment on table invoice_balance is 'What is paid and credited of each invoice, which itself never changes.';
insert into invoice_balance (invoice, order_id, customer_id, due_at, gross, paid)
select i.number, i.order_id, i.customer_id, i.due_at, i.gross,
       coalesce((select sum(p.amount) from payment p where p.invoice = i.number), 0)
from invoice i;

create table invoice_reminder (
    invoice bigint not null references invoice (number),
    stage integer not null check (stage > 0),
    reminded_at timestamptz not null,
    primary key (invoice, stage)
);
comment on column invoice_reminder.stage is 'The days past the due date at which this reminder is sent.';
"""

MONEY = """
alter table orders add column credited numeric(18, 2) not null default 0;
comment on column orders.credited is 'The gross of the credit notes against the invoices of the order.';
drop index orders_unpaid;
create index orders_unpaid on orders (customer_id) where state = 'confirmed' and paid + credited < gross;

alter table payment
    add column customer_id bigint references customer (id),
    add column received_on date,
    add column counts_from timestamptz,
    add column method text not null default 'bank_transfer' check (method in (
        'bank_transfer', 'direct_debit', 'card', 'cheque', 'cash', 'other', 'refund')),
    add column reference text not null default '',
    add column reversed_at timestamptz,
    add column reversal_reason text,
    add check ((reversed_at is null) = (reversal_reason is null));
alter table payment rename column paid_at to recorded_at;
update payment p
set customer_id = i.customer_id, received_on = (p.recorded_at at time zone 'Europe/London')::date,
    counts_from = p.recorded_at
from invoice i where i.number = p.invoice;
alter table payment
    alter column customer_id set not null,
    alter column received_on set not null,
    alter column counts_from set not null,
    alter column method drop default,
    alter column reference drop default;
comment on column payment.counts_from is 'From when it counts on statements: when it was recorded, or an earlier day.';
create index payment_of_customer on payment (customer_id, id);

create table allocation (
    id bigint generated always as identity primary key,
    payment_id bigint not null references payment (id),
    invoice bigint references invoice (number),
    refund_id bigint references payment (id),
    amount numeric(18, 2) not null check (amount <> 0),
    at timestamptz not null,
    check (num_nonnulls(invoice, refund_id) = 1)
);
create index allocation_of_payment on allocation (payment_id);
create index allocation_of_invoice on allocation (invoice) where invoice is not null;
create index allocation_of_refund on allocation (refund_id) where refund_id is not null;
comment on table allocation is 'Where the money of payments goes; a negative amount takes it back.';
comment on column allocation.at is 'From when it counts on statements.';
insert into allocation (payment_id, invoice, amount, at) select id, invoice, amount, recorded_at from payment;
alter table payment drop column invoice;

create table account_balance (
    customer_id bigint primary key references customer (id),
    unallocated numeric(18, 2) not null default 0 check (unallocated >= 0)
);
comment on table account_balance is
    'The money of payments that is on the account; its row is the lock of all steps that move money.';

create table credit_note_number (
    the_one boolean primary key default true check (the_one),
    last bigint not null
);
comment on table credit_note_number is 'One row: the last number of a credit note. Numbers have no gaps.';
insert into credit_note_number (last) values (50000);

create table credit_note (
    number bigint primary key,
    invoice bigint not null references invoice (number),
    customer_id bigint not null references customer (id),
    issued_at timestamptz not null,
    reason text not null,
    net numeric(18, 2) not null,
    vat numeric(18, 2) not null,
    gross numeric(18, 2) not null check (gross > 0),
    document jsonb not null,
    pdf bytea not null
);
create index credit_note_of_invoice on credit_note (invoice);
create index credit_note_of_customer on credit_note (customer_id, number);

create table credit_note_line (
    credit_note bigint not null references credit_note (number),
    position integer not null,
    invoice_position integer,
    quantity integer not null check (quantity > 0),
    net numeric(18, 2) not null,
    vat numeric(18, 2) not null,
    primary key (credit_note, position)
);
comment on column credit_note_line.invoice_position is 'The line of the invoice; null for an amount.';

create function refuse_money_change() returns trigger language plpgsql as $$
begin
    raise exception 'credit notes and allocations never change';
end
$$;
create trigger credit_note_never_changes before update or delete on credit_note
    for each row execute function refuse_money_change();
create trigger allocation_never_changes before update or delete on allocation
    for each row execute function refuse_money_change();
"""

RETURNS = """
alter table order_line add column unbilled integer not null default 0 check (unbilled >= 0);
comment on column order_line.unbilled is 'Units that came back before they were invoiced; they cost nothing.';
comment on column return_line.credited is 'Units that came back and are on a credit note, or were not invoiced.';
"""

BLOCK = """
alter table customer
    add column blocked_at timestamptz,
    add column blocked_reason text,
    add check ((blocked_at is null) = (blocked_reason is null));
"""


def upgrade() -> None:
    """Change the tables of billing, order lines and customers."""
    run_sql(INVOICES, MONEY, RETURNS, BLOCK)
