"""Programs ask about orders and answer requests; a customer's quotes are found by an index."""

from tradecounter.db.migrations.sql import run_sql

revision = "0056"
down_revision = "0055"
works_from = "0051"

_PROGRAMS = """
    alter table customer_request
        add column opened_as text not null default '',
        add column closed_as text not null default '';
    comment on column customer_request.opened_as is 'The name of the key that asked; empty for a user.';
    comment on column customer_request.closed_as is
        'The service token or the command''s user that answered; empty for a member of the staff.';
    create index quotes_of_customer on orders (customer_id, id) where kind = 'quote';
"""


def upgrade() -> None:
    """Add the columns and the index."""
    run_sql(_PROGRAMS)
