"""To a customer, another customer's thing and one that does not exist are the same, at every address with an id."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import httpx2
import pytest

from support.agent_consent import connecting
from support.backoffice import backoffice_of
from support.one_of_everything import SELLER, Reseller, one_of_everything
from support.orders import rows
from support.page_routes import page_routes
from support.pages import Person, customer_user
from support.service import running_service
from support.shop import ADDRESS, STANDARD, stock_shop
from tradecounter.edge.pages.page_site import ACCOUNT

ROOT = Path(__file__).parents[3]
PAGES = [route for route in page_routes(ACCOUNT) if route.parameters and not route.path.endswith("{secret}")]
_ANSWERS = {"get": "GET", "put": "PUT", "post": "POST", "delete": "DELETE", "patch": "PATCH"}
_DOCUMENT = json.loads((ROOT / "docs" / "openapi.json").read_text())
CALLS = [
    (_ANSWERS[method], path)
    for path, methods in _DOCUMENT["paths"].items()
    for method in methods
    if "{" in path and method in _ANSWERS
]
_NOTHING: dict[str, str] = {}
_FORM = {
    **{name: str(value) for name, value in ADDRESS.items()},
    "role": "buyer", "url": "https://shop.example/hook", "state": "paused", "from": "1", "to": "2",
    "name": "Feed", "columns": "sku", "reason": "Too dear", "shipping_method": str(STANDARD), "once": "0" * 32,
}  # fmt: skip
_BODIES: tuple[Any, ...] = (
    None,
    {"shipping_method": {"id": STANDARD}},
    ADDRESS,
    {"configurations": [{"adsl_username": "line@isp.example", "adsl_password": "secret"}]},
)
_ALWAYS_NEW = {"date", "x-request-id", "content-length"}
_ONCE = re.compile(rb'name="once" value="[0-9a-f]+"')


@pytest.fixture(scope="module")
def reseller(database_url: str) -> Iterator[Reseller]:
    with running_service(database_url, **SELLER) as service, backoffice_of(service) as office:
        stock_shop(service)
        yield one_of_everything(office)


@pytest.fixture(scope="module")
def stranger(reseller: Reseller) -> Person:
    return customer_user(reseller.service, reseller.first.customer.id)


def foreign_names(reseller: Reseller) -> dict[str, list[tuple[str, ...]]]:
    """The names of another customer's things, by the parameters of an address; own ones where two belong together."""
    service, own, other = reseller.service, reseller.first.names, reseller.other.names
    user = customer_user(service, reseller.other.customer.id)
    [(session,)] = rows(service, "select id from session where user_id = %s", user.id)
    [(client,)] = rows(service, "select client_id from access_token where customer_id = %s", other["customer"])
    connecting(service, user).tokens()
    [(agent,), *_] = rows(service, "select id from agent_consent where customer_id = %s", other["customer"])
    deliveries = "select id from webhook_delivery where webhook_id = %s limit 1"
    [(delivery,)] = rows(service, deliveries, other["webhook"])
    by_reference = "select id, confirmation_code from orders where order_reference = %s"
    [(order_id, code)] = rows(service, by_reference, other["sold"])
    [(item,)] = rows(service, "select id from order_line where order_id = %s", order_id)
    [(file,)] = rows(service, "select id from request_file where request_id = %s", other["request"])
    orders = [other["sold"], other["pending"], other["quote"], order_id, code]
    found: dict[str, Sequence[Any]] = {
        "/account/order/{reference}": orders,
        "/account/order/{reference}/ask/{kind}": [(name, kind) for name in orders for kind in ("cancel", "message")],
        "/account/new-order/{code}": orders,
        "/account/quote/{code}": orders,
        "/account/alert/{id}": [other["alert"]],
        "/account/alert/prices/{id}": [other["list"]],
        "/account/order/{reference}/file/{id}": [(other["sold"], file), (own["sold"], file)],
        "/account/approval/{code}": [other["approval"]],
        "/account/list/{id}": [other["list"]],
        "/account/invoice/remittance/{id}": [other["remittance"]],
        "/account/invoice/{number}": [other["invoice"]],
        "/account/invoice/credit-note/{number}": [other["credit_note"]],
        "/account/address/{address_id}": [other["address"]],
        "/account/user/{id}": [other["user"]],
        "/account/developer/key/{id}": [other["key"]],
        "/account/developer/sandbox/key/{id}": [other["key"]],
        "/account/developer/application/{client_id}": [client],
        "/account/developer/agent/{agent_id}": [agent],
        "/account/developer/webhook/{id}": [other["webhook"]],
        "/account/developer/webhook/{id}/delivery/{delivery_id}": [
            (other["webhook"], delivery),
            (own["webhook"], delivery),
        ],
        "/account/developer/feed/{id}": [other["feed"]],
        "/account/sign-ins/{id}": [session],
        "/order/{reference}": orders,
        "/quote/{confirmation_code}": orders,
        "/order/{reference}/item/{orderItemId}": [(other["sold"], item), (own["sold"], item)],
        "/customer/address/{id}": [other["address"]],
        "/invoice/{number}": [other["invoice"]],
        "/credit-note/{number}": [other["credit_note"]],
    }
    return {
        path: [tuple(map(str, name)) if isinstance(name, tuple) else (str(name),) for name in names]
        for path, names in found.items()
    }


