"""`changed_on` of orders and `GET /order?changed_since=`: whatever changes an order's response moves it."""

import itertools
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite
from support.billing import credit, due_of, issue, issue_part, number_of, pay
from support.orders import amend, at, buy, create, dispatch, read, rows, sell, shipments, uk
from support.service import Customer, Service
from support.shop import ADDRESS, NEXT_DAY
from tradecounter.orders.serve_back_orders import update_expected_dates
from tradecounter.privacy.personal_data import erase_customer

Step = Callable[["Case"], Any]

LONG_AGO = "2020-01-01T00:00:00"
_numbers = itertools.count(1)


class Case:
    """An order of two units of a product of its own, with a third back-ordered, and what staff and its customer do."""

    def __init__(self, office: BackOfficeSite, staff: httpx2.Client) -> None:
        self.office, self.shop = office, office.service
        self.staff, self.customer = staff, self.shop.customer()
        self.sku = sell(self.shop, f"CHANGED-{next(_numbers)}", 10, available=2, configurable=True)
        office.refresh()
        self.placed = buy(self.customer, [(self.sku, 3)])
        self.item = self.placed["items"][0]["id"]

    def do(self, step: str, **body: Any) -> Any:
        """What an operation of the back office on the order returns."""
        return self.sent("POST", f"/api/order/{self.placed['order_reference']}/{step}", body)

    def sent(self, method: str, path: str, body: Any = None) -> Any:
        response = self.staff.request(method, path, json=body)
        assert response.status_code < 300, response.text
        return response.json()

    def units(self, quantity: int) -> list[dict[str, int]]:
        return [{"id": self.item, "quantity": quantity}]

    def ship(self, quantity: int = 2) -> int:
        """The id of a shipment."""
        dispatch(self.shop, self.placed, (self.item, quantity))
        return shipments(self.shop, self.placed)[-1]

    def deliver(self, units: int = 1) -> None:
        self.shop.must_load("stock", [{"sku": self.sku, "available": units}])

    def address(self, shipment: int) -> str:
        return f"/api/order/{self.placed['order_reference']}/shipment/{shipment}"

    def amend(self, **body: Any) -> None:
        amend(self.shop, self.placed, **body, reason="a test")

    def whole(self) -> None:
        self.deliver()
        dispatch(self.shop, self.placed)
        issue(self.shop, self.placed)

    def returned(self) -> str:
        self.ship()
        return str(self.do("return", items=self.units(1), reason="Faulty")["number"])

    def configure(self) -> None:
        path = f"/order/{self.placed['order_id']}/item/{self.item}/configuration"
        body = {"configurations": [{"adsl_username": "u@isp.example", "adsl_password": "open-sesame"}]}
        self.customer.post(path, body).raise_for_status()


def _as_it_is(_: Case) -> None:
    pass


def _receive(case: Case, number: str) -> None:
    case.sent("POST", f"/api/return/{number}/receive", {"items": [{"id": case.item, "restock": 1, "scrap": 0}]})


def _expect(case: Case) -> None:
    case.shop.must_load("incoming", [{"sku": case.sku, "incoming": 3, "expected_on": "2026-07-01"}])
    case.shop.in_transaction(lambda tx: update_expected_dates(tx, case.shop.clock.now()))


def _due(case: Case) -> Any:
    return due_of(case.shop, number_of(case.shop, case.placed))


_HERE = {**ADDRESS, "street_one": "2 Other Street"}

