"""Notes on the lines of a basket, and a link with which a colleague opens it."""

import re

import pytest

from support.backoffice import BackOfficeSite
from support.orders import buy, rows, sell
from support.pages import Person, customer_user, fields_of, staff_member, text_of
from support.service import Customer, Service
from support.shop import ADDRESS, STANDARD

FORM, LINK, SHARED = "/account/new-order", "/account/basket/link", "/account/basket/shared"


def noted(person: Person, note: str, sku: str = "PHONE") -> dict[str, str]:
    """The fields of the form after a line with a note was put into the basket."""
    fields = {"do": "update", "items-0-sku": sku, "items-0-quantity": "2", "items-0-note": note}
    return fields_of(person.send(FORM, fields))


def link_of(person: Person) -> str:
    """The link with what is in a basket, below the site's root."""
    found = re.search(r'<pre class="code">[^<]*?(/account/basket/shared[^<]*)</pre>', person.get(LINK).text)
    assert found is not None
    return found[1].replace("&amp;", "&")


def test_a_note_stays_with_its_line_on_every_device(shop: Service, customer: Customer, buyer: Person) -> None:
    noted(buyer, "For <the> second floor")
    fields = fields_of(buyer.get(FORM))
    assert (fields["items-0-sku"], fields["items-0-note"]) == ("PHONE", "For <the> second floor")
    colleague = customer_user(shop, customer.id, "buyer")
    assert "items-0-note" not in fields_of(colleague.get(FORM))
    buyer.sends("/account/basket/add", {"sku": "PHONE", "quantity": "1"})
    fields = fields_of(buyer.get(FORM))
    assert (fields["items-0-quantity"], fields["items-0-note"]) == ("3", "For <the> second floor")
    removed = fields_of(buyer.send(FORM, fields | {"do": "update", "quick-0-sku": "CABLE"}))
    removed = fields_of(buyer.send(FORM, removed | {"remove": "0"}))
    assert (removed["items-0-sku"], removed["items-0-note"]) == ("CABLE", "")


@pytest.mark.sweep
def test_an_order_has_the_notes_of_its_lines(shop: Service, customer: Customer, buyer: Person) -> None:
    customer.post("/customer/address", ADDRESS)
    fields = noted(buyer, "For the second floor") | {"do": "order", "customer_reference": "PO-NOTED"}
    code = buyer.send(FORM, fields).headers["Location"].rpartition("/")[2]
    query = (
        "select n.noted_by, n.text from order_note n join orders o on o.id = n.order_id where confirmation_code = %s"
    )
    assert rows(shop, query, code) == [(buyer.email, "PHONE: For the second floor")]
    assert "Your notes PHONE: For the second floor" in text_of(buyer.get(f"{FORM}/{code}"))
    again = fields_of(buyer.get(f"{FORM}?again={code}"))
    assert again["items-0-note"] == "For the second floor"
    page = text_of(buyer.sends(f"{FORM}/{code}", {"shipping_method": str(STANDARD)}))
    assert "Your notes PHONE: For the second floor" in page
    assert f"Confirmed by {buyer.email}" in page
    assert rows(shop, query, code) == [(buyer.email, "PHONE: For the second floor")]


@pytest.mark.sweep
def test_a_note_on_the_delivery_stays_with_the_order_until_it_is_picked(
    office: BackOfficeSite, shop: Service, customer: Customer, buyer: Person
) -> None:
    customer.post("/customer/address", ADDRESS)
    note = "Gate <3>, from 7 to 9"
    fields = noted(buyer, "Blue one") | {"do": "order", "customer_reference": "PO-GATE", "delivery_note": f" {note}\n"}
    assert buyer.send(FORM, fields | {"delivery_note": "n" * 201}).status_code == 400
    code = buyer.send(FORM, fields).headers["Location"].rpartition("/")[2]
    changed = fields_of(buyer.get(f"{FORM}?again={code}"))
    assert (changed["delivery_note"], changed["items-0-note"]) == (note, "Blue one")
    code = buyer.send(FORM, changed | {"do": "order"}).headers["Location"].rpartition("/")[2]
    page = buyer.sends(f"{FORM}/{code}", {"shipping_method": str(STANDARD)})
    assert f"Your notes Delivery: {note} PHONE: Blue one" in text_of(page)
    reference = str(page.url).rpartition("/")[2]
    assert fields_of(buyer.get(f"{FORM}?again={reference}"))["delivery_note"] == ""
    warehouse = staff_member(shop, office.url, "warehouse")
    picked = warehouse.get("/order/many/pick", params={"order": reference})
    assert f"Delivery: {note}" in text_of(picked)
    assert "<3>" not in picked.text


@pytest.mark.sweep
def test_long_notes_of_many_lines_are_kept_whole(shop: Service, customer: Customer, buyer: Person) -> None:
    customer.post("/customer/address", ADDRESS)
    written = {sell(shop, f"NOTED-{n}", 10): f"{n:03}" + "n" * 197 for n in range(12)}
    shop.refresh()
    lines = {
        f"items-{n}-{field}": value
        for n, (sku, note) in enumerate(written.items())
        for field, value in (("sku", sku), ("quantity", "1"), ("note", note))
    }
    fields = fields_of(buyer.send(FORM, {"do": "update"} | lines)) | {"do": "order", "customer_reference": "PO-LONG"}
    code = buyer.send(FORM, fields).headers["Location"].rpartition("/")[2]
    query = (
        "select n.text from order_note n join orders o on o.id = n.order_id where confirmation_code = %s order by n.id"
    )
    found = [text for (text,) in rows(shop, query, code)]
    assert max(map(len, found)) <= 2000
    assert "\n".join(found).splitlines() == [f"{sku}: {note}" for sku, note in written.items()]


