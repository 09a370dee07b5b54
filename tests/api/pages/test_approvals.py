"""Orders above a user's limit: asking for approval, confirming and declining."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from decimal import Decimal
from importlib import import_module

import httpx2
import pytest

from support.events import events
from support.mail import deliver_mail, html, plain
from support.orders import at, create, level, rows, sell
from support.pages import Person, customer_user, fields_of, signed_in_again, text_of
from support.quotes import price_as_support, request_quote
from support.service import Customer, Service
from support.shop import ADDRESS, METHODS, NEXT_DAY, STANDARD
from tradecounter.edge.page_kit.values import moment_text
from tradecounter.kit.clock import uk_date

REVIEW, APPROVAL = "/account/new-order", "/account/approval"


@pytest.fixture
def approver(shop: Service, customer: Customer) -> Person:
    return customer_user(shop, customer.id, "approver")


@pytest.fixture
def buyer(shop: Service, customer: Customer) -> Person:
    return limited(shop, customer_user(shop, customer.id, "buyer"), "100")


def limited(shop: Service, person: Person, limit: str) -> Person:
    rows(shop, "update customer_user set order_limit = %s where id = %s returning id", limit, person.id)
    return person


def ask(person: Person, code: str, note: str = "For the new site") -> None:
    page = person.sends(f"{REVIEW}/{code}/approval", {"shipping_method": str(STANDARD), "note": note})
    assert "The approvers get an e-mail" in text_of(page)


def waiting(customer: Customer, buyer: Person, units: int = 4, **values: str) -> str:
    """A pending order above the limit that waits for approval; its code."""
    code: str = create(customer, [("PHONE", units)], **values)["confirmation_code"]
    ask(buyer, code)
    return code


def status(shop: Service, code: str) -> str:
    [(state,)] = rows(shop, "select state from orders where confirmation_code = %s", code)
    return str(state)


def test_an_order_above_the_limit_is_not_confirmed_but_may_be_asked_for(
    shop: Service, customer: Customer, buyer: Person, approver: Person
) -> None:
    code = create(customer, [("PHONE", 4)], customer_reference="PO-LIMIT")["confirmation_code"]
    review = text_of(buyer.get(f"{REVIEW}/{code}"))
    assert "This order is above your limit of £100.00." in review
    assert "Confirm the order" not in review
    rejected = buyer.send(f"{REVIEW}/{code}", {"shipping_method": str(STANDARD)})
    assert rejected.status_code == 403
    assert "above your limit of £100.00 for one order: ask for approval" in text_of(rejected)
    assert status(shop, code) == "pending"
    ask(buyer, code)
    assert "It waits for approval since" in text_of(buyer.get(f"{REVIEW}/{code}"))
    assert "PO-LIMIT" in text_of(buyer.get(APPROVAL))
    assert "PO-LIMIT" in text_of(approver.get(APPROVAL))
    assert "Approve or decline PO-LIMIT" in text_of(approver.get("/account"))


def test_the_start_page_counts_the_orders_to_confirm_without_those_that_wait_for_approval(
    own_shop: Service,
) -> None:
    customer = own_shop.customer()
    buyer = limited(own_shop, customer_user(own_shop, customer.id, "buyer"), "100")
    waiting(customer, buyer, customer_reference="PO-OLD")
    quote = request_quote(customer, [("PHONE", 4)], customer_reference="PO-QUOTED")
    price_as_support(own_shop, quote, ("PHONE", "40"))
    ask(buyer, quote["confirmation_code"])
    own_shop.clock.set(own_shop.clock.now() + timedelta(hours=25))  # the order has expired, the quote has not
    signed_in_again(own_shop, buyer)
    create(customer, [("CABLE", 1)], customer_reference="PO-NEW")
    assert "Confirm 1 order" in text_of(buyer.get("/account"))
    waiting(customer, buyer, customer_reference="PO-WAITS")
    assert "Confirm 1 order" in text_of(buyer.get("/account"))


def test_an_order_that_waits_has_the_dates_of_a_confirmation_now(own_shop: Service) -> None:
    customer = own_shop.customer()
    buyer = limited(own_shop, customer_user(own_shop, customer.id, "buyer"), "100")
    quote = request_quote(customer, [("PHONE", 4)], customer_reference="PO-QUOTED")["confirmation_code"]
    price_as_support(own_shop, {"confirmation_code": quote}, ("PHONE", "40"))
    own_shop.clock.set(own_shop.clock.now() + timedelta(hours=23))
    order = create(customer, [("PHONE", 4)])["confirmation_code"]
    own_shop.clock.set(own_shop.clock.now() + timedelta(hours=23))
    today = uk_date(own_shop.clock.now())
    signed_in_again(own_shop, buyer)
    approver, owner = (customer_user(own_shop, customer.id, role) for role in ("approver", "owner"))

    def leaves(page: httpx2.Response) -> set[str]:
        return set(re.findall(r"leaves (\d+ \w+ \d{4})", text_of(page)))

    said = {f"{today.day} {today:%b %Y}"}
    for person, path in (
        (owner, f"{REVIEW}/{order}"),
        (owner, f"/account/quote/{quote}"),
        (buyer, f"{REVIEW}/{order}/approval"),
    ):
        assert leaves(person.get(path)) == said, path
    ask(buyer, order)
    arrives = re.search(r"Arrives (\d+ \w+ \d{4})", text_of(approver.get(f"{APPROVAL}/{order}")))
    assert approver.sends(f"{APPROVAL}/{order}/approve").status_code == 200
    [(confirmed,)] = rows(own_shop, "select shipping_options from orders where confirmation_code = %s", order)
    [arrival] = [each["arrival"] for each in confirmed if each["id"] == STANDARD]
    day = uk_date(datetime.fromisoformat(arrival))
    assert arrives is not None
    assert arrives[1] == f"{day.day} {day:%b %Y}"


def test_the_basket_says_that_it_is_above_the_limit(shop: Service, buyer: Person, approver: Person) -> None:
    path, said = "/account/new-order?add=PHONE", "This is above your limit of £1.00: an owner or an approver"
    assert "above your limit" not in text_of(buyer.get(path))
    limited(shop, buyer, "1")
    assert said in text_of(buyer.get(path))
    limited(shop, approver, "1")
    rows(shop, "update customer_user set more_roles = '{buyer}' where id = %s returning id", approver.id)
    assert "above your limit" not in text_of(approver.get(path))


def test_the_basket_for_abroad_is_compared_with_the_limit_without_vat(shop: Service, customer: Customer) -> None:
    buyer = limited(shop, customer_user(shop, customer.id, "buyer"), "55")
    line = {"items-0-sku": "PHONE", "items-0-quantity": "1", "shipping_address-id": "new"}
    to = {country: buyer.send(REVIEW, {**line, "shipping_address-country_code": country}) for country in ("GB", "DE")}
    assert "above your limit of £55.00" in text_of(to["GB"])
    assert "above your limit" not in text_of(to["DE"])


def test_an_order_within_the_limit_needs_no_approval(shop: Service, customer: Customer, buyer: Person) -> None:
    within = create(customer, [("CABLE", 1)])["confirmation_code"]
    assert "Thank you" in text_of(buyer.sends(f"{REVIEW}/{within}", {"shipping_method": str(STANDARD)}))
    assert status(shop, within) == "confirmed"


def test_the_limit_counts_the_total_with_shipping(shop: Service, customer: Customer) -> None:
    order = create(customer, [("PHONE", 1)])
    totals = {option["id"]: Decimal(str(option["total_gross"])) for option in order["shipping_options"]}
    buyer = limited(shop, customer_user(shop, customer.id, "buyer"), str(totals[STANDARD]))
    path = f"{REVIEW}/{order['confirmation_code']}"
    assert totals[NEXT_DAY] > totals[STANDARD]
    assert buyer.send(path, {"shipping_method": str(NEXT_DAY)}).status_code == 403
    assert "Thank you" in text_of(buyer.sends(path, {"shipping_method": str(STANDARD)}))


def test_owners_and_approvers_have_no_limit(shop: Service, customer: Customer) -> None:
    for role in ("owner", "approver"):
        person = limited(shop, customer_user(shop, customer.id, role), "1")
        rows(shop, "update customer_user set more_roles = '{buyer}' where id = %s returning id", person.id)
        code = create(customer, [("PHONE", 4)], customer_reference=f"PO-{role}")["confirmation_code"]
        assert "Thank you" in text_of(person.sends(f"{REVIEW}/{code}", {"shipping_method": str(STANDARD)}))


def test_an_approver_confirms_what_was_asked_for(shop: Service, buyer: Person, approver: Person) -> None:
    sku = sell(shop, "APPROVED", 100, available=9)
    buyer.send("/account/basket/add", {"sku": sku, "quantity": "3"})
    address = {f"shipping_address-{name}": value for name, value in ADDRESS.items()} | {"shipping_address-id": "new"}
    typed = {"customer_reference": "PO-YES", "billing_address-id": "same", **address, "do": "order"}
    code = buyer.send(REVIEW, fields_of(buyer.get(REVIEW)) | typed).headers["Location"].rpartition("/")[2]
    ask(buyer, code, "Urgent <b>please</b>")
    assert rows(shop, "select count(*) from basket_line where user_id = %s", buyer.id) == [(0,)]
    buyer.send("/account/basket/add", {"sku": sku, "quantity": "2"})  # for another order
    page = approver.get(f"{APPROVAL}/{code}")
    said = text_of(page)
    for text in (
        "PO-YES",
        buyer.email,
        "Urgent <b>please</b>",
        "APPROVED",
        "Shipping, Slowpost Standard",
        "Credit left then",
    ):
        assert text in said, text
    assert "<b>please</b>" not in page.text
    head = re.search(r"PO-YES £(\d+\.\d\d) with VAT and shipping, £(\d+\.\d\d) above the limit", said)
    assert head is not None
    assert Decimal(head[1]) - Decimal(head[2]) == 100
    assert "It is confirmed as order" in text_of(approver.sends(f"{APPROVAL}/{code}/approve"))
    assert status(shop, code) == "confirmed"
    assert level(shop, sku)[0] == 6
    assert rows(shop, "select quantity from basket_line where user_id = %s", buyer.id) == [(2,)]
    assert "approved" in text_of(buyer.get(f"{APPROVAL}/{code}")).lower()
    again = approver.send(f"{APPROVAL}/{code}/approve")
    assert again.status_code == 409
    assert "It is approved or declined already" in text_of(again)


def test_an_approver_declines_with_a_reason(shop: Service, customer: Customer, buyer: Person, approver: Person) -> None:
    code = waiting(customer, buyer)
    path = f"{APPROVAL}/{code}/decline"
    assert approver.send(path, {"reason": " "}).status_code == 400
    assert "It is declined." in text_of(approver.sends(path, {"reason": " Too many "}))
    assert status(shop, code) == "cancelled"
    declined = "select a.reason from order_approval a join orders o on o.id = a.order_id where o.confirmation_code = %s"
    assert rows(shop, declined, code) == [("Too many",)]
    audited = "select after ->> 'reason' from audit_entry where action = 'order.decline_approval' and subject = %s"
    assert rows(shop, audited, f"order/{code}") == [("Too many",)]
    assert "Too many" in text_of(buyer.get(f"{APPROVAL}/{code}"))
    assert approver.send(path, {"reason": "Again"}).status_code == 409
    assert approver.send(f"{APPROVAL}/{code}/approve").status_code == 409


def test_mails_go_to_the_approvers_and_then_to_who_asked(
    shop: Service, customer: Customer, owner: Person, buyer: Person, approver: Person
) -> None:
    code = waiting(customer, buyer, customer_reference="PO-MAIL")
    [asked] = [mail for mail in deliver_mail(shop) if mail["Subject"].startswith("To approve: PO-MAIL, £")]
    assert {address.addr_spec for address in asked["To"].addresses} > {owner.email, approver.email}
    for text in (f"/account/approval/{code}", "For the new site", buyer.email):
        assert text in plain(asked)
        assert text in html(asked)
    approver.sends(f"{APPROVAL}/{code}/decline", {"reason": "Not now"})
    [told] = [mail for mail in deliver_mail(shop) if mail["Subject"] == "Declined: PO-MAIL"]
    assert [address.addr_spec for address in told["To"].addresses] == [buyer.email]
    assert "Not now" in plain(told)
    assert "Not now" in html(told)


def test_asking_is_an_event_and_in_the_audit_log(shop: Service, customer: Customer, buyer: Person) -> None:
    code = waiting(customer, buyer)
    asked = [event for event in events(shop, customer) if event["type"] == "order.approval_requested"]
    assert [event["data"]["confirmation_code"] for event in asked] == [code]
    assert "total_gross" in asked[0]["data"]
    entry = "select actor_name, action from audit_entry where subject = %s and action like '%%approval'"
    assert rows(shop, entry, f"order/{code}") == [(buyer.email, "order.request_approval")]


def test_an_order_is_asked_for_once(customer: Customer, buyer: Person) -> None:
    code = waiting(customer, buyer)
    again = buyer.send(f"{REVIEW}/{code}/approval", {"shipping_method": str(STANDARD)})
    assert again.status_code == 409
    assert "ts approval is requested already" in text_of(again)


def test_prices_that_have_expired_are_set_again_before_it_is_confirmed(
    own_shop: Service,
) -> None:
    customer = own_shop.customer()
    buyer = limited(own_shop, customer_user(own_shop, customer.id, "buyer"), "100")
    code = waiting(customer, buyer, customer_reference="PO-STALE")
    own_shop.must_load("price-list", [{"price_list": "default", "sku": "PHONE", "single_unit_cost": 60}])
    own_shop.clock.set(own_shop.clock.now() + timedelta(hours=25))
    approver = customer_user(own_shop, customer.id, "approver")
    page = text_of(approver.get(f"{APPROVAL}/{code}"))
    assert "The prices of this order have expired." in page
    assert "Confirm the order" not in page
    assert approver.send(f"{APPROVAL}/{code}/approve").status_code == 410
    own_shop.refresh()
    priced = approver.sends(f"{APPROVAL}/{code}/price")
    said = text_of(priced)
    until = own_shop.clock.now() + own_shop.settings.pending_order_lifetime
    assert f"These are today's prices. They hold until {moment_text(until)}." in said
    assert "£240.00" in said
    new = str(priced.url).rpartition("/")[2]
    assert new != code
    assert "£240.00" in text_of(approver.get(f"{APPROVAL}/{code}"))  # the link of the e-mail
    assert approver.send(f"{APPROVAL}/{code}/approve").status_code == 409
    assert "It is confirmed as order" in text_of(approver.sends(f"{APPROVAL}/{new}/approve"))
    assert "approved" in text_of(approver.get(f"{APPROVAL}/{new}")).lower()


def expired_and_taken_up(service: Service) -> tuple[Person, Person, str, dict[str, str]]:
    """The buyer and the approver of an order that expired while it waited, its code, and the form with its lines."""
    customer = service.customer()
    buyer = limited(service, customer_user(service, customer.id, "buyer"), "100")
    code = create(customer, [("PHONE", 4)], customer_reference="PO-LATE")["confirmation_code"]
    ask(buyer, code)
    service.clock.set(service.clock.now() + timedelta(hours=25))
    signed_in_again(service, buyer)
    return buyer, customer_user(service, customer.id, "approver"), code, fields_of(buyer.get(f"{REVIEW}?again={code}"))


def test_an_expired_order_that_its_buyer_has_replaced_is_not_ordered_too(own_shop: Service) -> None:
    buyer, approver, code, form = expired_and_taken_up(own_shop)
    new = buyer.send(REVIEW, form | {"do": "order"}).headers["Location"].rpartition("/")[2]
    assert "PO-LATE" not in text_of(approver.get(APPROVAL))
    assert approver.send(f"{APPROVAL}/{code}/price").status_code == 409
    assert "Replaced by another order." in text_of(buyer.get(f"{APPROVAL}/{code}"))
    assert not [mail for mail in deliver_mail(own_shop) if mail["Subject"].startswith("Declined")]
    ask(buyer, new)
    assert "It is confirmed as order" in text_of(approver.sends(f"{APPROVAL}/{new}/approve"))


def test_an_expired_order_that_an_approver_has_priced_again_is_not_replaced_by_its_buyer(own_shop: Service) -> None:
    buyer, approver, code, form = expired_and_taken_up(own_shop)
    approver.sends(f"{APPROVAL}/{code}/price")
    answer = buyer.send(REVIEW, form | {"do": "order"})
    assert answer.status_code == 409
    assert "An approver has priced it again: it waits for approval at £248.40" in text_of(answer)
    assert text_of(approver.get(APPROVAL)).count("PO-LATE") == 1


def test_an_expired_order_that_was_priced_again_and_approved_is_not_replaced(own_shop: Service) -> None:
    buyer, approver, code, form = expired_and_taken_up(own_shop)
    new = str(approver.sends(f"{APPROVAL}/{code}/price").url).rpartition("/")[2]
    approver.sends(f"{APPROVAL}/{new}/approve")
    assert buyer.send(REVIEW, form | {"do": "order"}).status_code == 409
    assert rows(
        own_shop, "select count(*) from orders where customer_reference = 'PO-LATE' and number is not null"
    ) == [(1,)]


def test_a_form_that_claims_to_replace_a_quote_does_not_end_its_request(own_shop: Service) -> None:
    customer = own_shop.customer()
    buyer = limited(own_shop, customer_user(own_shop, customer.id, "buyer"), "100")
    code = create(customer, [("PHONE", 4)])["confirmation_code"]
    form = fields_of(buyer.get(f"{REVIEW}?again={code}"))
    quote = request_quote(customer, [("PHONE", 4)], customer_reference="PO-QUOTED")
    price_as_support(own_shop, quote, ("PHONE", "40"))
    ask(buyer, quote["confirmation_code"])
    forged = buyer.send(REVIEW, form | {"do": "order", "replaces": quote["confirmation_code"]})
    assert forged.status_code == 404
    state = "select a.state from order_approval a join orders o on o.id = a.order_id where o.confirmation_code = %s"
    assert rows(own_shop, state, quote["confirmation_code"]) == [("waiting",)]


def test_an_order_of_what_is_no_longer_sold_is_not_priced_again_but_says_so(own_shop: Service) -> None:
    customer = own_shop.customer()
    buyer = limited(own_shop, customer_user(own_shop, customer.id, "buyer"), "100")
    sku = sell(own_shop, "NO-LONGER", 60)
    code = create(customer, [(sku, 4)])["confirmation_code"]
    ask(buyer, code)
    own_shop.must_load("products", [{"sku": sku, "active": False}])
    own_shop.clock.set(own_shop.clock.now() + timedelta(hours=25))
    own_shop.refresh()
    approver = customer_user(own_shop, customer.id, "approver")
    page = approver.send(f"{APPROVAL}/{code}/price")
    assert page.status_code == 409
    assert f"It cannot be priced again: product '{sku}' does not exist. Decline it, and order anew" in text_of(page)
    assert "It is declined." in text_of(approver.sends(f"{APPROVAL}/{code}/decline", {"reason": "Gone"}))


def test_an_order_that_is_priced_again_keeps_the_notes_of_its_buyer(own_shop: Service) -> None:
    customer = own_shop.customer()
    buyer = limited(own_shop, customer_user(own_shop, customer.id, "buyer"), "100")
    fields = {f"shipping_address-{name}": value for name, value in ADDRESS.items()}
    fields |= {
        "shipping_address-id": "new",
        "billing_address-id": "same",
        "customer_reference": "PO-NOTED",
        "do": "order",
    }
    fields |= {"items-0-sku": "PHONE", "items-0-quantity": "4", "items-0-note": "Blue", "delivery_note": "Gate 3"}
    code = buyer.send(REVIEW, fields).headers["Location"].rpartition("/")[2]
    ask(buyer, code)
    own_shop.clock.set(own_shop.clock.now() + timedelta(hours=25))
    approver = customer_user(own_shop, customer.id, "approver")
    priced = approver.sends(f"{APPROVAL}/{code}/price")
    assert str(priced.url).rpartition("/")[2] != code
    assert "Your notes Delivery: Gate 3 PHONE: Blue" in text_of(priced)


def test_an_order_that_is_priced_again_keeps_its_region(own_shop: Service) -> None:
    islands = {**METHODS[0], "id": 21, "region": 2, "base_cost_net": 15}
    own_shop.must_load("shipping-methods", [islands])
    own_shop.refresh()
    customer = own_shop.customer()
    buyer = limited(own_shop, customer_user(own_shop, customer.id, "buyer"), "100")
    code = create(customer, [("PHONE", 4)], shipping_region=2)["confirmation_code"]
    buyer.sends(f"{REVIEW}/{code}/approval", {"shipping_method": "21"})
    own_shop.clock.set(own_shop.clock.now() + timedelta(hours=25))
    approver = customer_user(own_shop, customer.id, "approver")
    priced = approver.sends(f"{APPROVAL}/{code}/price")
    assert "£260.40 with VAT and shipping" in text_of(priced)
    new = str(priced.url).rpartition("/")[2]
    again = customer.get(f"/order/{new}").json()
    assert (again["shipping_region"], [option["id"] for option in again["shipping_options"]]) == (2, [21])


def test_what_is_ordered_already_cannot_be_declined(
    shop: Service, customer: Customer, buyer: Person, approver: Person
) -> None:
    code = waiting(customer, buyer, customer_reference="PO-ORDERED")
    owner = customer_user(shop, customer.id, "owner")
    owner.sends(f"{REVIEW}/{code}", {"shipping_method": str(STANDARD)})
    assert f"{APPROVAL}/{code}/decline" not in approver.get(f"{APPROVAL}/{code}").text
    rejected = approver.send(f"{APPROVAL}/{code}/decline", {"reason": "Too late"})
    assert rejected.status_code == 409
    assert "The pending order is already order" in text_of(rejected)
    assert "ended" in text_of(buyer.get(APPROVAL)).lower()
    assert "PO-ORDERED" not in text_of(approver.get(APPROVAL))


def test_what_was_discarded_does_not_come_back_at_todays_prices(
    shop: Service, customer: Customer, buyer: Person, approver: Person
) -> None:
    code = waiting(customer, buyer, customer_reference="PO-GONE")
    buyer.sends(f"{REVIEW}/{code}/discard")
    page = approver.get(f"{APPROVAL}/{code}")
    assert "This order was cancelled before it was placed." in text_of(page)
    assert f"{APPROVAL}/{code}/price" not in page.text
    assert approver.send(f"{APPROVAL}/{code}/price").status_code == 409
    assert rows(shop, "select count(*) from orders where customer_id = %s", customer.id) == [(1,)]


def test_approving_a_quote_leaves_the_basket_alone(
    shop: Service, customer: Customer, buyer: Person, approver: Person
) -> None:
    quote = request_quote(customer, [("PHONE", 10)])
    price_as_support(shop, quote, ("PHONE", "30.00"))
    ask(buyer, quote["confirmation_code"])
    buyer.send("/account/basket/add", {"sku": "PHONE", "quantity": "3"})  # for another order
    approver.sends(f"{APPROVAL}/{quote['confirmation_code']}/approve")
    assert rows(shop, "select quantity from basket_line where user_id = %s", buyer.id) == [(3,)]


def test_a_quote_above_the_limit_is_approved_too(
    shop: Service, customer: Customer, buyer: Person, approver: Person
) -> None:
    quote = request_quote(customer, [("PHONE", 10)])
    code = quote["confirmation_code"]
    price_as_support(shop, quote, ("PHONE", "30.00"))
    path = f"/account/quote/{code}"
    assert "This quote is above your limit of £100.00." in text_of(buyer.get(path))
    assert buyer.send(path, {"shipping_method": str(STANDARD)}).status_code == 403
    ask(buyer, code)
    assert "It waits for approval since" in text_of(buyer.get(path))
    assert "It is confirmed as order" in text_of(approver.sends(f"{APPROVAL}/{code}/approve"))


def test_a_declined_quote_is_asked_for_again(
    shop: Service, customer: Customer, buyer: Person, approver: Person
) -> None:
    quote = request_quote(customer, [("PHONE", 10)], customer_reference="PO-AGAIN")
    code = quote["confirmation_code"]
    price_as_support(shop, quote, ("PHONE", "30.00"))
    ask(buyer, code, "The first time")
    approver.sends(f"{APPROVAL}/{code}/decline", {"reason": "Too dear"})
    price_as_support(shop, quote, ("PHONE", "25.00"))
    page = buyer.get(f"/account/quote/{code}")
    assert f"{approver.email} declined it: Too dear" in text_of(page)
    assert f"{REVIEW}/{code}/approval" in page.text
    deliver_mail(shop)
    ask(buyer, code, "It is cheaper now")
    again = buyer.send(f"{REVIEW}/{code}/approval", {"shipping_method": str(STANDARD)})
    assert "ts approval is requested already" in text_of(again)
    assert [mail["Subject"] for mail in deliver_mail(shop)] == ["To approve: PO-AGAIN, £312.00"]
    said = text_of(approver.get(f"{APPROVAL}/{code}"))
    assert "It is cheaper now" in said
    assert "Too dear" not in said
    assert "It is confirmed as order" in text_of(approver.sends(f"{APPROVAL}/{code}/approve"))


@pytest.mark.parametrize("approved", [False, True])
def test_a_decision_is_told_as_it_was_though_the_quote_is_asked_for_again_first(
    shop: Service, customer: Customer, buyer: Person, approver: Person, *, approved: bool
) -> None:
    quote = request_quote(customer, [("PHONE", 10)], customer_reference="PO-SLOW")
    code = quote["confirmation_code"]
    price_as_support(shop, quote, ("PHONE", "30.00"))
    ask(buyer, code)
    deliver_mail(shop)
    approver.sends(f"{APPROVAL}/{code}/decline", {"reason": "Too dear"})
    with at(shop, shop.clock.now() + timedelta(seconds=2)):
        price_as_support(shop, quote, ("PHONE", "25.00"))
        ask(customer_user(shop, customer.id, "buyer"), code)
        if approved:
            approver.sends(f"{APPROVAL}/{code}/approve", fields_of(approver.get(f"{APPROVAL}/{code}")))
        mails = deliver_mail(shop)
    [declined] = [mail for mail in mails if mail["Subject"] == "Declined: PO-SLOW"]
    assert [address.addr_spec for address in declined["To"].addresses] == [buyer.email]
    for text in ("Too dear", "372.00", approver.email):
        assert text in plain(declined)
    assert sum(mail["Subject"] == "Approved: PO-SLOW" for mail in mails) == approved


def test_declines_that_an_older_version_stored_are_known_after_the_upgrade(
    shop: Service, customer: Customer, buyer: Person, approver: Person
) -> None:
    quote = request_quote(customer, [("PHONE", 10)])
    code = quote["confirmation_code"]
    for cost in ("30.00", "25.00"):
        price_as_support(shop, quote, ("PHONE", cost))
        ask(buyer, code)
        approver.sends(f"{APPROVAL}/{code}/decline", {"reason": f"{cost} is too dear"})
    price_as_support(shop, quote, ("PHONE", "20.00"))
    ask(buyer, code)
    found = "a.former_declines from orders o join order_approval a on a.order_id = o.id where o.confirmation_code = %s"
    known = rows(shop, f"select {found}", code)
    assert [decline["reason"] for decline in known[0][0]] == ["30.00 is too dear", "25.00 is too dear"]
    rows(shop, "update order_approval set former_declines = '[]' where requested_by = %s returning order_id", buyer.id)
    upgrade = import_module("tradecounter.db.migrations.versions.0104_second_times")
    rows(shop, f"{upgrade.FORMER_DECLINES} returning a.order_id")
    assert rows(shop, f"select {found}", code) == known


def test_a_quote_is_not_approved_at_another_price_even_if_it_is_lower(
    shop: Service, customer: Customer, buyer: Person, approver: Person
) -> None:
    quote = request_quote(customer, [("PHONE", 10), ("CABLE", 10)])
    path = f"{APPROVAL}/{quote['confirmation_code']}"
    price_as_support(shop, quote, ("PHONE", "30.00"))
    ask(buyer, quote["confirmation_code"])
    old = fields_of(approver.get(path))
    price_as_support(shop, quote, ("PHONE", "29.00"))
    for fields in (old, {"once": ""}):
        assert "It was priced again" in text_of(approver.send(f"{path}/approve", fields))
    assert "It is confirmed as order" in text_of(approver.sends(f"{path}/approve", fields_of(approver.get(path))))


def test_only_approvers_of_the_same_customer_decide(
    shop: Service, customer: Customer, buyer: Person, approver: Person
) -> None:
    code = waiting(customer, buyer)
    stranger = customer_user(shop, shop.customer().id, "owner")
    colleague = customer_user(shop, customer.id, "buyer")
    accounts = customer_user(shop, customer.id, "accounts")
    for person, expected in ((stranger, 404), (colleague, 200), (accounts, 403)):
        assert person.get(f"{APPROVAL}/{code}").status_code == expected
    for person, expected in ((stranger, 404), (colleague, 403), (buyer, 403), (accounts, 403)):
        for step in ("approve", "decline", "price"):
            assert person.send(f"{APPROVAL}/{code}/{step}", {"reason": "x"}).status_code == expected
    assert stranger.send(f"{REVIEW}/{code}/approval", {"shipping_method": str(STANDARD)}).status_code == 404
    assert status(shop, code) == "pending"
    assert "Nothing waits" in text_of(stranger.get(APPROVAL))
    assert approver.get("/account/product").status_code == 403


def test_credit_counts_when_an_order_is_approved(shop: Service) -> None:
    customer = shop.customer(credit="300")
    buyer = limited(shop, customer_user(shop, customer.id, "buyer"), "100")
    code = waiting(customer, buyer)
    other = create(customer, [("PHONE", 3)], customer_reference="PO-OTHER")["confirmation_code"]
    approver = customer_user(shop, customer.id, "owner")
    approver.sends(f"{REVIEW}/{other}", {"shipping_method": str(STANDARD)})
    rejected = approver.send(f"{APPROVAL}/{code}/approve")
    assert rejected.status_code == 402
    assert "exceeds the available credit" in text_of(rejected)
    assert "waiting" in text_of(approver.get(f"{APPROVAL}/{code}")).lower()


def test_an_order_is_either_confirmed_or_declined(shop: Service, customer: Customer, buyer: Person) -> None:
    approvers = [customer_user(shop, customer.id, "approver") for _ in range(6)]
    for number in range(4):
        code = waiting(customer, buyer, customer_reference=f"PO-RACE-{number}")

        def decide(numbered: tuple[int, Person], code: str = code) -> int:
            place, person = numbered
            step = "approve" if place % 2 else "decline"
            return person.send(f"{APPROVAL}/{code}/{step}", {"reason": "No"}).status_code

        with ThreadPoolExecutor(len(approvers)) as pool:
            found = sorted(pool.map(decide, enumerate(approvers)))
        assert found[0] == 303
        assert set(found[1:]) <= {409, 410}
        both = "select o.state, a.state from orders o join order_approval a on a.order_id = o.id"
        found_states = rows(shop, f"{both} where o.confirmation_code = %s", code)
        assert found_states[0] in {("confirmed", "approved"), ("cancelled", "declined")}


def test_a_quote_that_is_priced_again_is_approved_at_the_price_that_was_shown(
    shop: Service, customer: Customer, buyer: Person, approver: Person
) -> None:
    quote = request_quote(customer, [("PHONE", 10)])
    code = quote["confirmation_code"]
    price_as_support(shop, quote, ("PHONE", "30.00"))
    ask(buyer, code)
    path = f"{APPROVAL}/{code}"
    old = fields_of(approver.get(path))
    price_as_support(shop, quote, ("PHONE", "45.00"))
    for fields in (old, {"once": ""}):  # without a figure, it is the one of the request
        rejected = approver.send(f"{path}/approve", fields)
        assert rejected.status_code == 409
        assert "It was priced again, and costs £552.00 with VAT and shipping now" in text_of(rejected)
    assert status(shop, code) == "pending"
    page = approver.get(path)
    assert "£552.00 with VAT and shipping, priced again since it was asked for at £372.00" in text_of(page)
    assert "It is confirmed as order" in text_of(approver.sends(f"{path}/approve", fields_of(page)))
    assert rows(shop, "select state, gross from order_approval where requested_by = %s", buyer.id) == [
        ("approved", Decimal("552.00"))
    ]
