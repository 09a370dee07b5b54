"""Which fields of a customer a token's scopes and a staff member's roles may change."""

from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite
from support.error_bodies import error_body
from tradecounter.customers.operations.changes import roles_of_field, scope_of_field
from tradecounter.customers.settings import CustomerChange

CONTACT = {"email_address", "first_name", "last_name", "company", "accounts_email", "order_mails"}
TERMS: dict[str, Any] = {"credit_limit": 500, "term_days": 30}
NEEDS_BILLING = error_body("scope_needed", "this needs the scope billing:write")
NEEDS_CUSTOMERS = error_body("scope_needed", "this needs the scope customers:write")


@pytest.fixture(scope="module")
def sales(office: BackOfficeSite) -> httpx2.Client:
    return office.caller("customers:write")


@pytest.fixture(scope="module")
def accounts(office: BackOfficeSite) -> httpx2.Client:
    return office.caller("billing:write", "customers:read")


@pytest.fixture
def address(office: BackOfficeSite) -> str:
    return f"/api/customer/{office.service.customer().id}"


def test_credit_terms_need_the_scope_of_billing(sales: httpx2.Client, accounts: httpx2.Client, address: str) -> None:
    before = accounts.get(address).json()
    for body in (TERMS, {"company": "Acme", **TERMS}, {"credit_limit": None, "term_days": None}):
        rejected = sales.patch(address, json=body)
        assert (rejected.status_code, rejected.json()) == (403, NEEDS_BILLING)
    assert accounts.get(address).json() == before
    changed = accounts.patch(address, json=TERMS)
    assert (changed.status_code, changed.json()["credit_limit"], changed.json()["term_days"]) == (200, 500, 30)


def test_all_other_fields_need_the_scope_of_customers(
    sales: httpx2.Client, accounts: httpx2.Client, address: str
) -> None:
    for body in ({"company": "Acme"}, {"discount": 2.5}, {"packing": "plain"}, {"first_name": "Ada", **TERMS}):
        rejected = accounts.patch(address, json=body)
        assert (rejected.status_code, rejected.json()) == (403, NEEDS_CUSTOMERS)
    assert sales.patch(address, json={"company": "Acme", "discount": 2.5}).json()["company"] == "Acme"


def test_a_token_with_both_scopes_changes_all_fields_at_once(staff: httpx2.Client, address: str) -> None:
    changed = staff.patch(address, json={"company": "Acme", **TERMS}).json()
    assert (changed["company"], changed["credit_limit"]) == ("Acme", 500)


def test_a_new_customer_gets_credit_terms_only_with_both_scopes(sales: httpx2.Client, accounts: httpx2.Client) -> None:
    body = {"email_address": "terms@shop.example", "first_name": "Ada", "last_name": "New"}
    rejected = sales.post("/api/customer", json={**body, **TERMS})
    assert (rejected.status_code, rejected.json()) == (403, NEEDS_BILLING)
    assert accounts.post("/api/customer", json=body).json() == NEEDS_CUSTOMERS
    assert sales.post("/api/customer", json=body).status_code == 201


def test_support_changes_contact_data_finance_terms_and_administrators_all() -> None:
    roles = {name: roles_of_field(name) for name in CustomerChange.__struct_fields__}
    assert {name for name, allowed in roles.items() if "support" in allowed} == CONTACT
    assert {name for name, allowed in roles.items() if "finance" in allowed} == set(TERMS)
    assert all("administrator" in allowed for allowed in roles.values())
    assert {name for name in roles if scope_of_field(name) == "billing:write"} == set(TERMS)
