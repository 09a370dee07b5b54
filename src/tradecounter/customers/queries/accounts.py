"""Adds, changes and reads customers' accounts, the terms that determine their catalogue, and the table of all."""

from collections.abc import Collection
from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any, LiteralString

import psycopg
from msgspec import Struct
from psycopg.sql import SQL, Composed, Identifier

from tradecounter.customers.queries.find_customers import ADD_FIRST_OWNER
from tradecounter.customers.settings import Account, CustomerChange
from tradecounter.db.changes import bump
from tradecounter.db.pipeline import Pipeline, Result
from tradecounter.db.sorted_rows import SortColumn, SortedTable
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, invalid, or_not_found
from tradecounter.kit.keys import Spellings, taken_external_id
from tradecounter.kit.text import fold

_DERIVED = {"blocked": "blocked_at is not null as blocked"}
ACCOUNT_COLUMNS = SQL(", ").join(SQL(_DERIVED.get(name, name)) for name in Account.__struct_fields__)

# The name of the customer `c`, as that of its account.
CUSTOMER_NAME = SQL("coalesce(nullif(c.company, ''), c.first_name || ' ' || c.last_name)")


def _accounts(condition: LiteralString) -> Statement[Account]:
    return Statement(SQL("select {} from customer where {}").format(ACCOUNT_COLUMNS, SQL(condition)), Account)


_ACCOUNT = _accounts("id = :id")


def pipe_account(p: Pipeline, customer_id: int) -> Result[Account]:
    """Fetch a customer's account."""
    return p.fetch(_ACCOUNT, id=customer_id)


async def find_account(tx: Transaction, customer_id: int) -> Account | None:
    """Return a customer's account, or None."""
    async with tx.pipeline() as p:
        account = pipe_account(p, customer_id)
    return account.first


async def fetch_account(tx: Transaction, customer_id: int) -> Account:
    """Return a customer's account. Raises DomainError (not found)."""
    return or_not_found(await find_account(tx, customer_id), "customer", customer_id)


_ACCOUNTS = _accounts("id = any(:ids)")


async def accounts_of(tx: Transaction, customer_ids: Collection[int]) -> dict[int, Account]:
    """Return customers' accounts by their ids."""
    return {account.id: account for account in await tx.fetch_all(_ACCOUNTS, ids=list(customer_ids))}


_LOCK_ACCOUNT = _accounts("id = :id for no key update")


# Before the row: an import that holds the table would wait for the row.
_LOCK_TABLE = Statement("lock table customer in row exclusive mode")


async def lock_account(tx: Transaction, customer_id: int, *, to_change: bool = False) -> Account:
    """Return a customer's account, locked until the transaction ends. Raises DomainError (not found).

    A transaction that will change the customer's row says so.
    """
    if to_change:
        tx.queue(_LOCK_TABLE)
    account = await tx.find_row(_LOCK_ACCOUNT, id=customer_id)
    return or_not_found(account, "customer", customer_id)


_LIST_ACCOUNTS = _accounts("true order by id")


async def list_accounts(tx: Transaction) -> list[Account]:
    """Return all accounts, oldest first."""
    return await tx.fetch_all(_LIST_ACCOUNTS)


_ACCOUNTS_AFTER = _accounts(
    "id > :after"
    " and (:email_key::text is null or email_key = :email_key)"
    " and (:external_id::text is null or external_id = :external_id)"
    " and (:changed_since::timestamptz is null or changed_at >= :changed_since) order by id limit :most"
)


async def accounts_after(
    tx: Transaction,
    after: int,
    most: int,
    *,
    email: str | None = None,
    external_id: str | None = None,
    changed_since: datetime | None = None,
) -> list[Account]:
    """Return the first accounts with a higher id, of which `email` is the address in any case."""
    email_key = None if email is None else fold(email)
    values = {"email_key": email_key, "external_id": external_id, "changed_since": changed_since}
    return await tx.fetch_all(_ACCOUNTS_AFTER, after=after, most=most, **values)


async def add_account(tx: Transaction, change: CustomerChange) -> Account:
    """Add a customer, and its first owner without a password.

    Raises DomainError: invalid (the external id, the price list), conflict (another customer has the e-mail address).
    """
    columns = change.columns()
    statement = SQL("insert into customer ({}) values ({}) returning {}").format(
        SQL(", ").join(map(Identifier, columns)), SQL(", ").join(map(_placeholder, columns)), ACCOUNT_COLUMNS
    )
    account = await _write_account(tx, statement, columns)
    tx.queue(ADD_FIRST_OWNER, customer_id=account.id)
    return account


