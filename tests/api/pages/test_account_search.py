"""The search box of the account: the customer's own things, and products at its prices."""

import re
from functools import partial

from support.billing import credit, invoiced, number_of
from support.orders import buy, create, dispatch, rows, sell
from support.pages import Person, customer_user, text_of
from support.service import Customer, Service
from support.shop import GERMAN_ADDRESS
from tradecounter.orders.queries.find_orders import find_orders
from tradecounter.shipments.wire import Serial


def found(person: Person, text: str) -> str:
    return text_of(person.get("/account/search", params={"q": text, "live": "1"}))


def test_own_things_are_found_and_those_of_others_are_not(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "OWN-WF", "12.50", name="Ownable Wi-Fi bridge", available=9)
    placed = buy(customer, [(sku, 2)], customer_reference="PO-55120/26")
    owner, other = (customer_user(shop, each) for each in (customer.id, shop.customer().id))
    [(gross,)] = rows(shop, "select gross from orders where order_reference = %s", placed["order_reference"])
    for text in ("55120", "po 5512", placed["order_reference"].lower(), f"{gross:,.2f}", placed["confirmation_code"]):
        assert placed["order_reference"] in found(owner, text), text
        assert placed["order_reference"] not in found(other, text), text
    for text in ("ownable wifi", "bridges ownable", "ownible"):
        assert "Ownable Wi-Fi bridge In stock OWN-WF · £12.50" in found(other, text), text
    opened = owner.get("/account/search", params={"q": "55120"})
    assert opened.headers["Location"] == f"/account/order/{placed['order_reference']}"
    product = owner.get("/account/search", params={"q": "own-wf"}).headers["Location"]
    assert product == f"/account/product/{sku}"
    assert "Ownable Wi-Fi bridge" in text_of(owner.get(product))


def test_an_order_is_called_by_the_own_reference_until_it_is_confirmed(shop: Service, customer: Customer) -> None:
    code = create(customer, [("PHONE", 1)], customer_reference="PO-LATER-1")["confirmation_code"]
    buyer = customer_user(shop, customer.id, "buyer")
    assert f"PO-LATER-1 pending {code[:8]}… · £" in found(buyer, "later-1")
    placed = buy(customer, [("PHONE", 1)], customer_reference="PO-LATER-2")["order_reference"]
    assert re.search(rf"{placed} .* PO-LATER-2 · £", found(buyer, "later-2"))


def test_an_own_unit_is_found_by_its_serial_number(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 1)])
    dispatch(shop, placed, serials=[Serial(placed["items"][0]["id"], "OWN-SN-77", "00:11:22:33:44:57")])
    owner, other = (customer_user(shop, each) for each in (customer.id, shop.customer().id))
    for text in ("own-sn-77", "00:11:22:33:44:57"):
        opened = owner.get("/account/search", params={"q": text})
        assert opened.headers["Location"] == f"/account/order/{placed['order_reference']}"
        assert "OWN-SN-77" not in found(other, text)


def test_own_units_and_parcels_are_found_by_what_is_read_off_a_label(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 1)])
    units = [Serial(placed["items"][0]["id"], "FGL-2213.XQ41", "00:11:22:AB:CD:7f")]
    dispatch(shop, placed, serials=units, tracking_number="JD 0146 0003 5512")
    owner, other = (customer_user(shop, each) for each in (customer.id, shop.customer().id))
    for text in ("fgl2213", "13 xq41", "xq41", "abcd7f", "001122ab", "cd-7f", "jd0146", "0003-5512", "5512"):
        assert placed["order_reference"] in found(owner, text), text
        assert placed["order_reference"] not in found(other, text), text
    for text in ("x41", "q41", "--", "2213-41"):
        assert placed["order_reference"] not in found(owner, text), text


def test_own_units_and_parcels_are_found_among_many_of_others_that_begin_alike(
    shop: Service, customer: Customer
) -> None:
    other = shop.customer()
    for number in range(11):
        placed = buy(other if number < 10 else customer, [("PHONE", 1)])
        unit = Serial(placed["items"][0]["id"], f"ALIKE-{number:02}")
        dispatch(shop, placed, serials=[unit], tracking_number=f"AS-8800-{number:02}")
    owner = customer_user(shop, customer.id)
    for text in ("alike", "as-8800"):
        assert placed["order_reference"] in found(owner, text), text


def test_an_order_is_found_by_its_postcode_in_any_country(shop: Service, customer: Customer) -> None:
    owner, other = (customer_user(shop, each) for each in (customer.id, shop.customer().id))
    for postcode, typed in (("20095", "20095"), ("D-20097", "d 20097"), ("75008 CEDEX 08", "75008cedex08")):
        address = {**GERMAN_ADDRESS, "zip": postcode}
        code = create(customer, shipping_address=address, customer_reference="abroad")["confirmation_code"]
        assert code[:8] in found(owner, typed), postcode
        assert code[:8] not in found(other, typed), postcode
        [row] = shop.in_transaction(partial(find_orders, text=typed, amount=None, most=9))
        assert row.name == code, postcode


def test_a_word_with_an_accent_is_not_found_in_order_references(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 1)], customer_reference="plain")
    owner = customer_user(shop, customer.id)
    number = placed["order_reference"][-3:]
    assert placed["order_reference"] in found(owner, number)
    assert placed["order_reference"] not in found(owner, f"\u00e9\u00e0{number}")


