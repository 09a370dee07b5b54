"""Staff order for a customer, confirm and amend, on pages."""

import re
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite
from support.billing import invoiced
from support.orders import at, buy, create, outstanding, rows, sell
from support.pages import Person, fields_of, staff_member, text_of
from support.service import Customer
from support.shop import ADDRESS, NEXT_DAY, STANDARD

TYPED = {f"shipping_address-{name}": value for name, value in ADDRESS.items()}


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer(company="Bright & <Sons>")


@pytest.fixture(scope="module")
def support(office: BackOfficeSite) -> Person:
    return staff_member(office.service, office.url, "support")


def entry(customer: Customer) -> str:
    return f"/order/new/{customer.id}"


def lines(*items: tuple[str, int | str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for number, (sku, quantity) in enumerate(items):
        fields |= {f"items-{number}-sku": sku, f"items-{number}-quantity": str(quantity)}
    return fields


def new_order(*items: tuple[str, int | str], **fields: str) -> dict[str, str]:
    choices = {"shipping_address-id": "new", "billing_address-id": "same", "do": "order"}
    return {"customer_reference": "PO-1", **choices, **TYPED, **lines(*items), **fields}


def path_of(placed: dict[str, Any]) -> str:
    return f"/order/{placed['order_reference']}"


def test_a_customer_is_found_by_any_part_of_its_name(office: BackOfficeSite, support: Person) -> None:
    one = office.service.customer(company="Zebra Networks")
    other = office.service.customer(company="Zebra Phones")
    found = support.get("/order/new?customer=zebra")
    assert "Zebra Networks" in text_of(found)
    assert f'href="/order/new/{other.id}"' in found.text
    office.service.customer(company="Acme", first_name="Zebra", last_name="Zoo")
    names = text_of(support.get("/order/new?customer=zebra"))
    assert names.index("Zebra Networks") < names.index("Zebra Phones") < names.index("Zebra Zoo")
    alone = support.get("/order/new?customer=zebra+net")
    assert (alone.status_code, alone.headers["Location"]) == (303, entry(one))
    one.post("/customer/address", {**ADDRESS, "zip": "ZE2 9ZZ", "contact_number": "01595 690123"})
    for known in ("ze29zz", "+44 1595 690123"):
        at_once = support.get("/order/new", params={"customer": known})
        assert at_once.headers["Location"] == entry(one), known
    named = support.get(f"/order/new?customer_id={one.id}")
    assert (named.status_code, named.headers["Location"]) == (303, entry(one))
    assert "No customer fits" in text_of(support.get("/order/new?customer=nobody+at+all"))
    assert support.get("/order/new/999999").status_code == 404


def quick(*rows: tuple[str, int | str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for number, (sku, quantity) in enumerate(rows):
        fields |= {f"quick-{number}-sku": sku, f"quick-{number}-quantity": str(quantity)}
    return fields


def lines_of(page: httpx2.Response) -> list[tuple[str, str]]:
    fields = fields_of(page, where=lambda name: name.startswith("items-"))
    numbers = [name.split("-")[1] for name in fields if name.endswith("-sku")]
    return [(fields[f"items-{n}-sku"], fields[f"items-{n}-quantity"]) for n in numbers]


def test_prices_and_stock_are_shown_before_there_is_an_order(
    office: BackOfficeSite, support: Person, customer: Customer
) -> None:
    fields = new_order(("phone", 5), ("SWITCH", 9)) | quick(("CABLE", 2), ("PHONES", 1)) | {"preview": "live"}
    shown = support.send(entry(customer), fields)
    assert shown.status_code == 200
    text = text_of(shown)
    for part in (
        "1+ £50.00 5+ £45.00 10+ £40.00",
        "100 units",
        "6 will be back-ordered",
        "£2,924.91",
        "1,000 in stock",
    ):
        assert part in text, part
    assert 'name="pick-1" value="PHONE"' in shown.text
    assert rows(office.service, "select count(*) from orders where customer_id = %s", customer.id) == [(0,)]


def test_pasted_and_quick_lines_become_lines_after_the_others(support: Person, customer: Customer) -> None:
    fields = new_order(("PHONE", 2), do="update") | quick(("switch", "")) | {"list": "CABLE\t10\nSWITCH 1"}
    shown = support.send(entry(customer), fields)
    assert lines_of(shown) == [("PHONE", "2"), ("switch", "2"), ("CABLE", "10")]
    wrong = support.send(entry(customer), fields | {"list": "CABLE 10\nSWITCH,many"})
    assert "Line 1 'SWITCH,many' must end with" in text_of(wrong)
    assert lines_of(wrong) == [("PHONE", "2"), ("switch", "1"), ("CABLE", "10")]


def test_an_order_is_created_and_confirmed_for_a_customer(
    office: BackOfficeSite, support: Person, customer: Customer
) -> None:
    fields = new_order(("PHONE", 2), customer_reference="BY-PHONE", list="CABLE 3")
    fields |= {"order_notifications-email_address": "ada@shop.example", "items-0-note": "the black one"}
    made = support.send(entry(customer), fields)
    assert made.status_code == 303, text_of(made)
    confirming = support.get(made.headers["Location"])
    text = text_of(confirming)
    for part in (
        "2 \u00d7 PHONE",
        "3 \u00d7 CABLE",
        "Slowpost Standard",
        "£6.15",
        "Fastvan Next day",
        "Their reference BY-PHONE",
        f"Delivery address Ada Example {ADDRESS['street_one']}",
        "Credit left then, of £1,000,000.00 now £99",
    ):
        assert part in text
    done = support.sends(made.headers["Location"], {"shipping_method": str(NEXT_DAY)})
    assert "is confirmed" in text_of(done)
    assert "Fastvan Next day" in text_of(done)
    [(reference, contact, actor)] = rows(
        office.service,
        "select o.customer_reference, o.order_notifications->>'email_address', a.actor_name from orders o"
        " join audit_entry a on a.subject = 'order/' || o.order_reference and a.action = 'order.confirm'"
        " where o.customer_id = %s and o.customer_reference = 'BY-PHONE'",
        customer.id,
    )
    assert (reference, contact, actor) == ("BY-PHONE", "ada@shop.example", support.email)
    assert "PHONE: the black one" in text_of(done)
    again = support.get(made.headers["Location"])
    assert (again.status_code, again.headers["Location"].startswith("/order/ORD-")) == (303, True)


def test_a_saved_address_is_chosen_and_another_customers_is_rejected(
    office: BackOfficeSite, support: Person, customer: Customer
) -> None:
    saved = customer.post("/customer/address", ADDRESS | {"city": "Whitby"}).json()
    others = office.service.customer().post("/customer/address", ADDRESS).json()
    shown = support.get(entry(customer))
    assert "Whitby" in text_of(shown)
    assert f'value="{others["id"]}"' not in shown.text
    fields = new_order(("CABLE", 1), customer_reference="SAVED") | {"shipping_address-id": str(saved["id"])}
    made = support.send(entry(customer), fields)
    assert made.status_code == 303, text_of(made)
    assert "Whitby" in text_of(support.get(made.headers["Location"].removesuffix("/confirm")))
    rejected = support.send(entry(customer), fields | {"shipping_address-id": str(others["id"])})
    assert rejected.status_code == 400
    assert "is not one of" in text_of(rejected)


def test_errors_of_an_order_are_beside_their_fields(support: Person, customer: Customer) -> None:
    fields = new_order(("", ""), ("PHONE", "lots"), ("NOTHING", 1), customer_reference="")
    rejected = support.send(entry(customer), fields)
    assert rejected.status_code == 400
    assert "order-customer_reference-error" in rejected.text
    assert "order-items-0-quantity-error" in rejected.text  # the blank row is gone
    assert 'value="lots"' in rejected.text
    unknown = support.send(entry(customer), new_order(("PHONE", 1), ("NOTHING", 1)) | {"shipping_address-city": ""})
    assert unknown.status_code == 400
    assert "order-items-1-sku-error" in unknown.text
    assert "order-shipping_address-city-error" in unknown.text
    called = re.search(r'href="#order-shipping_address-city">([^<]+)</a>', unknown.text)
    assert called is not None, "the list of errors leads to the field"
    assert f">{called[1]}</label>" in unknown.text, "by its label"
    assert "billing_address-city-error" not in unknown.text
    assert support.send(entry(customer), new_order()).status_code == 400


def test_what_an_order_may_have_besides_stands_open_while_it_has_a_value_or_an_error(
    support: Person, customer: Customer
) -> None:
    def opened(name: str, value: str) -> list[str]:
        shown = support.send(entry(customer), new_order(("PHONE", 1), do="update") | {name: value}).text
        return re.findall(r'<details class="fold(?:s|ed)" open>\s*<summary>([^<]+)', shown)

    assert opened("delivery_note", "") == []
    for name, value in (("delivery_note", "Gate 2"), ("billing_address-id", "new"), ("in_stock_only", "true")):
        assert opened(name, value) == ["Delivery note, billing address and more"]
    assert opened("courier_notifications-email_address", "nobody") == ["Notifications about this order"]
    assert opened("list", "PHONE,lots") == ["Paste a list or upload a file"]
    assert opened("q", "phone") == ["Search the catalogue"]


def test_only_finance_lets_an_order_exceed_the_credit(office: BackOfficeSite, support: Person) -> None:
    poor = office.service.customer(credit="10.00")
    finance = staff_member(office.service, office.url, "finance")
    fields = new_order(("PHONE", 5))
    rejected = support.send(entry(poor), fields)
    assert rejected.status_code == 402
    assert "available credit" in text_of(rejected)
    assert 'name="override_credit-reason"' not in rejected.text
    assert support.send(entry(poor), fields | {"override_credit-reason": "A friend"}).status_code == 403
    assert 'name="override_credit-reason"' in finance.get(entry(poor)).text
    made = finance.send(entry(poor), fields | {"override_credit-reason": "Paid in advance"})
    assert made.status_code == 303
    confirming = made.headers["Location"]
    assert support.send(confirming, {"shipping_method": str(STANDARD)}).status_code == 402
    beyond = {"shipping_method": str(STANDARD), "override_credit-reason": "Paid in advance"}
    assert support.send(confirming, beyond).status_code == 403
    done = finance.sends(confirming, beyond)
    assert "is confirmed" in text_of(done)


def test_the_warehouse_neither_sells_nor_amends(office: BackOfficeSite, customer: Customer) -> None:
    packer = staff_member(office.service, office.url, "warehouse")
    placed = buy(customer, [("PHONE", 1)])
    for path in ("/order/new", entry(customer), f"{path_of(placed)}/amend", f"{path_of(placed)}/confirm"):
        assert packer.get(path).status_code == 403
    assert packer.send(entry(customer), new_order(("PHONE", 1))).status_code == 403
    page = packer.get(path_of(placed)).text
    assert "/amend" not in page
    assert "/dispatch" in page
    assert "/order/new" not in packer.get("/order").text


def amend_fields(person: Person, placed: dict[str, Any], **changed: str) -> dict[str, str]:
    fields = fields_of(person.get(f"{path_of(placed)}/amend"), where=lambda name: name != "preview")
    fields |= {"shipping_method": str(STANDARD)}
    return fields | {name.replace("__", "-"): value for name, value in changed.items()}


def test_an_amendment_is_previewed_without_changing_anything(
    office: BackOfficeSite, support: Person, customer: Customer
) -> None:
    sku = sell(office.service, "PREVIEWED", available=5)
    placed = buy(customer, [(sku, 4)])
    owed = outstanding(office.service, customer)
    fields = amend_fields(support, placed, items__0__quantity="7")
    shown = support.send(f"{path_of(placed)}/amend", fields | {"preview": "live"})
    assert shown.status_code == 200
    text = text_of(shown)
    for part in ("2 back-ordered", "£40.00 £70.00 +£30.00", "Nothing is changed yet", "Back-ordered"):
        assert part in text
    assert outstanding(office.service, customer) == owed
    same = support.send(f"{path_of(placed)}/amend", amend_fields(support, placed) | {"preview": "true"})
    assert same.status_code == 400
    assert "Nothing differs" in text_of(same)


def test_an_order_is_amended(office: BackOfficeSite, support: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 4), ("CABLE", 2)])
    changed = amend_fields(
        support,
        placed,
        items__0__quantity="3",
        items__0__unit_cost="44.00",
        items__1__quantity="0",
        added__0__sku="SWITCH",
        added__0__quantity="1",
        shipping_method=str(NEXT_DAY),
        reason="As agreed by phone",
    )
    page = text_of(support.sends(f"{path_of(placed)}/amend", changed | {"shipping_address-city": "Hull"}))
    for part in ("The order is amended.", "£132.00", "SWITCH", "Hull", "Fastvan Next day"):
        assert part in page
    assert "Product CABLE" not in page
    [(after,)] = rows(
        office.service,
        "select after->>'reason' from audit_entry where action = 'order.amend' and subject = %s",
        f"order/{placed['order_reference']}",
    )
    assert after == "As agreed by phone"


def test_what_another_has_changed_meanwhile_stays(support: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 4), ("CABLE", 2)])
    old = amend_fields(support, placed, items__0__quantity="5")
    support.sends(f"{path_of(placed)}/amend", amend_fields(support, placed, items__1__quantity="9"))
    support.sends(f"{path_of(placed)}/amend", old)
    now = amend_fields(support, placed)
    assert (now["items-0-quantity"], now["items-1-quantity"]) == ("5", "9")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"items__1__quantity": "some"}, "items-1-quantity"),
        ({"items__1__unit_cost": "1.234"}, "items-1-unit_cost"),
        ({"items__0__quantity": "5", "added__1__sku": "NOTHING"}, "added-1-sku"),
        ({"shipping_address__zip": ""}, "shipping_address-zip"),
    ],
)
def test_errors_of_an_amendment_are_beside_their_fields(
    support: Person, customer: Customer, changes: dict[str, str], field: str
) -> None:
    placed = buy(customer, [("PHONE", 4), ("CABLE", 2)])
    rejected = support.send(f"{path_of(placed)}/amend", amend_fields(support, placed, **changes))
    assert rejected.status_code == 400
    assert f'id="form-{field}-error"' in rejected.text, text_of(rejected)


