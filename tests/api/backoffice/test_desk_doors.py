"""What pages have, for the reseller's programs: approvals, users' limits, remittances, lists, alerts, saved views."""

from typing import Any

import httpx2
import pytest

from support.approvals import asked
from support.backoffice import BackOfficeSite
from support.billing import invoiced, number_of
from support.orders import rows
from support.pages import customer_user, staff_member, text_of
from support.quotes import price_as_support, request_quote
from support.service import Customer
from support.shop import STANDARD


@pytest.fixture
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer()


def test_an_order_is_approved_for_its_customer_once(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    code, buyer = asked(office.service, customer)
    [waiting] = staff.get(f"/api/approval?state=waiting&customer_id={customer.id}").json()
    assert (waiting["confirmation_code"], waiting["requested_by"], waiting["note"]) == (code, buyer.email, "Please")
    assert waiting["total_gross"] == pytest.approx(127.2)
    done = staff.post(f"/api/approval/{code.upper()}/approve").json()
    assert (done["state"], done["decided_by"]) == ("approved", "")
    assert staff.get(f"/api/order/{code}").json()["state"] == "confirmed"
    assert staff.get(f"/api/approval/{code}").json() == done
    for again in (f"/api/approval/{code}/approve", f"/api/approval/{code}/decline"):
        assert staff.post(again, json={"reason": "x"}).status_code == 409


def test_staff_approve_a_quote_at_its_price_now(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    quote = request_quote(customer, [("PHONE", 10)])
    price_as_support(office.service, quote, ("PHONE", "30.00"))
    code, buyer = quote["confirmation_code"], customer_user(office.service, customer.id, "buyer")
    buyer.sends(f"/account/new-order/{code}/approval", {"shipping_method": str(STANDARD), "note": "Please"})
    assert staff.get(f"/api/approval/{code}").json()["total_gross"] == 372
    price_as_support(office.service, quote, ("PHONE", "45.00"))
    done = staff.post(f"/api/approval/{code}/approve").json()
    assert (done["state"], done["total_gross"]) == ("approved", 552)


def test_an_order_is_declined_with_a_reason(staff: httpx2.Client, office: BackOfficeSite, customer: Customer) -> None:
    code, _ = asked(office.service, customer)
    assert staff.post(f"/api/approval/{code}/decline", json={"reason": " "}).status_code == 400
    done = staff.post(f"/api/approval/{code}/decline", json={"reason": "Next month"}).json()
    assert (done["state"], done["reason"]) == ("declined", "Next month")
    assert staff.get(f"/api/order/{code}").json()["state"] == "cancelled"
    [entry] = rows(
        office.service,
        "select actor_kind from audit_entry where action = 'order.decline_approval' and after->>'reason' = %s",
        "Next month",
    )
    assert entry == ("token",)
    assert staff.get("/api/approval/00000000000000000000000000000000").status_code == 404


def test_a_page_of_approvals_leads_to_the_next(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    codes = [asked(office.service, customer)[0] for _ in range(3)]
    first = staff.get(f"/api/approval?customer_id={customer.id}&limit=2")
    second = staff.get(first.links["next"]["url"])
    assert [each["confirmation_code"] for each in first.json() + second.json()] == codes[::-1]


def test_a_users_roles_and_limit_are_changed(staff: httpx2.Client, office: BackOfficeSite, customer: Customer) -> None:
    buyer = customer_user(office.service, customer.id, "buyer")
    path = f"/api/customer/{customer.id}/user/{buyer.id}"
    changed = staff.patch(path, json={"order_limit": 250}).json()
    assert (changed["roles"], changed["order_limit"]) == (["buyer"], 250)
    changed = staff.patch(path, json={"roles": ["accounts", "buyer"]}).json()
    assert (changed["roles"], changed["order_limit"]) == (["buyer", "accounts"], 250)
    assert staff.patch(path, json={"order_limit": None}).json()["order_limit"] is None
    bad: list[dict[str, Any]] = [{"order_limit": 0}, {"order_limit": "1.234"}, {"roles": []}, {"roles": ["king"]}]
    for wrong in bad:
        assert staff.patch(path, json=wrong).status_code == 400, wrong
    others = customer_user(office.service, office.service.customer().id, "buyer")
    assert staff.patch(f"/api/customer/{customer.id}/user/{others.id}", json={}).status_code == 404


def test_a_remittance_is_told_by_phone_and_taken_back(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    invoice = number_of(office.service, invoiced(office.service, customer))
    body = {"customer_id": customer.id, "invoices": [invoice], "reference": "BACS 7"}
    told = staff.post("/api/remittance", json=body)
    assert told.status_code == 201
    assert told.json()["amount"] == staff.get(f"/api/invoice/{invoice}").json()["due"]
    assert staff.get(told.headers["Location"]).json() == told.json()
    assert staff.get(f"/api/remittance?customer_id={customer.id}").json() == [told.json()]
    others = number_of(office.service, invoiced(office.service, office.service.customer()))
    bad: list[dict[str, Any]] = [{"invoices": []}, {"invoices": [others]}, {"amount": -1}, {"customer_id": 999_999}]
    for wrong in bad:
        assert staff.post("/api/remittance", json={**body, **wrong}).status_code in {400, 404}, wrong
    all_wrong = {"invoices": [invoice, others], "amount": 0, "paid_on": "2020-01-01"}
    errors = staff.post("/api/remittance", json=body | all_wrong).json()["errors"]
    assert [error["field"] for error in errors] == ["invoices[1]", "amount", "paid_on"]
    assert staff.delete(told.headers["Location"]).status_code == 204
    noted, taken = staff.get(f"/api/audit?subject=customer/{customer.id}").json()[-2:]
    assert (taken["action"], taken["before"]) == ("remittance.take_back", noted["after"])
    missing = staff.delete(told.headers["Location"])
    assert (missing.status_code, missing.json()["message"]) == (404, f"remittance {told.json()['id']} not found")


def test_staff_keep_lists_that_all_users_of_a_customer_share(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    path = f"/api/customer/{customer.id}/list"
    body = {"name": "New starter", "items": [{"sku": "phone", "quantity": 2}, {"sku": "PHONE", "quantity": 1}]}
    made = staff.post(path, json=body)
    assert (made.status_code, made.json()["items"]) == (201, [{"sku": "PHONE", "quantity": 3}])
    buyer = customer_user(office.service, customer.id, "buyer")
    assert "New starter" in text_of(buyer.get("/account/list"))
    changed = staff.put(made.headers["Location"], json={"name": "Desk", "items": [{"sku": "CABLE", "quantity": 4}]})
    assert changed.json() == {"id": made.json()["id"], "name": "Desk", "items": [{"sku": "CABLE", "quantity": 4}]}
    assert staff.get(path).json() == [{"id": made.json()["id"], "name": "Desk", "lines": 1}]
    wrong = staff.post(
        path, json={"name": "x", "items": [{"sku": "CABLE", "quantity": 1}, {"sku": "NO", "quantity": 1}]}
    )
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (400, "items[1].sku")
    too_many = [{"sku": "CABLE", "quantity": 99_999}, {"sku": "cable", "quantity": 2}]
    wrong = staff.put(made.headers["Location"], json={"name": "Desk", "items": too_many})
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (400, "items")
    others = f"/api/customer/{office.service.customer().id}/list/{made.json()['id']}"
    for foreign in (staff.get(others), staff.delete(others), staff.put(others, json=body)):
        assert foreign.status_code == 404
    assert staff.delete(made.headers["Location"]).status_code == 204
    assert staff.get(path).json() == []


def test_a_list_keeps_no_guards_of_orders_and_says_so(staff: httpx2.Client, customer: Customer) -> None:
    item = {"sku": "PHONE", "quantity": 2, "max_unit_cost": 1}
    made = staff.post(f"/api/customer/{customer.id}/list", json={"name": "Guarded", "items": [item]})
    assert made.json()["items"] == [{"sku": "PHONE", "quantity": 2}]
    assert made.headers["X-Ignored"] == "items[0].max_unit_cost"


def test_a_users_own_list_is_not_among_the_customers(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    buyer = customer_user(office.service, customer.id, "buyer")
    buyer.sends("/account/list/new", {"name": "Mine", "lines": "PHONE 1"})
    assert staff.get(f"/api/customer/{customer.id}/list").json() == []
    [(own,)] = rows(office.service, "select id from saved_list where customer_id = %s", customer.id)
    assert staff.get(f"/api/customer/{customer.id}/list/{own}").status_code == 404


def test_users_e_mails_are_shown_and_chosen(staff: httpx2.Client, office: BackOfficeSite, customer: Customer) -> None:
    buyer = customer_user(office.service, customer.id, "buyer")
    buyer.sends("/account/alert/add", {"sku": "PHONE"})
    path = f"/api/customer/{customer.id}/user/{buyer.id}/alert"
    chosen = staff.put(path, json={"emails": ["dispatched", "invoices_due"]}).json()
    assert chosen == {
        "user_id": buyer.id, "email": buyer.email, "emails": ["dispatched"], "stock": ["PHONE"], "prices": [],
    }  # fmt: skip
    assert chosen in staff.get(f"/api/customer/{customer.id}/alert").json()
    assert 'name="dispatched" type="checkbox" value="true" checked' in buyer.get("/account/alert").text
    assert staff.put(path, json={"emails": ["everything"]}).status_code == 400
    others = f"/api/customer/{office.service.customer().id}/user/{buyer.id}/alert"
    assert staff.put(others, json={"emails": []}).status_code == 404


def test_shared_views_are_listed_and_deleted(staff: httpx2.Client, office: BackOfficeSite) -> None:
    sam = staff_member(office.service, office.url, "support")
    for name, shared in (("Own", ""), ("Everyone", "true")):
        sam.sends("/view/new", {"of": "/order?state=confirmed", "name": name, "shared": shared, "on_today": "true"})
    [view] = [each for each in staff.get("/api/view").json() if each["owner"] == sam.email]
    assert (view["name"], view["address"], view["on_today"]) == ("Everyone", "/order?state=confirmed", True)
    [(own,)] = rows(office.service, "select id from saved_view where name = 'Own'")
    assert staff.delete(f"/api/view/{own}").status_code == 404
    assert staff.delete(f"/api/view/{view['id']}").status_code == 204
    assert "Everyone" not in text_of(sam.get("/view"))
