"""How long do the pages of staff and of customers take, with 100,000 orders of three years and 20,000 products?

And with a million orders, of which 900,000 are copies of one; and those of the shop, with 100,000 products?

One person opens one page after the other, on one connection. The server and the database have a core each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import Any
from urllib.parse import quote_plus

import psycopg

from bench.kit.figures import Row, milliseconds
from bench.kit.http import Connection, request_text
from bench.kit.million_orders import copy_orders
from bench.kit.people import owner_cookie, staff_cookie
from bench.kit.processes import BenchError
from bench.kit.product import Server, backoffice, serving
from bench.kit.reseller_orders import COUNT, make_reseller_orders
from bench.kit.store import Store
from bench.kit.workbench import LARGE, MEDIUM, Workbench
from tradecounter.edge.page_kit.tables import cursor_text

MOST_MS = 50
MOST_MS_OF_ORDERS = 25  # of the pages of orders and of Today, with a million orders
MOST_MS_OF_TAIL = 150  # of what shows while somebody types, in 99 of 100 times

_TIMES = 21  # of each page
_QUICK_COUNT = 2_000
_COPIES, _QUICK_COPIES = 900_000, 20_000
_CUSTOMER = 7
_OFFICE = (
    "/",
    "/order",
    "/order?sort=-total",
    "/order?sort=total&after={total}",
    "/order?status=Awaiting%20dispatch",
    "/order?status=Awaiting%20dispatch&sort=-total",
    "/order?status=Back-ordered",
    "/order?status=Cancelled",
    "/order?state=confirmed&sort=-total",
    "/order?reference=1",
    "/order?sku={sku}&sort=-total",
    "/order?sku={unsold}",
    "/order?customer_id={customer}",
    "/order/{order}",
    "/order/many/invoice?order={order}",
    "/order/new/{customer}",
    "/quote",
    "/return",
    "/request",
    "/goods-in",
    "/count-sheet",
    "/view",
    "/customer",
    "/customer/{customer}",
    "/customer/{customer}/statement",
    "/customer/{customer}/timeline",
    "/product",
    "/product/{sku}",
    "/product-form?sku={sku}",
    "/import",
    "/money",
    "/money?sort=-over_90",
    "/vat",
    "/vat?from={year}-01-01&to={year}-12-31",
    "/vat/document?from={year}-01-01&to={year}-12-31",
    "/vat/document?from={year}-01-01&to={year}-12-31&supply=export",
    "/invoice",
    "/invoice?sort=gross&after={gross}",
    "/invoice?issued_from={year}-01-01&issued_to={year}-12-31&sort=-due",
    "/invoice/{invoice}",
    "/payment",
    "/payment?sort=-amount",
    "/credit-note",
    "/bank-file",
    "/bank-line",
    "/webhook",
    "/job",
    "/audit",
    "/staff",
    "/search?q=cable",
    "/search?q=bench",
)
_TYPED = (
    "be", "bench-1", "BENCH 104", "10421", "9942", "po-1", "cable", "wifi", "24 port swicth", "bench 7", "ltd bench",
    "01234 567890", "LS1 1AA", "£1,423.62", "Leeds", "x", "2 m",
)  # fmt: skip
_ACCOUNT = (
    "/account",
    "/account/order",
    "/account/order?reference=1",
    "/account/order/{order}",
    "/account/new-order",
    "/account/quote",
    "/account/invoice",
    "/account/invoice/{invoice}",
    "/account/invoice/credit-note",
    "/account/invoice/statement",
    "/account/invoice/remittance",
    "/account/approval",
    "/account/alert",
    "/account/credit",
    "/account/address",
    "/account/user",
    "/account/developer",
)

_SHOP = (
    "/account/product",
    "/account/product?page=900",
    "/account/product?sort=price",
    "/account/product?inStock=true&price=20-50&price=50-100",
    "/account/product?category={category}",
    "/account/product?category={category}&manufacturer={manufacturer}&sort=name",
    "/account/product?query=24+port+swicth",
    "/account/product?query=e",
    "/account/product/{sku}",
    "/account/search?live=1&q=wifi",
    "/account/list",
    "/account/list/usual",
)


@dataclass(frozen=True, slots=True)
class Page:
    """A page with the milliseconds that it took each time."""

    path: str
    taken: Sequence[float]

    @property
    def p50(self) -> float:
        """The milliseconds at the median."""
        return median(self.taken)


def measure(bench: Workbench) -> list[Row]:
    """Open every page of the list several times, at each site."""
    base = bench.store(MEDIUM)
    url = bench.new_database("pages", f"store_{len(base.products)}")
    store = Store(bench.place("pages"), url, base.products, customer_ids=base.customer_ids)
    with serving(store.env, store.folder) as server:
        make_reseller_orders(server, store, _QUICK_COUNT if bench.quick else COUNT)
    customer = store.customer_ids[_CUSTOMER]
    with store.connect() as connection:
        names = _names(connection, store, customer)
    with backoffice(store.env, store.folder) as server:
        member = staff_cookie(store, server)
    with serving(store.env, store.folder) as server:
        owner = owner_cookie(store, server, customer)
    found = _orders_rows(store, member, owner, names, "")
    copies = _QUICK_COPIES if bench.quick else _COPIES
    with store.connect() as connection:
        copy_orders(connection, copies, store.customer_ids, whole=False)
    found += _orders_rows(store, member, owner, names, f", {copies:,} orders more")
    large = bench.store(LARGE)
    largest = {
        "sku": quote_plus(large.products[0]["sku"]),
        "category": quote_plus(large.products[0]["categories"][0]),
        "manufacturer": quote_plus(large.products[0]["manufacturer"]),
    }
    with serving(large.env, large.folder) as server:
        cookie = owner_cookie(large, server, large.customer_ids[_CUSTOMER])
        shop = _opened(server, cookie, [path.format(**largest) for path in _SHOP])
    return [*found, _row(f"shop of {LARGE:,} products", shop, MOST_MS)]


def _orders_rows(store: Store, member: str, owner: str, names: dict[str, object], how_many: str) -> list[Row]:
    """Open the pages about orders at both sites, with the cookies of a member of the staff and of an owner."""
    with backoffice(store.env, store.folder) as server:
        typed = _opened(server, member, [f"/search?live=1&q={quote_plus(text)}" for text in _TYPED])
        office = _opened(server, member, [path.format(**names) for path in _OFFICE])
    with serving(store.env, store.folder) as server:
        account = _opened(server, owner, [path.format(**names) for path in _ACCOUNT])
    return [
        _row(f"back office{how_many}", office, MOST_MS),
        _row(f"Today and pages of orders{how_many}", [*filter(_is_of_orders, office)], MOST_MS_OF_ORDERS),
        _row(f"search box of the back office while somebody types{how_many}", typed, MOST_MS),
        _row_of_tail(f"search box of the back office while somebody types{how_many}", typed, MOST_MS_OF_TAIL),
        _row(f"customer's account{how_many}", account, MOST_MS),
    ]


def _is_of_orders(page: Page) -> bool:
    return page.path == "/" or page.path.startswith("/order")


def _names(connection: psycopg.Connection[Any], store: Store, customer: int) -> dict[str, object]:
    """Return what the paths name: a customer, one of its latest orders that is invoiced, products, cursors, a year."""
    order, invoice = _found(
        connection,
        "select order_reference, i.number from orders o join invoice i on i.order_id = o.id"
        " where o.customer_id = %s order by o.number desc limit 1",
        [customer],
    )
    middle = "select gross, {0} from {1} order by gross, {0} offset (select count(*) / 2 from {1}) limit 1"
    [unsold] = _found(
        connection,
        "select sku from product p where not exists (select from order_line where product_id = p.id) limit 1",
    )
    [year] = _found(connection, "select extract(year from max(issued_at))::integer - 1 from invoice")
    return {
        "customer": customer,
        "order": order,
        "invoice": invoice,
        "sku": store.products[0]["sku"],
        "unsold": unsold,
        "total": cursor_text(*_found(connection, middle.format("id", "orders"))),
        "gross": cursor_text(*_found(connection, middle.format("number", "invoice"))),
        "year": year,
    }


def _found(connection: psycopg.Connection[Any], sql: str, values: Sequence[object] = ()) -> tuple[Any, ...]:
    found: tuple[Any, ...] | None = connection.execute(sql.encode(), values).fetchone()
    if found is None:
        raise BenchError("the database has no such rows")
    return found


def _opened(server: Server, cookie: str, paths: Sequence[str]) -> list[Page]:
    """Open each page once to warm up, then several times."""
    pages = []
    with Connection(server.host, server.port) as connection:
        for path in paths:
            request = request_text(path, {"Cookie": cookie, "Accept": "text/html", "Accept-Encoding": "gzip"})
            taken = [_milliseconds(connection, path, request) for _ in range(_TIMES + 1)][1:]
            pages.append(Page(path, taken))
    return pages


def _milliseconds(connection: Connection, path: str, request: bytes) -> float:
    response = connection.fetch(request)
    if response.status != 200:
        raise BenchError(f"{path} responded with {response.status}")
    return response.seconds * 1000


def _row(site: str, pages: Sequence[Page], most: float) -> Row:
    slowest = max(pages, key=lambda page: page.p50)
    worst = max(max(page.taken) for page in pages)
    each = ", ".join(f"`{page.path}` {milliseconds(page.p50)}" for page in pages)
    note = f"medians of {_TIMES} each: {each}; the worst single one {milliseconds(worst)}; the ratio is to the target"
    return Row(
        question="Pages",
        what=f"{site}: the slowest of {len(pages)}, at the median",
        ratio=slowest.p50 / most,
        target=f"≤ {most} ms",
        bound=1,
        ours=milliseconds(slowest.p50),
        limit=milliseconds(most),
        note=note,
    )


def _row_of_tail(site: str, pages: Sequence[Page], most: float) -> Row:
    times = sorted(taken for page in pages for taken in page.taken)
    p99 = times[ceil(len(times) * 0.99) - 1]
    return Row(
        question="Pages",
        what=f"{site}: p99 of {len(times)} times",
        ratio=p99 / most,
        target=f"≤ {most} ms",
        bound=1,
        ours=milliseconds(p99),
        limit=milliseconds(most),
    )
