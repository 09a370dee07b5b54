"""Finds and lists orders and quotes of any customer for the operator; stores external ids, which only staff see."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import psycopg
from msgspec import Struct
from msgspec.structs import replace
from psycopg.sql import SQL, Composable, Composed, Literal

from tradecounter.customers.queries.accounts import CUSTOMER_NAME
from tradecounter.db.sorted_rows import After, SortColumn, SortedTable
from tradecounter.db.statement import Statement, where
from tradecounter.db.transaction import Transaction
from tradecounter.kit.keys import taken_external_id
from tradecounter.orders.queries.orders import order_statement
from tradecounter.orders.rules import AWAITING_DISPATCH, CAN_LEAVE, CANCELLED, STATUSES
from tradecounter.orders.states import AnyOrder, OrderKind, State

_LARGEST_NUMBER = 2**63 - 1
NUMBER_AT_END = re.compile(r"[1-9][0-9]{0,17}$")

# An order is among the latest by its number or by its id. Each of the two indexes supplies a full page.
_LATEST = SQL(
    "id in (select id from (select id from orders where number is not null order by number desc limit :most) as c"
    " union all select id from (select id from orders order by id desc limit :most) as p)"
)
# Of an index, so it must be written as there (`db/migrations/versions/0041_search.py`). What is typed becomes a word in
# the same way, or references with accents are not found.
WORD_OF = SQL("lower(regexp_replace({}, '[^[:alnum:]]', '', 'g'))")
WORD = WORD_OF.format(SQL("customer_reference"))
TYPED_WORD = WORD_OF.format(SQL(":text::text"))
_TYPED_PART = SQL("nullif({}, '')").format(WORD_OF.format(SQL(":reference_part::text")))


def letters_of(word: Composable) -> Composed:
    """Return the pattern of texts that have the letters of a word in this order, whatever is between them."""
    return SQL("'%' || regexp_replace({}, '(.)', '\\1%', 'g')").format(word)


_BEGINS = SQL("(starts_with(lower(order_reference), lower(:reference)) or starts_with(number::text, :reference))")
_IN_RANGE = SQL("number between (:lows::bigint[])[{n}] and (:highs::bigint[])[{n}]")
# The one rule of what can be dispatched now, which lists and counts share. All units of an order that awaits dispatch
# are allocated, so an index alone counts thousands of them: only the lines of the others are read.
TO_DISPATCH = SQL(
    "state = 'confirmed' and status in ({}) and (status = {}"
    " or (select bool_or(l.allocated > 0) from order_line as l where l.order_id = orders.id))"
).format(SQL(", ").join(Literal(status) for status in CAN_LEAVE), Literal(AWAITING_DISPATCH))
# References are compared as they look (specification, duplicated data).
_CONDITIONS: Mapping[str, SQL | Composed] = {
    "customer_id": SQL("customer_id = :customer_id"),
    "customer_reference": SQL("reference_key(customer_reference) = reference_key(:customer_reference)"),
    # The whole reference is looked up, as comparing it with each would take ten times as long as the pattern.
    "reference_part": SQL(
        "(id = any(array(select id from orders where customer_id = :customer_id"
        " and reference_key(customer_reference) = reference_key(:reference_part)))"
        " or (lower(customer_reference) like {letters} and position({typed} in {word}) > 0))"
    ).format(letters=letters_of(_TYPED_PART), typed=_TYPED_PART, word=WORD),
    "ids": SQL("id = any(:ids::bigint[])"),
    "external_id": SQL("external_id = :external_id"),
    "product_ids": SQL(
        "exists (select from order_line as l"
        " where l.order_id = orders.id and l.product_id = any(:product_ids::bigint[]))"
    ),
    "created_from": SQL("coalesce(confirmed_at, created_at) >= :created_from"),
    "created_to": SQL("coalesce(confirmed_at, created_at) < :created_to"),
    "status": SQL("status = :status"),
    "state": SQL("state = :state"),
    "kind": SQL("kind = :kind"),
    "changed_since": SQL("changed_at >= :changed_since"),
}


class OrderFilter(Struct, frozen=True, kw_only=True):
    """A filter of orders; None matches all.

    Attributes:
        reference: an order id, an order reference, or the beginning of a reference or of its number.
        product_ids: products; an order matches if it has any of them, also in a bundle.
        reference_part: a part of the customer's reference, with any punctuation, of one customer's orders. All that the
            other conditions leave are read.
        ids: internal ids of orders that were found before; an empty list matches none.
        created_from, created_to: compared with the confirmation, or with the creation of an unconfirmed order;
            `created_to` is exclusive.
        to_dispatch: only orders of which something can be dispatched now.
    """

    customer_id: int | None = None
    reference: str | None = None
    customer_reference: str | None = None
    reference_part: str | None = None
    ids: list[int] | None = None
    external_id: str | None = None
    product_ids: list[int] | None = None
    created_from: datetime | None = None
    created_to: datetime | None = None
    status: str | None = None
    state: State | None = None
    kind: OrderKind | None = None
    changed_since: datetime | None = None
    to_dispatch: bool = False


async def list_all_orders(tx: Transaction, wanted: OrderFilter, most: int) -> list[AnyOrder]:
    """Return the orders and quotes of all customers that match a filter, latest confirmed or created first."""
    # The latest orders since a moment are the latest of all.
    latest = [_LATEST] if wanted == OrderFilter(created_from=wanted.created_from) else []
    conditions, values = where_orders(with_state(wanted), *latest)
    statement = order_statement(
        "select {} from orders where {} order by coalesce(confirmed_at, created_at) desc, id desc limit :most",
        conditions,
    )
    return await tx.fetch_all(statement, **values, most=most)


_MANY = 20_000
_WITH_IDS = order_statement("select {} from orders where id = any(:ids::bigint[]) order by id")


async def orders_with_ids(tx: Transaction, order_ids: Sequence[int]) -> list[AnyOrder]:
    """Return any customer's orders and quotes by their internal ids, in the order of the ids."""
    return await tx.fetch_all(_WITH_IDS, ids=list(order_ids))


