"""Secret keys when several processes start or rotate concurrently."""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from support.orders import buy, in_parallel, sell
from support.secret_keys import NEW, OLD, STRANGE, configure, forget_secrets, passwords, registered
from support.service import MORNING, Service
from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.kit.actor import SYSTEM
from tradecounter.shipments.secret_keys import Rotation, WrongSecretError, register_secret, rotate_secret
from tradecounter.webhooks.manage import reseal_webhooks

pytestmark = pytest.mark.sweep


@pytest.fixture(scope="module")
def configurable(shop: Service) -> int:
    """The id of an item to configure."""
    sell(shop, "ROUTER", 1, configurable=True)
    return int(buy(shop.customer(), [("ROUTER", 1)])["items"][0]["id"])


@pytest.fixture
def item(shop: Service, configurable: int) -> Iterator[int]:
    """The item without configurations, in a database without a registered key."""
    forget_secrets(shop.database_url)
    yield configurable
    forget_secrets(shop.database_url)


def start(database_url: str, *keys: str) -> bool:
    """Register a key as a starting service does; return whether the service may start."""

    async def run() -> None:
        async with Database(database_url, connections=1) as database, transaction(database) as tx:
            await register_secret(tx, keys, MORNING)

    try:
        asyncio.run(run())
    except WrongSecretError:
        return False
    return True


def rotate(database_url: str, *keys: str) -> Rotation:
    """Rotate as a separate process does."""

    async def run() -> Rotation:
        async with Database(database_url, connections=1) as database:
            return await rotate_secret(database, keys, MORNING, actor=SYSTEM, others=reseal_webhooks)

    return asyncio.run(run())


@pytest.mark.usefixtures("item")
def test_of_services_with_different_keys_only_those_with_one_key_start(shop: Service) -> None:
    chosen = [OLD, NEW, STRANGE] * 3
    for _ in range(5):
        started = in_parallel([partial(start, shop.database_url, key) for key in chosen])
        [winner] = registered(shop.database_url)
        assert started == [key == winner for key in chosen]
        forget_secrets(shop.database_url)


def test_without_a_registered_key_only_services_with_matching_keys_start(shop: Service, item: int) -> None:
    configure(shop.database_url, item, OLD, ["one"])
    chosen = [(NEW, OLD), (OLD,), (STRANGE,), (NEW, OLD), (NEW,), (STRANGE, NEW)]
    started = in_parallel([partial(start, shop.database_url, *keys) for keys in chosen])
    assert [started[place] for place in (0, 2, 3, 4, 5)] == [True, False, True, False, False]
    assert registered(shop.database_url) == {OLD, NEW}
    assert not start(shop.database_url, OLD)  # it could not read what the others encrypt


def test_concurrent_rotations_leave_every_configuration_readable(shop: Service, item: int) -> None:
    names = [f"password {number}" for number in range(1200)]
    configure(shop.database_url, item, OLD, names)
    done = in_parallel([partial(rotate, shop.database_url, NEW, OLD)] * 3)
    assert passwords(shop.database_url, NEW) == names
    assert sum(rotation.rotated for rotation in done) == 1200
    assert [rotation.seen for rotation in done] == [1200] * 3
    assert registered(shop.database_url) == {NEW}


def test_configurations_added_during_a_rotation_stay_readable(shop: Service, item: int) -> None:
    configure(shop.database_url, item, OLD, [f"old {number}" for number in range(1200)])

    def add() -> None:
        for number in range(30):
            configure(shop.database_url, item, NEW, [f"new {number}"])

    calls: list[Callable[[], object]] = [partial(rotate, shop.database_url, NEW, OLD), add]
    in_parallel(calls)
    found = passwords(shop.database_url, NEW)
    assert len(found) == 1230
    assert None not in found
