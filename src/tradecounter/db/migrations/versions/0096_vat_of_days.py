"""The VAT of each day: what a return adds up of a quarter is some hundred rows, not a quarter's documents."""

from typing import LiteralString

from tradecounter.db.migrations.sql import run_sql

revision = "0096"
down_revision = "0095"
works_from = "0051"

# The locks come first: no document may be issued between its trigger and the sums of those before it.
_TABLE = """
    lock table invoice, credit_note in share row exclusive mode;
    create table vat_day (
        day date not null,
        kind text not null check (kind in ('invoice', 'credit_note')),
        country text not null,
        rate numeric(5,2) not null,
        documents bigint not null,
        net numeric(18,2) not null,
        vat numeric(18,2) not null,
        primary key (day, kind, country, rate)
    );
    comment on table vat_day is
        'Sums of invoices by the UK day of their tax point, of credit notes by that of issue; triggers keep them.';
    comment on column vat_day.country is 'That of the delivery.';
"""
_INVOICES: LiteralString = """
    insert into vat_day (day, kind, country, rate, documents, net, vat)
    select (i.supplied_at at time zone 'Europe/London')::date, 'invoice', o.shipping_address ->> 'country_code',
           o.tax_rate, count(*), sum(i.net), sum(i.vat)
    from {rows} i join orders o on o.id = i.order_id
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
"""
_CREDIT_NOTES: LiteralString = """
    insert into vat_day (day, kind, country, rate, documents, net, vat)
    select (n.issued_at at time zone 'Europe/London')::date, 'credit_note', o.shipping_address ->> 'country_code',
           o.tax_rate, count(*), sum(n.net), sum(n.vat)
    from {rows} n join invoice i on i.number = n.invoice join orders o on o.id = i.order_id
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
"""
_TRIGGER: LiteralString = """
    create function add_{table}_to_vat_day() returns trigger language plpgsql as $$
    begin
        {insert}
        on conflict (day, kind, country, rate) do update
        set documents = vat_day.documents + excluded.documents, net = vat_day.net + excluded.net,
            vat = vat_day.vat + excluded.vat;
        return null;
    end
    $$;
    create trigger {table}_adds_to_vat_day after insert on {table}
        referencing new table as added for each statement execute function add_{table}_to_vat_day();
"""
# Deliveries abroad have no VAT, and are few: their documents are found without reading all of a quarter.
_INDEXES = """
    create index invoice_by_supply on invoice (supplied_at, number);
    create index invoice_without_vat on invoice (supplied_at, number) where vat = 0;
    create index credit_note_by_issue on credit_note (issued_at, number);
"""


def upgrade() -> None:
    """Add the table, the triggers that keep it, and the indexes of its documents."""
    run_sql(_TABLE)
    for table, insert in (("invoice", _INVOICES), ("credit_note", _CREDIT_NOTES)):
        run_sql(_TRIGGER.format(table=table, insert=insert.format(rows="added")), insert.format(rows=table))
    run_sql(_INDEXES)