def test_a_customer_sees_no_note_of_the_reseller_even_if_it_was_made_for_one_of_its_users(
    office: BackOfficeSite, customer: Customer, buyer: Person
) -> None:
    reference = str(buy(customer)["order_reference"])
    path, headers = f"/api/order/{reference}/note", {"X-Acting-User": buyer.email}
    noted = office.caller().post(path, json={"text": "Checks bounced before"}, headers=headers)
    assert noted.json()["notes"][0]["by"] == buyer.email
    assert "bounced" not in text_of(buyer.get(f"/account/order/{reference}"))


def test_a_note_that_is_too_long_is_said_beside_its_line(buyer: Person) -> None:
    answer = buyer.send(
        FORM, {"do": "update", "items-0-sku": "PHONE", "items-0-quantity": "1", "items-0-note": "n" * 201}
    )
    assert answer.status_code == 400
    assert "Note on PHONE" in text_of(answer)


@pytest.mark.sweep
def test_a_colleague_opens_a_basket_by_its_link(shop: Service, customer: Customer, buyer: Person) -> None:
    sku = sell(shop, "SHARED & CO, 2:1/M", 10, available=3)
    shop.refresh()
    noted(buyer, "Not for others", sku)
    buyer.sends("/account/basket/add", {"sku": "CABLE", "quantity": "7"})
    link = link_of(buyer)
    colleague = customer_user(shop, customer.id, "buyer")
    page = colleague.get(link)
    assert "Not for others" not in text_of(page)
    fields = fields_of(page, where=lambda name: name.startswith("items-"))
    assert fields == {
        "items-0-sku": sku,
        "items-0-quantity": "2",
        "items-1-sku": "CABLE",
        "items-1-quantity": "7",
    }
    assert "2 products added to the basket." in text_of(colleague.sends(SHARED, fields))
    assert fields_of(colleague.get(FORM))["items-1-quantity"] == "7"
    assert fields_of(buyer.get(FORM))["items-0-note"] == "Not for others"


def test_a_product_that_is_not_sold_to_the_colleague_is_named(buyer: Person) -> None:
    page = text_of(buyer.get(f"{SHARED}?item=1:NO-SUCH-SKU&item=2:PHONE"))
    assert "Not sold to you: NO-SUCH-SKU." in page
    assert "1 product, £100.00 without VAT" in page
    assert "This link has no products" in text_of(buyer.get(f"{SHARED}?item=1:NO-SUCH-SKU"))
    assert buyer.send(SHARED, {"once": ""}).status_code == 409


def test_a_product_that_is_no_longer_sold_does_not_hold_up_the_rest_of_a_link(shop: Service, buyer: Person) -> None:
    sku = sell(shop, "SHARED-GONE", 10, available=3)
    shop.refresh()
    fields = fields_of(buyer.get(f"{SHARED}?item=1:{sku}&item=2:PHONE"), where=lambda name: name.startswith("items-"))
    shop.must_load("products", [{"sku": sku, "active": False}])
    shop.refresh()
    said = text_of(buyer.sends(SHARED, fields))
    assert "1 product added to the basket. 1 product that we no longer sell is left out." in said
    assert fields_of(buyer.get(FORM))["items-0-sku"] == "PHONE"


@pytest.mark.parametrize("item", ["PHONE", "0:PHONE", "x:PHONE", "1:", "-1:PHONE", "1:" + "x" * 300, "9999999:PHONE"])
def test_a_link_that_is_wrong_says_so(buyer: Person, item: str) -> None:
    answer = buyer.get(f"{SHARED}?item={item}")
    assert answer.status_code == 400
    assert "units, a colon and a SKU" in text_of(answer)


@pytest.mark.sweep
def test_a_basket_that_is_too_long_for_a_link_is_saved_as_a_list(shop: Service, buyer: Person) -> None:
    skus = [sell(shop, f"LONG-{'X' * 60}-{n}", 10) for n in range(60)]
    shop.refresh()
    assert "Your basket is empty" in text_of(buyer.get(LINK))
    buyer.send(FORM, {"do": "update", "list": "\n".join(f"{sku} 1" for sku in skus)})
    assert "too long for a link" in text_of(buyer.get(LINK))


def test_units_and_notes_that_are_too_many_together_are_said_and_change_nothing(shop: Service, buyer: Person) -> None:
    sku = sell(shop, "MANY-UNITS")
    shop.refresh()
    shared = buyer.send(SHARED, fields_of(buyer.get(f"{SHARED}?item=100000:{sku}&item=1:{sku}")))
    assert shared.status_code == 400
    assert f"would make more than 100,000 units of {sku} in the basket" in text_of(shared)
    added = noted(buyer, "n" * 150, sku)
    for quantity, wrong in (
        ("99999", f"Units of {sku} Must be"),
        ("1", f"Note on {sku} We get it with the order. Must"),
    ):
        second = {"items-1-sku": sku, "items-1-quantity": quantity, "items-1-note": "m" * 150}
        rejected = buyer.send(FORM, added | second | {"do": "update"})
        assert (rejected.status_code, wrong in text_of(rejected)) == (400, True)
        assert buyer.send(FORM, added | second | {"preview": "1"}).status_code == 200
        kept = fields_of(buyer.get(FORM))
        assert (kept["items-0-quantity"], kept["items-0-note"]) == ("2", "n" * 150)
