"""The page of a one-time link to a quote: opening it accepts nothing, its form accepts once."""

from typing import Any

import pytest

from support.mail import internal_id
from support.orders import outstanding, rows
from support.pages import Person, browser, customer_user, text_of
from support.quotes import price_as_support, request_quote
from support.service import Customer, Service
from support.shop import ADDRESS, NEXT_DAY
from tradecounter.edge.pages.page_site import ACCOUNT
from tradecounter.identity.installation_secret import secret_key
from tradecounter.quotes.quote_links import quote_token


@pytest.fixture
def anybody(shop: Service) -> Person:
    """Someone who has not signed in."""
    return Person(browser(shop.url), 0, "", ACCOUNT)


def linked(shop: Service, customer: Customer, **values: Any) -> tuple[dict[str, Any], str]:
    """A priced quote, and the path of its link."""
    quote = request_quote(customer, **values)
    price_as_support(shop, quote, ("PHONE", "40"), note="Only <b>today</b>")
    order_id = internal_id(shop, quote)
    token = shop.in_transaction(lambda tx: quote_token(tx, order_id, lambda: [secret_key(shop.settings)]))
    return quote, f"/account/quote-link/{token}"


def state(shop: Service, quote: dict[str, Any]) -> str:
    [(found,)] = rows(shop, "select state from orders where id = %s", internal_id(shop, quote))
    return str(found)


def test_opening_the_link_shows_the_quote_and_accepts_nothing(shop: Service, anybody: Person) -> None:
    customer = shop.customer(company="Harbour & Co")
    quote, path = linked(shop, customer, customer_reference="PO-<1>")
    for _ in range(2):
        shown = anybody.get(path)
        assert (shown.status_code, shown.headers["Cache-Control"]) == (200, "no-store")
        assert shown.headers["Referrer-Policy"] == "same-origin"
    for text in (
        "PO-<1>",
        "Harbour & Co",
        "Product PHONE",
        "£40.00",
        "Only <b>today</b>",
        "Slowpost Standard, £5.50: £54.60 in total with VAT",
    ):
        assert text in text_of(shown), text
    assert "PO-<1>" not in shown.text
    assert anybody.http.head(path).status_code == 200
    assert state(shop, quote) == "pending"
    assert outstanding(shop, customer) == 0


def test_the_form_accepts_the_quote_once_and_the_link_ends(shop: Service, anybody: Person) -> None:
    customer = shop.customer()
    quote, path = linked(shop, customer)
    found = anybody.sends(path, {"shipping_method": str(NEXT_DAY)})
    assert "You have accepted the quote. It is now order ORD-" in text_of(found)
    assert state(shop, quote) == "confirmed"
    for response in (anybody.send(path, {"shipping_method": str(NEXT_DAY)}), anybody.get(path)):
        assert response.status_code == 410
        assert "link has ended" in text_of(response)
    [(kind, name, address)] = rows(
        shop,
        "select a.actor_kind, a.actor_name, a.address from audit_entry a join orders o on a.subject = 'order/' ||"
        " o.order_reference where o.id = %s",
        internal_id(shop, quote),
    )
    assert (kind, name, bool(address)) == ("user", "quote link", True)


def test_a_quote_above_the_limit_of_a_user_is_accepted_in_the_account_only(shop: Service, anybody: Person) -> None:
    customer = shop.customer()
    buyer = customer_user(shop, customer.id, "buyer")
    quote, path = linked(shop, customer)
    rows(shop, "update customer_user set order_limit = 50 where id = %s returning id", buyer.id)
    shown = anybody.get(path)
    assert "Accept and order" not in text_of(shown)
    assert f'href="/account/quote/{quote["confirmation_code"]}"' in shown.text
    refused = anybody.send(path, {"shipping_method": str(NEXT_DAY)})
    assert refused.status_code == 403
    assert "above your limit of £50.00 for one order" in text_of(refused)
    assert state(shop, quote) == "pending"
    rows(shop, "update customer_user set more_roles = '{approver}' where id = %s returning id", buyer.id)
    assert "Accept and order" in text_of(anybody.get(path))
    assert "You have accepted" in text_of(anybody.sends(path, {"shipping_method": str(NEXT_DAY)}))


def test_what_is_wrong_is_said_and_the_link_stays_good(shop: Service, anybody: Person) -> None:
    customer = shop.customer(credit="70.00")
    quote, path = linked(shop, customer)
    assert anybody.send(path, {"shipping_method": ""}).status_code == 412, "no shipping option is chosen"
    assert anybody.send(path, {"shipping_method": "999"}).status_code == 400
    assert anybody.send(path, {"shipping_method": "x"}).status_code == 400
    assert state(shop, quote) == "pending"
    assert "Accept and order" in text_of(anybody.get(path))


def test_a_form_of_another_site_accepts_nothing(shop: Service, anybody: Person) -> None:
    quote, path = linked(shop, shop.customer(), shipping_address={**ADDRESS, "city": "York"})
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}, {}):
        assert anybody.http.post(path, data={"shipping_method": str(NEXT_DAY)}, headers=headers).status_code == 403
    assert state(shop, quote) == "pending"


def test_an_unknown_link_is_gone(anybody: Person) -> None:
    for secret in ("0" * 64, "x", "%00"):
        assert anybody.get(f"/account/quote-link/{secret}").status_code in {404, 410}