_WORDS = ("cancel", "message")  # parameters that name nothing


def unknown(name: str, own: Sequence[object]) -> str:
    """A name of the same form as another one that nobody has; what is the caller's own stays."""
    if name in {*map(str, own), *_WORDS}:
        return name
    return "9" * 9 if name.isdecimal() else re.sub("[0-9a-f]", "9", name)


def revealed(response: httpx2.Response, names: Sequence[str]) -> tuple[int, bytes, list[tuple[str, str]]]:
    """All that a response reveals, without the names that the request gave."""
    content = _ONCE.sub(b"", response.content)
    headers = {key: value for key, value in response.headers.multi_items() if key not in _ALWAYS_NEW}
    for name in sorted(names, key=len, reverse=True):
        content = re.sub(rb"\b" + name.encode() + rb"\b", b"NAME", content)
        headers = {key: re.sub(rf"\b{name}\b", "NAME", value) for key, value in headers.items()}
    return response.status_code, content, sorted(headers.items())


def table_for(path: str, table: dict[str, list[tuple[str, ...]]]) -> list[tuple[str, ...]]:
    """The foreign names for an address: those of the longest entry that it begins with and that has its parameters."""
    count = path.count("{")
    fitting = [entry for entry in table if path.startswith(entry) and entry.count("{") == count]
    assert fitting, f"{path} has an id: say in `foreign_names` whose"
    return table[max(fitting, key=len)]


def filled(path: str, names: Sequence[str]) -> str:
    left = iter(names)
    return re.sub(r"\{\w+\}", lambda _: next(left), path)


@pytest.mark.sweep
def test_every_page_with_an_id_answers_for_a_foreign_thing_as_for_an_unknown_one(
    reseller: Reseller, stranger: Person
) -> None:
    table, own = foreign_names(reseller), tuple(reseller.first.names.values())
    for route in PAGES:
        if route.path == "/account/product/{sku}":  # nobody's own: test_shop_pages.py
            continue
        for names in table_for(route.path, table):
            strange = tuple(unknown(name, own) for name in names)
            statuses = set()
            for form in (_NOTHING, _FORM) if route.method == "POST" else (None,):
                seen = []
                for each in (names, strange):
                    address = filled(route.path, each)
                    response = stranger.get(address) if form is None else stranger.send(address, form)
                    seen.append(revealed(response, (*names, *strange)))
                assert seen[0] == seen[1], (route.method, route.path, names, form)
                statuses.add(seen[0][0])
            assert 404 in statuses, (route.method, route.path, names, statuses)


@pytest.mark.sweep
def test_every_call_with_an_id_answers_for_a_foreign_thing_as_for_an_unknown_one(reseller: Reseller) -> None:
    table, own = foreign_names(reseller), tuple(reseller.first.names.values())
    client = reseller.service.client(**{"X-Api-Key": reseller.first.customer.key})
    for method, path in CALLS:
        if path == "/product/{sku}":  # what the customer has no price for: test_isolation.py
            continue
        for names in table_for(path, table):
            strange = tuple(unknown(name, own) for name in names)
            statuses = set()
            for body, accept in product(_BODIES if method in {"POST", "PUT"} else (None,), ("*/*", "application/pdf")):
                seen = []
                for each in (names, strange):
                    sent = {} if body is None else {"json": body}
                    response = client.request(method, filled(path, each), headers={"Accept": accept}, **sent)
                    seen.append(revealed(response, (*names, *strange)))
                assert seen[0] == seen[1], (method, path, names, body, accept)
                statuses.add(seen[0][0])
            assert 404 in statuses, (method, path, names, statuses)


def test_nothing_of_the_other_customer_has_changed(reseller: Reseller) -> None:
    names, customer = reseller.other.names, reseller.other.customer
    assert customer.get(f"/order/{names['pending']}").json()["status"] == "Pending"
    assert names["address"] in [each["id"] for each in customer.get("/customer/address").json()]
    assert rows(reseller.service, "select state from webhook where id = %s", names["webhook"]) == [("active",)]
    assert rows(reseller.service, "select count(*) from feed where id = %s", names["feed"]) == [(1,)]
    assert rows(reseller.service, "select disabled_at from api_key where id = %s", names["key"]) == [(None,)]
    assert rows(reseller.service, "select role from customer_user where id = %s", names["user"]) == [("buyer",)]
