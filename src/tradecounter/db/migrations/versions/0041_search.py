"""What searches need: groups of words that mean the same, and indexes of what people have at hand of an order."""

from tradecounter.db.migrations.sql import run_sql

revision = "0041"
down_revision = "0040"
works_from = "0040"

_SYNONYMS = """
    create table synonym_group (
        key text primary key,
        words text not null,
        active boolean not null default true
    );
"""

# `text_pattern_ops` finds beginnings in databases of any collation. `orders/queries/all_orders.py` has the same
# expressions.
_INDEXES = r"""
    create index orders_by_reference_word on orders
        ((lower(regexp_replace(customer_reference, '[^[:alnum:]]', '', 'g'))) text_pattern_ops)
        where customer_reference <> '';
    create index orders_by_reference_digits on orders
        ((substring(customer_reference from '([0-9]{3,})([^0-9]+[0-9]{0,2})*$')) text_pattern_ops)
        where substring(customer_reference from '([0-9]{3,})([^0-9]+[0-9]{0,2})*$') is not null;
    create index orders_by_postcode on orders
        ((upper(regexp_replace(shipping_address ->> 'zip', '[^[:alnum:]]', '', 'g'))) text_pattern_ops);
    create index invoice_by_gross on invoice (gross, number);
"""


def upgrade() -> None:
    """Create the table of groups, and the indexes."""
    run_sql(_SYNONYMS, _INDEXES)
