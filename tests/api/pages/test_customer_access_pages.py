"""The staff's pages of a customer's users, keys and addresses; blocking, exporting and erasing a customer."""

import io
import zipfile
from datetime import timedelta

import pytest

from support.backoffice import BackOfficeSite
from support.markup import markup_of
from support.orders import buy, rows
from support.pages import Person, fields_of, staff_member, text_of
from support.service import Customer
from support.shop import ADDRESS

SENT = {"once": ""}  # a form without fields of its own


@pytest.fixture(scope="module")
def support(office: BackOfficeSite) -> Person:
    return staff_member(office.service, office.url, "support")


@pytest.fixture
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer(company="Access Ltd")


def last_id(office: BackOfficeSite, table: str, customer: Customer) -> int:
    statements = {
        "customer_user": "select max(id) from customer_user where customer_id = %s",
        "api_key": "select max(id) from api_key where customer_id = %s",
        "address": "select max(id) from address where customer_id = %s",
    }
    [(found,)] = rows(office.service, statements[table], customer.id)
    return int(found)


def test_a_user_is_invited_and_disabled(office: BackOfficeSite, support: Person, customer: Customer) -> None:
    path = f"/customer/{customer.id}/user/invite"
    email = f"buyer{customer.id}@shop.example"
    page = support.sends(path, fields_of(support.get(path)) | {"email": email, "role": "buyer"})
    assert f"An invitation is on its way to {email}." in text_of(page)
    assert "has set no password yet" in text_of(page)
    [again] = [link for link in markup_of(page.text, path).links if link.startswith(f"{path}?email=buyer")]
    assert fields_of(support.get(again)).items() >= {"email": email, "role": "buyer"}.items()
    disable = f"/customer/{customer.id}/user/{last_id(office, 'customer_user', customer)}/disable"
    assert email in text_of(support.get(disable))
    assert "The user is disabled." in text_of(support.sends(disable, fields_of(support.get(disable))))
    [(at,)] = rows(office.service, "select disabled_at from customer_user where email = %s", email)
    assert at is not None


def test_a_wrong_invitation_is_explained(office: BackOfficeSite, support: Person, customer: Customer) -> None:
    path = f"/customer/{customer.id}/user/invite"
    wrong = support.send(path, {"email": "nobody", "role": ""})
    assert wrong.status_code == 400
    assert "form-email-error" in wrong.text
    assert 'value="nobody"' in wrong.text
    other = office.service.customer()
    email = f"taken{customer.id}@shop.example"
    support.sends(f"/customer/{other.id}/user/invite", {"email": email, "role": "owner"})
    taken = support.send(path, {"email": email, "role": "owner"})
    assert taken.status_code == 409
    assert "another customer" in text_of(taken)


def test_a_key_is_shown_once_and_works_until_it_is_disabled(
    office: BackOfficeSite, support: Person, customer: Customer
) -> None:
    path = f"/customer/{customer.id}/key/new"
    fields = fields_of(support.get(path)) | {"name": "Web shop"}
    made = support.send(path, fields)
    assert made.status_code == 200
    key = made.text.split('<pre class="code secret" tabindex="0">')[1].split("<")[0]
    assert made.headers["Cache-Control"] == "no-store"
    client = office.service.client(**{"X-Api-Key": key})
    assert client.get("/customer").json()["email_address"]
    again = support.send(path, fields)
    assert again.status_code == 303
    assert key not in support.get(f"/customer/{customer.id}/access").text
    [(count,)] = rows(office.service, "select count(*) from api_key where customer_id = %s", customer.id)
    assert count == 2
    disable = f"/customer/{customer.id}/key/{last_id(office, 'api_key', customer)}/disable"
    assert "Web shop" in text_of(support.get(disable))
    assert "The key is disabled." in text_of(support.sends(disable, fields_of(support.get(disable))))
    office.service.refresh()
    assert client.get("/customer").status_code == 401
    empty = support.send(path, {"name": ""})
    assert empty.status_code == 400
    assert "form-name-error" in empty.text


def test_support_makes_a_key_with_limits(support: Person, customer: Customer) -> None:
    path = f"/customer/{customer.id}/key/new"
    fields = fields_of(support.get(path)) | {"name": "Stock sheet", "scopes": ["read"], "networks": "203.0.113.0/24"}
    assert support.send(path, fields).status_code == 200
    assert "read from 203.0.113.0/24" in text_of(support.get(f"/customer/{customer.id}/access"))
    wrong = support.send(path, fields | {"once": "other", "networks": "here"})
    assert wrong.status_code == 400
    assert 'href="#form-networks"' in wrong.text


def test_a_key_needs_the_password_again_after_ten_minutes(office: BackOfficeSite, customer: Customer) -> None:
    late = staff_member(office.service, office.url, "support")
    statement = "update session set proven_at = proven_at - %s where staff_id = %s returning id"
    rows(office.service, statement, timedelta(minutes=11), late.id)
    path = f"/customer/{customer.id}/key/new"
    for response in (late.get(path), late.send(path, {"name": "Late"})):
        assert response.status_code == 303
        assert response.headers["Location"].startswith("/sign-in/again?next=")
    assert late.get(f"/customer/{customer.id}/access").status_code == 200


