"""The lines of banks' files: what was recorded, what waits to be placed, and what was set aside."""

from tradecounter.db.migrations.sql import run_sql

revision = "0035"
down_revision = "0034"
works_from = "0028"

LINES = """
create table bank_file (
    id bigint generated always as identity primary key,
    name text not null,
    at timestamptz not null,
    made_by text not null,
    lines integer not null,
    recorded integer not null,
    payments_out integer not null,
    repeated integer not null,
    unplaced integer not null,
    rolled_back_at timestamptz
);
comment on table bank_file is 'Every imported bank file, and whether it was rolled back.';

create table bank_line (
    id bigint generated always as identity primary key,
    bank_file_id bigint not null references bank_file (id),
    line integer not null,
    day_written text not null,
    amount_written text not null,
    reference text not null,
    received_on date,
    amount numeric(18, 2) check (amount > 0),
    usual text not null,
    identity text not null,
    occurrence integer not null,
    state text not null check (state in ('unplaced', 'placed', 'set_aside')),
    why text not null,
    payment_id bigint references payment (id),
    placed_by bigint references bank_file (id),
    changed_at timestamptz not null,
    constraint bank_line_placed check (state <> 'placed' or payment_id is not null)
);
comment on table bank_line is 'Each line of bank files with money received, once, however often it is imported.';
comment on column bank_line.bank_file_id is 'The first file with the line.';
comment on column bank_line.usual is 'What names the payer; later lines with it are placed like those placed by hand.';
comment on column bank_line.identity is 'A hash of date, amount and reference; equal lines differ by occurrence.';
comment on column bank_line.payment_id is 'The payment of the line; if it is not placed, the reversed one.';
comment on column bank_line.placed_by is 'The file whose import placed the line; null if somebody did.';

create unique index bank_line_identity on bank_line (identity, occurrence);
create index bank_line_waiting on bank_line (id) where state = 'unplaced';
create index bank_line_usual on bank_line (usual) where state = 'placed';
create index bank_line_of_payment on bank_line (payment_id) where payment_id is not null;
create index bank_line_of_file on bank_line (bank_file_id);
create index bank_line_placed_by on bank_line (placed_by) where placed_by is not null;
"""


def upgrade() -> None:
    """Create the tables."""
    run_sql(LINES)
