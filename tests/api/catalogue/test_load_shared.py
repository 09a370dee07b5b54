"""A catalogue loaded in a subprocess equals one loaded in this process."""

import asyncio
import math
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from support.orders import rows
from support.service import MORNING, Service
from support.shop import product
from tradecounter.bulk.rows import Row
from tradecounter.db.changes import bump
from tradecounter.db.refresher import Freshness, Refresher
from tradecounter.db.transaction import transaction
from tradecounter.imports.run import import_and_commit
from tradecounter.prices.importing import PriceRow
from tradecounter.prices.rules import UnitCosts
from tradecounter.stock.importing import StockRow
from tradecounter.storefront.find_in_view import ProductListParameters, find_products
from tradecounter.storefront.load_shared import CatalogueSource, Turn
from tradecounter.storefront.render import EXTRA_FIELDS, render_csv, render_json
from tradecounter.storefront.storefront import RefreshableViews, Storefront
from tradecounter.storefront.view import CustomerView

pytestmark = pytest.mark.long

SKUS = [f"Ré/{number}" for number in range(40)]
REQUESTS = [
    ProductListParameters(),
    ProductListParameters(query="re"),
    ProductListParameters(sort="price", in_stock="true"),
    ProductListParameters(attribute=("ports>3",), sort="name"),
]


@pytest.fixture(scope="module")
def buyers(shop: Service) -> list[int]:
    """Customers with three price profiles, one of them with contract prices."""
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
    """A second storefront, refreshed from the same database as the server's own."""

    def __init__(
        self, service: Service, folder: Path | None = None, *, stale_after: timedelta = timedelta(minutes=1)
    ) -> None:
        source = None if folder is None else CatalogueSource(service.database_url, folder)
        self.freshness = Freshness(stale_after)
        self.storefront = Storefront(service.clock, 5, source, freshness=self.freshness, large_from=1)
        database = service.application.database
        self.refresher = Refresher(
            database, (self.storefront,), timedelta(milliseconds=20), freshness=self.freshness, shared=database
        )
        self._service = service

    def refresh(self) -> None:
        self._service.call(self.refresher.refresh)

    def view(self, customer_id: int) -> CustomerView:
        view = self.storefront.last_view(customer_id)
        assert view is not None
        return view


@pytest.fixture
def in_process(shop: Service) -> Another:
    return Another(shop)


@pytest.fixture
def in_subprocess(shop: Service, tmp_path: Path) -> Another:
    return Another(shop, tmp_path / "shared")


def shown(view: CustomerView) -> Iterator[bytes]:
    """Yield everything that a view serves."""
    extras = set(EXTRA_FIELDS.values())
    for wanted in REQUESTS:
        rows = find_products(view, wanted)[:]
        yield b"".join(render_json(view, rows, extras))
        yield b"".join(render_csv(view, rows, extras))
    yield view.digest


def test_a_load_in_a_subprocess_and_in_the_process_show_the_same_data(
    in_process: Another, in_subprocess: Another, buyers: list[int]
) -> None:
    for storefront in (in_process, in_subprocess):
        storefront.refresh()
    for buyer in buyers:
        assert list(shown(in_subprocess.view(buyer))) == list(shown(in_process.view(buyer)))
    one, other = in_process.storefront.snapshot, in_subprocess.storefront.snapshot
    assert [other.product(row) for row in range(len(other))] == [one.product(row) for row in range(len(one))]


def test_changes_after_a_load_in_a_subprocess_are_followed(
    shop: Service, in_subprocess: Another, buyers: list[int]
) -> None:
    in_subprocess.refresh()
    before = in_subprocess.view(buyers[0])
    shop.must_load("price-list", [{"price_list": "default", "sku": SKUS[0], "single_unit_cost": "77.00"}])
    shop.must_load("stock", [{"sku": SKUS[0], "available": 123}])
    shop.must_load("incoming", [{"sku": SKUS[0], "incoming": 9, "expected_on": "2026-08-01"}])
    shop.must_load("contract-prices", [{"customer_id": buyers[1], "sku": SKUS[1], "single_unit_cost": "0.99"}])
    in_subprocess.refresh()
    after, reloaded = in_subprocess.view(buyers[0]), Another(shop)
    assert after.snapshot is before.snapshot
    reloaded.refresh()
    for buyer in buyers:
        assert list(shown(in_subprocess.view(buyer))) == list(shown(reloaded.view(buyer)))


