"""What the pages that the benchmark opens show: orders in every state, documents, and what people and programs have.

Most is of one customer. All of it is made over HTTP, as people and programs do, but for the orders that were copied.
"""

import asyncio
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import httpx2
import psycopg

from bench.kit.customers import ADDRESS, key_of
from bench.kit.people import Person, Visitor, invite_member, invite_user
from bench.kit.processes import BenchError
from bench.kit.product import Server, tradecounter
from bench.kit.store import Store
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.edge.page_kit.tables import cursor_text
from tradecounter.edge.permissions import SCOPES
from tradecounter.events.sequencer import number_all
from tradecounter.quotes.quote_links import quote_token

_CALLBACK = "http://127.0.0.1:33418/callback"
_CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"  # of RFC 7636
_BANK_FILE = "date,amount,reference\n2026-06-01,12.50,nobody\n2026-06-02,20.00,nobody else\n"
_OK = (200, 201)


@dataclass(frozen=True, slots=True, kw_only=True)
class Things:
    """The names of things in the addresses of pages; texts are as they stand there."""

    address_id: int
    agent_id: int
    approval: str
    bank_file: int
    bank_line: int
    category: str
    client_id: str
    code_challenge: str
    contact_id: int
    credit_note: int
    customer: int
    delivery_id: int
    dispatched: str  # an order that is not invoiced
    feed: int
    gross: str  # a place in the middle of the invoices by total
    import_run: int
    invitation_of_member: str
    invitation_of_user: str
    invoice: int
    job: int
    key_id: int
    manufacturer: str
    member: int
    order: str  # of the customer, with shipments and invoices
    part: str  # an order that is dispatched in part
    payment: int
    pending: str
    priced_quote: str
    quote: str
    quote_secret: str
    ready: str  # an order of the customer that can be dispatched
    redirect_uri: str
    request: int
    returned: str
    saved_list: int
    shipment: int
    sku: str  # ordered more often than any other
    spare: str  # a product in stock
    token: int
    total: str  # a place in the middle of the orders by total
    unpaid: int
    unsold: str
    user_id: int
    view: int
    waiting: str  # an order that awaits its dispatch
    webhook: int
    year: int
    # What a process of the back office keeps, and only for who has uploaded it.
    upload: str = ""
    file: str = ""


def make_things(store: Store, office: Server, public: Server, number: int, owner: Person, member: Person) -> Things:
    """Make what is missing. `number` is the customer's place among those of the store, `owner` one of its users."""
    with store.connect() as connection:
        made = _products(connection, store) | {"customer": store.customer_ids[number]}
        made |= _orders(connection, made)
        made |= _of_programs(store, office, public, number, made)
        with Visitor(public, owner.cookie_at(public)) as visitor:
            made |= _of_owner(store, visitor, public, made)
        with Visitor(office, member.cookie_at(office)) as visitor:
            _of_member(visitor, made)
        made |= {
            "invitation_of_member": invite_member(store, "invited@reseller.example"),
            "invitation_of_user": invite_user(store, made["customer"], "invited@shop.example", "buyer"),
        }
        made |= {name: _value(connection, sql, made) for name, sql in _LATEST.items()}
        connection.execute("analyze")
    secret = store.env["TRADECOUNTER_SECRET_KEY"]
    made["quote_secret"] = asyncio.run(_numbered(store.url, made.pop("quote_order"), secret))
    written: dict[str, Any] = {
        n: quote(value, safe="") if isinstance(value, str) else value for n, value in made.items()
    }
    return Things(**written)


def upload_files(member: Visitor, sku: str) -> dict[str, str]:
    """Upload a file of stock and one of a bank, as a member of the staff who looks at them before they are applied."""
    check = member.upload("/import", "stock.csv", f"sku,available\n{sku},12\n")
    while "Checking the file" in member.get(check):
        time.sleep(0.2)
    return {"upload": _last(check), "file": _last(member.upload("/payment/import", "bank.csv", _BANK_FILE))}


class _Program:
    """A program that calls an API."""

    def __init__(self, server: Server, headers: Mapping[str, str]) -> None:
        self._url, self._headers = f"http://{server.host}:{server.port}", headers

    def post(self, path: str, body: object = None) -> Any:
        """Send a request, with a text as a CSV file; return its response's body."""
        is_text, headers = isinstance(body, str), dict(self._headers)
        sent: dict[str, Any] = {"content": body} if is_text else {} if body is None else {"json": body}
        if is_text:
            headers["Content-Type"] = "text/csv"
        response = httpx2.post(self._url + path, headers=headers, timeout=60, **sent)
        if response.status_code not in _OK:
            raise BenchError(f"{path} responded with {response.status_code}: {response.text[:300]}")
        return response.json()


