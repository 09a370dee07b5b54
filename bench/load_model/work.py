"""Each kind of the day's work as HTTP requests to a running site; orders go on from step to step."""

import hashlib
import itertools
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.kit.catalogue import pounds, single_pence, write_products
from bench.kit.customers import COUNT, SHIPPING_METHOD
from bench.kit.http import Connection, Response, request_text
from bench.kit.processes import BenchError
from bench.kit.product import Server
from bench.kit.reads import headers_of
from bench.load_model.day import (
    CONFIRM,
    DISPATCH,
    FEED,
    INVOICE,
    LOOK,
    NEW_PRODUCTS,
    ORDER,
    PAYMENT,
    POLL,
    PRICES,
    PRODUCT,
    SEARCH,
    STOCK,
)
from bench.load_model.site import UNITS, Site
from bench.questions.place_orders import orders

PAGE = "/product?limit=100"

_IDLE_SECONDS = 20  # after which a connection is opened anew, as the server closes idle ones
_MOST_WAITING = 20_000
_NEW = 2_000
_JSON = "application/json"


class NothingWaitsError(Exception):
    """No order waits for this step: the one before it has not come so far."""


class Work:
    """Does one piece of work of a kind: `do(kind)`. Raises BenchError when a response is not what it should be."""

    def __init__(self, site: Site, folder: Path) -> None:
        self._site = site
        self._folder = folder
        self._local = threading.local()
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._orders: Iterator[bytes] = orders(list(site.store.products), f"load-{time.time_ns()}")
        self._tags: dict[int, str] = {}
        self._waiting: dict[str, deque[Any]] = {
            name: deque(maxlen=_MOST_WAITING) for name in (CONFIRM, DISPATCH, INVOICE, PAYMENT, LOOK)
        }
        self._kinds: dict[str, Callable[[], None]] = {
            POLL: self._poll,
            FEED: self._feed,
            SEARCH: self._search,
            PRODUCT: self._product,
            ORDER: self._order,
            CONFIRM: self._confirm,
            LOOK: self._look,
            DISPATCH: self._dispatch,
            INVOICE: self._invoice,
            PAYMENT: self._payment,
            STOCK: lambda: self._import("stock", "text/csv", self._stock_rows()),
            PRICES: lambda: self._import("price-list?force=true", "text/csv", self._price_rows()),
            NEW_PRODUCTS: lambda: self._import("products", "application/x-ndjson", self._product_rows()),
        }

    def do(self, kind: str) -> None:
        """Do one piece of work of this kind. Raises NothingWaitsError for a step that no order waits for."""
        self._kinds[kind]()

    def poll(self, customer: int, *, tag: bool, more: str = "") -> int:
        """Ask for the page of a customer, with its last entity tag or without; return the status."""
        headers = {"If-None-Match": self._tags[customer]} if tag and customer in self._tags else {}
        response = self._fetch(self._site.api, request_text(PAGE + more, headers_of(customer, headers)))
        _require(response, 200, 304)
        if not more:
            self._tags[customer] = response.headers["etag"]
        return response.status

    def adjust(self) -> None:
        """Change the stock of one product."""
        product = self._site.store.products[next(self._numbers) % 1000]
        body = {"items": [{"sku": product["sku"], "change": 1, "reason": "load model"}]}
        self._post("/api/stock/adjustment", _JSON, json.dumps(body).encode())

    def _poll(self) -> None:
        self.poll(next(self._numbers) % COUNT, tag=True)

    def _feed(self) -> None:
        secret = self._site.feeds[next(self._numbers) % len(self._site.feeds)]
        response = self._fetch(self._site.api, request_text(f"/feed/{secret}.csv", {}))
        _require(response, 200)
        if (lines := response.body.count(b"\n")) < len(self._site.store.products):
            raise BenchError(f"a feed has only {lines} lines")

    def _search(self) -> None:
        number = next(self._numbers)
        words = self._some_product(number)["name"].split()[:2]
        query = "%20".join("".join(c for c in word if c.isascii() and c.isalnum()) for word in words)
        _require(self._get(f"/product?limit=20&query={query}", number % COUNT), 200)

    def _product(self) -> None:
        number = next(self._numbers)
        sku = self._some_product(number)["sku"]
        quoted = "".join(c if c.isalnum() or c in "-._~" else f"%{ord(c):02X}" for c in sku if ord(c) < 128)
        _require(self._get(f"/product/{quoted}", number % COUNT), 200)

    def _some_product(self, number: int) -> Any:
        products = self._site.store.products
        return products[number * 7919 % len(products)]

    def _order(self) -> None:
        with self._lock:
            request, customer = next(self._orders), next(self._numbers)
        response = self._fetch(self._site.api, request)
        _require(response, 201)
        code = json.loads(response.body)["confirmation_code"]
        key = next(line for line in request.split(b"\r\n") if line.startswith(b"X-Api-Key")).split(b": ")[1].decode()
        self._waiting[CONFIRM].append((code, key, customer))

    def _confirm(self) -> None:
        code, key, _ = self._next(CONFIRM)
        body = json.dumps({"shipping_method": {"id": SHIPPING_METHOD}}).encode()
        headers = {"X-Api-Key": key, "Accept": _JSON, "Content-Type": _JSON}
        response = self._fetch(self._site.api, request_text(f"/order/{code}", headers, method="PUT", body=body))
        _require(response, 200)
        reference = json.loads(response.body)["order_reference"]
        self._waiting[DISPATCH].append(reference)
        self._waiting[LOOK].append((reference, key))

    def _look(self) -> None:
        reference, key = self._next(LOOK)
        self._waiting[LOOK].append((reference, key))  # it can be read again
        request = request_text(f"/order/{reference}", {"X-Api-Key": key, "Accept": _JSON})
        _require(self._fetch(self._site.api, request), 200)

    def _dispatch(self) -> None:
        reference = self._next(DISPATCH)
        self._post(f"/api/order/{reference}/dispatch", _JSON, b"{}")
        self._waiting[INVOICE].append(reference)

    def _invoice(self) -> None:
        response = self._post(f"/api/order/{self._next(INVOICE)}/invoice", _JSON, b"{}")
        found = json.loads(response.body)
        self._waiting[PAYMENT].append((found["invoices"][-1], found["cost_gross"]))

    def _payment(self) -> None:
        number, amount = self._next(PAYMENT)
        body = {"invoice": number, "amount": amount, "reference": f"BACS {number}"}
        self._post("/api/payment", _JSON, json.dumps(body).encode())

    def _next(self, kind: str) -> Any:
        try:
            return self._waiting[kind].popleft()
        except IndexError:
            raise NothingWaitsError(kind) from None

    def _stock_rows(self) -> bytes:
        units = UNITS + next(self._numbers) % 1000 * 7 + 1
        rows = (f"{_cell(product['sku'])},{units}\n" for product in self._site.store.products)
        return ("sku,available\n" + "".join(rows)).encode()

    def _price_rows(self) -> bytes:
        raised = next(self._numbers) % 1000 + 1
        text = ["price_list,sku,single_unit_cost,five_plus_unit_cost,ten_plus_unit_cost\n"]
        for product in self._site.store.products:
            pence = single_pence(product["sku"]) + raised
            costs = ",".join(pounds(pence * percent // 100) for percent in (100, 97, 94))
            text.append(f"default,{_cell(product['sku'])},{costs}\n")
        return "".join(text).encode()

    def _product_rows(self) -> bytes:
        number = next(self._numbers)
        some = [p | {"description": f"Edition {number}"} for p in self._site.store.products[:_NEW]]
        return write_products(self._folder / f"products-{number}.jsonl", some).read_bytes()

    def _import(self, kind: str, media_type: str, body: bytes) -> None:
        response = self._post(f"/api/import/{kind}", media_type, body)
        if json.loads(response.body).get("rejected"):
            raise BenchError(f"an import was rejected: {response.body[:300]!r}")

    def _get(self, path: str, customer: int) -> Response:
        return self._fetch(self._site.api, request_text(path, headers_of(customer)))

    def _post(self, path: str, media_type: str, body: bytes) -> Response:
        key = hashlib.sha256(f"{id(self)} {next(self._numbers)}".encode()).hexdigest()
        headers = {"Authorization": f"Bearer {self._site.token}", "Content-Type": media_type, "Idempotency-Key": key}
        response = self._fetch(self._site.office, request_text(path, headers, method="POST", body=body))
        _require(response, 200, 201)
        return response

    def _fetch(self, server: Server, request: bytes) -> Response:
        """Send a request on this thread's connection to a server."""
        open_: dict[int, tuple[Connection, float]] = self._local.__dict__.setdefault("open", {})
        connection, used = open_.pop(server.port, (None, 0.0))
        if connection is not None and time.monotonic() - used > _IDLE_SECONDS:
            connection.__exit__(None, None, None)
            connection = None
        connection = connection or Connection(server.host, server.port)
        try:
            response = connection.fetch(request)
        except BaseException:
            connection.__exit__(None, None, None)
            raise
        if response.headers.get("connection") == "close":
            connection.__exit__(None, None, None)
        else:
            open_[server.port] = connection, time.monotonic()
        return response


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _require(response: Response, *wanted: int) -> None:
    if response.status not in wanted:
        raise BenchError(f"status {response.status}: {response.body[:300]!r}")
