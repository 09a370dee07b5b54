"""Catalogue, customers, prices, stock, shipping methods, orders, keys."""

from tradecounter.db.migrations.sql import run_sql

revision = "0001"
down_revision = None

SHARED = """
create table change (
    topic text primary key,
    version bigint not null default 0
);
comment on table change is 'A counter per kind of reference data; processes reload what has moved on.';
"""

CATALOGUE = """
create table manufacturer (
    key text primary key,
    name text not null,
    active boolean not null default true
);

create table category (
    key text primary key,
    name text not null,
    parent_key text references category (key),
    position integer not null default 0,
    active boolean not null default true
);

create table attribute (
    key text primary key,
    name text not null,
    type text not null check (type in ('boolean', 'string', 'int')),
    possible_values jsonb not null default '[]',
    active boolean not null default true
);

create table product (
    id bigint generated always as identity primary key,
    sku text not null,
    sku_key text not null unique,
    ean text,
    name text not null,
    manufacturer text not null references manufacturer (key),
    weight_kg numeric(10, 3) not null default 0,
    box_width_mm numeric(10, 1) not null default 0,
    box_height_mm numeric(10, 1) not null default 0,
    box_length_mm numeric(10, 1) not null default 0,
    clearance_product boolean not null default false,
    configurable boolean not null default false,
    consumer_unit_cost numeric(12, 2) not null default 0,
    description text not null default '',
    description_html text not null default '',
    short_description text not null default '',
    store_url text not null default '',
    images jsonb not null default '[]',
    categories jsonb not null default '[]',
    attributes jsonb not null default '{}',
    related_products jsonb not null default '[]',
    similar_products jsonb not null default '[]',
    active boolean not null default true
);
comment on column product.sku_key is 'The SKU without regard to case, as the application folds it.';
"""

PRICING = """
create table price_list (
    key text primary key
);

create table price (
    price_list text not null references price_list (key),
    product_id bigint not null references product (id),
    single_unit_cost numeric(12, 2) not null check (single_unit_cost >= 0),
    five_plus_unit_cost numeric(12, 2) check (five_plus_unit_cost >= 0),
    ten_plus_unit_cost numeric(12, 2) check (ten_plus_unit_cost >= 0),
    primary key (price_list, product_id)
);
"""

CUSTOMERS = """
create table customer (
    id bigint generated always as identity (start with 1001) primary key,
    email_address text not null,
    email_key text not null unique,
    first_name text not null,
    last_name text not null,
    company text not null default '',
    accounts_email text,
    trade_account boolean not null default false,
    price_list text references price_list (key),
    discount numeric(5, 2) not null default 0 check (discount between 0 and 100),
    credit_limit numeric(14, 2) check (credit_limit >= 0),
    term_days integer check (term_days >= 0),
    packing text not null default 'own' check (packing in ('own', 'plain')),
    shipping_method integer,
    unique_references boolean not null default false,
    created_at timestamptz not null default now(),
    check ((credit_limit is null) = (term_days is null))
);
comment on column customer.discount is 'Per cent off every price that is not a contract price.';

create table address (
    id bigint generated always as identity (start with 5001) primary key,
    customer_id bigint not null references customer (id),
    details jsonb not null,
    deleted_at timestamptz
);
create index address_of_customer on address (customer_id) where deleted_at is null;

create table contract_price (
    id bigint generated always as identity primary key,
    customer_id bigint not null references customer (id),
    product_id bigint not null references product (id),
    single_unit_cost numeric(12, 2) not null check (single_unit_cost >= 0),
    five_plus_unit_cost numeric(12, 2) check (five_plus_unit_cost >= 0),
    ten_plus_unit_cost numeric(12, 2) check (ten_plus_unit_cost >= 0),
    valid_from date,
    valid_until date,
    check (valid_until >= valid_from),
    unique nulls not distinct (customer_id, product_id, valid_from)
);

create table credit_exposure (
    customer_id bigint primary key references customer (id),
    outstanding numeric(18, 2) not null default 0
);
comment on table credit_exposure is
    'The unpaid gross of a customer''s confirmed orders; its row is the account''s lock.';

create table api_key (
    id bigint generated always as identity primary key,
    customer_id bigint not null references customer (id),
    name text not null,
    prefix text not null,
    hash bytea not null unique,
    created_at timestamptz not null,
    last_used_at timestamptz,
    disabled_at timestamptz
);
create index api_key_of_customer on api_key (customer_id);
"""

