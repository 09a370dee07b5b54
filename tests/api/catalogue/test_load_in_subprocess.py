"""A catalogue that a subprocess loads is the one that this process would have loaded."""

import asyncio
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from support.service import Service
from support.shop import product
from tradecounter.bulk.rows import Row
from tradecounter.db.changes import bump
from tradecounter.db.freshness import Freshness
from tradecounter.db.refresher import Refresher
from tradecounter.db.transaction import transaction
from tradecounter.imports.run import import_rows
from tradecounter.pricing.importing import PriceRow
from tradecounter.pricing.rules import UnitCosts
from tradecounter.storefront.parameters import ProductListParameters
from tradecounter.storefront.query import find_products
from tradecounter.storefront.render import EXTRA_FIELDS, render_csv, render_json
from tradecounter.storefront.storefront import Storefront
from tradecounter.storefront.view import CustomerView

SKUS = [f"Ré/{number}" for number in range(40)]
ASKED = [
    ProductListParameters(),
    ProductListParameters(query="re"),
    ProductListParameters(sort="price", in_stock="true"),
    ProductListParameters(attribute=("ports>3",), sort="name"),
]


@pytest.fixture(scope="module")
def buyers(shop: Service) -> list[int]:
    """Customers of three price profiles, one of them with contract prices, in a shop of some products."""
    shop.must_load("attributes", [{"key": "ports", "name": "Ports", "type": "int"}])
    rows = (product(sku, attributes={"ports": str(n % 7)}, description=f"<{n}>") for n, sku in enumerate(SKUS))
    shop.must_load("products", rows)
    prices = [{"price_list": "default", "sku": sku, "single_unit_cost": 10 + n} for n, sku in enumerate(SKUS)]
    gold = [{"price_list": "gold", "sku": sku, "single_unit_cost": 5, "ten_plus_unit_cost": 4} for sku in SKUS[:9]]
    shop.must_load("price-list", [*prices, *gold])
    shop.must_load("stock", [{"sku": sku, "available": n} for n, sku in enumerate(SKUS)])
    shop.must_load("incoming", [{"sku": sku, "incoming": 3, "expected_on": "2026-09-01"} for sku in SKUS[:5]])
    made = [shop.customer().id, shop.customer(price_list="gold", discount="2.50").id, shop.customer().id]
    shop.must_load(
        "contract-prices",
        [
            {"customer_id": made[2], "sku": sku, "single_unit_cost": "1.23", "valid_from": "2026-01-01"}
            for sku in SKUS[:3]
        ],
    )
    return made


class Another:
    """A storefront beside the server's own, kept fresh on the same database."""

    def __init__(self, service: Service, *, elsewhere: bool, stale_after: timedelta = timedelta(minutes=1)) -> None:
        address = service.database_url if elsewhere else None
        self.freshness = Freshness(stale_after)
        self.storefront = Storefront(service.clock, 5, address, freshness=self.freshness, large_from=1)
        self.refresher = Refresher(
            service.application.database,
            (self.storefront,),
            timedelta(milliseconds=20),
            freshness=self.freshness,
        )
        self._service = service

    def refresh(self) -> None:
        self._service.call(self.refresher.refresh)

    def view(self, customer_id: int) -> CustomerView:
        view = self.storefront.last_view(customer_id)
        assert view is not None
        return view


@pytest.fixture
def here(shop: Service) -> Another:
    return Another(shop, elsewhere=False)


@pytest.fixture
def elsewhere(shop: Service) -> Another:
    return Another(shop, elsewhere=True)


def shown(view: CustomerView) -> Iterator[bytes]:
    """Everything that a view answers."""
    extras = set(EXTRA_FIELDS.values())
    for wanted in ASKED:
        rows = find_products(view, wanted)[:]
        yield b"".join(render_json(view, rows, extras))
        yield b"".join(render_csv(view, rows, extras))
    yield view.digest


def test_both_show_the_same_to_every_customer(here: Another, elsewhere: Another, buyers: list[int]) -> None:
    for storefront in (here, elsewhere):
        storefront.refresh()
    for buyer in buyers:
        assert list(shown(elsewhere.view(buyer))) == list(shown(here.view(buyer)))
    one, other = here.storefront.snapshot, elsewhere.storefront.snapshot
    assert [other.product(row) for row in range(len(other))] == [one.product(row) for row in range(len(one))]


def test_changes_after_another_process_read_it_are_followed(
    shop: Service, elsewhere: Another, buyers: list[int]
) -> None:
    elsewhere.refresh()
    before = elsewhere.view(buyers[0])
    shop.must_load("price-list", [{"price_list": "default", "sku": SKUS[0], "single_unit_cost": "77.00"}])
    shop.must_load("stock", [{"sku": SKUS[0], "available": 123}])
    shop.must_load("incoming", [{"sku": SKUS[0], "incoming": 9, "expected_on": "2026-08-01"}])
    shop.must_load("contract-prices", [{"customer_id": buyers[1], "sku": SKUS[1], "single_unit_cost": "0.99"}])
    elsewhere.refresh()
    after, anew = elsewhere.view(buyers[0]), Another(shop, elsewhere=False)
    assert after.snapshot is before.snapshot
    anew.refresh()
    for buyer in buyers:
        assert list(shown(elsewhere.view(buyer))) == list(shown(anew.view(buyer)))