_LATEST: Mapping[str, str] = {
    "agent_id": "select max(id) from agent_consent",
    "bank_file": "select max(id) from bank_file",
    "bank_line": "select max(id) from bank_line",
    "contact_id": "select max(id) from customer_contact where customer_id = %(customer)s",
    "delivery_id": "select max(id) from webhook_delivery where webhook_id = %(webhook)s",
    "import_run": "select id from import_run where kind = 'price-list' order by added desc limit 1",
    "job": "select max(id) from procrastinate_jobs",
    "key_id": "select min(id) from api_key where customer_id = %(customer)s",
    "member": "select max(id) from staff_member",
    "payment": "select max(id) from payment where customer_id = %(customer)s",
    "quote_order": "select id from orders where confirmation_code = %(priced_quote)s",
    "request": "select max(id) from customer_request",
    "shipment": "select max(s.id) from shipment s where order_id ="
    " (select id from orders where order_reference = %(order)s)",
    "token": "select max(id) from service_token",
    "user_id": "select max(id) from customer_user where customer_id = %(customer)s",
    "view": "select max(id) from saved_view",
}


def _products(connection: psycopg.Connection[Any], store: Store) -> dict[str, Any]:
    popular = store.products[0]
    unsold = "select sku from product p where not exists (select from order_line where product_id = p.id) limit 1"
    spare = (
        "select sku from product join stock_level on product_id = id"
        " where available > 100 and allocated = 0 order by id limit 1"
    )
    return {
        "sku": popular["sku"],
        "category": popular["categories"][0],
        "manufacturer": popular["manufacturer"],
        "unsold": _value(connection, unsold),
        "spare": _value(connection, spare),
    }


