"""Each customer sees its own prices, orders and addresses only (a property test)."""

import csv
import io
import json
import re
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import httpx2
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from support.service import Customer, Service
from support.shop import ADDRESS, METHODS, STANDARD, order, price, product

pytestmark = pytest.mark.sweep

TODAY = date(2026, 6, 16)
DAYS = [None, date(2026, 6, 1), date(2026, 6, 15), TODAY, date(2026, 6, 17), date(2026, 7, 1)]
SKUS = ["ADSL", "BRIDGE", "CABLE", "DECT", "EDGE", "FIBRE"]
COSTS = ("single_unit_cost", "five_plus_unit_cost", "ten_plus_unit_cost")

Breaks = tuple[Decimal, Decimal | None, Decimal | None]

# EDGE is on one price list only, FIBRE on none: only contract prices make it visible.
LISTS: dict[str, dict[str, Breaks]] = {
    "default": {
        "ADSL": (Decimal("19.99"), Decimal("18.49"), Decimal("17.05")),
        "BRIDGE": (Decimal("0.01"), None, None),
        "CABLE": (Decimal("1.99"), None, Decimal("1.50")),
        "DECT": (Decimal("149.95"), Decimal("139.95"), None),
    },
    "gold": {
        "ADSL": (Decimal("15.15"), None, None),
        "DECT": (Decimal("99.99"), Decimal("120.00"), Decimal("80.08")),
    },
    "silver": {"EDGE": (Decimal("1000.01"), Decimal("999.99"), None)},
}


@dataclass(frozen=True)
class Contract:
    sku: str
    breaks: Breaks
    valid_from: date | None
    valid_until: date | None

    @property
    def valid(self) -> bool:
        return (self.valid_from or TODAY) <= TODAY <= (self.valid_until or TODAY)


@dataclass(frozen=True)
class Terms:
    price_list: str | None
    discount: Decimal
    trade: bool
    contracts: tuple[Contract, ...]

    def costs(self, sku: str) -> tuple[Decimal, ...] | None:
        """Return the unit costs for 1, 5 and 10 units by the documented rules."""
        agreed = [c for c in self.contracts if c.sku == sku and c.valid]
        if agreed:
            return filled(max(agreed, key=lambda c: c.valid_from or date.min).breaks)
        listed = LISTS.get(self.price_list or "default", {}).get(sku) or LISTS["default"].get(sku)
        if listed is None:
            return None
        kept = (100 - self.discount) / 100
        return tuple((cost * kept).quantize(Decimal("0.01"), ROUND_HALF_UP) for cost in filled(listed))

    def unit_cost(self, sku: str, quantity: int) -> Decimal:
        costs = self.costs(sku)
        assert costs is not None
        return costs[0 if quantity < 5 else 1 if quantity < 10 else 2]

    def visible(self) -> list[str]:
        return [sku for sku in SKUS if self.costs(sku) is not None]


def filled(breaks: Breaks) -> tuple[Decimal, Decimal, Decimal]:
    single, five, ten = breaks
    five = single if five is None else five
    return single, five, five if ten is None else ten


costs = st.decimals(0, 2000, places=2)
contracts = st.builds(
    Contract,
    st.sampled_from(SKUS),
    st.tuples(costs, st.none() | costs, st.none() | costs),
    st.sampled_from(DAYS),
    st.sampled_from(DAYS),
).filter(lambda c: c.valid_from is None or c.valid_until is None or c.valid_from <= c.valid_until)
terms = st.builds(
    Terms,
    st.sampled_from([None, *LISTS]),
    st.sampled_from([Decimal(0), Decimal(50), Decimal("12.5"), Decimal("33.33"), Decimal(100)])
    | st.decimals(0, 100, places=2),
    st.booleans(),
    st.lists(contracts, max_size=4, unique_by=lambda c: (c.sku, c.valid_from)).map(tuple),
)
item_choices = st.lists(st.tuples(st.integers(0, 5), st.sampled_from([1, 2, 4, 5, 9, 10, 250])), min_size=1, max_size=4)


@dataclass
class Member:
    """A customer, its terms and its own records."""

    customer: Customer
    terms: Terms
    mark: str
    addresses: list[int]
    references: list[str]
    ids: list[int]
    codes: list[str]

    def secrets(self) -> list[str]:
        return [self.mark, *self.references, *self.codes]


@pytest.fixture(scope="module")
def market(service: Service) -> Service:
    service.must_load("manufacturers", [{"key": "acme", "name": "Acme"}])
    service.must_load("products", [product(sku) for sku in SKUS])
    service.must_load("stock", [{"sku": sku, "available": 1_000_000} for sku in SKUS])
    service.must_load("incoming", [{"sku": "ADSL", "incoming": 40, "expected_on": "2026-06-20T09:00:00"}])
    service.must_load("shipping-methods", METHODS)
    for name, listed in LISTS.items():
        service.must_load("price-list", [price(sku, *breaks, price_list=name) for sku, breaks in listed.items()])
    return service


def read(response: httpx2.Response) -> Any:
    assert response.status_code in {200, 201}, response.text
    return json.loads(response.content, parse_float=Decimal)


