"""After a fail-over that lost changes, a copy of the catalogue is read again, and then is what a full read shows."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.followed import Step, World, followed, steps
from support.followers import Follower, whole
from support.replica import Server, streaming_pair
from support.service import Service, running_service
from support.shop import price, stock_shop
from support.waiting import wait_for
from tradecounter.db.migrate import upgrade

pytestmark = pytest.mark.long

STOCK = """
    update stock_level set available = %s, changed_by = pg_current_xact_id()
    where product_id = (select id from product where sku = %s)
"""
_VERSIONS = "select array_agg(topic || version order by topic) from change"


class Pair:
    """A primary and its replica, and the address of whichever can be written to."""

    def __init__(self, folder: Path, primary: Server, replica: Server) -> None:
        self.primary, self.replica = primary, replica
        self._folders = folder / "primary", folder / "replica"
        hosts = ",".join(each.url.partition("?host=")[2] for each in (primary, replica))
        self.url = f"postgresql://tradecounter@/postgres?host={hosts}&target_session_attrs=read-write"

    @contextmanager
    def losing(self) -> Iterator[None]:
        """Lose what the block changes: the replica stops before it, and becomes the primary after it."""
        wait_for(lambda: bool(self.replica.ask(_VERSIONS) == self.primary.ask(_VERSIONS)))
        self.replica.stop()
        try:
            yield
        finally:
            self.primary.become_replica()
            self.replica.start()
            self.replica.ask("select pg_promote()")
            self.primary, self.replica = self.replica, self.primary
            self._folders = self._folders[::-1]

    def copy_again(self) -> None:
        """Replace the former primary by a copy of the new one, which streams from it."""
        self.replica.stop()
        shutil.rmtree(self._folders[1])
        self.primary.copy(self._folders[1])
        self.replica.start()


@contextmanager
def running_pair(folder: Path) -> Iterator[tuple[Pair, Service]]:
    with streaming_pair(folder) as (primary, replica):
        upgrade(primary.url)
        pair = Pair(folder, primary, replica)
        with running_service(pair.url) as shop:
            stock_shop(shop)
            yield pair, shop


def notice(service: Service) -> None:
    """Have a server go on at the new primary."""
    service.reconnect()

    def is_reading() -> bool:
        try:
            service.refresh()
        except psycopg.OperationalError:
            return False
        return True

    wait_for(is_reading)


def test_copies_that_have_seen_lost_changes_are_read_again(tmp_path: Path) -> None:
    with running_pair(tmp_path) as (pair, shop):
        customer = shop.customer()
        old = Follower.of(customer)
        shop.must_load("price-list", [price("PHONE", 61)])
        current, ahead = Follower.of(customer), Follower.of(customer)
        with pair.losing():
            shop.must_load("price-list", [price("CABLE", 3)])
            sell_down(pair, shop, "PHONE", 7)
            assert dict(ahead.follow()) == {"CABLE": "changed", "PHONE": "changed"}
        notice(shop)
        # The new primary gives the lost versions and transactions out again, for other changes.
        shop.must_load("price-list", [price("SWITCH", 99)])
        sell_down(pair, shop, "CABLE", 8)
        for follower in (old, current, ahead):
            assert follower.ask().status_code == 410
            follower.read()
            assert follower.follow() == []
            assert follower.products == whole(customer)
        assert ahead.products["CABLE"]["single_unit_cost"] == 1.99
        assert (ahead.products["PHONE"]["single_unit_cost"], ahead.products["SWITCH"]["single_unit_cost"]) == (61, 99)
        shop.must_load("price-list", [price("PHONE", 62)])
        for follower in (old, current, ahead):
            assert follower.follow() == [("PHONE", "changed")]
            assert follower.products == whole(customer)


def sell_down(pair: Pair, shop: Service, sku: str, available: int) -> None:
    with psycopg.connect(pair.url) as connection:
        connection.execute(STOCK, [available, sku])
    shop.refresh()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, Pair]]:
    with running_pair(tmp_path_factory.mktemp("pair")) as (pair, shop), followed(shop) as made:
        yield made, pair


some_steps = st.lists(steps, max_size=6)


@given(before=some_steps, lost=some_steps, unseen=some_steps, after=some_steps, late=st.booleans())
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_follower_has_what_a_full_read_has_after_each_fail_over(
    world: tuple[World, Pair], before: list[Step], lost: list[Step], unseen: list[Step], after: list[Step], late: bool
) -> None:
    """Of the lost changes, followers have seen all or some. With `late`, the second server notices after the first."""
    followers, pair = world
    pair.copy_again()
    followers.take(before)
    with pair.losing():
        followers.take(lost)
        for step in unseen:
            step(followers)
            for follower in followers.everybody:
                follower.ask()
    notice(followers.first)
    expired = followers.ask_everybody() if late else set()
    notice(followers.second)
    expired |= followers.ask_everybody()
    assert expired == set(range(len(followers.everybody)))
    followers.check(everywhere=True)
    followers.take(after)
    followers.first.refresh()
    followers.second.refresh()
    followers.check(everywhere=True)
