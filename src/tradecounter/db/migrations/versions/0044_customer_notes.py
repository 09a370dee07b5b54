"""What staff know of a customer: contacts, notes and promises to pay."""

from tradecounter.db.migrations.sql import run_sql

revision = "0044"
down_revision = "0043"
works_from = "0043"

_CONTACTS = """
    create table customer_contact (
        id bigint generated always as identity primary key,
        customer_id bigint not null references customer,
        name text not null,
        task text not null,
        email text not null,
        phone text not null
    );
    comment on column customer_contact.task is 'What to speak to the person about, such as invoices.';
    create index customer_contact_of_customer on customer_contact (customer_id);
"""
_NOTES = """
    create table customer_note (
        id bigint generated always as identity primary key,
        customer_id bigint not null references customer,
        text text not null,
        promised_on date,
        written_by text not null,
        written_at timestamptz not null
    );
    comment on column customer_note.promised_on is 'The day until which the customer has promised to pay.';
    create index customer_note_of_customer on customer_note (customer_id, written_at desc, id desc);
    create index customer_note_promised on customer_note (customer_id, id desc) where promised_on is not null;
"""


def upgrade() -> None:
    """Create the tables."""
    run_sql(_CONTACTS, _NOTES)
