"""Which of two equal local times a tracking event has, former declines of quotes, and when a user's agents ended."""

from tradecounter.db.migrations.sql import run_sql

revision = "0104"
down_revision = "0103"
works_from = "0051"

_COLUMNS = """
    alter table tracking_event add column in_second_hour boolean not null default false;
    comment on column tracking_event.in_second_hour is
        'When clocks go back, a local time occurs twice: whether `date` is the second occurrence.';

    alter table order_approval add column former_declines jsonb not null default '[]';
    comment on column order_approval.former_declines is
        'The declines of a quote that was asked for again since: gross, decided_by, decided_at and reason of each.';

    alter table customer_user add column agents_ended_at timestamptz;
    comment on column customer_user.agents_ended_at is
        'When the user was disabled or lost the roles that may allow agents; what it had allowed until then has ended. '
        'Null: never.';
"""
# The audit log says how a quote was declined; a quote that waits was asked for again since.
FORMER_DECLINES = """
    update order_approval a set former_declines = former.declines
    from (
        select o.id, jsonb_agg(jsonb_build_object(
            'gross', (select (asked.after ->> 'total_gross')::numeric from audit_entry asked
                      where asked.subject = declined.subject and asked.action = 'quote.request_approval'
                        and asked.id < declined.id
                      order by asked.id desc limit 1),
            'decided_by', case when declined.actor_kind = 'user' then declined.actor_id::bigint end,
            'decided_at', declined.at,
            'reason', declined.after ->> 'reason'
        ) order by declined.id) as declines
        from orders o
        join audit_entry declined
            on declined.subject = 'quote/' || o.confirmation_code and declined.action = 'quote.decline_approval'
        group by o.id
    ) as former
    where a.order_id = former.id and a.state = 'waiting'
"""


def upgrade() -> None:
    """Add the columns. Old tracking events keep the first occurrence, as which they were shown."""
    run_sql(_COLUMNS, FORMER_DECLINES)