def settle(market: Service, number: int, wanted: Terms, items_drawn: list[tuple[int, int]]) -> Member:
    """Create a customer with its own terms, an address, a pending order and a confirmed one."""
    customer = market.customer(
        price_list=wanted.price_list, discount=wanted.discount, trade_account=wanted.trade, credit="99999999.99"
    )
    market.must_load(
        "contract-prices",
        [
            {
                "customer_id": customer.id,
                "sku": c.sku,
                **dict(zip(COSTS, c.breaks, strict=True)),
                "valid_from": c.valid_from,
                "valid_until": c.valid_until,
            }
            for c in wanted.contracts
        ],
    )
    mark = f"Street of customer {customer.id} number {number}"
    address = read(customer.post("/customer/address", {**ADDRESS, "street_one": mark}))
    member = Member(customer, wanted, mark, [address["id"]], [], [], [])
    visible = wanted.visible()
    if visible:
        items = [(visible[place % len(visible)], quantity) for place, quantity in items_drawn]
        for auto_confirm in (False, True):
            place_and_check(member, items, auto_confirm=auto_confirm)
    return member


def place_and_check(member: Member, items: list[tuple[str, int]], *, auto_confirm: bool) -> None:
    values = {"auto_confirm": True, "shipping_method": {"id": STANDARD}} if auto_confirm else {}
    address = {"id": member.addresses[0]}
    weightless = [(sku, min(quantity, 7)) for sku, quantity in items] if auto_confirm else items
    body = order(weightless, billing_address=address, shipping_address=address, **values)
    placed = read(member.customer.post("/order", body))
    expected = [quantity * member.terms.unit_cost(sku, quantity) for sku, quantity in weightless]
    assert [item["cost_net"] for item in placed["items"]] == expected
    assert placed["cost_net"] == sum(expected)
    member.codes.append(placed["confirmation_code"])
    if auto_confirm:
        member.references.append(placed["order_reference"])
        member.ids.append(placed["order_id"])


def check_prices(member: Member) -> None:
    expected = {sku: member.terms.costs(sku) for sku in member.terms.visible()}
    listed = {p["sku"]: p for p in read(member.customer.get("/product?limit=0"))}
    assert {sku: tuple(p[name] for name in COSTS) for sku, p in listed.items()} == expected
    text = member.customer.get("/product", headers={"Accept": "text/csv"}).text
    rows = csv.DictReader(io.StringIO(text, newline=""))
    assert {row["sku"]: tuple(Decimal(row[name]) for name in COSTS) for row in rows} == expected
    for sku in SKUS:
        single = member.customer.get(f"/product/{sku.lower()}")
        if sku in expected:
            assert tuple(read(single)[name] for name in COSTS) == expected[sku]
        else:
            assert single.status_code == 404
    if "ADSL" in listed:
        incoming = listed["ADSL"]["availability"]["incoming"]
        assert incoming == ([{"incoming": 40, "expected_on": "2026-06-20T09:00:00"}] if member.terms.trade else [])


def check_own(member: Member, others: list[Member]) -> None:
    customer = member.customer
    orders, addresses, credit = (customer.get(p) for p in ("/order?limit=0", "/customer/address", "/customer/credit"))
    assert [found["order_reference"] for found in read(orders)] == member.references
    assert [found["id"] for found in read(addresses)] == member.addresses
    owed = read(credit)
    assert [found["order_reference"] for found in owed["outstanding_orders"]] == member.references
    assert owed["total_outstanding"] == sum(found["total_due"] for found in owed["outstanding_orders"])
    seen = "".join(r.text for r in (orders, addresses, credit, customer.get("/customer"), customer.get("/product")))
    assert not [secret for other in others for secret in other.secrets() if secret in seen]


def visible_in(response: httpx2.Response, name: object) -> tuple[int, bytes, list[tuple[str, str]]]:
    """What a response shows but for the name that the request has."""
    but = {"content-length", "date", "x-request-id"}
    headers = [item for item in response.headers.multi_items() if item[0] not in but]
    return (
        response.status_code,
        re.sub(re.escape(str(name)).encode(), b"NAME", response.content, flags=re.IGNORECASE),
        headers,
    )


def check_others(member: Member, other: Member) -> None:
    customer = member.customer
    choice = {"shipping_method": {"id": STANDARD}}
    unknown, unknown_code = (
        visible_in(customer.get("/order/unknown"), "unknown"),
        visible_in(customer.put("/order/unknown", choice), "unknown"),
    )
    assert unknown[0] == unknown_code[0] == 404
    for name in [*other.references, *other.ids, *other.codes]:
        assert visible_in(customer.get(f"/order/{name}"), name) == unknown
        assert visible_in(customer.put(f"/order/{name}", choice), name) == unknown_code
    unknown_address = visible_in(customer.delete("/customer/address/999999999"), 999999999)
    for address in other.addresses:
        assert visible_in(customer.delete(f"/customer/address/{address}"), address) == unknown_address
        rejected = customer.post("/order", order([("ADSL", 1)], shipping_address={"id": address}))
        assert rejected.status_code == 400
        assert other.mark not in rejected.text


# Without shrinking: each example is slow, and shrinking a failure would take minutes.
@pytest.mark.spec("4 GET /product", "active products at the customer's own prices and stock")
@pytest.mark.spec("5 Authentication", "a customer sees its own prices and orders only")
@settings(max_examples=8, deadline=None, derandomize=True, phases=[Phase.generate])
@given(st.lists(st.tuples(terms, item_choices), min_size=2, max_size=3))
def test_every_customer_sees_its_own_prices_orders_and_addresses_only(
    market: Service, population: list[tuple[Terms, list[tuple[int, int]]]]
) -> None:
    members = [settle(market, number, wanted, drawn) for number, (wanted, drawn) in enumerate(population)]
    for member in members:
        others = [other for other in members if other is not member]
        check_prices(member)
        for other in others:
            check_others(member, other)
        check_own(member, others)
