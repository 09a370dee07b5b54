"""A period that ends before it starts is an error wherever two days are given, and never an empty list."""

import pytest

from support.backoffice import BackOfficeSite
from support.pages import Person, customer_user, staff_member, text_of

SINCE, UNTIL = "2026-03-02", "2026-03-01"


def days(path: str) -> str:
    name = {"order": "created_", "payment": "received_", "invoice": "issued_", "credit-note": "issued_"}
    prefix = name.get(path.rpartition("/")[2], "")
    return f"{path}?{prefix}from={SINCE}&{prefix}to={UNTIL}"


def test_the_apis_reject_it(office: BackOfficeSite) -> None:
    customer, program = office.service.customer(), office.caller()
    own = ("/invoice", "/credit-note", "/payment?issued_from=2026-03-02&issued_to=2026-03-01", "/statement")
    resellers = ("/api/order", "/api/invoice", "/api/audit", f"/api/customer/{customer.id}/statement", "/api/vat")
    for client, paths in ((customer, own), (program, resellers)):
        for path in paths:
            response = client.get(path if "?" in path else days(path))
            assert response.status_code == 400, path
            [error] = response.json()["errors"]
            assert error["field"].endswith("from"), path
            assert error["message"] == f"must not be after {UNTIL}", path


@pytest.mark.parametrize("path", ["/order", "/invoice", "/credit-note", "/payment", "/audit", "/audit/summary", "/vat"])
def test_the_pages_of_staff_say_it_beside_the_day(office: BackOfficeSite, path: str) -> None:
    administrator = staff_member(office.service, office.url, "administrator")
    assert_said(administrator, path)


@pytest.mark.parametrize("name", ["order", "invoice", "invoice/credit-note", "invoice/statement"])
def test_the_pages_of_customers_say_it_beside_the_day(office: BackOfficeSite, name: str) -> None:
    assert_said(customer_user(office.service, office.service.customer().id), f"/account/{name}")


def assert_said(person: Person, path: str) -> None:
    page = person.get(days(path))
    assert "Must not be after 2026-03-01" in text_of(page), page.text
    assert " yet." not in text_of(page)  # a list that is not read is not empty
    assert person.get(days(path).replace(SINCE, UNTIL)).status_code == 200
    assert "Must not be after" not in text_of(person.get(days(path).replace(SINCE, UNTIL)))
