"""What customers tell of payments that they have made."""

from tradecounter.db.migrations.sql import run_sql

revision = "0050"
down_revision = "0049"
works_from = "0049"

_REMITTANCES = """
    create table remittance (
        id bigint generated always as identity primary key,
        customer_id bigint not null references customer,
        user_id bigint references customer_user on delete set null,
        amount numeric(18,2) not null check (amount > 0),
        paid_on date not null,
        reference text not null,
        invoices bigint[] not null,
        told_at timestamptz not null,
        payment_id bigint references payment
    );
    comment on column remittance.payment_id is 'The payment that a bank file had of it; null while it is awaited.';
    create index remittance_of_customer on remittance (customer_id, id);
    create index remittance_of_payment on remittance (payment_id);
    create index remittance_awaited on remittance (amount) where payment_id is null;
"""


def upgrade() -> None:
    """Create the table."""
    run_sql(_REMITTANCES)
