"""The first owner of each account."""

from typing import LiteralString

from psycopg.sql import SQL

from tradecounter.db.statement import Statement

# An address that is another customer's user gets no second one; that account has no owner until one is invited.
_ADD: LiteralString = """
    insert into customer_user (customer_id, email, email_key, name, role, created_at)
    select id, email_address, email_key, first_name || ' ' || last_name, 'owner', created_at
    from customer c where {} order by id
    on conflict (email_key) do nothing
"""

ADD_FIRST_OWNER = Statement(SQL(_ADD).format(SQL("id = :customer_id")))
# For imports, which add the result to the number of changed rows.
ADD_FIRST_OWNERS = Statement(
    SQL("with added as ({}) select 0").format(
        SQL(_ADD).format(SQL("not exists (select from customer_user u where u.customer_id = c.id)"))
    )
)