def test_an_order_that_is_dispatched_cannot_be_amended(sam: Person, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 1)])
    sam.sends(f"{path_of(placed)}/dispatch", fields_of(sam.get(f"{path_of(placed)}/dispatch")))
    assert sam.get(f"{path_of(placed)}/amend").status_code == 409
    pending = create(customer)
    assert sam.get(f"/order/{pending['confirmation_code']}/amend").status_code == 409


def test_markup_of_customers_is_escaped_in_the_forms(support: Person, customer: Customer) -> None:
    placed = buy(customer, [("CABLE", 1)], customer_reference="<script>1</script>")
    for path in (entry(customer), f"{path_of(placed)}/amend", "/order/new?customer=s"):
        page = support.get(path).text
        assert "<Sons>" not in page
        assert "<script>1" not in page


def test_words_find_products_to_pick(support: Person, customer: Customer) -> None:
    typed = new_order(do="") | quick(("acme phon", 2))
    found = support.send(entry(customer), typed | {"preview": "live"})
    assert 'name="pick-0" value="PHONE"' in found.text
    assert "PHONE Product PHONE £50.00" in text_of(found)
    assert lines_of(support.send(entry(customer), typed | {"pick-0": "PHONE"})) == [("PHONE", "2")]


def test_the_same_sku_on_two_lines_is_added_up(office: BackOfficeSite, support: Person) -> None:
    buyer = office.service.customer()
    typed = new_order(("PHONE", 2), ("CABLE", 1), (" phone", 3)) | {"items-0-note": "black", "items-2-note": "white"}
    page = support.sends(entry(buyer), typed)
    assert "The order is created." in text_of(page)
    ordered = "select l.sku, l.quantity from order_line l join orders o on o.id = order_id where customer_id = %s"
    assert sorted(rows(office.service, ordered, buyer.id)) == [("CABLE", 1), ("PHONE", 5)]
    noted = "select text from order_note n join orders o on o.id = n.order_id where customer_id = %s"
    assert rows(office.service, noted, buyer.id) == [("PHONE: black; white",)]
    wrong = new_order(("PHONE", 2), ("phone", 1), ("NO-SUCH", 1))
    assert 'id="order-items-1-sku-error"' in support.send(entry(buyer), wrong).text


