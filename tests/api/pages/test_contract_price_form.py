"""Staff add and change a customer's contract price of a product on a page, by the rules of imports."""

from typing import Any

import pytest

from support.backoffice import BackOfficeSite
from support.orders import rows, sell
from support.pages import Person, fields_of, staff_member, text_of
from support.service import Customer, Service

FORM = "/contract-price"


@pytest.fixture(scope="module")
def manager(office: BackOfficeSite) -> Person:
    """A member of the staff who keeps the catalogue, and may not see customers."""
    return staff_member(office.service, office.url, "catalogue")


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer(company="Agreed Prices Ltd")


def filled(person: Person, sku: str, of: str = "", **changed: object) -> dict[str, str]:
    shown = fields_of(person.get(f"{FORM}?sku={sku}{of}"))
    return shown | {name: str(value) for name, value in changed.items()}


def stored(service: Service, sku: str) -> list[Any]:
    return rows(
        service,
        "select c.customer_id, c.single_unit_cost::text, c.valid_from::text, c.valid_until::text from contract_price c"
        " join product p on p.id = c.product_id where p.sku = %s order by c.valid_from",
        sku,
    )


def test_a_contract_price_is_added_and_changed_and_is_what_the_customer_pays(
    shop: Service, manager: Person, customer: Customer
) -> None:
    sku = sell(shop, "AGREED", 20, available=3)
    fields = filled(manager, sku, customer=customer.id, single_unit_cost="17.50", valid_until="2099-12-31")
    page = manager.sends(FORM, fields)
    assert "The contract price is saved." in text_of(page)
    assert stored(shop, sku) == [(customer.id, "17.50", None, "2099-12-31")]
    assert rows(shop, "select kind, added from import_run order by id desc limit 1") == [("contract-prices", 1)]
    shop.refresh()
    assert customer.get(f"/product/{sku}").json()["single_unit_cost"] == 17.5
    again = f"&customer={customer.id}"
    assert f'href="{FORM}?sku={sku}&amp;customer={customer.id}"' in page.text
    changed = filled(manager, sku, again, single_unit_cost="17.00", five_plus_unit_cost="18", valid_until="")
    assert changed["customer"] == str(customer.id)
    warned = "The contract price is saved. Note: £18.00 is more than £17.00, the price of fewer units."
    assert warned in text_of(manager.sends(FORM, changed))
    assert stored(shop, sku) == [(customer.id, "17.00", None, None)]
    assert "Nothing was different." in text_of(manager.sends(FORM, filled(manager, sku, again)))


def test_a_price_that_somebody_has_added_or_changed_meanwhile_is_not_overwritten(
    shop: Service, manager: Person, customer: Customer
) -> None:
    sku = sell(shop, "AGREED-TWICE", 20)
    fields = filled(manager, sku, customer=customer.id, single_unit_cost="17.50", valid_from="2026-07-01")
    manager.sends(FORM, fields)
    rejected = manager.send(FORM, fields | {"single_unit_cost": "16.00", "once": "another"})
    assert (rejected.status_code, "has a price from this day already" in text_of(rejected)) == (409, True)
    link = f'href="{FORM}?sku={sku}&amp;customer={customer.id}&amp;from=2026-07-01"'
    assert link in rejected.text
    shown = filled(manager, sku, f"&customer={customer.id}&from=2026-07-01", single_unit_cost="16.00")
    manager.sends(FORM, filled(manager, sku, f"&customer={customer.id}&from=2026-07-01", single_unit_cost="15.00"))
    rejected = manager.send(FORM, shown)
    assert (rejected.status_code, "someone else has changed this price" in text_of(rejected)) == (409, True)
    assert link in rejected.text
    assert stored(shop, sku) == [(customer.id, "15.00", "2026-07-01", None)]


def test_a_price_that_may_be_a_slip_wants_a_tick(shop: Service, manager: Person, customer: Customer) -> None:
    sku = sell(shop, "AGREED-SLIP", 20, purchase_cost=12)
    fields = filled(manager, sku, customer=customer.id, single_unit_cost="2.00")
    rejected = manager.send(FORM, fields)
    assert rejected.status_code == 409
    assert "£2.00" in text_of(rejected)
    assert stored(shop, sku) == []
    manager.sends(FORM, fields_of(rejected) | {"force": "true"})
    assert stored(shop, sku) == [(customer.id, "2.00", None, None)]


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"customer": ""}, "is required"),
        ({"customer": "Agreed Prices"}, "is not the number of a customer"),
        ({"customer": "999999"}, "does not exist"),
        ({"single_unit_cost": ""}, "1 and more"),
        ({"valid_from": "2026-07-02", "valid_until": "2026-07-01"}, "is before"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_saved(
    shop: Service, manager: Person, customer: Customer, given: dict[str, str], said: str
) -> None:
    sku = sell(shop, "AGREED-WRONG", 20)
    rejected = manager.send(FORM, filled(manager, sku, customer=customer.id, single_unit_cost="17") | given)
    assert rejected.status_code in {400, 404}
    assert said in text_of(rejected)
    assert stored(shop, sku) == []


def test_an_administrator_names_the_customer(shop: Service, office: BackOfficeSite) -> None:
    customer = shop.customer(company="Named In A Contract Ltd")
    sku = sell(shop, "AGREED-BY-NAME", 20)
    chief = staff_member(office.service, office.url, "administrator")
    chief.sends(FORM, filled(chief, sku, customer="named contract", single_unit_cost="17"))
    assert [found[0] for found in stored(shop, sku)] == [customer.id]
