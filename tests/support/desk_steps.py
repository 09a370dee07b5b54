"""The steps of people on pages, each as the form that a browser sends, with a response as the API would have it."""

from collections.abc import Mapping, Sequence
from typing import Any

import httpx2

from support.orders import rows
from support.pages import Person, fields_of
from support.service import Service
from support.shop import ADDRESS

FORM, APPROVAL = "/account/new-order", "/account/approval"
REST = {
    **{f"shipping_address-{name}": value for name, value in ADDRESS.items()},
    "shipping_address-id": "new",
    "billing_address-id": "same",
    "customer_reference": "PO-BASKET",
}
REASON = "a test"


def answered(response: httpx2.Response) -> httpx2.Response:
    """A form that was taken leads to another page."""
    if response.status_code != 303:
        return response
    place = response.headers["Location"]
    assert "/sign-in" not in place, place
    return httpx2.Response(204, headers={"Location": place})


def method_field(method: int | None) -> dict[str, str]:
    return {} if method is None else {"shipping_method": str(method)}


def send(person: Person, path: str, fields: Mapping[str, Any], *, twice: bool = False) -> httpx2.Response:
    """Send a form; `twice` as somebody does who presses the button twice, which must lead to the same page."""
    first = person.send(path, dict(fields))
    if twice and first.status_code == 303:
        second = person.send(path, dict(fields))
        assert (second.status_code, second.headers["Location"]) == (303, first.headers["Location"])
    return answered(first)


def put_into_basket(person: Person, sku: str, quantity: int, once: str) -> httpx2.Response:
    fields = {"sku": sku, "quantity": str(quantity), "once": once}
    return send(person, "/account/basket/add", fields, twice=bool(once))


def basket_form(person: Person) -> dict[str, str]:
    """The fields of the form of an order; none for somebody who is not signed in."""
    page = person.get(FORM)
    return fields_of(page) if page.status_code == 200 else {}


def lines_of_form(fields: Mapping[str, str]) -> list[tuple[str, int]]:
    count = sum(name.startswith("items-") and name.endswith("-sku") for name in fields)
    return [(fields[f"items-{n}-sku"], int(fields[f"items-{n}-quantity"])) for n in range(count)]


def send_basket(person: Person, fields: Mapping[str, str], step: str, *, twice: bool = False) -> httpx2.Response:
    return send(person, FORM, {**fields, **REST, "do": step}, twice=twice)


def save_list(person: Person, lines: Sequence[tuple[str, int]], path: str, *, shared: bool) -> httpx2.Response:
    fields = {"name": "Again", "lines": "\n".join(f"{sku} {units}" for sku, units in lines)}
    return send(person, f"/account/list/{path}", fields | ({"shared": "true"} if shared else {}))


def list_step(person: Person, list_id: int, step: str) -> httpx2.Response:
    """Put a list into the `basket`, or `delete` it."""
    return send(person, f"/account/list/{list_id}/{step}", {"once": ""})


def made_of(shop: Service, response: httpx2.Response) -> httpx2.Response:
    """The response of the API to the creation of what a form has made, if it has."""
    if response.status_code != 204:
        return response
    code = response.headers["Location"].rpartition("/")[2]
    found = rows(
        shop,
        "select l.id from order_line l join orders o on o.id = l.order_id where confirmation_code = %s"
        " order by position",
        code,
    )
    return httpx2.Response(201, json={"confirmation_code": code, "items": [{"id": line_id} for (line_id,) in found]})


def confirm_on_page(person: Person, code: str, method: int | None, kind: str) -> httpx2.Response:
    path = FORM if kind == "order" else "/account/quote"
    return send(person, f"{path}/{code}", {"once": "", **method_field(method)})


def discard(person: Person, code: str) -> httpx2.Response:
    return send(person, f"{FORM}/{code}/discard", {"once": ""})


def ask_approval(person: Person, code: str, method: int | None) -> httpx2.Response:
    return send(person, f"{FORM}/{code}/approval", {"note": "Please", **method_field(method)})


def decide(person: Person, code: str, step: str) -> httpx2.Response:
    """Take a step of an approver, `approve`, `decline` or `price`, at the price that the request's page shows."""
    path = f"{APPROVAL}/{code}"
    shown = fields_of(person.get(path), where=lambda name: name == "pricing")
    return send(person, f"{path}/{step}", {"reason": REASON} if step == "decline" else {**shown, "once": ""})


def limit_user(owner: Person, user: int, limit: object) -> httpx2.Response:
    fields = {"roles": ["buyer"], "order_limit": "" if limit is None else str(limit)}
    return send(owner, f"/account/user/{user}/role", fields)


def ask(person: Person, name: str, kind: str, items: Sequence[tuple[int, int]], text: str) -> httpx2.Response:
    """Ask about an order by its reference."""
    fields = {"text": text}
    for number, (line_id, units) in enumerate(items):
        fields |= {f"items-{number}-id": str(line_id), f"items-{number}-quantity": str(units) if units else ""}
    return send(person, f"/account/order/{name}/ask/{kind}", fields)


def answer(staff: Person, request_id: int, text: str) -> httpx2.Response:
    return send(staff, f"/request/{request_id}/answer", {"text": text})


def delivery_slips(staff: Person, sku: str) -> list[dict[str, str]]:
    """The fields of each expected delivery of a product, as the page has them."""
    fields = fields_of(staff.get("/goods-in", params={"query": sku}))
    numbers = [name.split("-")[1] for name, value in fields.items() if name.endswith("-sku") and value == sku]
    names = ("sku", "expected_on", "incoming")
    return [{name: fields[f"items-{number}-{name}"] for name in names} for number in numbers]


def receive_goods(
    staff: Person, slip: Mapping[str, str], units: int | None, once: str, *, ends: bool
) -> httpx2.Response:
    fields = {f"items-0-{name}": value for name, value in slip.items()} | {"once": once, "items-0-sure": "true"}
    fields |= {} if units is None else {"items-0-units": str(units)}
    return send(staff, "/goods-in", fields | ({"items-0-ends": "true"} if ends else {}), twice=bool(once))


def count_stock(staff: Person, counted: Sequence[tuple[str, int]]) -> httpx2.Response:
    """Enter a count, and send it again when the page has shown the differences."""
    path, fields = "/count-sheet/return", {"lines": "\n".join(f"{sku} {units}" for sku, units in counted)}
    return send(staff, path, fields | staff.shown(staff.send(path, {**fields, "once": ""})))