def test_the_current_catalogue_is_served_and_updated_while_a_subprocess_loads(
    shop: Service, in_subprocess: Another, buyers: list[int]
) -> None:
    in_subprocess.refresh()
    shop.must_load("products", [{"sku": SKUS[0], "name": "Named reloaded"}])
    shop.must_load("stock", [{"sku": SKUS[1], "available": 321}])
    shop.must_load("price-list", [{"price_list": "default", "sku": SKUS[1], "single_unit_cost": "3.21"}])

    async def look() -> tuple[CustomerView, CustomerView]:
        assert await in_subprocess.refresher.catch_up()
        meanwhile = in_subprocess.view(buyers[0])
        await in_subprocess.refresher.refresh()
        return meanwhile, in_subprocess.view(buyers[0])

    def seen(view: CustomerView) -> tuple[str, int, UnitCosts | None]:
        row, other = (view.snapshot.row_of_sku[sku.casefold()] for sku in SKUS[:2])
        return view.product(row).name, view.available(other), view.unit_costs(other)

    meanwhile, afterwards = shop.call(look)
    assert seen(meanwhile) == (product(SKUS[0])["name"], 321, UnitCosts(321, 321, 321))
    assert seen(afterwards) == ("Named reloaded", 321, UnitCosts(321, 321, 321))


class Others:
    """Other processes of the machine, which have all places."""

    def __init__(self, service: Service, folder: Path) -> None:
        source = CatalogueSource(service.database_url, folder)
        self._turns = [Turn(source, math.inf) for _ in range(source.at_once)]
        assert all(turn.take() for turn in self._turns)

    def end(self) -> None:
        for turn in self._turns:
            turn.end()


@pytest.fixture
def others(shop: Service, in_subprocess: Another, buyers: list[int], tmp_path: Path) -> Iterator[Others]:
    assert buyers
    in_subprocess.refresh()
    found = Others(shop, tmp_path / "shared")
    yield found
    found.end()


def test_prices_wait_with_the_terms_of_customers_while_other_processes_have_their_turn(
    shop: Service, in_subprocess: Another, others: Others
) -> None:
    shop.must_load("stock", [{"sku": SKUS[2], "available": 654}])
    customer = shop.customer().id

    def seen() -> tuple[int, UnitCosts | None]:
        view = in_subprocess.view(customer)
        row = view.snapshot.row_of_sku[SKUS[2].casefold()]
        return view.available(row), view.unit_costs(row)

    shop.call(in_subprocess.refresher.catch_up)
    assert seen() == (654, UnitCosts(1200, 1200, 1200))
    shop.must_load("price-list", [{"price_list": "default", "sku": SKUS[2], "single_unit_cost": "6.00"}])
    shop.must_load("stock", [{"sku": SKUS[2], "available": 543}])
    rows(shop, "update customer set discount = 50 where id = %s returning id", customer)

    async def look() -> None:
        async with transaction(shop.application.database) as tx:
            await bump(tx, "customers")
        (waiting,) = await in_subprocess.refresher.catch_up()
        assert seen() == (543, UnitCosts(1200, 1200, 1200))
        assert not waiting.done()
        others.end()
        await in_subprocess.refresher.refresh()
        assert seen() == (543, UnitCosts(300, 300, 300))

    shop.call(look)


def test_a_new_customer_waits_for_the_prices_that_wait_for_a_turn(
    shop: Service, in_subprocess: Another, others: Others
) -> None:
    views = RefreshableViews(in_subprocess.storefront, in_subprocess.refresher, in_subprocess.freshness)
    shop.must_load("price-list", [{"price_list": "default", "sku": SKUS[3], "single_unit_cost": "7.00"}])
    customer = shop.customer().id

    async def ask() -> CustomerView:
        asked = asyncio.create_task(views.last(customer))
        await asyncio.wait({asked}, timeout=0.2)
        assert not asked.done()
        others.end()
        return await asked

    view = shop.call(ask)
    assert view.unit_costs(view.snapshot.row_of_sku[SKUS[3].casefold()]) == UnitCosts(700, 700, 700)


