"""What the shop needs: baskets, lists, approvals, alerts, requests, rights of users, documents of products."""

from tradecounter.db.migrations.sql import run_sql

revision = "0042"
down_revision = "0041"
works_from = "0041"

_BASKETS = """
    create table basket_line (
        user_id bigint not null references customer_user on delete cascade,
        product_id bigint not null references product,
        quantity integer not null check (quantity > 0),
        position bigint generated always as identity,
        primary key (user_id, product_id)
    );
    comment on column basket_line.position is 'The order of the lines; a new line comes last.';
"""
_LISTS = """
    create table saved_list (
        id bigint generated always as identity primary key,
        customer_id bigint not null references customer on delete cascade,
        user_id bigint references customer_user on delete cascade,
        name text not null,
        created_at timestamptz not null
    );
    comment on column saved_list.user_id is 'Whose own list it is; null for one of all users of the customer.';
    create index saved_list_of_customer on saved_list (customer_id);
    create index saved_list_of_user on saved_list (user_id);
    create table saved_list_line (
        list_id bigint not null references saved_list on delete cascade,
        product_id bigint not null references product,
        quantity integer not null check (quantity > 0),
        position bigint generated always as identity,
        primary key (list_id, product_id)
    );
"""
_APPROVALS = """
    create table order_approval (
        order_id bigint primary key references orders on delete cascade,
        requested_by bigint references customer_user on delete set null,
        requested_at timestamptz not null,
        shipping_method integer not null,
        gross numeric(18,2) not null,
        note text not null,
        state text not null default 'waiting' check (state in ('waiting', 'approved', 'declined')),
        decided_by bigint references customer_user on delete set null,
        decided_at timestamptz,
        reason text not null default ''
    );
    create index order_approval_of_user on order_approval (requested_by);
    create index order_approval_by_decider on order_approval (decided_by);
    create index order_approval_waiting on order_approval (order_id) where state = 'waiting';
"""
_ALERTS = """
    create table stock_alert (
        user_id bigint not null references customer_user on delete cascade,
        product_id bigint not null references product,
        created_at timestamptz not null,
        in_stock_at timestamptz,
        primary key (user_id, product_id)
    );
    comment on column stock_alert.in_stock_at is 'When the user was told; null while the user waits.';
    create index stock_alert_waiting on stock_alert (product_id) where in_stock_at is null;
"""
_REQUESTS = """
    create table customer_request (
        id bigint generated always as identity primary key,
        kind text not null check (kind in ('cancel', 'return', 'message')),
        order_id bigint not null references orders on delete cascade,
        user_id bigint references customer_user on delete set null,
        items jsonb not null,
        text text not null,
        opened_at timestamptz not null,
        closed_at timestamptz,
        closed_by bigint references staff_member,
        answer text not null default ''
    );
    comment on column customer_request.items is 'Units to cancel or to return: `id`, `sku` and `quantity`.';
    create index customer_request_of_order on customer_request (order_id);
    create index customer_request_of_user on customer_request (user_id);
    create index customer_request_open on customer_request (opened_at) where closed_at is null;
"""
_USERS = """
    alter table customer_user
        add column more_roles text[] not null default '{}',
        add column order_limit numeric(12,2) check (order_limit > 0),
        drop constraint customer_user_role_check,
        add constraint customer_user_role_check
            check (role in ('owner', 'buyer', 'approver', 'accounts', 'developer'));
    comment on column customer_user.more_roles is 'Further roles; `role` is the first.';
    comment on column customer_user.order_limit is 'The greatest gross of an order without approval; null: any.';
"""
_DOCUMENTS = """
    alter table product add column documents jsonb not null default '[]';
    comment on column product.documents is 'Datasheets and other links: objects with `name` and `url`.';
"""


def upgrade() -> None:
    """Create the tables and the columns."""
    run_sql(_BASKETS, _LISTS, _APPROVALS, _ALERTS, _REQUESTS, _USERS, _DOCUMENTS)
