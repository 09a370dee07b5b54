"""Staff's list of orders: by a part of the customer's reference, and in an order that tells nothing hidden."""

import re

import pytest

from support.backoffice import BackOfficeSite
from support.orders import buy, rows
from support.pages import Person, customer_user, staff_member, text_of
from support.service import Customer, Service


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer()


def test_the_list_is_filtered_by_a_part_of_the_customers_reference(sam: Person, customer: Customer) -> None:
    placed = buy(customer, [("CABLE", 1)], customer_reference="Part-PO 77123/9")["order_reference"]
    other = buy(customer, [("CABLE", 1)], customer_reference="Part-QO 55123")["order_reference"]

    def found(text: str, **filters: object) -> list[bool]:
        page = text_of(sam.get("/order", params={"customer_reference": text, **filters}))
        return [placed in page, other in page]

    for text in ("part-po 77123/9", "PARTPO77", "part po", "77123", "771"):
        assert found(text) == [True, False], text
    assert found("part") == [True, True]
    assert found("123") == found("-") == found("art-po") == [False, False]  # of all customers, only beginnings
    assert found("123", customer_id=customer.id) == [True, True]
    assert found("art-po", customer_id=customer.id) == [True, False]
    assert found("-", customer_id=customer.id) == [False, False]


@pytest.mark.parametrize(
    ("reference", "typed"),
    [
        ("Café-PO 77", "Café-"),
        ("\uff21\uff22 977", "\uff21\uff22 97"),
        ("\ufb01t 127", "\ufb01t 12"),
        ("İx 12", "İx 1"),
    ],
    ids=["accent", "full width", "ligature", "dotted I"],
)
def test_references_beyond_ascii_are_found_by_a_part_of_them(
    shop: Service, sam: Person, reference: str, typed: str
) -> None:
    customer = shop.customer()
    name = buy(customer, [("CABLE", 1)], customer_reference=reference)["order_reference"]
    owner = customer_user(shop, customer.id)
    for person, page, asked in (
        (sam, "/order", {"customer_reference": typed}),
        (sam, "/order", {"customer_reference": typed, "customer_id": customer.id}),
        (sam, "/search", {"q": typed, "live": "1"}),
        (owner, "/account/order", {"customer_reference": typed}),
        (owner, "/account/search", {"q": typed, "live": "1"}),
    ):
        assert name in text_of(person.get(page, params=asked)), page


def test_those_who_see_no_totals_cannot_sort_by_them(office: BackOfficeSite) -> None:
    customer = office.service.customer(credit="9000000.00")
    dear = buy(customer, [("PHONE", 9)])["order_reference"]
    for _ in range(51):
        buy(customer, [("CABLE", 1)])
    picker, support = (staff_member(office.service, office.url, role) for role in ("warehouse", "support"))
    listed = f"/order?customer_id={customer.id}"
    for person, by_total in ((support, True), (picker, False)):
        page = person.get(f"{listed}&sort=-total").text
        assert (dear in page) is by_total
        file = person.get(f"{listed}&sort=-total&format=csv").text.splitlines()
        assert file[1 if by_total else -1].startswith(dear)
        assert (after_of(page) == after_of(person.get(listed).text)) is not by_total


def test_those_who_see_no_totals_neither_find_orders_by_them_nor_read_them_in_what_is_found(
    office: BackOfficeSite,
) -> None:
    customer = office.service.customer(credit="9000000.00")
    order = buy(customer, [("PHONE", 13)], customer_reference="Total-1")
    [(total,)] = rows(
        office.service, "select gross::text from orders where order_reference = %s", order["order_reference"]
    )
    picker, support = (staff_member(office.service, office.url, role) for role in ("warehouse", "support"))
    for person, sees in ((support, True), (picker, False)):
        by_amount = text_of(person.get("/search", params={"q": total, "live": "1"}))
        by_reference = text_of(person.get("/search", params={"q": "Total-1", "live": "1"}))
        assert (order["order_reference"] in by_amount) is sees
        assert order["order_reference"] in by_reference
        assert ("£" in by_reference) is sees


def after_of(page: str) -> str:
    """Return the cursor in the link to the next page of a table."""
    assert "10,000 rows at most" in page
    found = re.search('rel="next" href="[^"]*after=([^"&#]*)', page)
    assert found is not None
    return found[1]