def test_a_refresh_that_fails_no_longer_waits_for_a_place_that_it_could_not_use(
    shop: Service, in_subprocess: Another, others: Others, tmp_path: Path
) -> None:
    another = Turn(CatalogueSource(shop.database_url, tmp_path / "shared", at_once=1), math.inf)

    async def fail(_view_of: Callable[[int], CustomerView | None]) -> None:
        raise OSError("not rendered")

    async def look() -> bool:
        (waiting,) = await in_subprocess.refresher.catch_up()
        in_subprocess.storefront.before_shown = fail
        rows = iter([Row(1, StockRow(SKUS[4], available=777))])
        await import_and_commit(shop.application.database, "stock", rows, now=MORNING)
        await in_subprocess.refresher.catch_up()
        others.end()
        await asyncio.wait({waiting})
        return another.take()

    shop.must_load("price-list", [{"price_list": "default", "sku": SKUS[4], "single_unit_cost": "8.00"}])
    assert shop.call(look)
    another.end()


def no_subprocess(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sys, "executable", "/nowhere/python")


def a_failing_subprocess(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sys, "executable", "/bin/false")


@pytest.mark.parametrize("failure", [no_subprocess, a_failing_subprocess])
def test_all_other_data_stays_current_while_no_subprocess_can_load_the_catalogue(
    shop: Service,
    in_subprocess: Another,
    buyers: list[int],
    monkeypatch: pytest.MonkeyPatch,
    failure: Callable[[pytest.MonkeyPatch], None],
) -> None:
    in_subprocess.refresh()
    before, verified_at = in_subprocess.view(buyers[1]), in_subprocess.freshness.verified_at
    with monkeypatch.context() as patch:
        failure(patch)
        for cost in (41, 42):
            shop.must_load("products", [{"sku": SKUS[0], "name": f"{failure.__name__} {cost}"}])
            shop.must_load("price-list", [{"price_list": "gold", "sku": SKUS[0], "single_unit_cost": cost}])
            in_subprocess.refresh()
    meanwhile = in_subprocess.view(buyers[1])
    assert meanwhile.snapshot is before.snapshot
    row = meanwhile.snapshot.row_of_sku[SKUS[0].casefold()]
    assert meanwhile.unit_costs(row) == UnitCosts(4095, 4095, 4095)
    assert in_subprocess.freshness.verified_at == verified_at
    shop.must_load("products", [{"sku": SKUS[0], "name": f"{failure.__name__} over"}])
    in_subprocess.refresh()
    assert in_subprocess.view(buyers[1]).product(row).name == f"{failure.__name__} over"
    assert in_subprocess.freshness.verified_at > verified_at


def test_a_slow_low_priority_subprocess_is_stopped(shop: Service, buyers: list[int], tmp_path: Path) -> None:
    in_subprocess = Another(
        shop, tmp_path, stale_after=timedelta(milliseconds=20)
    )  # no subprocess is ready in half of that

    def name(shown: Another) -> str:
        view = shown.view(buyers[0])
        return view.product(view.snapshot.row_of_sku[SKUS[0].casefold()]).name

    in_subprocess.refresh()
    shop.must_load("products", [{"sku": SKUS[0], "name": "Slow"}])
    in_subprocess.refresh()
    assert name(in_subprocess) != "Slow"
    shop.must_load("products", [{"sku": SKUS[0], "name": "In time"}])
    in_subprocess.refresh()
    assert name(in_subprocess) == "In time"


def test_prices_changed_during_a_read_in_a_subprocess_are_kept(
    shop: Service, in_subprocess: Another, buyers: list[int]
) -> None:
    in_subprocess.refresh()
    shop.must_load("products", [{"sku": SKUS[0], "name": "Read slowly"}])
    dearer = PriceRow("default", SKUS[0], Decimal(91))

    async def look() -> UnitCosts | None:
        (loading,) = await in_subprocess.refresher.catch_up()
        await asyncio.wait({loading})  # its data is older than these prices
        await import_and_commit(shop.application.database, "price-list", iter([Row(1, dearer)]), now=MORNING)
        await in_subprocess.refresher.catch_up()
        view = in_subprocess.view(buyers[0])
        return view.unit_costs(view.snapshot.row_of_sku[SKUS[0].casefold()])

    assert shop.call(look) == UnitCosts(9100, 9100, 9100)


@pytest.mark.usefixtures("buyers")
def test_a_running_subprocess_stops_with_its_parent(shop: Service, in_subprocess: Another) -> None:
    in_subprocess.refresh()

    async def stop_early() -> set[asyncio.Task[Any]]:
        async with in_subprocess.refresher.running():
            async with transaction(shop.application.database) as tx:
                await bump(tx, "catalogue")
            return await in_subprocess.refresher.catch_up()

    (task,) = shop.call(stop_early)
    assert task.cancelled()
