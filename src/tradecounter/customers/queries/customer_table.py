"""The customers as a table: searched, sorted by a column, page by page."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.customers.queries.accounts import ACCOUNT_COLUMNS, spelled_price_list
from tradecounter.customers.settings import Account
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.numbers import read_id
from tradecounter.kit.text import fold

_NAME = SQL("lower(coalesce(nullif(company, ''), first_name || ' ' || last_name))")

# By column: the expression, its type, and its type in a cursor.
_SORTS: Mapping[str, tuple[SQL, SQL, Any]] = {
    "name": (_NAME, SQL("text"), str),
    "added": (SQL("created_at"), SQL("timestamptz"), datetime),
    "limit": (SQL("coalesce(credit_limit, -1)"), SQL("numeric"), Decimal),
}
SORTS: Mapping[str, Any] = {name: kind for name, (_, _, kind) in _SORTS.items()}


class CustomerFilter(Struct, frozen=True, kw_only=True):
    """A filter of customers; None matches all.

    `text` is a customer's id or external id, or part of its company, its contact's name or its e-mail address, or all
    of a user's.
    """

    text: str | None = None
    price_list: str | None = None
    blocked: bool | None = None


class CustomerRow(Struct, frozen=True):
    """A customer in a table, and the value by which it is sorted."""

    account: Account
    sorted_by: Any


_PAGE = SQL("""
    select {column} as sorted_by, {account}
    from customer where {conditions} order by {column} {order}, id {order} limit :most
""")
_ALL = SQL("true")
_TEXT = SQL(
    "(id = :id::bigint or external_id = :given"
    " or position(:text in lower(company)) > 0 or position(:text in email_key) > 0"
    " or position(:text in lower(first_name || ' ' || last_name)) > 0"
    " or id in (select customer_id from customer_user where email_key = :text))"
)
_PRICE_LIST = SQL("coalesce(price_list, 'default') = :price_list")
_BLOCKED = SQL("(blocked_at is not null) = :blocked")
_BEHIND = SQL("({column}, id) {sign} (:after_value::{kind}, :after_id)")


def _row(sorted_by: Any, **columns: Any) -> CustomerRow:
    return CustomerRow(Account(**columns), sorted_by)


async def customer_table(
    tx: Transaction,
    wanted: CustomerFilter,
    column: str,
    most: int,
    *,
    descending: bool = False,
    after: tuple[Any, int] | None = None,
) -> list[CustomerRow]:
    """Return customers that match a filter, sorted by a column of `SORTS`, behind the value and the id of `after`."""
    expression, kind, _ = _SORTS[column]
    conditions, values = [_ALL], dict[str, Any](most=most)
    if wanted.text:
        conditions.append(_TEXT)
        values |= {"text": fold(wanted.text), "given": wanted.text.strip(), "id": read_id(wanted.text)}
    if wanted.price_list:
        conditions.append(_PRICE_LIST)
        values["price_list"] = await spelled_price_list(tx, wanted.price_list)
    if wanted.blocked is not None:
        conditions.append(_BLOCKED)
        values["blocked"] = wanted.blocked
    chosen = SQL(" and ").join(conditions)
    if after is not None:
        behind = _BEHIND.format(column=expression, sign=SQL("<" if descending else ">"), kind=kind)
        chosen = SQL("{} and {}").format(chosen, behind)
        values |= {"after_value": after[0], "after_id": after[1]}
    order = SQL("desc" if descending else "asc")
    sql = _PAGE.format(account=ACCOUNT_COLUMNS, conditions=chosen, column=expression, order=order)
    return await tx.fetch_all(Statement(sql, _row, prepared=False), **values)
