"""The former spelling of a product's SKU, for copies of the catalogue that are kept by SKU (docs/adr/0038)."""

from tradecounter.db.migrations.sql import run_sql

revision = "0085"
down_revision = "0070"
works_from = "0051"

_COLUMN = """
    alter table catalogue_change add column former_skus jsonb;
    comment on column catalogue_change.former_skus is
        'The former SKU of each product whose SKU is spelled differently now, by id.';
"""

# As before, and it also notes the former spelling. Inactive products count too: a copy may still have them.
_PRODUCTS = """
    create or replace function note_changed_products() returns trigger language plpgsql as $$
    begin
        if tg_op = 'INSERT' then
            insert into catalogue_change (topic, product_ids)
            select 'catalogue', array_agg(id) from added where active having count(*) > 0;
        elsif tg_op = 'UPDATE' then
            insert into catalogue_change (topic, product_ids, former_skus)
            select 'catalogue', coalesce(array_agg(n.id) filter (where n.active or o.active), '{}'),
                   jsonb_object_agg(n.id, o.sku) filter (where n.sku <> o.sku)
            from changed n join former o using (id)
            where (n.active or o.active or n.sku <> o.sku) and n is distinct from o
              and ((n.purchase_cost, n.external_id) is not distinct from (o.purchase_cost, o.external_id)
                   or to_jsonb(n) - array['purchase_cost', 'external_id']
                      is distinct from to_jsonb(o) - array['purchase_cost', 'external_id'])
            having count(*) > 0;
        else
            insert into catalogue_change (topic, product_ids)
            select 'catalogue', array_agg(id) from former where active having count(*) > 0;
        end if;
        return null;
    end $$;
"""


def upgrade() -> None:
    """Note former spellings from now on."""
    run_sql(_COLUMN, _PRODUCTS)
