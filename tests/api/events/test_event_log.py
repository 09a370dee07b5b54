"""`GET /event`: what a customer reads of the event log, page by page, and while it waits."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, LiteralString

import pytest

from support.billing import issue, pay
from support.events import assert_contiguous, events, last_sequence, number_events, types_of
from support.orders import amend, at, buy, cancel, confirm, create, dispatch, rows, sell
from support.proxy import linked
from support.quotes import price_as_support, request_quote
from support.service import MORNING, Customer, Service, running_service
from support.shop import ADDRESS, price
from tradecounter.orders.adjust_stock import Adjustment, adjust_stock
from tradecounter.orders.announce_changes import announce_changes
from tradecounter.orders.cancel_order import expire_orders
from tradecounter.orders.reseller_wire import Tracking
from tradecounter.orders.serve_back_orders import update_expected_dates
from tradecounter.returns.handle_returns import open_return, receive_return
from tradecounter.returns.wire import ReceivedUnits, ReturnedUnits, ReturnRequest
from tradecounter.shipments.fulfilment import track_shipment
from tradecounter.shipments.wire import Serial


def test_every_step_of_an_order_is_an_event_of_one_subject(shop: Service) -> None:
    customer = shop.customer()
    pending = create(customer, [("PHONE", 2)], customer_reference="PO-9")
    placed = confirm(customer, pending).json()
    item = placed["items"][0]["id"]
    dispatch(shop, placed, (item, 1), tracking_number="1Z999", serials=[Serial(item, "S-1")])
    dispatch(shop, placed)
    tracking = Tracking("Delivered", "Signed for")
    shop.in_transaction(lambda tx: track_shipment(tx, placed["order_reference"], tracking, MORNING))
    number, due = issue(shop, placed).number, 127.2
    pay(shop, placed, str(due))
    found = events(shop, customer)
    assert [event["type"] for event in found] == [
        "order.confirmed", "order.dispatched", "order.dispatched", "order.tracking_updated", "invoice.issued",
        "payment.recorded",
    ]  # fmt: skip
    assert {event["subject"] for event in found[:5]} == {f"order/{placed['order_id']}"}
    assert {event["customer_id"] for event in found} == {customer.id}
    about = {
        "order_id": placed["order_id"], "order_reference": placed["order_reference"], "customer_reference": "PO-9"
    }  # fmt: skip
    assert all(event["data"].items() >= about.items() for event in found[:5])
    assert found[1]["occurred_at"] == "2026-06-16T08:00:00Z"
    assert found[1]["data"]["status"] == "Part dispatched"
    assert found[1]["data"]["tracking_number"] == "1Z999"
    assert found[1]["data"]["items"] == [{"id": item, "sku": "PHONE", "quantity": 1, "serial_numbers": ["S-1"]}]
    assert found[4]["data"]["invoice"] == {
        "number": number, "gross": due, "due": due, "due_on": "2026-07-16"
    }  # fmt: skip
    assert found[5]["subject"] == f"payment/{found[5]['data']['id']}"
    assert found[5]["data"]["allocations"] == [{"invoice": number, "amount": due}]
    assert len({event["id"] for event in found}) == len(found)
    assert types_of(shop, customer)[0] == ("order.created", False)
    assert_contiguous(shop)


def test_quotes_cancellations_expiry_and_new_dates_are_events(shop: Service) -> None:
    customer, sku = shop.customer(), sell(shop, "LATE")
    quotes = [request_quote(customer, [("PHONE", 1)]) for _ in range(2)]
    price_as_support(shop, quotes[0])
    cancel(shop, quotes[1])
    create(customer)
    cancel(shop, buy(customer, [(sku, 1)]))
    waiting = buy(customer, [(sku, 1)])
    shop.must_load("incoming", [{"sku": sku, "incoming": 5, "expected_on": "2026-07-01"}])
    shop.in_transaction(lambda tx: update_expected_dates(tx, MORNING))
    later = MORNING + timedelta(days=8)
    with at(shop, later):
        assert shop.in_transaction(lambda tx: expire_orders(tx, later)) == 2
    assert types_of(shop, customer) == [
        ("quote.requested", True), ("quote.requested", True), ("quote.priced", True), ("quote.declined", True),
        ("order.created", False), ("order.created", False), ("order.confirmed", True), ("order.cancelled", True),
        ("order.created", False), ("order.confirmed", True), ("order.expected_date_changed", True),
        ("quote.expired", True), ("order.expired", False),
    ]  # fmt: skip
    priced, changed = events(shop, customer, "&type=quote.priced,order.expected_date_changed")
    assert priced["data"]["confirmation_code"] == quotes[0]["confirmation_code"]
    assert (changed["subject"], changed["data"]["expected_dispatch_date"]) == (
        f"order/{waiting['order_id']}",
        "2026-07-02",
    )


def test_a_customer_never_sees_another_customers_events_nor_the_resellers(shop: Service) -> None:
    customer, other = shop.customer(), shop.customer()
    buy(other)
    customer.post("/customer/address", ADDRESS)
    shop.must_load("stock", [{"sku": "PHONE", "available": 90}])
    assert ("customer.changed", False) in types_of(shop, customer)
    assert events(shop, customer) == []
    assert [event["customer_id"] for event in events(shop, other)] == [other.id]
    assert events(shop, customer, "&type=order.confirmed") == []
    rejected = customer.get("/event?type=order.created")
    assert (rejected.status_code, "type" in rejected.json()["message"]) == (400, True)


def test_a_reader_goes_on_from_the_last_sequence_and_the_link_leads_on(shop: Service) -> None:
    customer = shop.customer()
    for _ in range(5):
        buy(customer, [("CABLE", 1)])
    number_events(shop)
    first = customer.get("/event?limit=2&type=order.confirmed")
    assert len(first.json()) == 2
    link = first.links["next"]["url"]
    assert "limit=2&type=order.confirmed&" in link
    second = customer.get(link)
    third = customer.get(second.links["next"]["url"])
    read = [event["sequence"] for page in (first, second, third) for event in page.json()]
    assert read == sorted(read)
    assert len(set(read)) == 5
    assert "next" not in third.links
    assert customer.get(f"/event?after={read[-1]}").json() == []


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "after=-1", "wait=21", "wait=-1", "type=order"])
def test_bad_parameters_are_rejected(shop: Service, query: str) -> None:
    response = shop.customer().get(f"/event?{query}")
    assert response.status_code == 400
    assert query.partition("=")[0] in response.json()["message"]


def test_a_waiting_request_gets_the_next_event_and_only_its_own(shop: Service) -> None:
    customer, other = shop.customer(), shop.customer()
    after = last_sequence(shop)
    with ThreadPoolExecutor() as threads:
        began = time.monotonic()
        waiting = threads.submit(customer.get, f"/event?after={after}&wait=20")
        quiet = threads.submit(other.get, f"/event?after={after}&wait=1")
        time.sleep(0.3)
        buy(customer)
        number_events(shop)
        assert [event["type"] for event in waiting.result().json()] == ["order.confirmed"]
        assert time.monotonic() - began < 10
        assert quiet.result().json() == []
    assert time.monotonic() - began >= 1


@pytest.mark.sweep
def test_many_waiting_requests_share_one_query_a_tick_and_end_with_the_server(shop: Service) -> None:
    with linked(shop.database_url) as link, ThreadPoolExecutor(40) as threads, running_service(link.url) as running:
        customers = [Customer(0, c.key, running.client(**{"X-Api-Key": c.key})) for c in
                     [shop.customer() for _ in range(40)]]  # fmt: skip
        after = last_sequence(shop)
        waiting = [threads.submit(c.get, f"/event?after={after}&wait=20") for c in customers]
        time.sleep(1.0)
        link.spoken.clear()
        time.sleep(1.0)
        assert not any(response.done() for response in waiting)
        assert 0 < link.round_trips <= 2 * 11  # ten ticks of a transaction each
        began = time.monotonic()
        running.loop.call_soon_threadsafe(running.application.stopping.set)
        assert [response.result().json() for response in waiting] == [[]] * 40
        assert time.monotonic() - began < 10


def announced(shop: Service, minutes: int) -> list[tuple[Any, ...]]:
    """The customers and SKUs of the events for changes, recorded at another minute."""
    after = last_sequence(shop)
    shop.in_transaction(lambda tx: announce_changes(tx, MORNING + timedelta(minutes=minutes)))
    number_events(shop)
    statement: LiteralString = (
        "select type, customer_id, data -> 'skus' from event where sequence > %s and type like '%%.changed'"
        " and type <> 'customer.changed' order by sequence"
    )
    return [(type_, customer_id, skus) for type_, customer_id, skus in rows(shop, statement, after)]


def test_changes_of_stock_and_prices_tell_those_whom_they_concern_once_a_minute(shop: Service) -> None:
    announced(shop, 0)
    listed, contracted, curious = shop.customer(), shop.customer(), shop.customer()
    bought, waited = sell(shop, "BOUGHT", available=5), sell(shop, "WAITED")
    buy(listed, [(bought, 1), (waited, 1)])
    contract = {"customer_id": contracted.id, "sku": waited, "single_unit_cost": 9}
    shop.must_load("contract-prices", [contract])
    both = [(None, [bought, waited]), (listed.id, [bought, waited])]
    assert announced(shop, 1) == [
        *(("stock.changed", *who) for who in [*both, (contracted.id, [waited])]),
        *(("price.changed", *who) for who in [*both, (contracted.id, [waited])]),
    ]
    assert announced(shop, 2) == []
    shop.must_load("price-list", [price(bought, 10), price(waited, 11)])  # the first is the same as before
    shop.must_load("contract-prices", [contract], replace=True)
    assert announced(shop, 2) == []  # in the same minute
    assert announced(shop, 3) == [("price.changed", None, [waited]), ("price.changed", listed.id, [waited])]
    shop.must_load("contract-prices", [{**contract, "sku": bought}], replace=True)
    assert announced(shop, 4) == [
        ("price.changed", None, [bought, waited]), ("price.changed", contracted.id, [bought, waited])
    ]  # fmt: skip
    assert events(shop, curious) == []
    found = events(shop, contracted, "&type=price.changed")
    assert (found[-1]["subject"], found[-1]["data"]) == (
        f"customer/{contracted.id}",
        {"skus": [bought, waited], "more": False},
    )


def test_contract_prices_that_begin_or_end_at_midnight_are_announced_then(shop: Service) -> None:
    customer, begins, ends = shop.customer(), sell(shop, "BEGINS"), sell(shop, "ENDS")
    contract = {"customer_id": customer.id, "single_unit_cost": 9}
    midnight = 15 * 60  # minutes from MORNING
    announced(shop, midnight - 3)
    rows_of_file = [
        {**contract, "sku": begins, "valid_from": "2026-06-17"}, {**contract, "sku": ends, "valid_until": "2026-06-16"}
    ]  # fmt: skip
    shop.must_load("contract-prices", rows_of_file)
    told = [("price.changed", None, [begins, ends]), ("price.changed", customer.id, [begins, ends])]
    assert announced(shop, midnight - 2) == told
    assert announced(shop, midnight - 1) == []
    assert announced(shop, midnight) == told
    assert announced(shop, midnight + 1) == []
    assert announced(shop, midnight + 24 * 60) == []


def test_stock_that_stays_as_it_was_is_not_announced(shop: Service) -> None:
    kept, more, counted, moved, scrapped = (
        sell(shop, f"STOCK-{name}", available=5) for name in ("KEPT", "MORE", "SET", "MOVED", "SCRAPPED")
    )
    placed, broken = buy(shop.customer(), [(kept, 1), (more, 1)]), buy(shop.customer(), [(scrapped, 1)])
    dispatch(shop, broken)
    announced(shop, 5)
    item, name = broken["items"][0]["id"], str(broken["order_reference"])
    units = ReturnRequest([ReturnedUnits(item, 1)], "broken")
    number = shop.in_transaction(lambda tx: open_return(tx, name, units, MORNING))
    shop.in_transaction(lambda tx: receive_return(tx, number, [ReceivedUnits(item, scrap=1)], MORNING))
    amend(shop, placed, items=[{"id": placed["items"][1]["id"], "quantity": 2}])
    same = [
        Adjustment(sku=counted, set=5, reason="counted"), Adjustment(sku=moved, location="A-1", reason="moved")
    ]  # fmt: skip
    shop.in_transaction(lambda tx: adjust_stock(tx, same, MORNING))
    shop.must_load("stock", [{"sku": moved, "available": 5, "location": "A-2"}])
    assert {tuple(skus) for _, _, skus in announced(shop, 6)} == {(more,)}
    shop.must_load("stock", [{"sku": moved, "available": 4, "location": "A-3"}])
    assert announced(shop, 7) == [("stock.changed", None, [moved])]
