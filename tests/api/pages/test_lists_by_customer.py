"""The customer in the filters of the staff's lists: a number, a name or an e-mail address."""

from collections.abc import Iterator

import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.billing import credit, due_of, invoiced, number_of, pay_in
from support.pages import Person, staff_member, text_of
from support.service import Service

LISTS = ("/order", "/invoice", "/credit-note", "/payment")


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop) as running:
        for company in ("Quayside Radio Ltd", "Moorland Radio Ltd"):
            customer = shop.customer(company=company)
            number = number_of(shop, invoiced(shop, customer, ("PHONE", 2)))
            credit(shop, number, amount="1.00")
            pay_in(shop, customer, str(due_of(shop, number)), invoice=number)
        yield running


@pytest.fixture(scope="module")
def ada(office: BackOfficeSite) -> Person:
    return staff_member(office.service, office.url, "administrator")


@pytest.mark.parametrize("path", LISTS)
def test_a_list_is_filtered_by_a_customers_name(ada: Person, path: str) -> None:
    both = text_of(ada.get(path))
    assert "Quayside Radio Ltd" in both
    assert "Moorland Radio Ltd" in both
    mine = ada.get(path, params={"customer_id": " quayside "})
    assert "Quayside Radio Ltd" in text_of(mine)
    assert "Moorland Radio Ltd" not in text_of(mine)
    assert 'value=" quayside "' in mine.text
    file = ada.get(path, params={"customer_id": "quayside", "format": "csv"}).text
    assert file.count("Quayside Radio Ltd") == 1
    assert "Moorland" not in file


@pytest.mark.parametrize("path", [*LISTS, "/webhook"])
@pytest.mark.parametrize(
    ("named", "message"),
    [("radio", "several customers match: Moorland Radio Ltd"), ("nobody at all", "no customer has 'nobody at all'")],
)
def test_a_name_of_no_customer_or_of_several_is_an_error_beside_the_field(
    ada: Person, path: str, named: str, message: str
) -> None:
    wrong = ada.get(path, params={"customer_id": named})
    assert wrong.status_code == 400
    assert message.casefold() in text_of(wrong).casefold()
    assert "-customer_id-error" in wrong.text
    assert "Customer id" not in text_of(wrong)
