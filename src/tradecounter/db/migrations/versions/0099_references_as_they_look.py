"""Compare customers' references as they look, and know the lines of bank files that were dated in days to come."""

from tradecounter.db.migrations.sql import run_sql

revision = "0099"
down_revision = "0098"
works_from = "0051"

# White space and invisible characters as `kit/text.py` has them.
_KEY = r"""
    create function reference_key(reference text) returns text
    language sql immutable parallel safe
    return lower(normalize(btrim(regexp_replace(
        regexp_replace(
            reference,
            '[\u0001-\u0008\u000e-\u001b\u007f-\u0084\u0086-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5'
            '\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb'
            '\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]',
            '', 'g'
        ),
        '[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+', ' ', 'g'
    ))));

    comment on function reference_key(text) is
        'The form in which references are compared: without case, invisible characters and surplus white space.';

    drop index orders_by_customer_reference;
    create index orders_by_customer_reference on orders (reference_key(customer_reference), customer_id);
"""
# While its day was to come, a line was known by the day as it is written; now it is by the day itself.
# The texts of identities are folded by Python: a line whose reference PostgreSQL folds otherwise, such as by ß, ς or İ,
# keeps its former identity.
LINES_OF_DAYS_TO_COME = r"""
    with read as (
        select id, occurrence, identity, day_written, coalesce(amount::text, amount_written) as pounds,
               lower(normalize(reference)) as folded,
               regexp_match(day_written, '^([0-9]{4})-([0-9]{2})-([0-9]{2})([ T,]+[0-9:.]+)?$') as iso,
               regexp_match(
                   day_written,
                   '(?i)^([0-9]{1,2})([/ -])([0-9]{1,2}|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?'
                   '|july?|aug(?:ust)?|sept?|september|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)'
                   '\2([0-9]{4}|[0-9]{2})([ T,]+[0-9:.]+)?$'
               ) as uk
        from bank_line where received_on is null
    ), parts as (
        select *,
               coalesce(iso[1], case when length(uk[4]) = 2 then '20' else '' end || uk[4])::integer as year,
               case when iso is not null then iso[2]::integer
                    when uk[3] ~ '^[0-9]' then uk[3]::integer
                    else (position(lower(left(uk[3], 3)) in 'janfebmaraprmayjunjulaugsepoctnovdec') + 2) / 3
               end as month,
               coalesce(iso[3], uk[1])::integer as day
        from read where iso is not null or uk is not null
    ), dated as (
        select *, make_date(year, month, 1) + (day - 1) as dated
        from parts where year > 0 and month between 1 and 12 and day between 1 and 31
    ), renamed as (
        select distinct on (renamed, occurrence) id, occurrence, renamed
        from dated
        cross join lateral (select concat_ws(e'\x1f', '', pounds, folded) as rest) as r
        cross join lateral (
            select encode(sha256(convert_to(day_written || rest, 'UTF8')), 'hex') as former,
                   encode(sha256(convert_to(to_char(dated, 'YYYY-MM-DD') || rest, 'UTF8')), 'hex') as renamed
        ) as names
        where extract(month from dated) = month and identity = former and former <> renamed
        order by renamed, occurrence, id
    )
    update bank_line l set identity = r.renamed from renamed r
    where l.id = r.id
      and not exists (select from bank_line o where o.identity = r.renamed and o.occurrence = r.occurrence)
"""


def upgrade() -> None:
    """Add the form of references with its index, and give lines of days to come their identities."""
    run_sql(_KEY, LINES_OF_DAYS_TO_COME)
