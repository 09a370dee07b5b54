"""Reads and writes saved lists: a user's own, and those of all users of a customer."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import CustomerUser
from tradecounter.kit.errors import or_not_found


class AllUsers(Struct, frozen=True):
    """All users of a customer, whose shared lists staff keep."""

    customer_id: int
    id: None = None


Owner = CustomerUser | AllUsers  # a user also has own lists


class SavedList(Struct, frozen=True):
    """A list, and how many lines it has. A `shared` one is all users' of the customer."""

    id: int
    name: str
    shared: bool
    lines: int


class ListLine(Struct, frozen=True):
    """A product of a list with its units."""

    product_id: int
    sku: str
    quantity: int


_LISTS = SQL("""
    select l.id, l.name, l.user_id is null as shared,
           (select count(*) from saved_list_line n where n.list_id = l.id) as lines
    from saved_list l
    where l.customer_id = :customer_id and (l.user_id is null or l.user_id = :user_id) {}
    order by lower(l.name), l.id
""")
_ALL = Statement(
    _LISTS.format(SQL("and (:changed_since::timestamptz is null or l.changed_at >= :changed_since)")), SavedList
)
_ONE = Statement(_LISTS.format(SQL("and l.id = :id")), SavedList)


async def lists_of(tx: Transaction, owner: Owner, changed_since: datetime | None = None) -> list[SavedList]:
    """Return the lists that an owner may use, by name."""
    return await tx.fetch_all(_ALL, customer_id=owner.customer_id, user_id=owner.id, changed_since=changed_since)


async def fetch_list(tx: Transaction, owner: Owner, list_id: int) -> SavedList:
    """Return a list that an owner may use. Raises DomainError (not found)."""
    row = await tx.find_row(_ONE, customer_id=owner.customer_id, user_id=owner.id, id=list_id)
    return or_not_found(row, "list", list_id)


_LOCK = Statement("select from saved_list where id = :id and customer_id = :customer_id for update")


async def lock_list(tx: Transaction, owner: Owner, list_id: int) -> SavedList:
    """Return what `fetch_list` does; other changes of the list wait until the transaction ends.

    Raises DomainError (not found).
    """
    await tx.execute(_LOCK, id=list_id, customer_id=owner.customer_id)
    return await fetch_list(tx, owner, list_id)


_LINES = Statement(
    "select n.product_id, p.sku, n.quantity from saved_list_line n join product p on p.id = n.product_id"
    " where n.list_id = :id order by n.position",
    ListLine,
)


async def lines_of_list(tx: Transaction, list_id: int) -> list[ListLine]:
    """Return the lines of a list, in order."""
    return await tx.fetch_all(_LINES, id=list_id)


_INSERT = Statement(
    "insert into saved_list (customer_id, user_id, name, created_at)"
    " values (:customer_id, :user_id, :name, :now) returning id"
)


async def insert_list(tx: Transaction, owner: Owner, name: str, now: datetime, *, shared: bool) -> int:
    """Store a list without lines and return its id."""
    user_id = None if shared else owner.id
    return int(await tx.fetch_value(_INSERT, customer_id=owner.customer_id, user_id=user_id, name=name, now=now))


_UPDATE = Statement("update saved_list set name = :name, user_id = :user_id where id = :id")


async def update_list(tx: Transaction, list_id: int, name: str, user_id: int | None) -> None:
    """Change a list's name and whose it is."""
    await tx.execute(_UPDATE, id=list_id, name=name, user_id=user_id)


_DELETE = Statement("delete from saved_list where id = :id")


async def delete_list(tx: Transaction, list_id: int) -> None:
    """Delete a list with its lines."""
    await tx.execute(_DELETE, id=list_id)


_EMPTY = Statement("delete from saved_list_line where list_id = :id")
_ADD = Statement("""
    insert into saved_list_line (list_id, product_id, quantity)
    select :id, product_id, quantity
    from unnest(:product_ids::bigint[], :quantities::bigint[]) with ordinality as wanted (product_id, quantity, place)
    order by place
    on conflict (list_id, product_id) do update set quantity = excluded.quantity
""")


async def put_lines(tx: Transaction, list_id: int, lines: Sequence[tuple[int, int]]) -> None:
    """Add pairs of product and units, of different products, to a list; a product that is there gets these units."""
    products, quantities = [product for product, _ in lines], [quantity for _, quantity in lines]
    await tx.execute(_ADD, id=list_id, product_ids=products, quantities=quantities)


async def replace_lines(tx: Transaction, list_id: int, lines: Sequence[tuple[int, int]]) -> None:
    """Have a list contain these pairs of product and units, of different products, in this order."""
    await tx.execute(_EMPTY, id=list_id)
    await put_lines(tx, list_id, lines)


_USUAL_FOR = timedelta(days=365)
# Only the latest orders, so that the time does not grow with them.
_USUAL = Statement(
    """
    select l.product_id, p.sku, (array_agg(l.quantity order by o.confirmed_at desc))[1] as quantity
    from (
        select id, confirmed_at from orders
        where customer_id = :customer_id and state = 'confirmed' and confirmed_at > :since
        order by confirmed_at desc, number desc limit :of_latest
    ) o
    join order_line l on l.order_id = o.id and l.bundle_line_id is null and l.quantity > 0
    join product p on p.id = l.product_id
    group by l.product_id, p.sku
    order by count(*) desc, max(o.confirmed_at) desc, l.product_id
    limit :most
    """,
    ListLine,
)


async def usual_items(
    tx: Transaction, customer_id: int, now: datetime, most: int, of_latest: int = 500
) -> list[ListLine]:
    """Return the products that a customer ordered most often in the last year, with the units of the last order.

    Only the latest orders count, `of_latest` of them.
    """
    since = now - _USUAL_FOR
    return await tx.fetch_all(_USUAL, customer_id=customer_id, since=since, most=most, of_latest=of_latest)
