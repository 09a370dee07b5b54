"""Every form with a number rejects what is no number with the same words, at the field."""

from collections.abc import Iterable, Mapping, Sequence

import pytest

from support.backoffice import BackOfficeSite
from support.billing import invoiced, number_of
from support.orders import buy, dispatch, sell
from support.pages import Person, customer_user
from support.quotes import request_quote
from support.shop import STANDARD
from support.typed_numbers import AMOUNTS, PERCENTAGES, UNSIGNED_COUNTS, Typed, said, wrong

Form = Mapping[str, str]
Table = Sequence[Typed]


def rejects(person: Person, path: str, form: Form, *fields: tuple[str, Iterable[Typed]]) -> None:
    """Fail if a form does not say of a field what is wrong with a text."""
    for field, table in fields:
        typed = wrong(table)
        found = [said(person.send(path, {**form, field: each.text}), field) for each in typed]
        assert found == [each.message for each in typed], (path, field)


@pytest.fixture(scope="module")
def sku(office: BackOfficeSite) -> str:
    return sell(office.service, "FORMS", "50", available=1_000)


@pytest.mark.sweep
def test_the_form_of_a_new_customer(sam: Person) -> None:
    form = {"email_address": "new@typed.example", "first_name": "Ada", "last_name": "Typed"}
    terms = {"credit_limit": "5", "term_days": "30"}
    rejects(sam, "/customer/new", form, ("discount", PERCENTAGES))
    rejects(sam, "/customer/new", form | terms, ("credit_limit", AMOUNTS), ("term_days", UNSIGNED_COUNTS))


def test_the_form_of_credit_terms(office: BackOfficeSite, sam: Person) -> None:
    path = f"/customer/{office.service.customer().id}/credit-terms"
    rejects(sam, path, {"credit_limit": "5", "term_days": "30"}, ("term_days", UNSIGNED_COUNTS))


@pytest.mark.sweep
def test_the_form_that_amends_an_order(office: BackOfficeSite, sam: Person, sku: str) -> None:
    placed = buy(office.service.customer(), [(sku, 5)])
    form = {"items-0-id": str(placed["items"][0]["id"]), "items-0-had": "5", "items-0-cost": "50", "reason": "r"}
    more = {"added-0-sku": "CABLE", "added-0-quantity": "1"}
    rejects(
        sam,
        f"/order/{placed['order_reference']}/amend",
        form | more,
        ("items-0-quantity", UNSIGNED_COUNTS),
        ("items-0-unit_cost", AMOUNTS),
        ("added-0-quantity", UNSIGNED_COUNTS),
        ("added-0-unit_cost", AMOUNTS),
    )


@pytest.mark.sweep
def test_the_shipping_of_the_desk_of_quotes(office: BackOfficeSite, sam: Person, sku: str) -> None:
    quote = request_quote(office.service.customer(), [(sku, 1)])
    form = {"shipping-0-id": str(STANDARD), "method": str(STANDARD)}
    path = f"/quote/{quote['confirmation_code']}/price"
    rejects(sam, path, form, ("shipping-0-cost_net", AMOUNTS), ("method_cost", AMOUNTS))


@pytest.mark.sweep
def test_the_units_of_a_credit_note(office: BackOfficeSite, sam: Person, sku: str) -> None:
    service = office.service
    customer = service.customer()
    number = number_of(service, invoiced(service, customer, (sku, 5)))
    form = {"reason": "r", "lines-0-item_id": "1"}
    rejects(sam, f"/invoice/{number}/credit-note", form, ("lines-0-quantity", UNSIGNED_COUNTS))


@pytest.mark.sweep
def test_the_form_that_receives_a_return(office: BackOfficeSite, sam: Person, sku: str) -> None:
    placed = buy(office.service.customer(), [(sku, 5)])
    dispatch(office.service, placed)
    path, item = f"/order/{placed['order_reference']}/return", str(placed["items"][0]["id"])
    opened = sam.send(path, {"reason": "r", "items-0-id": item, "items-0-quantity": "2"})
    assert opened.status_code == 303, opened.text
    path = f"{opened.headers['Location']}/receive"
    rejects(sam, path, {"items-0-id": item}, ("items-0-restock", UNSIGNED_COUNTS), ("items-0-scrap", UNSIGNED_COUNTS))


@pytest.mark.sweep
def test_the_form_that_counts_stock(sam: Person, sku: str) -> None:
    rejects(sam, "/stock-adjustment", {"sku": sku, "reason": "r"}, ("set", UNSIGNED_COUNTS))


@pytest.mark.sweep
def test_the_form_of_a_feed(office: BackOfficeSite) -> None:
    buyer = customer_user(office.service, office.service.customer().id)
    rejects(buyer, "/account/developer/feed/new", {"name": "F", "columns": "sku"}, ("markup", PERCENTAGES))