async def orders_after(tx: Transaction, wanted: OrderFilter, after: int, most: int) -> list[AnyOrder]:
    """Return the first orders and quotes of all customers that match a filter and have a higher id."""
    conditions, values = where_orders(with_state(wanted), SQL("id > :after"))
    # What is open or has changed has the highest of a million ids: few such orders are found by the indexes of the
    # filter. In the order of the ids, the planner expects them everywhere.
    few = Statement(SQL("select id from orders where {} limit :most").format(conditions))
    if wanted != OrderFilter() and len(rows := await tx.fetch_all(few, **values, after=after, most=_MANY)) < _MANY:
        return await orders_with_ids(tx, sorted(order_id for (order_id,) in rows)[:most])
    statement = order_statement("select {} from orders where {} order by id limit :most", conditions)
    return await tx.fetch_all(statement, **values, after=after, most=most)


def with_state(wanted: OrderFilter) -> OrderFilter:
    """Return a filter with the state to which its status belongs, whose indexes find the orders."""
    if wanted.to_dispatch or (wanted.state is None and wanted.status is not None):
        return replace(wanted, state="cancelled" if wanted.status == CANCELLED else "confirmed")
    return wanted


def where_orders(wanted: OrderFilter, *more: Composable) -> tuple[Composed, dict[str, Any]]:
    """Return the condition that a filter puts on rows of `orders`, together with `more`, and its values by name."""
    special = list(more)
    values: dict[str, Any] = {}
    if wanted.to_dispatch:
        special.append(TO_DISPATCH)
    if wanted.reference is not None:
        ranges, order_id = _numbers_beginning(wanted.reference), NUMBER_AT_END.match(wanted.reference)
        special.append(_of_reference(len(ranges)))
        values |= {"reference": wanted.reference, "order_id": None if order_id is None else int(order_id[0])}
        if ranges:
            values["lows"], values["highs"] = [low for low, _ in ranges], [high for _, high in ranges]
    condition, of_fields = where(wanted, _CONDITIONS, *special)
    return condition, of_fields | values