def _orders(connection: psycopg.Connection[Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the addresses name of the orders that were copied and their invoices."""
    own = (
        "select {} from orders o join invoice i on i.order_id = o.id"
        " where o.customer_id = %(customer)s order by o.number desc limit 1"
    )
    latest = "select order_reference from orders where status = '{}' order by number desc limit 1"
    middle = "select {0}, {1} from {2} order by {0}, {1} offset (select count(*) / 2 from {2}) limit 1"
    return {
        "order": _value(connection, own.format("o.order_reference"), found),
        "invoice": _value(connection, own.format("i.number"), found),
        "waiting": _value(connection, latest.format("Awaiting dispatch")),
        "part": _value(connection, latest.format("Part dispatched")),
        "dispatched": _value(connection, latest.format("Dispatched")),
        "total": cursor_text(*_row(connection, middle.format("gross", "id", "orders"))),
        "gross": cursor_text(*_row(connection, middle.format("gross", "number", "invoice"))),
        "year": _value(connection, "select extract(year from max(issued_at))::integer - 1 from invoice"),
    }


def _of_programs(store: Store, office: Server, public: Server, number: int, found: Mapping[str, Any]) -> dict[str, Any]:
    """Place orders and quotes as the customer's program, and take them further as one of the reseller."""
    shop = _Program(public, {"X-Api-Key": key_of(number)})
    scopes = [word for scope in SCOPES for word in ("--scope", scope)]
    token = tradecounter(store.env, "token", "add", "--name", "bench", *scopes)
    staff = _Program(office, {"Authorization": f"Bearer {token['token']}"})

    def placed(reference: str, path: str = "/order", **values: object) -> Any:
        items = [{"sku": found["spare"], "quantity": 2}]
        addresses = {"billing_address": ADDRESS, "shipping_address": ADDRESS}
        return shop.post(path, {"customer_reference": reference, "items": items, **addresses, **values})

    sold = placed("sold", auto_confirm=True)
    way = f"/api/order/{sold['order_reference']}"
    staff.post(f"{way}/dispatch", {"tracking_number": "T-1"})
    [unpaid] = staff.post(f"{way}/invoice", {})["invoices"]
    back = {"items": [{"id": sold["items"][0]["id"], "quantity": 1}], "reason": "Broken"}
    goodwill = {"amount": 1, "reason": "Goodwill"}
    priced = placed("priced", "/quote")["confirmation_code"]
    staff.post(f"/api/quote/{priced}/price", {"discount": 5, "note": "Only today", "force": True})
    hook = {"url": "https://shop.example/hook", "types": [], "customer_id": found["customer"]}
    webhook = staff.post("/api/webhook", hook)["id"]
    staff.post(f"/api/webhook/{webhook}/ping")
    staff.post("/api/payment/import", _BANK_FILE)
    return {
        "pending": placed("pending")["confirmation_code"],
        "approval": placed("approval")["confirmation_code"],
        "ready": placed("ready", auto_confirm=True)["order_reference"],
        "quote": placed("quote", "/quote")["confirmation_code"],
        "priced_quote": priced,
        "unpaid": unpaid,
        "returned": staff.post(f"{way}/return", back)["number"],
        "credit_note": staff.post(f"/api/invoice/{unpaid}/credit-note", goodwill)["number"],
        "webhook": webhook,
        "address_id": shop.post("/customer/address", ADDRESS)["id"],
    }


def _of_owner(store: Store, owner: Visitor, public: Server, found: Mapping[str, Any]) -> dict[str, Any]:
    """Do what a customer's owner does in the account, and allow an application and an agent to act for the customer."""
    owner.send(f"/account/new-order/{found['approval']}/approval", note="For Leeds")
    owner.send(f"/account/order/{found['order']}/ask/message", text="Where is it?")
    saved_list = _last(owner.send("/account/list/add", sku=found["spare"], quantity=3, name="Bench"))
    owner.send("/account/list/add", sku=found["sku"], quantity=3, list=saved_list)
    owner.send("/account/basket/add", sku=found["spare"], quantity=2)
    owner.send("/account/alert/add", sku=found["sku"])
    owner.send("/account/alert/prices", list=saved_list)
    owner.send("/account/invoice/remittance", invoices=found["unpaid"])
    feed = owner.send("/account/developer/feed/new", name="Bench", columns="sku\nname\nprice")
    client_id = tradecounter(store.env, "app", "add", "ERP", "--redirect-uri", _CALLBACK)["client_id"]
    registration = {"redirect_uris": [_CALLBACK], "client_name": "Assistant"}
    agent = _Program(public, {}).post("/auth/register", registration)["client_id"]
    resource = f"http://{public.host}:{public.port}/mcp"
    for request in (_request(client_id), _request(agent) | {"resource": resource}):
        owner.get(f"/auth/authorize?{urlencode(request)}")
        owner.send("/auth/authorize", **request, decision="allow", read="true")
    return {
        "saved_list": int(saved_list),
        "feed": int(_numbers(feed)[-1]),
        "client_id": client_id,
        "redirect_uri": _CALLBACK,
        "code_challenge": _CHALLENGE,
    }


def _of_member(member: Visitor, found: Mapping[str, Any]) -> None:
    """Do what staff do at the back office."""
    member.send("/view/new", of="/order?sort=-total", name="Largest first")
    member.send(f"/customer/{found['customer']}/note", text="Calls on Mondays")
    member.send(f"/customer/{found['customer']}/contact-person/new", name="Sam Fitter")


def _request(client_id: str) -> dict[str, str]:
    """Return the fields of an authorisation request."""
    return {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": _CALLBACK,
        "code_challenge": _CHALLENGE,
        "code_challenge_method": "S256",
    }


async def _numbered(url: str, quote_order: int, secret: str) -> str:
    """Number the events, as a worker does, and return the secret of a quote's link."""
    async with Database(url, connections=1) as database:
        await number_all(database)
        async with reading(database) as tx:
            token = await quote_token(tx, quote_order, lambda: [secret])
    if token is None:
        raise BenchError("the quote has no link")
    return token


def _as_written(value: Any) -> Any:
    return quote(value, safe="") if isinstance(value, str) else value


def _last(address: str) -> str:
    return address.rpartition("/")[2]


def _numbers(address: str) -> list[str]:
    return re.findall(r"\d+", address)


def _value(connection: psycopg.Connection[Any], sql: str, values: Mapping[str, Any] | None = None) -> Any:
    return _row(connection, sql, values)[0]


def _row(connection: psycopg.Connection[Any], sql: str, values: Mapping[str, Any] | None = None) -> Sequence[Any]:
    found = connection.execute(sql.encode(), values).fetchone()
    if found is None or found[0] is None:
        raise BenchError(f"the database has no such rows: {sql}")
    return tuple(found)
