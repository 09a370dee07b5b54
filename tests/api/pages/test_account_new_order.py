"""The customer's form of a new order: its lines, lists, errors, and the confirmation."""

from typing import Any

import httpx2
import pytest

from support.orders import buy, create, level, rows, sell
from support.pages import Person, customer_user, fields_of, text_of
from support.quotes import jobs
from support.service import Customer, Service
from support.shop import ADDRESS, GERMAN_ADDRESS, NEXT_DAY, STANDARD

FORM = "/account/new-order"
DELIVERY = {f"shipping_address-{name}": value for name, value in ADDRESS.items()} | {"shipping_address-id": "new"}
REST = {**DELIVERY, "billing_address-id": "same", "customer_reference": "PO-7"}


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer(company="Bright & <Sons>")


@pytest.fixture(scope="module")
def buyer(shop: Service, customer: Customer) -> Person:
    return customer_user(shop, customer.id, "buyer")


def items(*lines: tuple[str, Any]) -> dict[str, str]:
    """The fields of lines."""
    found: dict[str, str] = {}
    for number, (sku, quantity) in enumerate(lines):
        found |= {f"items-{number}-sku": sku, f"items-{number}-quantity": str(quantity)}
    return found


def lines_of(page: httpx2.Response) -> list[tuple[str, str]]:
    """SKU and quantity of the lines in the form."""
    fields = fields_of(page, where=lambda name: name.startswith("items-"))
    numbers = [name.split("-")[1] for name in fields if name.endswith("-sku")]
    return [(fields[f"items-{n}-sku"], fields[f"items-{n}-quantity"]) for n in numbers]


def path_of(page: httpx2.Response) -> str:
    assert page.status_code == 303, page.text
    return page.headers["Location"]


def test_products_are_found_with_the_customers_prices_and_stock(buyer: Person) -> None:
    page = buyer.send(FORM, {"do": "search", "q": "phone"})
    said = text_of(page)
    assert "PHONE Product PHONE" in said
    assert "1+ £50.00 5+ £45.00 10+ £40.00" in said
    assert "In stock" in said
    assert "No product matches" in text_of(buyer.send(FORM, {"q": "xyzzy"}))


def test_a_search_of_mistyped_words_can_be_repeated_as_they_were_typed(shop: Service, buyer: Person) -> None:
    sell(shop, "MISTYPED-7", "4.00", name="Amendable doorbell")
    page = buyer.send(FORM, {**items(("PHONE", 2)), "do": "search", "q": "amendable dorbell"})
    assert "MISTYPED-7" in page.text
    again = buyer.send(FORM, fields_of(page) | {"do": "as-typed"})
    assert 'No product matches “"amendable dorbell"”' in text_of(again)
    assert lines_of(again) == [("PHONE", "2")]


def test_every_button_keeps_all_lines(buyer: Person) -> None:
    fields = {**items(("PHONE", 2)), "customer_reference": "PO-8", "q": "cable", "quick-0-sku": "switch"}
    page = buyer.send(FORM, {**fields, "do": "update"})
    assert lines_of(page) == [("PHONE", "2"), ("switch", "1")]
    assert fields_of(page)["customer_reference"] == "PO-8"
    added = fields_of(page) | {"add": "CABLE"}
    assert lines_of(buyer.send(FORM, added)) == [("PHONE", "2"), ("switch", "1"), ("CABLE", "1")]
    found = fields_of(page) | {"found-0-quantity": "30"}
    page = buyer.send(FORM, found)
    assert lines_of(page) == [("PHONE", "2"), ("switch", "1"), ("CABLE", "30")]
    removed = fields_of(page) | {"remove": "0"}
    assert lines_of(buyer.send(FORM, removed)) == [("switch", "1"), ("CABLE", "30")]
    none_left = fields_of(page) | {"items-0-quantity": "0"}
    assert lines_of(buyer.send(FORM, none_left)) == [("switch", "1"), ("CABLE", "30")]


def test_units_of_the_same_product_come_together_and_get_the_price_break(buyer: Person) -> None:
    page = buyer.send(FORM, {**items(("PHONE", 4)), "quick-0-sku": "phone", "quick-0-quantity": "1"})
    assert lines_of(page) == [("PHONE", "5")]
    assert "£225.00" in text_of(page)


