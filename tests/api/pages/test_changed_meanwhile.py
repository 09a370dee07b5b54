"""Forms that are saved after somebody else has changed the same record: what the person left alone stays as it is."""

from typing import Any

from support.backoffice import BackOfficeSite
from support.orders import buy, rows
from support.pages import Person, customer_user, fields_of, staff_member
from support.reseller_steps import ResellerSteps
from support.service import Service
from support.shop import GERMAN_ADDRESS, NEXT_DAY


def shown(person: Person, path: str) -> dict[str, Any]:
    """The fields of a form as it is now."""
    page = person.get(path)
    assert page.status_code == 200, page.text
    return fields_of(page)


def test_a_customers_new_discount_and_credit_limit_outlive_forms_that_were_open(
    office: BackOfficeSite, sam: Person
) -> None:
    customer, steps = office.service.customer(credit="500", company=""), ResellerSteps(office.caller())
    changes = {"trade-terms": {"packing": "plain"}, "credit-terms": {"term_days": "60"}, "contact": {"last_name": "Ng"}}
    forms = {name: shown(sam, f"/customer/{customer.id}/{name}") for name in changes}
    assert steps.terms(customer.id, discount=10, credit_limit=200, company="Later Ltd").status_code == 200
    for name, fields in forms.items():
        assert sam.send(f"/customer/{customer.id}/{name}", fields | changes[name]).status_code == 303
    read = "select discount::int, packing, credit_limit::int, term_days, company, last_name from customer where id = %s"
    assert rows(office.service, read, customer.id) == [(10, "plain", 200, 60, "Later Ltd", "Ng")]


def test_a_role_that_was_taken_away_does_not_come_back_with_a_name(office: BackOfficeSite, sam: Person) -> None:
    other = staff_member(office.service, office.url, "support", "finance")
    path = f"/staff/{other.id}/edit"
    fields = shown(sam, path)
    assert sam.send(path, {**fields, "roles": ["support"]}).status_code == 303
    assert sam.send(path, {**fields, "name": "Renamed"}).status_code == 303
    found = rows(office.service, "select name, roles from staff_member where id = %s", other.id)
    assert found == [("Renamed", ["support"])]


def test_a_new_limit_of_a_user_outlives_a_form_with_roles_that_was_open(shop: Service) -> None:
    customer = shop.customer()
    owner, buyer = customer_user(shop, customer.id), customer_user(shop, customer.id, "buyer")
    path = f"/account/user/{buyer.id}/role"
    fields = shown(owner, path)
    assert owner.send(path, {**fields, "order_limit": "40"}).status_code == 303
    assert owner.send(path, {**fields, "roles": ["buyer", "accounts"]}).status_code == 303
    read = "select role, more_roles, order_limit::int from customer_user where id = %s"
    assert rows(shop, read, buyer.id) == [("buyer", ["accounts"], 40)]


def test_a_new_address_of_a_webhook_outlives_a_form_with_its_description_that_was_open(
    office: BackOfficeSite, sam: Person
) -> None:
    caller = office.caller()
    made = caller.post("/api/webhook", json={"url": "https://old.example/hook", "types": ["order.confirmed"]}).json()
    path = f"/webhook/{made['id']}"
    fields = shown(sam, f"{path}/edit")
    assert caller.patch(f"/api{path}", json={"url": "https://new.example/hook"}).status_code == 200
    assert sam.send(f"{path}/edit", {**fields, "description": "ERP"}).status_code == 303
    found = caller.get(f"/api{path}").json()
    assert (found["url"], found["types"], found["description"]) == (
        "https://new.example/hook",
        ["order.confirmed"],
        "ERP",
    )


def test_an_amendment_leaves_what_another_has_amended(office: BackOfficeSite, sam: Person) -> None:
    shop, steps = office.service, ResellerSteps(office.caller())
    placed = buy(shop.customer(), [("CABLE", 3)])
    name, path = placed["order_reference"], f"/order/{placed['order_reference']}/amend"
    fields = shown(sam, path)
    assert steps.amend(name, [], NEXT_DAY, reference="PO-2").status_code == 200
    moved = steps.staff.patch(f"/api/order/{name}", json={"shipping_address": {**GERMAN_ADDRESS, "country_code": "GB"}})
    assert moved.status_code == 200, moved.text
    assert sam.send(path, {**fields, "items-0-quantity": "4"}).status_code == 303
    read = (
        "select shipping_method, customer_reference, shipping_address ->> 'city', quantity"
        " from orders o join order_line l on l.order_id = o.id where order_reference = %s"
    )
    assert rows(shop, read, name) == [(NEXT_DAY, "PO-2", "Hamburg", 4)]


def test_a_list_that_a_colleague_has_changed_meanwhile_is_not_replaced(shop: Service) -> None:
    customer = shop.customer()
    first, second = customer_user(shop, customer.id), customer_user(shop, customer.id)
    made = first.send("/account/list/new", {"name": "Shared", "lines": "PHONE 1", "shared": "true"})
    path = f"{made.headers['Location']}/change"
    fields = shown(first, path)
    assert second.send(path, {**fields, "lines": "PHONE 1\nCABLE 2"}).status_code == 303
    late = first.send(path, {**fields, "lines": "PHONE 3"})
    assert (late.status_code, "someone else has changed the list" in late.text.lower()) == (409, True)
    assert "CABLE" in shown(first, path)["lines"]
