"""`GET /api/event`: the whole event log, for programs of the reseller."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2

from support.backoffice import BackOfficeSite, pages
from support.events import last_sequence, number_events
from support.orders import buy, create


def test_the_events_of_all_customers_are_read_in_contiguous_pages(office: BackOfficeSite, staff: httpx2.Client) -> None:
    service = office.service
    first, second = service.customer(), service.customer()
    after = last_sequence(service)
    create(first)
    buy(second)
    number_events(service)
    listed = [event for page in pages(staff, f"/api/event?after={after}&limit=2") for event in page]
    assert [event["sequence"] for event in listed] == list(range(after + 1, after + len(listed) + 1))
    kinds = [(event["type"], event["customer_id"]) for event in listed if event["type"].startswith("order.")]
    assert kinds == [("order.created", first.id), ("order.created", second.id), ("order.confirmed", second.id)]
    found = staff.get(f"/api/event?after={after}&type=order.created,order.cancelled").json()
    assert [event["customer_id"] for event in found] == [first.id, second.id]
    wrong = staff.get("/api/event?type=order.created,nothing").json()["errors"]
    assert [error["field"] for error in wrong] == ["type"]


def test_a_waiting_request_is_answered_by_the_next_event(office: BackOfficeSite, staff: httpx2.Client) -> None:
    customer, after = office.service.customer(), last_sequence(office.service)

    def wait() -> tuple[list[dict[str, Any]], float]:
        began = time.monotonic()
        return staff.get(f"/api/event?after={after}&type=order.created&wait=20").json(), time.monotonic() - began

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(wait)
        time.sleep(0.5)
        create(customer)
        number_events(office.service)
        [event], seconds = waiting.result(15)
    assert (event["type"], event["customer_id"]) == ("order.created", customer.id)
    assert 0.3 < seconds < 10
    assert staff.get("/api/event?wait=21").status_code == 400


def test_changes_of_the_back_office_are_events(office: BackOfficeSite, staff: httpx2.Client) -> None:
    customer, after = office.service.customer(), last_sequence(office.service)
    staff.patch(f"/api/customer/{customer.id}", json={"company": "Acme"})
    number_events(office.service)
    [event] = staff.get(f"/api/event?after={after}").json()
    assert (event["type"], event["subject"]) == ("customer.changed", f"customer/{customer.id}")
    assert event["data"] == {"customer_id": customer.id, "changed": ["company"]}
