"""`GET /customer`: the account of the caller."""

import pytest

from support.service import Service


@pytest.mark.spec("2 Customer", "every field, accounts_email optional, credit terms or null")
@pytest.mark.spec("4 GET /customer", "the account")
def test_an_account_with_all_settings_shows_them(service: Service) -> None:
    customer = service.customer(
        first_name="Ada",
        last_name="Ünal",
        email_address="Ada@Example.test",
        accounts_email="accounts@example.test",
        trade_account=True,
        credit="1500.5",
        term_days=14,
        company="not shown",
        discount="12.5",
    )
    response = customer.get("/customer")
    assert response.status_code == 200
    assert response.json() == {
        "first_name": "Ada",
        "last_name": "Ünal",
        "email_address": "Ada@Example.test",
        "accounts_email": "accounts@example.test",
        "trade_account": True,
        "credit_terms": {"credit_limit": 1500.5, "term_days": 14},
    }
    assert b'"credit_limit":1500.50' in response.content


@pytest.mark.spec("2 Customer", "every field, accounts_email optional, credit terms or null")
def test_an_account_without_credit_has_null_terms_and_no_accounts_email(service: Service) -> None:
    customer = service.customer(credit=None, trade_account=False, email_address="plain@example.test")
    assert customer.get("/customer").json() == {
        "first_name": "Test",
        "last_name": customer.get("/customer").json()["last_name"],
        "email_address": "plain@example.test",
        "trade_account": False,
        "credit_terms": None,
    }


def test_zero_credit_differs_from_no_credit(service: Service) -> None:
    customer = service.customer(credit="0", term_days=0)
    assert customer.get("/customer").json()["credit_terms"] == {"credit_limit": 0, "term_days": 0}
