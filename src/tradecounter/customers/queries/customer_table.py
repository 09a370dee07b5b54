"""Customers as a table, filtered and sorted."""

from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.customers.queries.accounts import ACCOUNT_COLUMNS
from tradecounter.customers.settings import Account
from tradecounter.db.sorted_rows import SortColumn, SortedTable


class CustomerFilter(Struct, frozen=True, kw_only=True):
    """A filter of customers; None matches all.

    `text` is a customer's id or external id, or part of its company, its contact's name or its e-mail address, or all
    of a user's; it is folded, `given` is the same as it was typed, and `pattern` its `lowered_pattern`.
    """

    text: str | None = None
    given: str | None = None
    pattern: str | None = None
    price_list: str | None = None
    blocked: bool | None = None


class CustomerRow(Struct, frozen=True):
    """A customer in a table, with the values by which it is sorted that its account has not."""

    account: Account
    name_key: str
    added: datetime


def _customer_row(name_key: str, added: datetime, **columns: Any) -> CustomerRow:
    return CustomerRow(Account(**columns), name_key, added)


def _limit(row: CustomerRow) -> Decimal:
    limit = row.account.credit_limit
    return Decimal(-1) if limit is None else limit


_NAME_KEY = SQL("lower(coalesce(nullif(company, ''), first_name || ' ' || last_name))")

CUSTOMERS: SortedTable[CustomerRow] = SortedTable(
    select=SQL("select {}, {} as name_key, created_at as added from customer").format(ACCOUNT_COLUMNS, _NAME_KEY),
    row=_customer_row,
    conditions={
        "text": SQL(
            "(id::text = ltrim(:given, '0') or external_id = :given"
            " or position(:text in email_key) > 0 or lower(company) ~ :pattern"
            " or lower(first_name || ' ' || last_name) ~ :pattern"
            " or id in (select customer_id from customer_user where email_key = :text))"
        ),
        "price_list": SQL("coalesce(price_list, 'default') = :price_list"),
        "blocked": SQL("(blocked_at is not null) = :blocked"),
    },
    columns={
        "name": SortColumn(_NAME_KEY, SQL("text"), str, attrgetter("name_key")),
        "added": SortColumn(SQL("created_at"), SQL("timestamptz"), datetime, attrgetter("added")),
        "limit": SortColumn(SQL("coalesce(credit_limit, -1)"), SQL("numeric"), Decimal, _limit),
    },
    key=SQL("id"),
    key_of=attrgetter("account.id"),
)