def test_users_find_what_their_role_may_open(shop: Service, customer: Customer) -> None:
    number = number_of(shop, invoiced(shop, customer))
    accounts, buyer = (customer_user(shop, customer.id, role) for role in ("accounts", "buyer"))
    assert f"Invoice {number}" in found(accounts, str(number))
    assert "Products" not in found(accounts, "phone")
    assert "Products" in found(buyer, "phone")
    other = customer_user(shop, shop.customer().id, "accounts")
    assert f"Invoice {number}" not in found(other, str(number))


def test_an_invoice_is_found_by_the_references_of_its_order(shop: Service, customer: Customer) -> None:
    placed = invoiced(shop, customer, customer_reference="PO-88/41977")
    number = number_of(shop, placed)
    accounts, owner = (customer_user(shop, customer.id, role) for role in ("accounts", "owner"))
    other = customer_user(shop, shop.customer().id, "accounts")
    for text in ("41977", "po 88", placed["order_reference"]):
        for person in (accounts, owner):
            assert f"Invoice {number} Order {placed['order_reference']} · PO-88/41977" in found(person, text), text
        assert f"Invoice {number}" not in found(other, text), text
        opened = [person.get("/account/search", params={"q": text}) for person in (accounts, owner)]
        assert [page.headers["Location"] for page in opened] == [
            f"/account/invoice/{number}",
            f"/account/order/{placed['order_reference']}",
        ]


def test_an_invoice_is_found_by_its_number_before_those_of_orders_with_such_a_reference(
    shop: Service, customer: Customer
) -> None:
    number = number_of(shop, invoiced(shop, customer, customer_reference="first"))
    for each in range(11):
        invoiced(shop, customer, customer_reference=f"PO {number} / {each}")
    accountant = customer_user(shop, customer.id, "accounts")
    assert f"Invoice {number} " in found(accountant, str(number))


def test_a_credit_note_is_found_by_its_number(shop: Service, customer: Customer) -> None:
    note = credit(shop, number_of(shop, invoiced(shop, customer)), amount="1.00").number
    accounts, other = (customer_user(shop, each, "accounts") for each in (customer.id, shop.customer().id))
    for text in (f"cn {note}", f"Credit note {note}"):
        opened = accounts.get("/account/search", params={"q": text})
        assert opened.headers["Location"] == f"/account/invoice/credit-note/{note}"
        assert f"credit-note/{note}" not in other.get("/account/search", params={"q": text, "live": "1"}).text


def test_a_product_that_is_found_by_other_words_than_typed_does_not_open_by_itself(
    shop: Service, customer: Customer
) -> None:
    sell(shop, "OWN-MT", "12.50", name="Pleasant gazebo")
    buyer = customer_user(shop, customer.id, "buyer")
    opened = buyer.get("/account/search", params={"q": "gazabo"}).headers["Location"]
    page = buyer.get(opened)
    assert "No product has “gazabo”: read as “gazebo”. Search for what I typed" in text_of(page)
    assert 'href="/account/product?query=%22gazabo%22"' in page.text
    assert "Nothing is called" in text_of(buyer.get("/account/search", params={"q": '"gazabo"'}))
    assert "Search for what" not in found(buyer, "gazabo")


def test_what_only_products_have_is_shown_by_the_shop(shop: Service, customer: Customer) -> None:
    for color in ("red", "blue"):
        sell(shop, f"OWN-SHED-{color}", "12.50", name=f"Garden shed, {color}")
    buyer = customer_user(shop, customer.id, "buyer")
    opened = buyer.get("/account/search", params={"q": "garden shed"})
    assert opened.headers["Location"] == "/account/product?query=garden%20shed"
    assert text_of(buyer.get(opened.headers["Location"])).count("Garden shed") == 2
    assert "Garden shed, blue" in found(buyer, "garden shed")
    buy(customer, [("OWN-SHED-red", 1)], customer_reference="Garden shed 4")
    page = text_of(buyer.get("/account/search", params={"q": "garden shed"}))
    assert page.index("Garden shed 4") < page.index("Garden shed, blue")


def test_products_come_before_units_with_their_sku_in_the_serial_number(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "OWN-LAMP", "12.50", name="Lamp", available=1)
    placed = buy(customer, [(sku, 1)])
    dispatch(shop, placed, serials=[Serial(placed["items"][0]["id"], "OWN-LAMP-700017-003", "00:11:22:33:44:58")])
    buyer = customer_user(shop, customer.id, "buyer")
    beginning = found(buyer, "own-lam")
    assert beginning.index("Products Lamp") < beginning.index("Serial numbers")
    named = buyer.get("/account/search", params={"q": "own-lamp-700017-003"}).headers["Location"]
    assert named == f"/account/order/{placed['order_reference']}"


def test_the_search_takes_any_text(shop: Service, customer: Customer) -> None:
    owner = customer_user(shop, customer.id)
    for text in ("", " ", "0", "-1", "9" * 40, "%", "'", "\\", "a" * 200, "£", "é", "nothing at all"):
        assert owner.get("/account/search", params={"q": text}).status_code in {200, 303}, text
    for text in ("\x00", "a" * 201):
        assert owner.get("/account/search", params={"q": text}).status_code == 400
