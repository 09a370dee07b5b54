"""What buyers do all day, with the number of clicks."""

import re

from playwright.sync_api import Browser, expect

from support.jobs import WAYS, Record, Way, job
from support.orders import buy, rows
from support.pages import customer_user
from support.service import Service


@WAYS
def test_an_order_is_repeated_with_one_change_with_three_clicks(
    shop: Service, browser: Browser, way: Way, record_property: Record
) -> None:
    customer = shop.customer(company=f"Again at {way}")
    placed = buy(customer, [("PHONE", 1), ("CABLE", 2)])
    person = customer_user(shop, customer.id)
    path = f"/account/order/{placed['order_reference']}"
    with job(browser, person, shop.url, path, way, record_property, 3) as work:
        work.click(work.link("Order again"))
        work.page.locator("input[name$='-quantity']").first.fill("5")
        work.page.get_by_label(re.compile("reference")).first.fill(f"AGAIN-{way}")
        work.click(work.button("Continue to shipping"))
        expect(work.page).to_have_url(re.compile("/account/new-order/[0-9a-f]{32}$"))
        work.click(work.page.get_by_role("button", name=re.compile("^Confirm")))
        expect(work.page).to_have_url(re.compile("/account/order/[A-Z]+-[0-9]+$"))
    [(units,)] = rows(
        shop,
        "select sum(l.quantity)::int from order_line l join orders o on o.id = order_id"
        " where customer_id = %s and o.confirmed_at is not null and o.order_reference <> %s",
        customer.id,
        placed["order_reference"],
    )
    assert units == 7
