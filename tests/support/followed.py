"""What happens to a catalogue while clients follow its change feed, as steps to draw from."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import psycopg
from hypothesis import strategies as st

from support.followers import Follower, whole
from support.orders import buy
from support.service import Customer, Service, running_service
from support.shop import price, product
from tradecounter.imports.run import roll_back_import
from tradecounter.kit.errors import DomainError

SKUS = ("PHONE", "CABLE", "SWITCH", "A-NEW", "B/NEW", "ünew")
LISTS = ("default", "gold", "silver")
BEFORE_MIDNIGHT = datetime(2026, 6, 16, 22, 59, 50, tzinfo=UTC)  # 23:59:50 in the UK

Step = Callable[["World"], None]


@dataclass
class World:
    """Two servers on one database, customers, and what follows them."""

    first: Service
    second: Service
    restarts: ExitStack
    customers: list[Customer]
    followers: list[Follower]
    roaming: list[Follower]

    @property
    def everybody(self) -> list[Follower]:
        return [*self.followers, *self.roaming]

    def take(self, chosen: list[Step]) -> None:
        """Take steps, and compare after each."""
        for step in chosen:
            step(self)
            self.check(everywhere=False)

    def ask_everybody(self) -> set[int]:
        """Have each follower ask once, and read the catalogue if its cursor has expired; return whose had, by place."""
        expired = set()
        for place, follower in enumerate(self.everybody):
            response = follower.ask()
            if response.status_code == 410:
                assert response.json()["code"] == "cursor_expired"
                follower.read()
                expired.add(place)
        return expired

    def restart(self) -> None:
        """End the second server and start another one."""
        self.restarts.close()
        self.second = self.restarts.enter_context(running_service(self.first.database_url, now=self.first.clock.now()))
        for customer, roaming in zip(self.customers, self.roaming, strict=True):
            roaming.servers = [customer, there(customer, self.second)]

    def pass_time(self, step: timedelta) -> None:
        for service in (self.first, self.second):
            service.clock.advance(step)

    def check(self, *, everywhere: bool) -> None:
        """Compare the copies with full reads; those of roaming clients once both servers have seen everything."""
        for customer, follower in zip(self.customers, self.followers, strict=True):
            follower.follow()
            assert follower.products == whole(customer)
        for follower in self.roaming:
            follower.follow()
            if everywhere:
                for customer in follower.servers:
                    assert follower.products == whole(customer)


def there(customer: Customer, service: Service) -> Customer:
    return Customer(customer.id, customer.key, service.client(**{"X-Api-Key": customer.key}))


@contextmanager
def followed(shop: Service) -> Iterator[World]:
    """A shop and a second server on its database, with customers and those who follow."""
    shop.clock.set(BEFORE_MIDNIGHT)
    terms: list[dict[str, Any]] = [
        {},
        {"price_list": "gold", "trade_account": False},
        {"discount": Decimal("7.5")},
        {},  # which may differ from the first in contract prices alone
    ]
    for key in LISTS[1:]:
        shop.must_load("price-list", [price("PHONE", 40, price_list=key)])
    with ExitStack() as restarts:
        second = restarts.enter_context(running_service(shop.database_url, now=BEFORE_MIDNIGHT))
        customers = [shop.customer(**each) for each in terms]
        shop.refresh()
        second.refresh()
        followers = [Follower.of(customer, limit=1 + place % 3) for place, customer in enumerate(customers)]
        roaming = [Follower.of(customer, there(customer, second), limit=2) for customer in customers]
        yield World(shop, second, restarts, customers, followers, roaming)


skus = st.sampled_from(SKUS)
costs = st.integers(1, 4)
days = st.integers(-2, 3)


@st.composite
def imports(draw: st.DrawFn) -> Step:
    kind = draw(st.sampled_from(["products", "price-list", "stock", "incoming", "attributes", "contract-prices"]))
    sku, number, some = draw(skus), draw(costs), draw(st.booleans())
    spelled = draw(st.sampled_from([sku, sku.lower(), sku.title()]))
    first, length = draw(days), draw(st.integers(0, 2))
    price_list, place = draw(st.sampled_from(LISTS)), draw(st.integers(0, 3))

    def run(world: World) -> None:
        today = world.first.clock.now().date()
        row: dict[str, Any] = {
            "products": product(spelled, name=f"Name {number}", active=some, attributes={"colour": str(number)}),
            "price-list": price(sku, number, price_list=price_list),
            "stock": {"sku": sku, "available": number},
            "incoming": {"sku": sku, "incoming": number, "expected_on": f"2026-09-0{number}T10:00:00"},
            "attributes": {"key": "colour", "name": f"Colour {number}", "type": "string"},
            "contract-prices": {
                "customer_id": world.customers[place].id,
                **{name: value for name, value in price(sku, number).items() if name != "price_list"},
                "valid_from": (today + timedelta(days=first)).isoformat(),
                "valid_until": (today + timedelta(days=first + length)).isoformat(),
            },
        }[kind]
        world.first.load(kind, [row], replace=kind == "incoming" and some)  # unknown SKUs are errors

    return run


@st.composite
def new_terms(draw: st.DrawFn) -> Step:
    place, some = draw(st.integers(0, 3)), draw(st.booleans())
    price_list, discount = draw(st.sampled_from(LISTS)), draw(st.sampled_from(["0", "7.5", "50"]))

    def run(world: World) -> None:
        email = world.customers[place].get("/customer").json()["email_address"]
        row = {"email_address": email, "price_list": price_list, "discount": discount, "trade_account": some}
        world.first.must_load("customers", [row])

    return run


@st.composite
def late_commits(draw: st.DrawFn) -> Step:
    """A transaction that writes first and commits after another one, which the servers have seen."""
    late, early, number = draw(skus), draw(skus), draw(costs)
    update = (
        "update stock_level set available = %s, changed_by = pg_current_xact_id() "
        "where product_id = (select id from product where sku = %s)"
    )

    def run(world: World) -> None:
        with psycopg.connect(world.first.database_url) as slow:
            slow.execute(update, [number, late])
            if early != late:
                with psycopg.connect(world.first.database_url) as quick:
                    quick.execute(update, [number, early])
            world.first.refresh()
            world.check(everywhere=False)
        world.first.refresh()

    return run


def undo(world: World) -> None:
    try:
        world.first.in_transaction(lambda tx: _undo(tx, world.first.clock.now()))
    except DomainError:
        return  # nothing to undo
    world.first.refresh()


async def _undo(tx: Any, now: datetime) -> None:
    [(newest,)] = await (
        await (await tx.connection()).execute(
            "select id from import_run where rolled_back_at is null order by id desc limit 1"
        )
    ).fetchall()
    await roll_back_import(tx, newest, now, force=True)


def order(world: World) -> None:
    sku = next(iter(whole(world.customers[0])), None)
    if sku is not None:
        buy(world.customers[0], [(sku, 1)])
        world.first.refresh()


steps = st.one_of(
    imports(),
    imports(),
    imports(),
    imports(),
    new_terms(),
    late_commits(),
    st.sampled_from([undo, order]),
    st.sampled_from([timedelta(seconds=20), timedelta(hours=20)]).map(lambda step: lambda w: w.pass_time(step)),
    st.just(lambda w: w.second.refresh()),
    st.just(World.restart),
)
