"""After a fail-over that lost changes, a copy of the catalogue is read again, and then is what a full read shows."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from support.followers import Follower, whole
from support.replica import Replica, Server, streaming_pair
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
    """A service on a primary and its replica."""

    def __init__(self, primary: Server, replica: Replica, url: str, shop: Service) -> None:
        self.primary, self.replica, self.url, self.shop = primary, replica, url, shop

    def replicate(self) -> None:
        """Wait until the replica has all versions."""
        wait_for(lambda: bool(self.replica.ask(_VERSIONS) == self.primary.ask(_VERSIONS)))

    def fail_over(self) -> None:
        """Let the replica, which has stopped, become the primary, and the primary nobody's replica."""
        self.primary.become_replica()
        self.replica.start()
        self.replica.ask("select pg_promote()")
        self.shop.reconnect()
        wait_for(self.is_reading)

    def is_reading(self) -> bool:
        try:
            self.shop.refresh()
        except psycopg.OperationalError:
            return False
        return True

    def sell_down(self, sku: str, available: int) -> None:
        with psycopg.connect(self.url) as connection:
            connection.execute(STOCK, [available, sku])
        self.shop.refresh()


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    with streaming_pair(tmp_path) as (primary, replica):
        upgrade(primary.url)
        hosts = ",".join(each.url.partition("?host=")[2] for each in (primary, replica))
        url = f"postgresql://tradecounter@/postgres?host={hosts}&target_session_attrs=read-write"
        with running_service(url) as shop:
            stock_shop(shop)
            yield Pair(primary, replica, url, shop)


def test_copies_that_have_seen_lost_changes_are_read_again(pair: Pair) -> None:
    shop = pair.shop
    customer = shop.customer()
    old = Follower.of(customer)
    shop.must_load("price-list", [price("PHONE", 61)])
    pair.replicate()
    current, ahead = Follower.of(customer), Follower.of(customer)
    pair.replica.stop()
    shop.must_load("price-list", [price("CABLE", 3)])
    pair.sell_down("PHONE", 7)
    assert dict(ahead.follow()) == {"CABLE": "changed", "PHONE": "changed"}
    pair.fail_over()
    # The new primary gives the lost versions and transactions out again, for other changes.
    shop.must_load("price-list", [price("SWITCH", 99)])
    pair.sell_down("CABLE", 8)
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
