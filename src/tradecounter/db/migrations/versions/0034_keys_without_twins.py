"""No two keys of a table that differ only in case, composition or white space at their ends.

Imports compare keys so; the indexes keep it true, for ASCII letters in the database alone. Of twins that exist, the one
in lower case keeps its key. The others get a number behind theirs, such as `Default ~2`, and keep what refers to them:
nobody's prices change, and the next import of their file finds the first. SKUs lose white space at their ends unless
that would make them another product's.
"""

from tradecounter.db.migrations.sql import run_sql

revision = "0034"
down_revision = "0033"
works_from = "0028"

LOCKS = "lock table price_list, manufacturer, category, attribute, product in share row exclusive mode;"

RENAMES = """
create function pg_temp.form(key text) returns text language sql immutable as $$
    select lower(normalize(btrim(key), nfc) collate "C")
$$;

create temporary table renamed (of text, key text, new_key text) on commit drop;

insert into renamed
select of, key, format('%s ~%s', btrim(key), place)
from (
    select of, key,
           row_number() over (partition by of, pg_temp.form(key)
                              order by key <> pg_temp.form(key), key <> normalize(btrim(key), nfc),
                                       key collate "C") as place
    from (select 'price_list' as of, key from price_list union all select 'manufacturer', key from manufacturer
          union all select 'category', key from category union all select 'attribute', key from attribute) keys
) ranked
where place > 1;

insert into price_list (key) select new_key from renamed where of = 'price_list';
update price set price_list = new_key from renamed where of = 'price_list' and price_list = key;
update customer set price_list = new_key from renamed where of = 'price_list' and price_list = key;
update removed_price set price_list = new_key from renamed where of = 'price_list' and price_list = key;
delete from price_list using renamed where of = 'price_list' and price_list.key = renamed.key;

insert into manufacturer (key, name, active)
select new_key, name, active from manufacturer m join renamed r on r.of = 'manufacturer' and r.key = m.key;
update product set manufacturer = new_key from renamed where of = 'manufacturer' and manufacturer = key;
delete from manufacturer using renamed where of = 'manufacturer' and manufacturer.key = renamed.key;

insert into category (key, name, parent_key, position, active)
select new_key, name, parent_key, position, active
from category c join renamed r on r.of = 'category' and r.key = c.key;
update category set parent_key = new_key from renamed where of = 'category' and parent_key = renamed.key;
update product set categories = (
    select jsonb_agg(coalesce(r.new_key, given.key) order by place)
    from jsonb_array_elements_text(categories) with ordinality as given (key, place)
    left join renamed r on r.of = 'category' and r.key = given.key)
where exists (select from renamed where of = 'category' and categories ? key);
delete from category using renamed where of = 'category' and category.key = renamed.key;

update attribute set key = new_key from renamed where of = 'attribute' and attribute.key = renamed.key;
update product set attributes = (
    select jsonb_object_agg(coalesce(r.new_key, given.key), given.value)
    from jsonb_each(attributes) as given left join renamed r on r.of = 'attribute' and r.key = given.key)
where exists (select from renamed where of = 'attribute' and attributes ? key);
"""

SKUS = """
update product set sku = normalize(btrim(sku), nfc), sku_key = form
from (
    select id as product_id, normalize(btrim(sku_key), nfc) as form,
           row_number() over (partition by normalize(btrim(sku_key), nfc)
                              order by sku_key <> normalize(btrim(sku_key), nfc), id) as place
    from product
) wanted
where id = product_id and place = 1 and form <> '' and sku_key <> form;

update product set components = (
    select jsonb_agg(jsonb_set(component, '{key}', to_jsonb(normalize(btrim(component ->> 'key'), nfc))) order by place)
    from jsonb_array_elements(components) with ordinality as given (component, place))
where exists (
    select from jsonb_array_elements(components) as component
    where component ->> 'key' <> normalize(btrim(component ->> 'key'), nfc));
"""

INDEXES = """
create unique index price_list_by_form on price_list (lower(normalize(btrim(key), nfc) collate "C"));
create unique index manufacturer_by_form on manufacturer (lower(normalize(btrim(key), nfc) collate "C"));
create unique index category_by_form on category (lower(normalize(btrim(key), nfc) collate "C"));
create unique index attribute_by_form on attribute (lower(normalize(btrim(key), nfc) collate "C"));
"""

NOTICE = "update change set version = version + 1 where topic in ('catalogue', 'prices', 'customers');"


def upgrade() -> None:
    """Rename twins, and create the indexes."""
    run_sql(LOCKS, RENAMES, SKUS, INDEXES, NOTICE)