def _of_reference(ranges: int) -> Composed:
    """Return the condition on the order id, or on the number, which is in one of some ranges, and the reference."""
    # A reference ends with the order's number, whose index works with every collation of the database. From separate
    # conditions, the planner sees how many orders are in the ranges: most of them for "1", few or none for "100099".
    in_range = [_IN_RANGE.format(n=Literal(n + 1)) for n in range(ranges)]
    found = SQL(" or ").join(in_range) if in_range else SQL("false")
    return SQL("((({}) and {}) or id = :order_id::bigint)").format(found, _BEGINS)


def _numbers_beginning(reference: str) -> list[tuple[int, int]]:
    """Return the ranges of numbers that begin with the digits at the end of a reference: 7, 70 to 79, 700 to 799."""
    match = NUMBER_AT_END.search(reference)
    ranges = []
    if match is not None and len(reference.split()) == 1:  # no reference has a space
        low, high = int(match[0]), int(match[0])
        while low <= _LARGEST_NUMBER:
            ranges.append((low, min(high, _LARGEST_NUMBER)))
            low, high = low * 10, high * 10 + 9
    return ranges


_BY_NAME = order_statement(
    "select {} from orders"
    " where (number = :number and lower(order_reference) = lower(:name))"
    " or (id = :number and id::text = :name) or confirmation_code = lower(:name) limit 1"
)


async def find_order(tx: Transaction, name: str) -> AnyOrder | None:
    """Return the order with an id, a reference or a confirmation code."""
    name = name.strip()
    number = NUMBER_AT_END.search(name)
    return await tx.find_row(_BY_NAME, number=None if number is None else int(number[0]), name=name)


_BY_REFERENCES = order_statement(
    "select {} from orders where number = any(:numbers::bigint[]) and lower(order_reference) = any(:references::text[])"
)


async def orders_with_references(tx: Transaction, references: Sequence[str]) -> dict[str, AnyOrder]:
    """Return the orders with references, ignoring case, by their references as given; unknown ones are left out."""
    numbers = [int(number[0]) for each in references if (number := NUMBER_AT_END.search(each))]
    keys = {reference.lower(): reference for reference in references}
    rows = await tx.fetch_all(_BY_REFERENCES, numbers=numbers, references=list(keys))
    return {keys[order.name.lower()]: order for order in rows}


_CODE = re.compile(r"[0-9a-f]{4,32}")
_CODE_LENGTH = 32
_BETWEEN_CODES = order_statement(
    "select {} from orders where confirmation_code between :first and :last order by id desc limit :most"
)


def code_range(text: str) -> dict[str, str]:
    """Return the first and the last confirmation code with a beginning; those of no code for other texts."""
    code = text.lower()
    if not _CODE.fullmatch(code):
        return {"first": "-", "last": "-"}
    return {"first": code.ljust(_CODE_LENGTH, "0"), "last": code.ljust(_CODE_LENGTH, "f")}


async def orders_with_code(tx: Transaction, beginning: str, most: int) -> list[AnyOrder]:
    """Return the latest orders whose confirmation code begins with a text of at least four digits."""
    return await tx.fetch_all(_BETWEEN_CODES, **code_range(beginning), most=most)


_CHANGE_EXTERNAL_ID = Statement("""
    with former as (select id, external_id from orders where id = :order_id for no key update)
    update orders set external_id = :external_id from former where orders.id = former.id returning former.external_id
""")


async def change_external_id(tx: Transaction, order_id: int, external_id: str | None) -> str | None:
    """Set an order's external id and return the former one. Raises DomainError (conflict): another order has it."""
    try:
        former: str | None = await tx.fetch_value(_CHANGE_EXTERNAL_ID, order_id=order_id, external_id=external_id)
    except psycopg.errors.UniqueViolation as error:
        raise taken_external_id(external_id) from error
    return former


_EXTERNAL_IDS_OF = Statement(
    "select id, external_id from orders where id = any(:ids::bigint[]) and external_id is not null"
)


