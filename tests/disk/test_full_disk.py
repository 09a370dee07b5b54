"""A database whose disk is full: reads go on, changes get 503, and everybody is told why."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest
from structlog.testing import capture_logs

from support.cluster import Cluster
from support.command_line import Forker, Program
from support.orders import confirm, create
from support.service import Service, running_service
from support.shop import order, stock_shop
from support.small_disk import SmallDisk, small_disk
from support.waiting import wait_for
from support.written import written

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def disk(postgres: Cluster) -> Iterator[tuple[SmallDisk, str]]:
    with small_disk(postgres) as found:
        yield found


@pytest.fixture(scope="module")
def shop(disk: tuple[SmallDisk, str]) -> Iterator[Service]:
    with running_service(disk[1], refresh_interval=timedelta(seconds=0.2)) as running:
        stock_shop(running)
        yield running


def health(shop: Service) -> dict[str, object]:
    found: dict[str, object] = shop.client().get("/check-health").json()
    return found


def until_one_fails(shop: Service) -> httpx2.Response:
    """Create orders until the tables need more space than is there."""
    customer = shop.customer()
    for _ in range(500):
        response = customer.post("/order", order())
        if response.status_code != 201:
            return response
    raise AssertionError("all orders were written")


@pytest.mark.spec("7 503", "also when the disk is full; reads go on")
def test_a_full_disk_fails_changes_only_and_health_says_so(shop: Service, disk: tuple[SmallDisk, str]) -> None:
    customer = shop.customer()
    pending = create(customer)
    with capture_logs() as logs, disk[0].full():
        failed = until_one_fails(shop)
        before = written(shop)
        assert failed.status_code == 503
        assert failed.headers["Retry-After"] == "5"
        assert "cannot make changes at the moment" in failed.json()["message"]
        found = health(shop)
        assert (found["status"], found["database"], found["writes"]) == ("degraded", "ok", False)
        ready = shop.client().get("/ready")
        assert ready.status_code == 200
        assert any("disk is full" in warning for warning in ready.json()["warnings"])
        for path in ("/product", "/customer", "/order"):
            assert customer.get(path).status_code == 200
        assert written(shop) == before
    full = [entry for entry in logs if "disk is full" in entry["event"] and "reason" in entry]
    outages = 1 + sum(entry["event"] == "the database's disk has room again" for entry in logs)
    assert 1 <= len(full) <= outages, full  # a look may find room for its page while changes find none
    assert "free space" in full[0]["remedy"]
    assert not [entry for entry in logs if entry["event"] in {"database away", "unexpected error"}]
    wait_for(lambda: health(shop)["writes"] is True)
    assert health(shop)["status"] == "ok"
    assert confirm(customer, pending).status_code == 200


def test_a_full_disk_is_noticed_without_a_change(shop: Service, disk: tuple[SmallDisk, str]) -> None:
    with disk[0].full():
        wait_for(lambda: health(shop)["writes"] is False)
    wait_for(lambda: health(shop)["writes"] is True)


def test_the_doctor_names_a_full_disk(disk: tuple[SmallDisk, str], tmp_path: Path, forker: Forker) -> None:
    program = Program(tmp_path, disk[1], forker)

    def checked() -> dict[str, object]:
        return next(check for check in program.run("doctor", "--json").document["checks"] if check["name"] == "disk")

    assert checked()["ok"] is True
    with disk[0].full():
        found = checked()
    assert found["ok"] is False
    assert "disk is full" in str(found["message"])