def test_a_caller_gets_a_quote_by_the_same_form(office: BackOfficeSite, support: Person) -> None:
    caller = office.service.customer()
    page = support.sends(entry(caller), new_order(("PHONE", 200), do="quote"))
    assert "The quote is created" in text_of(page)
    assert rows(office.service, "select kind from orders where customer_id = %s", caller.id) == [("quote",)]


def test_a_callers_pending_order_is_changed_and_an_old_one_ordered_again(
    office: BackOfficeSite, support: Person
) -> None:
    caller = office.service.customer()
    pending = create(caller, [("PHONE", 2)], allow_back_orders=False)
    path = f"{entry(caller)}?again={pending['confirmation_code']}"
    assert path in support.get(f"/order/{pending['confirmation_code']}").text
    fields = fields_of(support.get(path))
    assert fields["in_stock_only"] == "true"
    made = support.send(entry(caller), fields | {**TYPED, "items-0-quantity": "3", "do": "order"})
    assert made.status_code == 303, text_of(made)
    after = "select state, allow_back_orders from orders where customer_id = %s order by id"
    assert rows(office.service, after, caller.id) == [("cancelled", False), ("pending", False)]
    placed = buy(caller, [("CABLE", 7)])
    again = support.get(f"{entry(caller)}?again={placed['order_reference']}")
    assert lines_of(again) == [("CABLE", "7")]
    others = buy(office.service.customer(), [("CABLE", 7)])
    assert support.get(f"{entry(caller)}?again={others['order_reference']}").status_code == 404


