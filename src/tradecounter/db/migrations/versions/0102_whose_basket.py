"""Whose basket has the lines of a pending order, the last invoice that alerts have seen, and comments as things are."""

from tradecounter.db.migrations.sql import run_sql

revision = "0102"
down_revision = "0101"
works_from = "0051"

_COLUMNS = """
    alter table orders
        add column in_basket_of bigint constraint orders_in_basket_of_fkey references customer_user on delete set null;
    create index orders_in_baskets on orders (in_basket_of) where in_basket_of is not null;
    comment on column orders.in_basket_of is
        'The user whose basket still has the lines of the order, until it is confirmed; null: nobody''s.';

    alter table chosen_alert add column seen_invoice bigint;
    comment on column chosen_alert.seen_invoice is
        'The last invoice at the last e-mail, which told of none of the later ones; null: there was no e-mail yet.';
    update chosen_alert set seen_invoice = (select last from invoice_number) where kind = 'invoices_due';
"""
# The audit log says who made pending orders: those that replace each other were in the basket of the first one's maker,
# until an approval was requested.
IN_BASKETS = """
    with recursive made as (
        select o.id, e.actor_kind, e.actor_id, e.after ->> 'replaces' as replaces
        from orders o
        join audit_entry e on e.subject = 'order/' || o.confirmation_code and e.action = 'order.create'
        where o.kind = 'order' and o.state = 'pending'
          and not exists (select from order_approval a where a.order_id = o.id)
        union all
        select m.id, e.actor_kind, e.actor_id, e.after ->> 'replaces'
        from made m
        join orders f on f.confirmation_code = m.replaces
        join audit_entry e on e.subject = 'order/' || m.replaces and e.action = 'order.create'
        where not exists (select from order_approval a where a.order_id = f.id)
    )
    update orders o set in_basket_of = u.id
    from made m join customer_user u on u.id::text = m.actor_id
    where o.id = m.id and m.actor_kind = 'user' and m.replaces is null
"""
_COMMENTS = """
    comment on column price_alert.changes is
        'What an e-mail tells of each day, such as 2026-11-30: before and after by product id.';
    comment on column stock_level.changed_by is
        'The transaction that changed `available` or `back_ordered` last; processes read what is new.';
    comment on column bank_line.usual is
        'What names the payer, `payer_text` in the program. A payer whose lines were all placed with one customer, and '
        'one of them by hand, has this customer.';
    comment on table caller_idempotency_key is
        'As idempotency_key, for the back office''s API and the forms of all pages. Secrets are null in the bodies.';
    comment on column caller_idempotency_key.caller is 'The kind and the id, such as token/3, staff/1 or user/5.';
    comment on table request_log is 'Requests of keys, applications and agents in the last seven days.';
    comment on column request_log.caller is 'key/ID, application/CLIENT_ID or agent/ID.';
    comment on column customer_request.opened_as is
        'The name of the key, the application or the agent that asked; empty for a user.';
"""


def upgrade() -> None:
    """Add the columns, and say what they would have said."""
    run_sql(_COLUMNS, IN_BASKETS, _COMMENTS)