# What comes before, and the step that changes the response.
CHANGES: dict[str, tuple[Step, Callable[[Case, Any], Any]]] = {
    "cancel all": (_as_it_is, lambda c, _: c.do("cancel", reason="a test")),
    "cancel units": (_as_it_is, lambda c, _: c.do("cancel", reason="a test", items=c.units(1))),
    "amend the reference": (_as_it_is, lambda c, _: c.amend(customer_reference="Other")),
    "amend the address": (_as_it_is, lambda c, _: c.amend(shipping_address=_HERE)),
    "amend the method": (_as_it_is, lambda c, _: c.amend(shipping_method={"id": NEXT_DAY})),
    "amend the units": (_as_it_is, lambda c, _: c.amend(items=c.units(5))),
    "add an item": (
        _as_it_is, lambda c, _: c.amend(items=[*c.units(3), {"sku": "CABLE", "quantity": 1}])),
    "dispatch": (_as_it_is, lambda c, _: c.do("dispatch")),
    "dispatch another part": (lambda c: c.ship(1), lambda c, _: c.do("dispatch")),
    "track": (lambda c: c.ship(), lambda c, _: c.do("tracking", type="Sent", description="On its way")),
    "correct": (lambda c: c.ship(), lambda c, s: c.sent("PATCH", c.address(s), {"tracking_number": "T-2"})),
    "take back": (lambda c: c.ship(), lambda c, s: c.sent("POST", f"{c.address(s)}/take-back", {"reason": "a test"})),
    "invoice a part": (lambda c: c.ship(), lambda c, _: issue_part(c.shop, c.placed)),
    "pay": (lambda c: c.whole(), lambda c, _: pay(c.shop, c.placed, str(_due(c)))),
    "credit": (lambda c: c.whole(), lambda c, _: credit(c.shop, number_of(c.shop, c.placed), amount="36.50")),
    "receive a return": (lambda c: c.returned(), _receive),
    "serve a back-order": (_as_it_is, lambda c, _: c.deliver()),
    "expect a delivery": (_as_it_is, lambda c, _: _expect(c)),
    "configure": (_as_it_is, lambda c, _: c.configure()),
    "erase": (
        lambda c: c.do("cancel", reason="a test"),
        lambda c, _: c.shop.in_transaction(lambda tx: erase_customer(tx, c.customer.id, c.shop.clock.now()))),
}  # fmt: skip


def _date_back(shop: Service, placed: dict[str, Any]) -> None:
    rows(shop, "update orders set changed_at = '2020-01-01Z' where id = %s returning id", placed["order_id"])


def _changed_at(shop: Service, placed: dict[str, Any]) -> Any:
    [(moment,)] = rows(shop, "select changed_at from orders where id = %s", placed["order_id"])
    return moment


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("name", CHANGES)
def test_whatever_changes_the_response_moves_changed_on(
    office: BackOfficeSite, staff: httpx2.Client, name: str
) -> None:
    case = Case(office, staff)
    prepare, change = CHANGES[name]
    before_it = prepare(case)
    _date_back(case.shop, case.placed)
    before = read(case.customer, case.placed)
    assert before["changed_on"] == LONG_AGO
    change(case, before_it)
    if name == "erase":  # its keys are gone too
        assert _changed_at(case.shop, case.placed).year > 2020
        return
    after = read(case.customer, case.placed)
    assert after.pop("changed_on") > before.pop("changed_on")
    assert after != before


def test_a_packing_video_moves_changed_on(office: BackOfficeSite, staff: httpx2.Client) -> None:
    case = Case(office, staff)
    _date_back(case.shop, case.placed)
    case.do("video", video_file="https://v.example/1.mp4", streaming_playlist="https://v.example/1.m3u8")
    assert read(case.customer, case.placed)["changed_on"] > LONG_AGO


@pytest.mark.parametrize("change", [lambda c: c.do("note", text="Ring first"), lambda c: c.deliver(0)])
def test_what_the_customer_does_not_see_leaves_changed_on(
    office: BackOfficeSite, staff: httpx2.Client, change: Step
) -> None:
    case = Case(office, staff)
    _date_back(case.shop, case.placed)
    before = read(case.customer, case.placed)
    change(case)
    assert read(case.customer, case.placed)["changed_on"] == before["changed_on"] == LONG_AGO


def test_every_table_that_belongs_to_orders_has_the_triggers_or_is_not_shown(shop: Service) -> None:
    belonging = rows(
        shop,
        """
        select r.conrelid::regclass::text, exists (
            select from pg_trigger t
            where t.tgrelid = r.conrelid and t.tgfoid::regproc::text like 'note_changed_parts%%')
        from pg_constraint r
        where r.contype = 'f' and r.confrelid in ('orders'::regclass, 'order_line'::regclass, 'shipment'::regclass)
        """,
    )
    assert {table for table, noted in belonging if not noted} == {
        # what orders do not show: the invoices themselves, requests, returns, agents' days, staff's records
        "agent_order", "invoice", "invoice_balance", "invoice_line", "customer_request", "order_approval",
        "order_change", "order_note", "order_return", "return_line", "quote_link", "taken_back_shipment",
    }  # fmt: skip


def _listed(customer: Customer, **params: str) -> list[int]:
    response = customer.get("/order", params=params)
    assert response.status_code == 200, response.text
    assert "X-Ignored" not in response.headers
    assert response.headers["X-Total-Count"] == str(len(response.json()))
    return [order["id"] for order in response.json()]


