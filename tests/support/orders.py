"""Placing orders over HTTP, the clock around them, and the books that they have to agree with."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from threading import Barrier
from typing import Any, LiteralString, TypeVar
from zoneinfo import ZoneInfo

import httpx

from support.service import Customer, Service
from support.shop import STANDARD, order, price, product
from tradecounter.db.rows import fetch_tuples

Result = TypeVar("Result")
Items = Iterable[tuple[str, int]]

_UK = ZoneInfo("Europe/London")
_ONE_PHONE = (("PHONE", 1),)


def uk(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> datetime:
    """A moment by UK clocks."""
    return datetime(year, month, day, hour, minute, second, tzinfo=_UK)


@contextmanager
def at(service: Service, moment: datetime) -> Iterator[None]:
    """Let the service's clock stand at another moment while the block runs."""
    before = service.clock.now()
    service.clock.set(moment)
    try:
        yield
    finally:
        service.clock.set(before)


def sell(service: Service, sku: str, cost: Any = 10, *, available: int = 0, **values: Any) -> str:
    """Put a product of its own on sale, so that tests do not share stock; its SKU."""
    service.must_load("products", [product(sku, **values)])
    service.must_load("price-list", [price(sku, cost)])
    service.must_load("stock", [{"sku": sku, "available": available}])
    return sku


def create(customer: Customer, items: Items = _ONE_PHONE, **values: Any) -> dict[str, Any]:
    """A pending order, as the API answered."""
    response = customer.post("/order", order(items, **values))
    assert response.status_code == 201, response.text
    created: dict[str, Any] = response.json()
    return created


def confirm(customer: Customer, pending: dict[str, Any], method: int | None = STANDARD) -> httpx.Response:
    """The answer to confirming a pending order."""
    body = None if method is None else {"shipping_method": {"id": method}}
    return customer.put(f"/order/{pending['confirmation_code']}", body)


def buy(customer: Customer, items: Items = _ONE_PHONE, method: int = STANDARD, **values: Any) -> dict[str, Any]:
    """An order confirmed at once, as the API answered."""
    return create(customer, items, auto_confirm=True, shipping_method={"id": method}, **values)


def read(customer: Customer, placed: dict[str, Any]) -> dict[str, Any]:
    """A confirmed order, read back."""
    response = customer.get(f"/order/{placed['order_id']}")
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def in_parallel(calls: Sequence[Callable[[], Result]]) -> list[Result]:
    """Make all calls at the same moment, each from a thread of its own; their results in order."""
    start = Barrier(len(calls))

    def run(call: Callable[[], Result]) -> Result:
        start.wait(timeout=30)
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))


def rows(service: Service, statement: LiteralString, *values: Any) -> list[tuple[Any, ...]]:
    """What the database holds, past the API."""
    return service.in_transaction(lambda tx: fetch_tuples(tx, statement, values))


def outstanding(service: Service, customer: Customer) -> Decimal:
    """What the account's lock says it owes."""
    found = rows(service, "select outstanding from credit_exposure where customer_id = %s", customer.id)
    return Decimal(found[0][0]) if found else Decimal(0)


def level(service: Service, sku: str) -> tuple[int, int, int]:
    """A product's units for sale, allocated and back-ordered."""
    [found] = rows(
        service,
        "select available, allocated, back_ordered from stock_level l join product p on p.id = l.product_id"
        " where p.sku = %s",
        sku,
    )
    available, allocated, back_ordered = found
    return available, allocated, back_ordered


def lines(service: Service, placed: dict[str, Any]) -> list[tuple[str, int, int]]:
    """SKU, allocated and back-ordered units of a confirmed order's lines."""
    found = rows(
        service,
        "select l.sku, l.allocated, l.back_ordered from order_line l join orders o on o.id = l.order_id"
        " where o.number = %s order by l.position",
        placed["order_id"],
    )
    return [(sku, allocated, back_ordered) for sku, allocated, back_ordered in found]


_BOOKS: dict[str, LiteralString] = {
    "what accounts owe differs from their confirmed orders": """
        select customer_id, e.outstanding, o.due
        from credit_exposure e
        full join (select customer_id, sum(gross - paid) as due from orders where state = 'confirmed' group by 1) o
            using (customer_id)
        where coalesce(e.outstanding, 0) <> coalesce(o.due, 0)
    """,
    "stock levels differ from the order lines": """
        select product_id, s.allocated, l.allocated, s.back_ordered, l.back_ordered
        from stock_level s
        full join (select product_id, sum(allocated) as allocated, sum(back_ordered) as back_ordered
                   from order_line group by 1) l using (product_id)
        where (coalesce(s.allocated, 0), coalesce(s.back_ordered, 0))
              <> (coalesce(l.allocated, 0), coalesce(l.back_ordered, 0))
    """,
    "a confirmed line is not wholly allocated or back-ordered, or a pending one is": """
        select l.id, l.quantity, l.allocated, l.back_ordered
        from order_line l join orders o on o.id = l.order_id
        where l.allocated + l.back_ordered <> case o.state when 'confirmed' then l.quantity else 0 end
    """,
    "stock is for sale while orders wait for it": """
        select product_id, available, back_ordered from stock_level
        where available < 0 or (available > 0 and back_ordered > 0)
    """,
    "an order's status does not fit its lines": """
        select o.number, o.status from orders o
        where o.state = 'confirmed'
          and (o.status = 'Back-ordered')
              <> exists (select from order_line l where l.order_id = o.id and l.back_ordered > 0)
    """,
}


def faults_in_the_books(service: Service) -> dict[str, list[tuple[Any, ...]]]:
    """Where credit, stock and orders contradict each other; empty when all is well."""
    found = {fault: rows(service, statement) for fault, statement in _BOOKS.items()}
    return {fault: where for fault, where in found.items() if where}