@pytest.mark.parametrize(
    "text",
    [
        "PHONE,2\nCABLE,3",
        "PHONE\t2\nCABLE\t3\n",
        "sku,quantity\nPHONE,2\nCABLE,3",
        "Quantity;Description;SKU\n2;A phone;PHONE\n3;A cable;CABLE",
        "phone 2\n\n  cable   3",
        'sep=,\n"PHONE","2"\n"CABLE","3",,',
    ],
)
def test_lists_are_read_in_all_usual_forms(buyer: Person, text: str) -> None:
    page = buyer.send(FORM, {"list": text})
    assert [(sku.upper(), units) for sku, units in lines_of(page)] == [("PHONE", "2"), ("CABLE", "3")]
    assert page.status_code == 200


def test_the_good_lines_of_a_list_are_taken_and_the_bad_ones_explained(buyer: Person) -> None:
    text = "sku,quantity\nPHONE,2\nPHNE,1\nCABLE,many\n,4\nCABLE,0"
    page = buyer.send(FORM, {**items(("SWITCH", 1)), "list": text})
    assert page.status_code == 200
    said = text_of(page)
    assert "List has 4 lines to correct; 1 other line is among those of the order above" in said
    assert "Line 2 is wrong: product 'PHNE' does not exist; did you mean PHONE?" in said
    assert "Line 3 'CABLE,many' must end with a whole number of units" in said
    assert "Line 4 ',4' has no SKU" in said
    assert "Line 5 'CABLE,0' must have 1 to 100,000 units" in said
    assert lines_of(page) == [("SWITCH", "1"), ("PHONE", "2")]
    assert text.replace("PHONE,2\n", "") in page.text.replace("&#39;", "'")
    again = buyer.send(FORM, fields_of(page))
    assert "List has 4 lines to correct" in text_of(again)
    assert "other line" not in text_of(again)
    corrected = buyer.send(FORM, fields_of(page) | {"list": "sku,quantity\nphone,1\nCABLE,3"})
    assert lines_of(corrected) == [("SWITCH", "1"), ("PHONE", "3"), ("CABLE", "3")]


def test_a_file_is_uploaded(buyer: Person) -> None:
    def upload(content: bytes) -> httpx2.Response:
        headers = {"Sec-Fetch-Site": "same-origin"}
        files = {"file": ("list.csv", content, "text/csv")}
        return buyer.http.post(FORM, data=items(("SWITCH", 1)), files=files, headers=headers)

    assert lines_of(upload(b"\xef\xbb\xbfsku,quantity\r\nPHONE,2\r\n")) == [("SWITCH", "1"), ("PHONE", "2")]
    assert lines_of(upload("sku\tquantity\nPHONE\t2".encode("utf-16"))) == [("SWITCH", "1"), ("PHONE", "2")]
    wrong = upload(b"PHONE,two\n")
    assert "PHONE,two" in wrong.text
    assert "Line 1 'PHONE,two' must end with" in text_of(wrong)
    for workbook in (b"PK\x03\x04\x00\x00", b"PK\x03\x04\xc3\xa9\x00\xff"):
        refused = upload(workbook)
        assert refused.status_code == 400
        assert "must be a text file with the columns sku and quantity" in text_of(refused).lower()


def test_a_line_that_cannot_be_bought_is_explained_beside_its_field(buyer: Person) -> None:
    page = buyer.send(FORM, {**items(("PHONE", "x"), ("NOTHING", 2)), "do": "update"})
    assert page.status_code == 400
    assert 'id="order-items-0-quantity-error"' in page.text
    assert 'id="order-items-1-sku-error"' in page.text
    assert lines_of(page) == [("PHONE", "x"), ("NOTHING", "2")]


def test_an_order_is_placed_in_two_steps(shop: Service, customer: Customer, buyer: Person) -> None:
    sku = sell(shop, "TWO-STEPS", 10, available=5)
    review = path_of(buyer.send(FORM, {**items((sku, 3)), **REST, "do": "order", "once": "1" * 32}))
    again = path_of(buyer.send(FORM, {**items((sku, 3)), **REST, "do": "order", "once": "1" * 32}))
    assert review == again  # sent twice, placed once
    page = buyer.get(review)
    assert "£30.00" in text_of(page)
    assert "Slowpost Standard £6.50 arrives" in text_of(page)
    assert "To pay, with VAT £43.80 Credit left then, of £1,000,000.00 now £99" in text_of(page)
    assert "£43.80" in text_of(page)
    assert level(shop, sku) == (5, 0, 0)
    wrong = buyer.send(review, {"shipping_method": "999"})
    assert wrong.status_code == 400
    assert "999 is not among the shipping options" in text_of(wrong)
    without = buyer.send(review, {})
    assert without.status_code == 412
    placed = buyer.sends(review, {"shipping_method": str(STANDARD)})
    assert "Your order is confirmed" in text_of(placed)
    assert level(shop, sku) == (2, 3, 0)
    reference = review.rsplit("/", 1)[1]
    assert path_of(buyer.get(review)).startswith("/account/order/")
    found = rows(
        shop,
        "select actor_kind from audit_entry where action = 'order.confirm' and after->>'confirmation_code' = %s",
        reference,
    )
    assert found == [("user",)]
    assert customer.get("/order?customer_reference=PO-7&accept=json", headers={"Accept": "application/json"}).json()