def test_another_customers_user_key_and_address_are_not_found(
    office: BackOfficeSite, support: Person, customer: Customer
) -> None:
    other = office.service.customer()
    support.sends(f"/customer/{other.id}/address/new", ADDRESS)
    for noun, table, end in (
        ("user", "customer_user", "disable"),
        ("key", "api_key", "disable"),
        ("address", "address", "remove"),
    ):
        if noun == "user":
            support.sends(f"/customer/{other.id}/user/invite", {"email": f"o{other.id}@s.example", "role": "owner"})
        path = f"{noun}/{last_id(office, table, other)}/{end}"
        assert support.get(f"/customer/{customer.id}/{path}").status_code == 404
        assert support.send(f"/customer/{customer.id}/{path}", SENT).status_code == 404
        assert support.get(f"/customer/{other.id}/{path}").status_code == 200


def test_an_address_is_saved_and_deleted(office: BackOfficeSite, support: Person, customer: Customer) -> None:
    path = f"/customer/{customer.id}/address/new"
    wrong = support.send(path, {**ADDRESS, "city": "", "contact_number": "12"})
    assert wrong.status_code == 400
    assert "form-city-error" in wrong.text
    page = support.sends(path, {**ADDRESS, "company_name": "<i>Goods In</i>"})
    assert "&lt;i&gt;Goods In" in page.text
    one = f"/customer/{customer.id}/address/{last_id(office, 'address', customer)}"
    given = fields_of(support.get(one)) | {"country_code": "GB"}
    assert given["company_name"] == "<i>Goods In</i>"
    assert "form-city-error" in support.send(one, {**given, "city": " "}).text
    assert "Otley" in text_of(support.sends(one, {**given, "city": "Otley"}))
    delete = f"/customer/{customer.id}/address/{last_id(office, 'address', customer)}/remove"
    assert "Goods In" in text_of(support.get(delete))
    assert "No saved addresses" in text_of(support.sends(delete, fields_of(support.get(delete))))


def test_finance_only_reads_users_keys_and_addresses(office: BackOfficeSite, customer: Customer) -> None:
    finance = staff_member(office.service, office.url, "finance")
    for end, forms in (("access", ("user/invite", "key/new")), ("address", ("address/new",))):
        page = finance.get(f"/customer/{customer.id}/{end}")
        assert page.status_code == 200
        for form in forms:
            assert form not in page.text
            assert finance.send(f"/customer/{customer.id}/{form}", {"name": "x"}).status_code == 403


def test_a_customer_is_blocked_with_a_reason_and_unblocked(office: BackOfficeSite, customer: Customer) -> None:
    finance = staff_member(office.service, office.url, "finance")
    path = f"/customer/{customer.id}"
    empty = finance.send(f"{path}/block", {"reason": " "})
    assert empty.status_code == 400
    assert "form-reason-error" in empty.text
    page = text_of(finance.sends(f"{path}/block", {"reason": "Has not <paid>"}))
    assert "Blocked: Has not <paid>" in page
    assert finance.send(f"{path}/block", {"reason": "Twice"}).status_code == 409
    assert "Access Ltd" in text_of(finance.get("/customer?state=blocked"))
    assert "not blocked any more" in text_of(finance.sends(f"{path}/unblock", SENT))
    assert finance.send(f"{path}/unblock", SENT).status_code == 409


def test_the_export_is_a_zip_file(support: Person, customer: Customer) -> None:
    file = support.get(f"/customer/{customer.id}/export")
    assert file.headers["Content-Type"] == "application/zip"
    assert zipfile.ZipFile(io.BytesIO(file.content)).namelist()


def test_only_an_administrator_erases_and_types_the_number(
    office: BackOfficeSite, sam: Person, support: Person, customer: Customer
) -> None:
    path = f"/customer/{customer.id}/erase"
    assert support.get(path).status_code == 403
    assert path not in support.get(f"/customer/{customer.id}").text
    wrong = sam.send(path, {"number": "1"})
    assert wrong.status_code == 400
    assert f"Must be {customer.id}" in text_of(wrong)
    placed = buy(customer, [("CABLE", 1)])
    busy = sam.send(path, {"number": str(customer.id)})
    assert busy.status_code == 409
    assert str(placed["order_reference"]) in text_of(busy)
    gone = office.service.customer(company="Gone Ltd")
    gone.post("/customer/address", ADDRESS)
    asked = text_of(sam.get(f"/customer/{gone.id}/erase"))
    assert "1 saved address" in asked
    assert "1 API key" in asked
    page = text_of(sam.sends(f"/customer/{gone.id}/erase", {"number": str(gone.id)}))
    assert "erased" in page
    assert "Gone Ltd" not in page
