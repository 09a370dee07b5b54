"""What the events on changed prices and stock need, and what `orders.number` means now."""

from tradecounter.db.migrations.sql import run_sql

revision = "0015"
down_revision = "0014"

ANNOUNCED = """
alter table price add column changed_by xid8;
comment on column price.changed_by is 'The transaction that wrote the row last; null: before this column existed.';
alter table contract_price add column changed_by xid8;
comment on column contract_price.changed_by is
    'The transaction that wrote the row last; null: before this column existed.';

create table removed_price (
    price_list text,
    customer_id bigint,
    product_id bigint not null,
    changed_by xid8 not null default pg_current_xact_id(),
    check ((price_list is null) <> (customer_id is null))
);
comment on table removed_price is 'Deleted prices of lists and of contracts, until their change is announced.';

create table announced (
    the_one boolean primary key default true check (the_one),
    at timestamptz not null,
    seen pg_snapshot not null,
    price_version bigint not null,
    orders_from bigint not null default 0
);
comment on table announced is 'One row: which changes of prices and stock have their events.';
comment on column announced.seen is 'The snapshot of the last announcement: it shows what was announced.';
comment on column announced.price_version is 'The sum of the versions of prices and contracts then.';
comment on column announced.orders_from is 'Orders with lower ids are too old to concern their customers.';
insert into announced (at, seen, price_version) values (now(), pg_current_snapshot(), 0);
"""

NUMBER = """
comment on column orders.number is 'The number in the order reference, given at confirmation.';
"""


def upgrade() -> None:
    """Mark changed prices, and keep which changes were announced."""
    run_sql(ANNOUNCED, NUMBER)