def test_all_that_is_wrong_is_said_and_all_that_was_typed_is_kept(buyer: Person) -> None:
    fields = {**items(("PHONE", 1)), **REST, "shipping_address-zip": "", "shipping_address-country_code": "GB"}
    page = buyer.send(FORM, {**fields, "do": "order", "courier_notifications-email_address": "nobody"})
    assert page.status_code == 400
    assert 'id="order-shipping_address-zip-error"' in page.text
    assert 'id="order-courier_notifications-email_address-error"' in page.text
    assert "billing_address" not in text_of(page).replace("Billing", "")
    assert fields_of(page)["shipping_address-street_one"] == ADDRESS["street_one"]
    nothing = buyer.send(FORM, {**REST, "do": "order"})
    assert nothing.status_code == 400
    assert "Add at least one product" in text_of(nothing)
    unnamed = buyer.send(FORM, {**items(("PHONE", 1)), **REST, "customer_reference": " ", "do": "order"})
    assert 'id="order-customer_reference-error"' in unnamed.text
    abroad = {f"shipping_address-{name}": value for name, value in GERMAN_ADDRESS.items()}
    heavy = buyer.send(FORM, {**items(("SWITCH", 30)), **REST, **abroad, "do": "order"})
    assert heavy.status_code == 400
    assert "Deliver to no shipping method takes" in text_of(heavy)
    assert 'id="order-shipping_address-id-error"' in heavy.text


def test_saved_addresses_can_be_chosen(customer: Customer, buyer: Person) -> None:
    saved = customer.post("/customer/address", ADDRESS).json()["id"]
    chosen = {"shipping_address-id": str(saved), "billing_address-id": str(saved), "customer_reference": "PO-S"}
    review = path_of(buyer.send(FORM, {**items(("CABLE", 1)), **chosen, "do": "order"}))
    assert "Ada Example" in text_of(buyer.get(review))
    others = buyer.send(FORM, {**items(("CABLE", 1)), **chosen, "shipping_address-id": "1", "do": "order"})
    assert others.status_code == 400
    assert 'id="order-shipping_address-id-error"' in others.text


def test_credit_is_checked(shop: Service) -> None:
    poor = customer_user(shop, shop.customer(credit="10.00").id)
    page = poor.send(FORM, {**items(("SWITCH", 1)), **REST, "do": "order"})
    assert page.status_code == 402
    assert "credit" in text_of(page)
    assert lines_of(page) == [("SWITCH", "1")]


@pytest.mark.parametrize("credit", ["10.00", None])
def test_a_quote_can_be_requested_beyond_the_credit_as_the_form_says(shop: Service, credit: str | None) -> None:
    poor = customer_user(shop, shop.customer(credit=credit).id)
    fields = {**items(("SWITCH", 1)), **REST, "do": "quote"}
    assert "request a quote" in text_of(poor.send(FORM, {**fields, "do": "update"})).lower()
    assert "Your request is sent" in text_of(poor.sends(FORM, fields))


def test_the_credit_that_is_left_is_shown_with_the_lines_and_before_confirming(shop: Service) -> None:
    customer = shop.customer(credit="100")
    buyer = customer_user(shop, customer.id, "buyer")
    said = text_of(buyer.send(FORM, {**items(("PHONE", 1)), "do": "update"}))
    assert "With VAT about £60.00" in said
    assert "£100.00 now, about £40.00 after this order" in said
    over = text_of(buyer.send(FORM, {**items(("PHONE", 2)), "do": "update"}))
    assert "This is more than your credit." in over
    assert "£20.00 too much" in over
    assert "pay what is due" not in over  # a buyer does not see the invoices
    assert "pay what is due" in text_of(customer_user(shop, customer.id).send(FORM, items(("PHONE", 2))))
    review = text_of(buyer.get(path_of(buyer.send(FORM, {**items(("PHONE", 1)), **REST, "do": "order"}))))
    assert "Credit left then, of £100.00 now £" in review
    none = customer_user(shop, shop.customer(credit=None).id)
    assert "no credit terms" in text_of(none.send(FORM, items(("PHONE", 1))))


