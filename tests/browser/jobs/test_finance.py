"""What finance does all day, with the number of clicks."""

import re

from playwright.sync_api import Browser, expect

from support.backoffice import BackOfficeSite
from support.billing import invoiced, number_of
from support.jobs import WAYS, Record, Way, job
from support.orders import rows
from support.pages import staff_member
from tradecounter.returns.open_return import open_return
from tradecounter.returns.receive_return import receive_return
from tradecounter.returns.requests import ReceivedUnits, ReturnedUnits, ReturnRequest


@WAYS
def test_a_received_return_is_credited_with_three_clicks(
    office: BackOfficeSite, browser: Browser, way: Way, record_property: Record
) -> None:
    service = office.service
    customer = service.customer(company=f"Sends back at {way}")
    placed = invoiced(service, customer, ("PHONE", 2))
    [(item,)] = rows(service, "select id from order_line where order_id = %s", placed["order_id"])
    request = ReturnRequest([ReturnedUnits(item, 1, [])], "Broken")
    now = service.clock.now()
    number = service.in_transaction(lambda tx: open_return(tx, placed["order_reference"], request, now))
    service.in_transaction(lambda tx: receive_return(tx, number, [ReceivedUnits(item, restock=1)], now))
    person = staff_member(service, office.url, "finance")
    with job(browser, person, office.url, f"/return/{number}", way, record_property, 3) as work:
        invoice = number_of(service, placed)
        work.click(work.link(f"Credit 1 unit of invoice {invoice}"))
        work.click(work.button("Show the total"))
        work.click(work.page.get_by_role("button", name=re.compile("^Issue it over £")))
        expect(work.page.get_by_text("Credit notes")).to_be_visible()
    assert rows(service, "select count(*) from credit_note where invoice = %s", invoice) == [(1,)]
