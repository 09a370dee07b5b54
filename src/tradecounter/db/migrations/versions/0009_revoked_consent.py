"""When a customer's consent to an application was last revoked."""

from tradecounter.db.migrations.sql import run_sql

revision = "0009"
down_revision = "0008"

REVOKED_CONSENT = """
create table revoked_consent (
    client_id text not null references application (client_id),
    customer_id bigint not null references customer (id),
    revoked_at timestamptz not null,
    primary key (client_id, customer_id)
);
comment on table revoked_consent is 'Subject tokens issued until then are no longer exchanged.';
"""


def upgrade() -> None:
    """Create the table of revocations."""
    run_sql(REVOKED_CONSENT)