def test_the_credit_for_an_export_is_counted_without_vat_as_its_order_is(shop: Service) -> None:
    customer = shop.customer(credit="100")
    buyer = customer_user(shop, customer.id, "buyer")
    abroad = {f"shipping_address-{name}": value for name, value in GERMAN_ADDRESS.items()}
    typed = {**items(("PHONE", 2)), "shipping_address-id": "new"}
    said = text_of(buyer.send(FORM, typed | abroad))
    assert "No VAT on an export: about £100.00" in said
    assert "This is more than your credit." not in said
    assert "This is more than your credit." in text_of(buyer.send(FORM, typed))
    saved = [str(customer.post("/customer/address", each).json()["id"]) for each in (GERMAN_ADDRESS, ADDRESS)]
    chosen = [text_of(buyer.send(FORM, {**typed, **abroad, "shipping_address-id": each})) for each in saved]
    assert ["This is more than your credit." in said for said in chosen] == [False, True]
    assert "No VAT on an export" in text_of(buyer.get(f"{FORM}?add=PHONE"))  # the first address is chosen


def test_a_pending_order_is_changed_by_one_that_replaces_it(shop: Service) -> None:
    customer = shop.customer(unique_references=True)
    buyer = customer_user(shop, customer.id)
    pending = create(customer, [("PHONE", 2)], customer_reference="PO-R")
    page = buyer.get(f"{FORM}?again={pending['confirmation_code']}")
    assert lines_of(page) == [("PHONE", "2")]
    fields = fields_of(page)
    assert fields["customer_reference"] == "PO-R"
    chosen = {"shipping_address-id": "new", "billing_address-id": "same", "shipping_address-country_code": "GB"}
    review = path_of(buyer.send(FORM, {**fields, **chosen, "items-0-quantity": "4", "do": "order"}))
    assert "Cancelled" in text_of(buyer.get(f"{FORM}/{pending['confirmation_code']}"))
    assert "£200.00" in text_of(buyer.get(review))
    assert "Expired" not in text_of(buyer.get(review))


def test_a_quote_instead_of_a_pending_order_replaces_it(shop: Service) -> None:
    customer = shop.customer(unique_references=True)
    buyer = customer_user(shop, customer.id)
    code = path_of(buyer.send(FORM, {**items(("PHONE", 2)), **REST, "do": "order"})).rpartition("/")[2]
    buyer.send(FORM, items(("PHONE", 2), ("CABLE", 1)))
    form = fields_of(buyer.get(f"{FORM}?again={code}"))
    assert "/account/quote/" in path_of(buyer.send(FORM, {**form, **REST, "do": "quote"}))
    assert "Cancelled" in text_of(buyer.get(f"{FORM}/{code}"))
    assert "PO-7" not in text_of(buyer.get("/account/order/unconfirmed"))
    assert lines_of(buyer.get(FORM)) == [("CABLE", "1")]
    reason = rows(shop, "select cancel_reason from orders where confirmation_code = %s", code)
    assert reason == [("replaced by a quote of the customer",)]


def test_a_changed_order_still_waits_for_no_stock(shop: Service) -> None:
    customer = shop.customer()
    buyer = customer_user(shop, customer.id)
    pending = create(customer, [(sell(shop, "FEW", available=5), 2)], allow_back_orders=False)
    fields = fields_of(buyer.get(f"{FORM}?again={pending['confirmation_code']}"))
    review = path_of(buyer.send(FORM, {**fields, **DELIVERY, "items-0-quantity": "4", "do": "order"}))
    assert "only placed if all of it is in stock" in text_of(buyer.get(review))
    short = buyer.send(FORM, {**fields, **DELIVERY, "items-0-quantity": "6", "do": "order"})
    assert short.status_code == 409
    assert 'id="order-items-0-quantity-error"' in short.text
    without = {name: value for name, value in fields.items() if name != "in_stock_only"}
    patient = path_of(buyer.send(FORM, {**without, **DELIVERY, "items-0-quantity": "6", "do": "order"}))
    assert "only placed if" not in text_of(buyer.get(patient))


