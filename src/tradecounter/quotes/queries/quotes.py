"""Reads quotes: those of all customers, and a customer's own."""

from psycopg.sql import SQL

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.orders.queries.orders import find_own_order_by_code, order_statement
from tradecounter.orders.queries.today import Waiting
from tradecounter.orders.states import AnyOrder

_UNPRICED = SQL("kind = 'quote' and state = 'pending' and priced_at is null")
_UNPRICED_QUOTES = order_statement("select {} from orders where {} order by created_at, id limit :most", _UNPRICED)
_ALL_QUOTES = order_statement("select {} from orders where kind = 'quote' order by id desc limit :most")


async def list_quotes(tx: Transaction, most: int, *, waiting: bool) -> list[AnyOrder]:
    """Return the quotes of all customers: unpriced quotes, oldest first, or all quotes, latest first."""
    return await tx.fetch_all(_UNPRICED_QUOTES if waiting else _ALL_QUOTES, most=most)


_COUNT_UNPRICED = Statement(
    SQL("select count(*), min(created_at) as oldest from orders where {}").format(_UNPRICED), Waiting
)


async def quotes_waiting(tx: Transaction) -> Waiting:
    """Return the quotes that wait for a price."""
    return await tx.fetch_one(_COUNT_UNPRICED) or Waiting(0, None)


_OWN_QUOTES = order_statement(
    "select {} from orders where customer_id = :customer_id and kind = 'quote'"
    " and (:before::bigint is null or id < :before) order by id desc offset :start limit :most"
)
_COUNT_OWN_QUOTES = Statement("select count(*) from orders where customer_id = :customer_id and kind = 'quote'")
_OPEN_QUOTES = order_statement(
    "select {} from orders where customer_id = :customer_id and kind = 'quote' and state = 'pending'"
    " order by priced_at is null, expires_at, id limit :most"
)


async def own_quotes(
    tx: Transaction, customer_id: int, most: int, before: int | None = None, start: int = 0
) -> list[AnyOrder]:
    """Return a customer's quotes in any state, the latest first, from a position on.

    `before` selects those with lower ids.
    """
    return await tx.fetch_all(_OWN_QUOTES, customer_id=customer_id, before=before, most=most, start=start)


async def count_own_quotes(tx: Transaction, customer_id: int) -> int:
    """Return how many quotes a customer has, in any state."""
    return int(await tx.fetch_value(_COUNT_OWN_QUOTES, customer_id=customer_id))


async def open_quotes(tx: Transaction, customer_id: int, most: int) -> list[AnyOrder]:
    """Return a customer's quotes that are neither ordered nor declined: the priced ones first, by their expiry."""
    return await tx.fetch_all(_OPEN_QUOTES, customer_id=customer_id, most=most)


_QUOTE = order_statement("select {} from orders where kind = 'quote' and confirmation_code = :code")


async def fetch_quote(tx: Transaction, code: str) -> AnyOrder:
    """Return a quote by its confirmation code, in any state. Raises DomainError (not found)."""
    quote = await tx.fetch_one(_QUOTE, code=code)
    if quote is None:
        raise not_found("quote", code)
    return quote


async def fetch_own_quote(tx: Transaction, customer_id: int, code: str) -> AnyOrder:
    """Return a customer's quote in any state by its confirmation code. Raises DomainError (not found)."""
    quote = await find_own_order_by_code(tx, customer_id, code)
    if quote is None or quote.kind != "quote":
        raise not_found("quote", code)
    return quote
