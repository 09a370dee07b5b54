"""Lines of bank files that an earlier file has too, so that rolling that one back does not lose them."""

from tradecounter.db.migrations.sql import run_sql

revision = "0105"
down_revision = "0104"
works_from = "0051"

_REPEATED = """
    create table repeated_bank_line (
        bank_line_id bigint not null references bank_line on delete cascade,
        bank_file_id bigint not null references bank_file,
        line integer not null,
        primary key (bank_line_id, bank_file_id)
    );
    comment on table repeated_bank_line is
        'Lines of a file that an earlier file stored. If that one is rolled back, they belong to this one.';
    create index repeated_bank_line_of_file on repeated_bank_line (bank_file_id);
"""


def upgrade() -> None:
    """Create the table."""
    run_sql(_REPEATED)