def test_words_of_a_new_line_find_products_while_an_order_is_amended(support: Person, customer: Customer) -> None:
    path = f"{path_of(buy(customer))}/amend"
    words = {"added-0-sku": "acme phone", "added-0-quantity": "2", "preview": "live"}
    page = support.send(path, words)
    assert 'name="pick-0" value="PHONE"' in page.text
    assert "Change something to see what follows" in text_of(page)
    assert 'class="problems"' not in page.text
    words.pop("preview")
    chosen = fields_of(support.send(path, words | {"pick-0": "PHONE"}))
    assert (chosen["added-0-sku"], chosen["added-0-quantity"]) == ("PHONE", "2")
    priced = text_of(support.send(path, chosen | {"preview": "live"}))
    assert "£50.00 each" in priced
    assert "£100.00" in priced


def test_a_customer_is_shown_while_its_name_is_typed(office: BackOfficeSite, support: Person) -> None:
    one = office.service.customer(company="Only Quagga Ltd")
    shown = support.get("/order/new?customer=quagga&live=1")
    assert shown.status_code == 200
    assert f'href="{entry(one)}"' in shown.text


def test_the_form_says_what_a_caller_may_still_owe_and_what_is_overdue(office: BackOfficeSite, support: Person) -> None:
    customer = office.service.customer(company="Owes A Phone", credit_limit=1000)
    with at(office.service, office.service.clock.now() - timedelta(days=60)):
        invoiced(office.service, customer, ("PHONE", 1))
    said = text_of(support.get(entry(customer)))
    left = 1000 - outstanding(office.service, customer)
    assert f"£{left} credit left" in said
    assert f"£{outstanding(office.service, customer)} overdue" in said
    assert f'href="/customer/{customer.id}"' in support.get(entry(customer)).text


def test_a_quote_for_a_caller_begins_at_the_quotes(office: BackOfficeSite, support: Person) -> None:
    customer = office.service.customer(company="Calls For A Price")
    assert 'href="/order/new?quote=true"' in support.get("/quote").text
    chosen = support.get("/order/new", params={"quote": "true", "customer": str(customer.id)})
    assert chosen.headers["Location"] == f"{entry(customer)}?quote=true"
    shown = support.get(chosen.headers["Location"])
    assert "New quote" in text_of(shown)
    made = support.send(entry(customer), fields_of(shown) | new_order(("PHONE", 3), do="quote"))
    assert made.headers["Location"].startswith("/quote/")


def test_a_confirmed_order_is_ordered_again_with_its_lines(office: BackOfficeSite, support: Person) -> None:
    customer = office.service.customer(company="Wants The Same")
    placed = buy(customer, [("PHONE", 2), ("CABLE", 4)])
    again = f"{entry(customer)}?again={placed['order_reference']}"
    assert f'href="{again}"' in support.get(path_of(placed)).text
    assert lines_of(support.get(again)) == [("PHONE", "2"), ("CABLE", "4")]
