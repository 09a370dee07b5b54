"""Returns: opened for dispatched units, received once, and restocked units serve back-orders first."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from support.billing import credit, invoiced, number_of
from support.mail import deliver_mail, html, plain
from support.orders import buy, cancel, dispatch, faults_in_the_books, in_parallel, level, lines, read, rows, sell
from support.service import Customer, Service
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.returns.handle_returns import close_return, open_return, receive_return, shown_return
from tradecounter.returns.wire import ReceivedUnits, Return, ReturnedUnits, ReturnRequest
from tradecounter.shipments.wire import Serial

Units = list[tuple[int, int]]


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


def open_(
    shop: Service,
    placed: dict[str, Any],
    *items: tuple[int, int],
    serial_numbers: Mapping[int, list[str]] = MappingProxyType({}),
) -> str:
    now, name = shop.clock.now(), str(placed["order_reference"])
    units = [ReturnedUnits(item, quantity, serial_numbers.get(item, [])) for item, quantity in items]
    return shop.in_transaction(lambda tx: open_return(tx, name, ReturnRequest(units, "Faulty"), now))


def receive(shop: Service, number: str, restocked: Units, scrapped: Units) -> Return:
    async def work(tx: Transaction) -> Return:
        items = [ReceivedUnits(item, restock=units) for item, units in restocked]
        items += [ReceivedUnits(item, scrap=units) for item, units in scrapped]
        await receive_return(tx, number, items, shop.clock.now())
        return await shown_return(tx, number)

    return shop.in_transaction(work)


def kind_of(error: pytest.ExceptionInfo[DomainError]) -> Kind:
    return error.value.kind


def test_restocked_units_serve_back_orders_and_scrapped_ones_are_gone(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "SENT-BACK", 10, available=4)
    placed, waiting = buy(customer, [(sku, 4)]), buy(customer, [(sku, 1)])
    item = placed["items"][0]["id"]
    dispatch(shop, placed, (item, 4), serials=[Serial(item, "SN-1"), Serial(item, "SN-2")])
    number = open_(shop, placed, (item, 3), serial_numbers={item: ["SN-1", "SN-2"]})
    assert number.startswith("RMA-")
    part = receive(shop, number.lower(), [(item, 2)], [])
    assert (part.state, part.items[0].received, part.items[0].serial_numbers) == ("open", 2, ["SN-1", "SN-2"])
    assert (level(shop, sku), lines(shop, waiting)) == ((1, 1, 0), [(sku, 1, 0)])
    whole = receive(shop, number, [], [(item, 1)])
    assert (whole.state, whole.items[0].restocked, whole.items[0].scrapped) == ("received", 2, 1)
    assert level(shop, sku) == (1, 1, 0)
    assert faults_in_the_books(shop) == {}
    with pytest.raises(DomainError, match="is already received") as error:
        receive(shop, number, [(item, 1)], [])
    assert kind_of(error) is Kind.CONFLICT
    states = rows(
        shop, "select data ->> 'state' from unnumbered_event where type = 'order.returned' and data ->> 'number' = %s"
        " order by position", number,
    )  # fmt: skip
    assert states == [("open",), ("open",), ("received",)]


def test_each_unit_comes_back_once(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 3)])
    item = placed["items"][0]["id"]
    with pytest.raises(DomainError, match="is dispatched: cancel units instead") as error:
        open_(shop, placed, (item, 1))
    assert kind_of(error) is Kind.CONFLICT
    dispatch(shop, placed, (item, 2))
    first = open_(shop, placed, (item, 1))
    with pytest.raises(DomainError, match="has 1 unit to return: its quantity must be 1") as error:
        open_(shop, placed, (item, 2))
    assert kind_of(error) is Kind.INVALID
    for restocked, scrapped in ([(item, 1)], [(item, 1)]), ([], []), ([(1, 1)], []):
        with pytest.raises(DomainError) as error:
            receive(shop, first, restocked, scrapped)
        assert kind_of(error) is Kind.INVALID
    shop.in_transaction(lambda tx: close_return(tx, first, shop.clock.now()))
    open_(shop, placed, (item, 2))
    with pytest.raises(DomainError, match="has nothing left to return"):
        open_(shop, placed, (item, 1))
    with pytest.raises(DomainError, match="serial numbers: send at most one for each unit"):
        open_(shop, buy_and_dispatch(shop, customer), (item + 1, 1), serial_numbers={item + 1: ["A", "B"]})
    cancel(shop, placed)
    assert read(customer, placed)["status"] == "Dispatched"
    with pytest.raises(DomainError, match="return RMA-9 not found"):
        shop.in_transaction(lambda tx: shown_return(tx, "RMA-9"))


def buy_and_dispatch(shop: Service, customer: Customer) -> dict[str, Any]:
    placed = buy(customer)
    dispatch(shop, placed)
    return placed


def test_mails_of_an_order_say_which_of_its_units_came_back_before_the_invoice(shop: Service) -> None:
    placed = buy(shop.customer(order_mails=True), [("PHONE", 3)])
    item = placed["items"][0]["id"]
    dispatch(shop, placed, (item, 2))
    receive(shop, open_(shop, placed, (item, 1)), [], [(item, 1)])
    cancel(shop, placed)
    [mail] = [mail for mail in deliver_mail(shop) if f"{placed['order_reference']} part cancelled" in mail["Subject"]]
    assert "2 x £50.00 £50.00 1 came back and costs nothing" in " ".join(plain(mail).split())
    assert "1 came back and costs nothing" in html(mail)


def test_a_received_return_is_closed_once_all_its_units_are_credited(shop: Service, customer: Customer) -> None:
    placed = invoiced(shop, customer, ("CABLE", 3))
    item, invoice = placed["items"][0]["id"], number_of(shop, placed)
    first, second = open_(shop, placed, (item, 2)), open_(shop, placed, (item, 1))

    def found() -> list[tuple[str, int]]:
        return [(each.state, each.items[0].credited) for each in map(shown, (first, second))]

    def shown(number: str) -> Return:
        return shop.in_transaction(lambda tx: shown_return(tx, number))

    receive(shop, first, [(item, 2)], [])
    receive(shop, second, [(item, 1)], [])
    credit(shop, invoice, (item, 1))
    assert found() == [("received", 1), ("received", 0)], "the oldest first"
    credit(shop, invoice, (item, 1), returned=int(second.removeprefix("RMA-")))
    assert found() == [("received", 1), ("closed", 1)]
    credit(shop, invoice, amount="1.00")
    assert found() == [("received", 1), ("closed", 1)], "an amount is of no unit"
    shop.in_transaction(lambda tx: close_return(tx, first, shop.clock.now()))
    credit(shop, invoice, (item, 1))
    assert found() == [("closed", 2), ("closed", 1)]
    states = rows(
        shop, "select data ->> 'state' from unnumbered_event where type = 'order.returned' and data ->> 'number' = %s"
        " order by position", second,
    )  # fmt: skip
    assert states == [("open",), ("received",), ("closed",)]
    closed = rows(
        shop, "select after ->> 'number' from audit_entry where action = 'return.close' and subject = %s order by id",
        f"order/{placed['order_reference']}",
    )  # fmt: skip
    assert closed == [(first,)]
    issued = rows(shop, "select after -> 'closed_returns' from audit_entry where after ? 'closed_returns'")
    assert issued == [([second],)]


def test_returns_opened_and_received_at_the_same_time_count_each_unit_once(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "RETURN-RACE", 10, available=4)
    placed = buy(customer, [(sku, 4)])
    item = placed["items"][0]["id"]
    dispatch(shop, placed)
    number = open_(shop, placed, (item, 2))

    def attempt(work: Any) -> bool:
        try:
            work()
        except DomainError:
            return False
        return True

    def received() -> bool:
        return attempt(lambda: receive(shop, number, [(item, 2)], []))

    def opened() -> bool:
        return attempt(lambda: open_(shop, placed, (item, 2)))

    done = in_parallel([received, received, opened, opened])
    assert sorted(done[:2]) == sorted(done[2:]) == [False, True]
    assert level(shop, sku) == (2, 0, 0)
    assert faults_in_the_books(shop) == {}


def test_a_bundle_comes_back_with_the_serial_numbers_of_its_components(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "NUMBERED-KIT", 5, available=9, components=[{"sku": "PHONE", "quantity": 2}])
    placed = buy(customer, [(sku, 1)])
    [kit] = read(customer, placed)["items"]
    part = kit["related_items"][0]["id"]
    dispatch(shop, placed, serials=[Serial(part, "KP-1"), Serial(part, "KP-2")])
    with pytest.raises(DomainError, match="the serial number 'KP-3' was not dispatched with this item"):
        open_(shop, placed, (kit["id"], 1), serial_numbers={kit["id"]: ["KP-1", "KP-3"]})
    open_(shop, placed, (kit["id"], 1), serial_numbers={kit["id"]: ["KP-1", "KP-2"]})
