"""When a back-order's expected date changes, the order is updated and its customer gets one e-mail."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from support.mail import deliver_mail, forget_jobs, html, internal_id, jobs, message_id, plain, shown
from support.orders import at, buy, cancel, rows, sell, uk
from support.service import MORNING, Service
from tradecounter.orders.serve_back_orders import update_expected_dates

CONTACT: dict[str, Any] = {"order_notifications": {"email_address": "buying@harbour.example"}}


@pytest.fixture(autouse=True)
def no_jobs(shop: Service) -> Iterator[None]:
    yield
    forget_jobs(shop)
    rows(shop, "delete from incoming_stock returning 1")
    for (reference,) in rows(shop, "select order_reference from orders where state = 'confirmed'"):
        cancel(shop, {"order_reference": reference})
    forget_jobs(shop)


def expect(shop: Service, sku: str, *deliveries: tuple[str, int]) -> None:
    """Replace the deliveries of a product."""
    rows(shop, "delete from incoming_stock i using product p where p.id = i.product_id and p.sku = %s returning 1", sku)
    shop.must_load("incoming", [{"sku": sku, "expected_on": day, "incoming": units} for day, units in deliveries])


def update(shop: Service) -> int:
    return shop.in_transaction(lambda tx: update_expected_dates(tx, shop.clock.now()))


def dispatch_day(shop: Service, placed: dict[str, Any]) -> str | None:
    """Return the UTC day on which the order's shipping method dispatches it."""
    [(options, method)] = rows(
        shop, "select shipping_options, shipping_method from orders where id = %s", placed["order_id"]
    )
    [chosen] = [option for option in options if option["id"] == method]
    return str(chosen["dispatch"])[:10] if chosen.get("dispatch") else None


def test_a_later_delivery_changes_the_date_and_sends_one_mail(shop: Service) -> None:
    sku = sell(shop, "LATE-1", available=1)
    expect(shop, sku, ("2026-06-22", 10))
    placed = buy(shop.customer(), [(sku, 3)], customer_reference="PO-2", **CONTACT)
    deliver_mail(shop)
    assert (update(shop), dispatch_day(shop, placed)) == (0, "2026-06-23")
    expect(shop, sku, ("2026-06-29", 10))
    assert (update(shop), update(shop)) == (1, 0)
    assert dispatch_day(shop, placed) == "2026-06-30"
    [mail] = deliver_mail(shop)
    assert mail["To"] == "buying@harbour.example"
    assert mail["Subject"] == f"Order {placed['order_reference']}: new expected date (your reference PO-2)"
    name = f"order-expected-date-{internal_id(shop, placed)}-{int(MORNING.timestamp())}"
    assert mail["Message-ID"] == message_id(shop, name)
    for text in (plain(mail), shown(mail)):
        for fact in ("30 June 2026", "2 July 2026", "LATE-1", "2 of 3"):
            assert fact in text
    assert jobs(shop) == []


def test_an_order_that_another_transaction_has_locked_counts_as_unchanged_and_is_updated_later(shop: Service) -> None:
    sku = sell(shop, "LATE-7")
    expect(shop, sku, ("2026-06-22", 10))
    locked, free = (buy(shop.customer(), [(sku, 1)], **CONTACT) for _ in range(2))
    expect(shop, sku, ("2026-06-29", 10))
    with psycopg.connect(shop.database_url) as holder:
        holder.execute("select from orders where id = %s for update", [internal_id(shop, locked)])
        assert (update(shop), update(shop)) == (1, 0)
        assert [dispatch_day(shop, placed) for placed in (locked, free)] == ["2026-06-23", "2026-06-30"]
    assert (update(shop), dispatch_day(shop, locked)) == (1, "2026-06-30")


def test_only_the_latest_of_several_changes_is_mailed(shop: Service) -> None:
    sku = sell(shop, "LATE-2")
    expect(shop, sku, ("2026-06-22", 10))
    buy(shop.customer(), [(sku, 1)], **CONTACT)
    deliver_mail(shop)
    for minutes, day in ((1, "2026-06-24"), (2, "2026-06-25")):
        with at(shop, MORNING + timedelta(minutes=minutes)):
            expect(shop, sku, (day, 10))
            assert update(shop) == 1
    [mail] = deliver_mail(shop)
    assert "26 June 2026" in plain(mail)


def test_a_date_that_becomes_unknown_is_mailed(shop: Service) -> None:
    sku = sell(shop, "LATE-3")
    expect(shop, sku, ("2026-06-22", 10))
    placed = buy(shop.customer(), [(sku, 1)], **CONTACT)
    deliver_mail(shop)
    expect(shop, sku)
    assert (update(shop), dispatch_day(shop, placed)) == (1, None)
    [mail] = deliver_mail(shop)
    assert "not known yet" in plain(mail)
    assert "not known yet" in html(mail)
    expect(shop, sku, ("2026-06-23", 10))
    with at(shop, MORNING + timedelta(minutes=1)):
        assert (update(shop), dispatch_day(shop, placed)) == (1, "2026-06-24")


def test_a_late_delivery_counts_until_the_end_of_the_day_on_which_its_orders_are_dispatched(shop: Service) -> None:
    """On that morning its units may not be in stock yet; an e-mail about an unknown date would be a false alarm."""
    sku = sell(shop, "LATE-4")
    expect(shop, sku, ("2026-06-19", 10), ("2026-07-06", 10))  # a Friday: the orders are dispatched on Monday
    placed = buy(shop.customer(), [(sku, 1)], **CONTACT)
    for moment in (uk(2026, 6, 19, 23, 59), uk(2026, 6, 20, 9), uk(2026, 6, 22, 0, 5), uk(2026, 6, 22, 23, 55)):
        with at(shop, moment):
            assert (update(shop), dispatch_day(shop, placed)) == (0, "2026-06-22")
    with at(shop, uk(2026, 6, 23, 0, 5)):
        assert (update(shop), dispatch_day(shop, placed)) == (1, "2026-07-07")


def test_an_order_confirmed_while_a_delivery_is_late_gets_no_mail(shop: Service) -> None:
    sku = sell(shop, "LATE-5")
    expect(shop, sku, ("2026-06-15", 10))  # yesterday: it covers nothing
    placed = buy(shop.customer(), [(sku, 1)], **CONTACT)
    assert (update(shop), dispatch_day(shop, placed)) == (0, None)


def test_deliveries_serve_earlier_orders_first(shop: Service) -> None:
    sku = sell(shop, "LATE-6")
    expect(shop, sku, ("2026-06-22", 2), ("2026-07-06", 2))
    first, second = (buy(shop.customer(), [(sku, 2)], **CONTACT) for _ in range(2))
    assert update(shop) == 0
    expect(shop, sku, ("2026-06-22", 4))
    assert update(shop) == 1
    assert [dispatch_day(shop, placed) for placed in (first, second)] == ["2026-06-23", "2026-06-23"]


def test_an_order_without_back_ordered_units_gets_no_mail(shop: Service) -> None:
    sku = sell(shop, "LATE-7")
    expect(shop, sku, ("2026-06-22", 10))
    served, cancelled = (buy(shop.customer(), [(sku, 1)], **CONTACT) for _ in range(2))
    deliver_mail(shop)
    expect(shop, sku, ("2026-06-29", 10))
    assert update(shop) == 2
    cancel(shop, cancelled)
    shop.must_load("stock", [{"sku": sku, "available": 1}])
    assert [mail["Subject"].split()[2] for mail in deliver_mail(shop)] == ["cancelled"]
    assert served["order_reference"]
    assert jobs(shop) == []
    assert update(shop) == 0
