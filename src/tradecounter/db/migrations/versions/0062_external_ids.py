"""Ids of the reseller's other programs."""

from tradecounter.db.migrations.sql import run_sql

revision = "0062"
down_revision = "0061"
works_from = "0051"

# An import may exchange the ids of two records, so they are compared when its statement ends. Of orders, few have one.
_IDS = """
    alter table customer add column external_id text;
    alter table customer add constraint customer_external_id_key unique (external_id) deferrable;
    alter table product add column external_id text;
    alter table product add constraint product_external_id_key unique (external_id) deferrable;
    alter table orders add column external_id text;
    create unique index orders_external_id_key on orders (external_id) where external_id is not null;
    comment on column customer.external_id is 'The reseller''s own id of the customer, which the customer never sees.';
    comment on column product.external_id is 'The reseller''s own id of the product, which customers never see.';
    comment on column orders.external_id is 'The reseller''s own id of the order, which the customer never sees.';
"""


def upgrade() -> None:
    """Add the columns."""
    run_sql(_IDS)