STOCK = """
create table stock_level (
    product_id bigint primary key references product (id),
    available bigint not null default 0 check (available >= 0),
    allocated bigint not null default 0 check (allocated >= 0),
    back_ordered bigint not null default 0 check (back_ordered >= 0),
    changed_by xid8 not null default pg_current_xact_id()
);
create index stock_level_changed on stock_level (changed_by);
comment on column stock_level.available is 'Units that can still be sold.';
comment on column stock_level.allocated is 'Units promised to confirmed orders and not yet dispatched.';
comment on column stock_level.back_ordered is 'Units ordered that no stock could be allocated to.';
comment on column stock_level.changed_by is 'The transaction that last wrote the row; processes read what is new.';

create table incoming_stock (
    product_id bigint not null references product (id),
    expected_on timestamptz not null,
    incoming integer not null check (incoming > 0),
    primary key (product_id, expected_on)
);
"""

SHIPPING = """
create table shipping_method (
    id integer primary key,
    provider text not null,
    description text not null default '',
    region integer not null,
    countries jsonb not null,
    max_weight_kg numeric(10, 3) not null,
    base_cost_net numeric(12, 2) not null check (base_cost_net >= 0),
    cost_per_kg_net numeric(12, 2) not null default 0 check (cost_per_kg_net >= 0),
    transit_days integer not null default 1 check (transit_days >= 0),
    cut_off time not null default '17:00',
    active boolean not null default true
);
"""

ORDERING = """
create sequence order_number start with 100001;

create table orders (
    id bigint generated always as identity primary key,
    customer_id bigint not null references customer (id),
    kind text not null check (kind in ('order', 'quote')),
    state text not null check (state in ('pending', 'expired', 'confirmed', 'cancelled')),
    confirmation_code text not null unique,
    number bigint unique,
    order_reference text unique,
    customer_reference text not null,
    external_customer_id text,
    billing_address jsonb not null,
    shipping_address jsonb not null,
    order_notifications jsonb,
    courier_notifications jsonb,
    shipping_region integer not null,
    shipping_options jsonb not null,
    shipping_method integer,
    shipping_weight numeric(14, 3) not null,
    shipping_net numeric(14, 2),
    shipping_tax numeric(14, 2),
    cost_net numeric(18, 2) not null,
    cost_tax numeric(18, 2) not null,
    tax_rate numeric(5, 2) not null,
    gross numeric(18, 2) not null
        generated always as (cost_net + cost_tax + coalesce(shipping_net, 0) + coalesce(shipping_tax, 0)) stored,
    paid numeric(18, 2) not null default 0,
    status text,
    term_days integer,
    created_at timestamptz not null,
    expires_at timestamptz,
    confirmed_at timestamptz,
    check ((number is null) = (confirmed_at is null)),
    check ((number is null) = (order_reference is null)),
    check (number is null or shipping_method is not null)
);
create index orders_of_customer on orders (customer_id, confirmed_at desc, number desc) where state = 'confirmed';
create index orders_unpaid on orders (customer_id) where state = 'confirmed' and paid < gross;
create index orders_pending on orders (expires_at) where state = 'pending';
create index orders_by_customer_reference on orders (customer_id, customer_reference)
    where state in ('pending', 'confirmed');
comment on column orders.term_days is 'The credit term agreed when the order was confirmed.';
comment on column orders.number is 'The order id of the wire, given at confirmation.';

create table order_line (
    id bigint generated always as identity (start with 700001) primary key,
    order_id bigint not null references orders (id),
    position integer not null,
    product_id bigint not null references product (id),
    sku text not null,
    name text not null,
    quantity integer not null check (quantity > 0),
    unit_cost numeric(12, 2) not null check (unit_cost >= 0),
    cost_net numeric(18, 2) not null,
    cost_tax numeric(18, 2) not null,
    allocated integer not null default 0 check (allocated >= 0),
    back_ordered integer not null default 0 check (back_ordered >= 0),
    unique (order_id, position)
);
create index order_line_back_ordered on order_line (product_id) where back_ordered > 0;
"""


def upgrade() -> None:
    """Create the tables, slice by slice."""
    run_sql(SHARED, CATALOGUE, PRICING, CUSTOMERS, STOCK, SHIPPING, ORDERING)
