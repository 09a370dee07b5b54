"""The customer's pages of quotes."""

from datetime import UTC, datetime

import pytest

from support.orders import at, rows
from support.pages import Person, customer_user, fields_of, signed_in_again, text_of
from support.quotes import jobs, price_as_support, request_quote
from support.service import Customer, Service
from support.shop import ADDRESS, STANDARD

LIST, FORM = "/account/quote", "/account/new-order"


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture(scope="module")
def buyer(shop: Service, customer: Customer) -> Person:
    return customer_user(shop, customer.id, "buyer")


def test_a_quote_is_requested_with_the_form_of_a_new_order(shop: Service, buyer: Person) -> None:
    assert "Request a quote" in text_of(buyer.get(f"{FORM}?quote=true"))
    fields = {"items-0-sku": "PHONE", "items-0-quantity": "20", "customer_reference": "PROJECT", "do": "quote"}
    address = {f"shipping_address-{name}": value for name, value in ADDRESS.items()}
    fields |= {**address, "shipping_address-id": "new", "billing_address-id": "same", "quote": "true"}
    page = buyer.sends(FORM, fields)
    said = text_of(page)
    assert "Your request is sent" in said
    assert "Waiting" in said
    assert "PROJECT" in text_of(buyer.get(LIST))
    code = str(page.url).rsplit("/", 1)[1]
    assert jobs(shop, "mail_quote_requested", {"confirmation_code": code})
    assert "PROJECT" in buyer.get(f"{LIST}?format=csv").text


def test_a_priced_quote_is_accepted(shop: Service, customer: Customer, buyer: Person) -> None:
    quote = request_quote(customer, [("PHONE", 10)], customer_reference="ACCEPT")
    path = f"{LIST}/{quote['confirmation_code']}"
    early = buyer.send(path, {"shipping_method": str(STANDARD)})
    assert early.status_code == 412
    price_as_support(shop, quote, ("PHONE", "30.00"), note="Good <for> May")
    assert f'href="/account/list/new?source={quote["confirmation_code"]}"' in buyer.get(path).text
    page = buyer.get(path)
    said = text_of(page)
    assert "You save £100.00" in said
    assert "Good <for> May" in said
    assert "<for>" not in page.text
    assert "was £40.00" in said
    assert buyer.send(path, {"shipping_method": "1"}).status_code == 400
    accepted = text_of(buyer.sends(path, {"shipping_method": str(STANDARD)}))
    assert "You have accepted the quote" in accepted
    assert "Open order" in text_of(buyer.get(path))
    assert "Ordered" in text_of(buyer.get(LIST))


def test_a_quote_that_was_priced_again_is_accepted_only_at_the_price_that_was_shown(
    shop: Service, customer: Customer, buyer: Person
) -> None:
    quote = request_quote(customer, [("PHONE", 10)], customer_reference="DEARER")
    path = f"{LIST}/{quote['confirmation_code']}"
    price_as_support(shop, quote, ("PHONE", "30.00"))
    shown = fields_of(buyer.get(path))
    price_as_support(shop, quote, ("PHONE", "45.00"))
    rejected = buyer.send(path, shown)
    assert rejected.status_code == 409
    assert "It was priced again, and costs £552.00 with VAT and shipping now" in text_of(rejected)
    assert "You have accepted the quote" in text_of(buyer.sends(path, fields_of(rejected)))


def test_the_dates_of_a_quote_are_those_of_a_confirmation_now(own_shop: Service) -> None:
    customer = own_shop.customer()
    quote = request_quote(customer, [("PHONE", 1)])
    code = quote["confirmation_code"]
    price_as_support(own_shop, quote, ("PHONE", "45.00"))
    people = [customer_user(own_shop, customer.id, role) for role in ("buyer", "owner")]
    paths = [f"{LIST}/{code}", f"{FORM}/{code}/approval"]
    with at(own_shop, datetime(2026, 6, 19, 9, tzinfo=UTC)):  # three days after the request
        for person in people:
            signed_in_again(own_shop, person)
        said = [text_of(person.get(path)) for person in people for path in paths]
    for text in said:
        assert "arrives 23 Jun 2026 , leaves 19 Jun 2026" in text


def test_quotes_that_wait_for_the_customer_come_first(shop: Service) -> None:
    customer = shop.customer()
    buyer = customer_user(shop, customer.id, "buyer")
    priced, _ = (request_quote(customer, customer_reference=name) for name in ("DECIDE-ME", "STILL-WAITING"))
    assert "Waiting for you" not in text_of(buyer.get(LIST))
    price_as_support(shop, priced, ("PHONE", "30.00"))
    panel = text_of(buyer.get(LIST)).split("Waiting for you")[1].split("Requested")[0]
    assert "DECIDE-ME" in panel
    assert "STILL-WAITING" not in panel


def test_a_quote_is_declined_without_an_email_to_the_one_who_does_it(
    shop: Service, customer: Customer, buyer: Person
) -> None:
    quote = request_quote(customer, customer_reference="DECLINE")
    price_as_support(shop, quote, ("PHONE", "49.00"))
    path = f"{LIST}/{quote['confirmation_code']}"
    assert "Decline the quote DECLINE?" in text_of(buyer.get(f"{path}/decline"))
    assert buyer.send(f"{path}/decline", {"reason": "x" * 5000}).status_code == 400
    assert "declined" in text_of(buyer.sends(f"{path}/decline", {"reason": "Too <dear>"}))
    said = text_of(buyer.get(path))
    assert "Declined" in said
    assert "Too <dear>" in said
    assert jobs(shop, "mail_order_cancelled", quote) == []
    [(kind,)] = rows(
        shop, "select actor_kind from audit_entry where action = 'quote.decline' and after->>'reason' = 'Too <dear>'"
    )
    assert kind == "user"
    assert buyer.send(path, {"shipping_method": str(STANDARD)}).status_code == 410
    assert buyer.send(f"{path}/decline").status_code == 303  # it is declined already, as at the API


def test_quotes_of_others_do_not_exist(shop: Service, customer: Customer, buyer: Person) -> None:
    other = request_quote(shop.customer())["confirmation_code"]
    order = customer.post(
        "/order",
        {
            "customer_reference": "P",
            "items": [{"sku": "CABLE", "quantity": 1}],
            "billing_address": ADDRESS,
            "shipping_address": ADDRESS,
        },
    ).json()["confirmation_code"]
    for code in (other, order, "0" * 32):
        assert buyer.get(f"{LIST}/{code}").status_code == 404
        assert buyer.send(f"{LIST}/{code}", {"shipping_method": str(STANDARD)}).status_code == 404
        assert buyer.get(f"{LIST}/{code}/decline").status_code == 404
        assert buyer.send(f"{LIST}/{code}/decline").status_code == 404


def test_only_owners_and_buyers_see_quotes(shop: Service, customer: Customer) -> None:
    for role in ("accounts", "developer"):
        assert customer_user(shop, customer.id, role).get(LIST).status_code == 403


def test_an_expired_or_declined_quote_can_be_requested_again(customer: Customer, buyer: Person) -> None:
    quote = request_quote(customer, [("CABLE", 40)], customer_reference="AGAIN")
    page = buyer.get(f"{FORM}?quote=true&again={quote['confirmation_code']}")
    assert fields_of(page)["items-0-quantity"] == "40"
    assert "replaces" not in fields_of(page)