async def edit_account(tx: Transaction, customer_id: int, change: CustomerChange) -> Account:
    """Change a customer. Raises DomainError: not found, invalid, conflict (another customer has the e-mail)."""
    columns = change.columns()
    if not columns:
        raise invalid("customer", "name at least one change")
    assignments = (SQL("{} = {}").format(Identifier(name), _placeholder(name)) for name in columns)
    statement = SQL("update customer set {} where id = :customer_id returning {}").format(
        SQL(", ").join(assignments), ACCOUNT_COLUMNS
    )
    return await _write_account(tx, statement, {**columns, "customer_id": customer_id})


def _placeholder(column: str) -> SQL:
    return SQL(f":{column}")


_PRICE_LISTS = Statement("select key from price_list order by key")


async def price_list_keys(tx: Transaction) -> list[str]:
    """Return the keys of all price lists."""
    return [key for (key,) in await tx.fetch_all(_PRICE_LISTS)]


async def spelled_price_list(tx: Transaction, key: str) -> str:
    """Return a price list's key in its stored spelling, or as it is given if there is no such list."""
    return Spellings(await price_list_keys(tx)).of(key)


async def stored_price_list(tx: Transaction, key: str) -> str:
    """Return a price list's key in its stored spelling. Raises DomainError (invalid) if there is no such list."""
    keys = await price_list_keys(tx)
    stored = Spellings(keys).of(key)
    if stored not in keys:
        raise _unknown_list(key)
    return stored


def _unknown_list(key: str) -> DomainError:
    return invalid("price_list", f"price list {key!r} does not exist: import it first")


async def _write_account(tx: Transaction, statement: Composed, values: dict[str, Any]) -> Account:
    try:
        account = await tx.find_row(Statement(statement, Account), **values)
    except psycopg.errors.UniqueViolation as error:
        if error.diag.constraint_name == "customer_external_id_key":
            raise taken_external_id(values["external_id"]) from error
        raise DomainError(Kind.CONFLICT, f"email_address: {values['email_address']} is another customer's") from error
    except psycopg.errors.ForeignKeyViolation as error:
        raise _unknown_list(values["price_list"]) from error
    known = or_not_found(account, "customer", values.get("customer_id", 0))
    await bump(tx, "customers")
    return known


_SET_BLOCKED = Statement("""
    update customer set blocked_at = :at, blocked_reason = :reason
    where id = :customer_id and (blocked_at is null) = (:at::timestamptz is not null)
""")


async def set_blocked(tx: Transaction, customer_id: int, at: datetime | None, reason: str | None) -> bool:
    """Block a customer, or unblock it without a time; return False if it is in that state or does not exist."""
    changed = await tx.execute(_SET_BLOCKED, customer_id=customer_id, at=at, reason=reason)
    await bump(tx, "customers")  # before the keys, as an erasure does
    await bump(tx, "keys")
    return bool(changed)


class CustomerTerms(Struct, frozen=True):
    """A customer's price list (None: the default list), discount in hundredths of a per cent, and trade flag."""

    customer_id: int
    price_list: str | None
    discount: int
    trade_account: bool

    @property
    def profile(self) -> tuple[str | None, int]:
        """What decides the list prices: customers with equal profiles share them."""
        return self.price_list, self.discount


_READ_CUSTOMER_TERMS = Statement(
    """
    select id as customer_id, price_list, (discount * 100)::integer as discount, trade_account
    from customer
    """,
    CustomerTerms,
)


_READ_COMMON_PROFILES = Statement("""
    select price_list, (discount * 100)::integer from customer
    group by price_list, discount order by count(*) desc, price_list, discount limit :most
""")


async def read_common_profiles(tx: Transaction, most: int) -> list[tuple[str | None, int]]:
    """Return the pairs of price list and discount that most customers have, at most `most`."""
    return await tx.fetch_all(_READ_COMMON_PROFILES, most=most)


async def read_customer_terms(tx: Transaction) -> list[CustomerTerms]:
    """Return the terms of all customers."""
    return await tx.fetch_all(_READ_CUSTOMER_TERMS)


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