def test_what_is_there_is_served_and_followed_while_another_process_reads(
    shop: Service, elsewhere: Another, buyers: list[int]
) -> None:
    elsewhere.refresh()
    shop.must_load("products", [{"sku": SKUS[0], "name": "Named anew"}])
    shop.must_load("stock", [{"sku": SKUS[1], "available": 321}])
    shop.must_load("price-list", [{"price_list": "default", "sku": SKUS[1], "single_unit_cost": "3.21"}])

    async def look() -> tuple[CustomerView, CustomerView]:
        assert await elsewhere.refresher.catch_up()
        meanwhile = elsewhere.view(buyers[0])
        await elsewhere.refresher.refresh()
        return meanwhile, elsewhere.view(buyers[0])

    def seen(view: CustomerView) -> tuple[str, int, UnitCosts | None]:
        row, other = (view.snapshot.row_of_sku[sku.casefold()] for sku in SKUS[:2])
        return view.product(row).name, view.available(other), view.unit_costs(other)

    meanwhile, afterwards = shop.call(look)
    assert seen(meanwhile) == (product(SKUS[0])["name"], 321, UnitCosts(321, 321, 321))
    assert seen(afterwards) == ("Named anew", 321, UnitCosts(321, 321, 321))


def no_other_process(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sys, "executable", "/nowhere/python")


def a_process_that_fails(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sys, "executable", "/bin/false")


def no_folder_for_a_file(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tempfile, "tempdir", "/nowhere")


@pytest.mark.parametrize("hindrance", [no_other_process, a_process_that_fails, no_folder_for_a_file])
def test_all_other_data_stays_current_while_no_process_can_read_the_catalogue(
    shop: Service,
    elsewhere: Another,
    buyers: list[int],
    monkeypatch: pytest.MonkeyPatch,
    hindrance: Callable[[pytest.MonkeyPatch], None],
) -> None:
    elsewhere.refresh()
    before, confirmed_at = elsewhere.view(buyers[1]), elsewhere.freshness.confirmed_at
    with monkeypatch.context() as patch:
        hindrance(patch)
        for cost in (41, 42):
            shop.must_load("products", [{"sku": SKUS[0], "name": f"{hindrance.__name__} {cost}"}])
            shop.must_load("price-list", [{"price_list": "gold", "sku": SKUS[0], "single_unit_cost": cost}])
            elsewhere.refresh()
    meanwhile = elsewhere.view(buyers[1])
    assert meanwhile.snapshot is before.snapshot
    row = meanwhile.snapshot.row_of_sku[SKUS[0].casefold()]
    assert meanwhile.unit_costs(row) == UnitCosts(4095, 4095, 4095)
    assert elsewhere.freshness.confirmed_at == confirmed_at
    shop.must_load("products", [{"sku": SKUS[0], "name": f"{hindrance.__name__} over"}])
    elsewhere.refresh()
    assert elsewhere.view(buyers[1]).product(row).name == f"{hindrance.__name__} over"
    assert elsewhere.freshness.confirmed_at > confirmed_at


def test_a_process_that_stands_back_for_too_long_is_ended(shop: Service, buyers: list[int]) -> None:
    elsewhere = Another(shop, elsewhere=True, stale_after=timedelta(milliseconds=20))  # none is ready in half of that

    def name(shown: Another) -> str:
        view = shown.view(buyers[0])
        return view.product(view.snapshot.row_of_sku[SKUS[0].casefold()]).name

    elsewhere.refresh()
    shop.must_load("products", [{"sku": SKUS[0], "name": "Slow"}])
    elsewhere.refresh()
    assert name(elsewhere) != "Slow"
    shop.must_load("products", [{"sku": SKUS[0], "name": "In time"}])
    elsewhere.refresh()
    assert name(elsewhere) == "In time"


def test_prices_changed_during_a_read_in_a_subprocess_are_kept(
    shop: Service, elsewhere: Another, buyers: list[int]
) -> None:
    elsewhere.refresh()
    shop.must_load("products", [{"sku": SKUS[0], "name": "Read slowly"}])
    dearer = PriceRow("default", SKUS[0], Decimal(91))

    async def look() -> UnitCosts | None:
        (loading,) = await elsewhere.refresher.catch_up()
        await asyncio.wait({loading})  # what it read is older than these prices
        await import_rows(shop.application.database, "price-list", iter([Row(1, dearer)]))
        await elsewhere.refresher.catch_up()
        view = elsewhere.view(buyers[0])
        return view.unit_costs(view.snapshot.row_of_sku[SKUS[0].casefold()])

    assert shop.call(look) == UnitCosts(9100, 9100, 9100)


@pytest.mark.usefixtures("buyers")
def test_a_process_under_way_ends_with_the_one_that_started_it(shop: Service, elsewhere: Another) -> None:
    elsewhere.refresh()

    async def stop_early() -> set[asyncio.Task[Any]]:
        async with elsewhere.refresher.running():
            async with transaction(shop.application.database) as tx:
                await bump(tx, "catalogue")
            return await elsewhere.refresher.catch_up()

    (task,) = shop.call(stop_early)
    assert task.cancelled()
