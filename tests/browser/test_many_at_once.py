"""Many orders are dispatched by one click; the page goes on by itself and says how far it is."""

import re

from playwright.sync_api import Browser, expect

from support.accessibility import all_errors
from support.backoffice import BackOfficeSite
from support.browsing import signed_in, tab_in, window
from support.orders import buy
from support.pages import staff_member


def test_a_page_goes_on_until_all_orders_are_through(office: BackOfficeSite, browser: Browser) -> None:
    customer = office.service.customer(company="Many Ltd")
    names = [buy(customer)["order_reference"] for _ in range(24)]
    person = staff_member(office.service, office.url, "warehouse")
    with window(browser, scripts=True) as context, tab_in(context, [office.url], "many") as tab:
        signed_in(tab, person, office.url)
        tab.open(f"{office.url}/order/many/dispatch?{'&'.join(f'order={name}' for name in names)}")
        rounds: list[str] = []
        tab.page.on("request", lambda request: rounds.append(request.method) if "/many/" in request.url else None)
        tab.page.get_by_role("button", name="Record 24 shipments").click()
        expect(tab.page.get_by_role("heading", name="24 orders dispatched")).to_be_visible(timeout=30_000)
        expect(tab.page.get_by_role("link", name="Print the packing slips")).to_have_attribute(
            "href", re.compile(names[23])
        )
        assert rounds == ["POST"] * 3
        assert all_errors(tab) == []
    assert {customer.get(f"/order/{name}").json()["status"] for name in names} == {"Dispatched"}
