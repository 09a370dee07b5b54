"""Mails: who gets them, what was sent already, tracking links, and the id of the installation."""

from tradecounter.db.migrations.sql import run_sql

revision = "0012"
down_revision = "0011"

MAILS = """
alter table customer add column order_mails boolean not null default true;
comment on column customer.order_mails is
    'Whether the account''s address gets the mails of orders that name no address themselves.';

alter table orders add column reminded_pricing integer not null default 0;
comment on column orders.reminded_pricing is 'The pricing of a quote whose end the customer was reminded of; 0: none.';
alter table orders add column expected_changed_at timestamptz;
comment on column orders.expected_changed_at is
    'When the expected dates of a back-order changed last, after its confirmation.';

alter table shipping_method add column tracking_url text;
comment on column shipping_method.tracking_url is 'With {tracking_number} in the place of the number.';

create table installation (
    the_one boolean primary key default true check (the_one),
    id uuid not null default gen_random_uuid(),
    demo boolean not null default false
);
comment on table installation is
    'One row. The id makes Message-IDs unique; a demo may issue invoices in the name of the example seller.';
insert into installation default values;
"""


def upgrade() -> None:
    """Add the columns, and the table with the installation's id."""
    run_sql(MAILS)