async def external_ids_of(tx: Transaction, order_ids: Sequence[int]) -> dict[int, str]:
    """Return the external ids of those orders that have one."""
    return dict(await tx.fetch_all(_EXTERNAL_IDS_OF, ids=list(order_ids)))


class OrderRow(Struct, frozen=True):
    """An order or a quote in a table; `name` is its reference or, until it is confirmed, its confirmation code.

    `exact` is whether the text of a search names it.
    """

    id: int
    name: str
    kind: OrderKind
    state: State
    status: str | None
    customer_id: int
    customer: str
    customer_reference: str
    gross: Decimal
    placed_at: datetime
    exact: bool = False

    @property
    def label(self) -> str:
        """The status, or the state of an order without one."""
        return self.status or self.state


ORDER_ROW = SQL("""
    select orders.id, coalesce(orders.order_reference, orders.confirmation_code) as name, orders.kind, orders.state,
           orders.status, orders.customer_id, {} as customer, orders.customer_reference, orders.gross,
           coalesce(orders.confirmed_at, orders.created_at) as placed_at
""")
WITH_CUSTOMER = ORDER_ROW.format(CUSTOMER_NAME)
_OF_PAGE = SQL("{} from ({}) as chosen join orders using (id) join customer as c on c.id = orders.customer_id")
_MOMENT = SQL("timestamptz")
ORDERS: SortedTable[OrderRow] = SortedTable(
    # Of the many that match, the rows of a page are chosen first: an index may have all that this takes.
    select=SQL("select orders.id from orders"),
    joined=lambda page: _OF_PAGE.format(WITH_CUSTOMER, page),
    row=OrderRow,
    columns={
        "placed": SortColumn(
            SQL("coalesce(orders.confirmed_at, orders.created_at)"), _MOMENT, datetime, lambda row: row.placed_at
        ),
        # The same of confirmed orders, by an index.
        "confirmed": SortColumn(SQL("orders.confirmed_at"), _MOMENT, datetime, lambda row: row.placed_at),
        "total": SortColumn(SQL("orders.gross"), SQL("numeric"), Decimal, lambda row: row.gross),
        "customer": SortColumn(SQL("orders.customer_id"), SQL("bigint"), int, lambda row: row.customer_id),
    },
    key=SQL("orders.id"),
    key_of=lambda row: row.id,
)
SORTS: Mapping[str, Any] = {name: kind for name, kind in ORDERS.sorts.items() if name != "confirmed"}


async def order_table(
    tx: Transaction, wanted: OrderFilter, column: str, most: int, *, descending: bool, after: After = None
) -> list[OrderRow]:
    """Return rows that match a filter, sorted by a column of `SORTS`, after the value and the id in `after`."""
    wanted = with_state(wanted)
    has_index = wanted.customer_id or wanted.status or wanted.to_dispatch
    if column == "placed" and wanted.state == "confirmed" and has_index:
        column = "confirmed"
    return await ORDERS.page_where(tx, where_orders(wanted), column, most, descending=descending, after=after)


class DayOfOrders(Struct, frozen=True):
    """How many orders were confirmed on a UK day, and their gross."""

    day: date
    orders: int
    gross: Decimal


# The statuses make it a scan of their index only, which has all columns.
_BY_DAY = Statement(
    """
    select d::date as day, coalesce(f.orders, 0) as orders, coalesce(f.gross, 0.00) as gross
    from generate_series(:since::date, :until::date, interval '1 day') as d
    left join (
        select (confirmed_at at time zone 'Europe/London')::date as day, count(*) as orders, sum(gross) as gross
        from orders
        where state = 'confirmed' and status = any(:statuses::text[])
          and confirmed_at >= :since::timestamp at time zone 'Europe/London'
          and confirmed_at < (:until::date + 1)::timestamp at time zone 'Europe/London'
        group by 1
    ) as f on f.day = d::date
    order by d
    """,
    DayOfOrders,
)


async def orders_by_day(tx: Transaction, since: date, until: date) -> list[DayOfOrders]:
    """Return the confirmed orders of each day, days without orders included."""
    return await tx.fetch_all(_BY_DAY, since=since, until=until, statuses=list(STATUSES))
