"""Cancelled and returned units, changes of confirmed orders, notes, returns, and what products cost the reseller."""

from tradecounter.db.migrations.sql import run_sql

revision = "0016"
down_revision = "0015"

LINES = """
alter table order_line
    drop constraint order_line_quantity_check,
    add constraint order_line_quantity_check check (quantity >= 0),
    add column cancelled integer not null default 0 check (cancelled >= 0),
    add column returned integer not null default 0 check (returned >= 0),
    add column requested_unit_cost numeric(12, 2);
comment on column order_line.quantity is
    'Units still wanted: ordered less cancelled. A cancelled order keeps what was wanted when it was cancelled.';
comment on column order_line.cancelled is 'Units cancelled, one part or the whole order at a time.';
comment on column order_line.returned is 'Dispatched units that came back.';
comment on column order_line.requested_unit_cost is 'Of a priced quote: the unit cost at the request.';
update order_line l set cancelled = l.quantity from orders o where o.id = l.order_id and o.state = 'cancelled';
"""

CHANGES = """
create table order_change (
    id bigint generated always as identity primary key,
    order_id bigint not null references orders (id),
    kind text not null check (kind in ('cancelled', 'amended')),
    reason text not null,
    units jsonb not null,
    changed_at timestamptz not null
);
create index order_change_of_order on order_change (order_id);
comment on table order_change is 'Changes of confirmed orders: cancelled parts and amendments.';
comment on column order_change.units is 'The cancelled units by line id.';

create table order_note (
    id bigint generated always as identity primary key,
    order_id bigint not null references orders (id) on delete cascade,
    noted_at timestamptz not null,
    noted_by text not null,
    text text not null
);
create index order_note_of_order on order_note (order_id);
comment on table order_note is 'What the reseller notes about an order; customers do not see it.';
"""

RETURNS = """
create sequence return_number start with 1001;

create table order_return (
    id bigint primary key default nextval('return_number'),
    order_id bigint not null references orders (id),
    state text not null check (state in ('open', 'received', 'closed')),
    reason text not null,
    opened_at timestamptz not null,
    received_at timestamptz,
    closed_at timestamptz
);
create index order_return_of_order on order_return (order_id);
comment on column order_return.id is 'The number, without the prefix RMA-.';

create table return_line (
    return_id bigint not null references order_return (id),
    line_id bigint not null references order_line (id),
    quantity integer not null check (quantity > 0),
    restocked integer not null default 0 check (restocked >= 0),
    scrapped integer not null default 0 check (scrapped >= 0),
    credited integer not null default 0 check (credited >= 0),
    serial_numbers text[] not null default '{}',
    primary key (return_id, line_id),
    check (restocked + scrapped <= quantity),
    check (credited <= restocked + scrapped)
);
create index return_line_of_line on return_line (line_id);
comment on column return_line.credited is 'Units that came back and are on a credit note.';
"""

PRODUCTS = """
alter table product add column purchase_cost numeric(12, 2) check (purchase_cost >= 0);
comment on column product.purchase_cost is 'What the reseller pays for a unit; customers never see it.';
"""


def upgrade() -> None:
    """Extend lines and products; create the tables of changes, notes and returns."""
    run_sql(LINES, CHANGES, RETURNS, PRODUCTS)
