"""Invoices, which never change and are numbered without gaps, and the payments against them."""

from tradecounter.db.migrations.sql import run_sql

revision = "0005"
down_revision = "0004"

BILLING = """
create table invoice_number (
    the_one boolean primary key default true check (the_one),
    last bigint not null
);
comment on table invoice_number is
    'One row. Issuing an invoice locks it, so that numbers have no gaps.';
insert into invoice_number (last) values (10000);

create table invoice (
    number bigint primary key,
    order_id bigint not null unique references orders (id),
    issued_at timestamptz not null,
    supplied_at timestamptz not null,
    due_at timestamptz not null,
    gross numeric(18, 2) not null,
    document jsonb not null,
    pdf bytea not null
);
comment on column invoice.supplied_at is 'The time of supply: when the last of the order was dispatched.';

create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'an invoice never changes';
end
$$;
create trigger invoice_never_changes before update or delete on invoice
    for each row execute function refuse_change();

create table payment (
    id bigint generated always as identity primary key,
    invoice bigint not null references invoice (number),
    amount numeric(18, 2) not null check (amount > 0),
    paid_at timestamptz not null
);
create index payment_of_invoice on payment (invoice);
"""


def upgrade() -> None:
    """Create the tables of billing."""
    run_sql(BILLING)