def test_a_user_cannot_override_the_credit(shop: Service) -> None:
    poor = customer_user(shop, shop.customer(credit="10.00").id)
    page = poor.send(FORM, {**items(("SWITCH", 1)), **REST, "do": "order", "override_credit-reason": "a friend"})
    assert page.status_code == 402


def test_an_order_is_bought_again(shop: Service, customer: Customer) -> None:
    buyer = customer_user(shop, customer.id, "buyer")
    placed = buy(customer, [("PHONE", 2), ("CABLE", 7)])
    page = buyer.get(f"{FORM}?again={placed['order_reference']}")
    assert lines_of(page) == [("PHONE", "2"), ("CABLE", "7")]
    assert "replaces" not in fields_of(page)
    buyer.send(FORM, items(("CABLE", 1), ("SWITCH", 1)))
    again = buyer.get(f"{FORM}?again={placed['order_reference']}")
    assert lines_of(again) == [("CABLE", "8"), ("SWITCH", "1"), ("PHONE", "2")]
    assert lines_of(buyer.get(FORM)) == [("CABLE", "1"), ("SWITCH", "1")]  # nothing was sent yet


def test_a_pending_order_is_discarded(shop: Service, customer: Customer, buyer: Person) -> None:
    pending = create(customer, [("PHONE", 1)])
    path = f"{FORM}/{pending['confirmation_code']}"
    assert "Discard PO-1?" in text_of(buyer.get(f"{path}/discard"))
    assert "discarded" in text_of(buyer.sends(f"{path}/discard"))
    assert buyer.send(f"{path}/discard").status_code == 409
    assert buyer.send(path, {"shipping_method": str(NEXT_DAY)}).status_code == 410
    found = rows(
        shop,
        "select actor_kind from audit_entry where action = 'order.cancel' and after->>'reason' = %s",
        "withdrawn by the customer",
    )
    assert ("user",) in found
    assert jobs(shop, "mail_order_cancelled", pending) == []


def test_orders_of_other_customers_do_not_exist(shop: Service, buyer: Person) -> None:
    other = shop.customer()
    pending, placed = create(other), buy(other)
    code = pending["confirmation_code"]
    assert buyer.get(f"{FORM}/{code}").status_code == 404
    assert buyer.send(f"{FORM}/{code}", {"shipping_method": str(STANDARD)}).status_code == 404
    assert buyer.send(f"{FORM}/{code}/discard").status_code == 404
    assert buyer.get(f"{FORM}/{code}/discard").status_code == 404
    assert buyer.get(f"{FORM}?again={code}").status_code == 404
    assert buyer.get(f"{FORM}?again={placed['order_reference']}").status_code == 404
    fields = {**items(("PHONE", 1)), **REST, "replaces": code, "do": "order"}
    assert buyer.send(FORM, fields).status_code == 404


def test_only_owners_and_buyers_order(shop: Service, customer: Customer) -> None:
    for role in ("accounts", "developer"):
        person = customer_user(shop, customer.id, role)
        assert person.get(FORM).status_code == 403
        assert person.send(FORM, {**items(("PHONE", 1)), **REST, "do": "order"}).status_code == 403
        assert "New order" not in text_of(person.get("/account"))
    assert customer_user(shop, customer.id, "owner").get(FORM).status_code == 200


def test_markup_is_escaped(buyer: Person) -> None:
    evil = "<script>alert(1)</script>"
    fields = {**items((evil, 1)), "q": evil, "list": f"{evil},x", "customer_reference": evil}
    assert "<script>alert" not in buyer.send(FORM, fields).text
    review = path_of(buyer.send(FORM, {**items(("PHONE", 1)), **REST, "customer_reference": evil, "do": "order"}))
    assert "<script>alert" not in buyer.get(review).text


def test_a_form_with_more_lines_than_an_order_can_have_changes_nothing(shop: Service) -> None:
    buyer = customer_user(shop, shop.customer().id, "buyer")
    buyer.send(FORM, {**items(("PHONE", 2)), "do": "update"})
    many = buyer.send(FORM, {**items(*((f"UNKNOWN-{n}", 1) for n in range(501))), "do": "update"})
    assert many.status_code == 400
    assert lines_of(buyer.get(FORM)) == [("PHONE", "2")]
    for step in ({"do": "update"}, {"preview": "1"}):
        assert buyer.send(FORM, {**items(*((f"U{n}", 1) for n in range(1_001))), **step}).status_code == 413
