"""How long do the pages of staff and of customers take, with 100,000 products and a million orders of three years?

900,000 of the orders are copies of one. One person opens one page after the other, on one connection. The server and
the database have a core each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from statistics import median
from urllib.parse import quote_plus, unquote

from bench.kit.figures import Row, milliseconds
from bench.kit.http import Connection, request_text
from bench.kit.million_orders import copy_orders
from bench.kit.page_addresses import CODE, FURTHER, LEFT_OUT, address_of, pages_of
from bench.kit.page_things import Things, make_things, upload_files
from bench.kit.people import Person, Visitor, add_member, add_owner
from bench.kit.processes import BenchError
from bench.kit.product import Server, backoffice, serving
from bench.kit.reseller_orders import COUNT, SELLER, make_reseller_orders
from bench.kit.store import Store
from bench.kit.workbench import LARGE, Workbench
from tradecounter.consent.pages.account import CONSENT_PATH
from tradecounter.edge.pages.page_site import ACCOUNT, BACK_OFFICE, PageSite

MOST_MS = 50
MOST_MS_OF_ORDERS = 25  # of the pages of orders and of Today
MOST_MS_OF_TAIL = 150  # of what shows while somebody types, in 99 of 100 times

_TIMES = 21  # of each page
_QUICK_COUNT = 2_000
_COPIES, _QUICK_COPIES = 900_000, 20_000
_CUSTOMER = 7
_NAMED = 20  # pages, the slowest ones, in the remark on a row
_TYPED = (
    "be", "bench-1", "BENCH 104", "10421", "9942", "po-1", "cable", "wifi", "24 port swicth", "bench 7", "ltd bench",
    "01234 567890", "LS1 1AA", "£1,423.62", "Leeds", "x", "2 m",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Page:
    """A page with the milliseconds that it took each time."""

    path: str
    taken: Sequence[float]

    @property
    def p50(self) -> float:
        """The milliseconds at the median."""
        return median(self.taken)


@dataclass(frozen=True, slots=True)
class People:
    """Who opens the pages of a site: somebody with all rights, and somebody who has a second factor."""

    one: Person
    careful: Person

    def cookies_at(self, server: Server) -> dict[str, str]:
        """Sign in; return the cookies for the page of a path, and for any other with "", as a signed-in person has."""
        return {"": self.one.cookie_at(server), self.one.site.root + CODE: self.careful.cookie_at(server)}


def measure(bench: Workbench) -> list[Row]:
    """Open every page several times, at each site."""
    store = bench.copy_of(bench.store(LARGE), "pages")
    count, copies = (_QUICK_COUNT, _QUICK_COPIES) if bench.quick else (COUNT, _COPIES)
    with serving(store.env, store.folder) as public:
        make_reseller_orders(public, store, count)
        with store.connect() as connection:
            copy_orders(connection, copies, store.customer_ids, whole=False)
        with backoffice(store.env | SELLER, store.folder) as office:
            staff = People(add_member(store, office), add_member(store, office, "careful"))
            customer = store.customer_ids[_CUSTOMER]
            users = People(add_owner(store, public, customer), add_owner(store, public, customer, "careful"))
            staff.careful.set_up_factor(office)
            users.careful.set_up_factor(public)
            things = make_things(store, office, public, _CUSTOMER, users.one, staff.one)
    return rows_of(store, things, staff, users, f"{LARGE:,} products, {count + copies:,} orders")


def rows_of(store: Store, things: Things, staff: People, users: People, size: str) -> list[Row]:
    """Open the pages of both sites; return the rows."""
    with backoffice(store.env | SELLER, store.folder) as server:
        cookies = staff.cookies_at(server)
        with Visitor(server, cookies[""]) as visitor:
            names = asdict(things) | upload_files(visitor, unquote(things.sku))
        office = _opened(server, cookies, _addresses(BACK_OFFICE, names))
        typed = _opened(server, cookies, {f"/search?live=1&q={quote_plus(text)}": "" for text in _TYPED})
    with serving(store.env | SELLER, store.folder) as server:
        account = _opened(server, users.cookies_at(server), _addresses(ACCOUNT, asdict(things)))
    return [
        _row(f"back office, {size}", office, MOST_MS),
        _row(f"Today and pages of orders, {size}", [*filter(_is_of_orders, office)], MOST_MS_OF_ORDERS),
        _row(f"search box of the back office while somebody types, {size}", typed, MOST_MS),
        _row_of_tail(f"search box of the back office while somebody types, {size}", typed, MOST_MS_OF_TAIL),
        _row(f"customer's account and shop, {size}", account, MOST_MS),
    ]


def _addresses(site: PageSite, names: Mapping[str, object]) -> dict[str, str]:
    """Return the addresses of a site's pages, each with the path whose cookies it needs."""
    found = {}
    for page in pages_of(site):
        if page.path not in LEFT_OUT:
            is_for_strangers = page.signed_out and page.path != CONSENT_PATH
            found[address_of(page.path).format(**names)] = page.path if is_for_strangers else ""
    return found | {address.format(**names): "" for address in FURTHER[site]}


def _is_of_orders(page: Page) -> bool:
    return page.path == "/" or page.path.startswith("/order")


def _opened(server: Server, cookies: Mapping[str, str], addresses: Mapping[str, str]) -> list[Page]:
    """Open each page once to warm up, then several times; all that cannot be opened are an error."""
    pages, failed = [], []
    with Connection(server.host, server.port) as connection:
        for address, path in addresses.items():
            headers = {"Accept": "text/html", "Accept-Encoding": "gzip", "Cookie": cookies.get(path, "")}
            request = request_text(address, headers)
            status = connection.fetch(request).status
            if status == 200:
                taken = [connection.fetch(request).seconds * 1000 for _ in range(_TIMES)]
                pages.append(Page(address, taken))
            else:
                failed.append(f"{address} responded with {status}")
    if failed:
        raise BenchError("; ".join(failed))
    return pages


def _row(site: str, pages: Sequence[Page], most: float) -> Row:
    slowest = sorted(pages, key=lambda page: page.p50, reverse=True)
    worst = max(max(page.taken) for page in pages)
    each = ", ".join(f"`{page.path}` {milliseconds(page.p50)}" for page in slowest[:_NAMED])
    note = f"medians of {_TIMES} each, the slowest first: {each}; the worst single one of all {milliseconds(worst)}"
    return Row(
        question="Pages",
        what=f"{site}: the slowest of {len(pages)}, at the median",
        ratio=slowest[0].p50 / most,
        target=f"≤ {most} ms",
        bound=1,
        ours=milliseconds(slowest[0].p50),
        limit=milliseconds(most),
        note=f"{note}; the ratio is to the target",
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