@pytest.mark.spec("4 GET /order", "by change, product and tracking number (an addition)")
def test_changed_since_includes_its_moment_and_of_a_repeated_hour_both_passes(shop: Service) -> None:
    customer = shop.customer()
    placed = [buy(customer)["order_id"] for _ in range(3)]
    moments = ("2026-10-25T00:30:00.9Z", "2026-10-25T01:30:00Z", "2026-10-25T02:00:00Z")
    for order_id, moment in zip(placed, moments, strict=True):
        rows(shop, "update orders set changed_at = %s where id = %s returning id", moment, order_id)
    shown = [order["changed_on"] for order in customer.get("/order").json()]
    assert shown == ["2026-10-25T02:00:00", "2026-10-25T01:30:00", "2026-10-25T01:30:00"]
    assert _listed(customer, changed_since="2026-10-25T01:30:00") == placed[::-1]
    assert _listed(customer, changed_since="2026-10-25T01:30:01") == placed[:0:-1]
    assert _listed(customer, changed_since="2026-10-25T02:00:01") == []


@pytest.mark.spec("4 GET /order", "by change, product and tracking number (an addition)")
def test_a_program_follows_its_orders_by_changed_since(office: BackOfficeSite, staff: httpx2.Client) -> None:
    case = Case(office, staff)
    other = buy(case.customer)
    create(case.customer)
    for placed in (case.placed, other):
        _date_back(case.shop, placed)
    since = {"changed_since": "2020-01-01T00:00:01"}
    assert _listed(case.customer, **since) == []
    case.do("dispatch")
    assert _listed(case.customer, **since) == [case.placed["order_id"]]
    assert _listed(case.customer, **since, status="Dispatched") == []
    case.do("cancel", reason="a test")
    assert _listed(case.customer, **since) == [case.placed["order_id"]], "what was dispatched stays an order"


@pytest.mark.spec("4 GET /order", "by change, product and tracking number (an addition)")
def test_orders_are_found_by_a_product_and_by_a_tracking_number(shop: Service) -> None:
    customer, sku = shop.customer(), sell(shop, "Found-1", 10, available=9)
    one, two = buy(customer, [(sku, 1), ("PHONE", 1)]), buy(customer)
    buy(shop.customer(), [(sku, 1)])
    dispatch(shop, one, (one["items"][0]["id"], 1), tracking_number="fv-a 1")
    dispatch(shop, one, tracking_number="FV2")
    assert _listed(customer, sku=" fOUND-1 ") == [one["order_id"]]
    assert _listed(customer, sku="PHONE") == [two["order_id"], one["order_id"]]
    assert _listed(customer, sku="NOTHING") == _listed(customer, tracking_number="FV") == []
    assert _listed(customer, tracking_number=" FV-A 1") == _listed(customer, tracking_number="fv2") == [one["order_id"]]
    assert _listed(customer, sku="found-1", tracking_number="FV2", changed_since=LONG_AGO) == [one["order_id"]]
    assert _listed(shop.customer(), tracking_number="FV2") == []


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"changed_since": "2026-06-16"}, "changed_since"),
        ({"changed_since": "2026-06-16T09:00:00Z"}, "changed_since"),
        ({"sku": "a\x00"}, "sku"),
        ({"sku": "x" * 201}, "sku"),
        ({"tracking_number": "\x00"}, "tracking_number"),
        ({"tracking_number": "x" * 101}, "tracking_number"),
    ],
)
def test_a_bad_filter_is_rejected_by_its_name(shop: Service, params: dict[str, str], field: str) -> None:
    response = shop.customer().get("/order", params=params)
    assert (response.status_code, response.json()["message"].split(":")[0]) == (400, field)


def test_changed_on_is_never_before_the_confirmation(shop: Service) -> None:
    customer = shop.customer()
    with at(shop, uk(2031, 1, 1, 9)):
        placed = buy(customer)
    assert read(customer, placed)["changed_on"] == "2031-01-01T09:00:00"


def test_new_serial_numbers_of_a_dispatched_order_move_changed_on(shop: Service) -> None:
    customer = shop.customer()
    placed = buy(customer)
    dispatch(shop, placed)
    [shipment] = shipments(shop, placed)
    _date_back(shop, placed)
    rows(
        shop,
        "insert into serial_number (shipment_id, line_id, serial_number) values (%s, %s, 'SN-1') returning id",
        shipment,
        placed["items"][0]["id"],
    )
    assert read(customer, placed)["changed_on"] > LONG_AGO
