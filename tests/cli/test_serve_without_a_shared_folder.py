"""`serve` with a large catalogue where the folder to share it cannot be used: it serves alone and says so."""

import json
from pathlib import Path

import pytest

from support.command_line import SECRET, started
from support.interface import checked_client
from support.service import running_service
from support.shop import product
from support.waiting import wait_for

pytestmark = pytest.mark.long

COUNT = 5000  # from here on, processes share a catalogue
NOT_SHARED = "the catalogue cannot be shared: each process needs memory for its own"


@pytest.fixture
def key(database_url: str) -> str:
    """The key of a customer of a shop with a large catalogue."""
    with running_service(database_url) as service:
        key = service.customer().key
        service.must_load("manufacturers", [{"key": "acme", "name": "Acme"}])
        service.must_load("products", (product(f"Large/{number}") for number in range(COUNT)))
        prices = ({"price_list": "default", "sku": f"Large/{n}", "single_unit_cost": "10.00"} for n in range(COUNT))
        service.must_load("price-list", prices)
    return key


@pytest.mark.parametrize("is_usable", [True, False])
def test_a_large_catalogue_is_served_whether_or_not_it_can_be_shared(
    database_url: str, key: str, tmp_path: Path, is_usable: bool
) -> None:
    shared = tmp_path / "place" / "shared"
    if not is_usable:
        shared.parent.write_text("no folder")
    environment = {
        "TRADECOUNTER_DATABASE_URL": database_url,
        "TRADECOUNTER_SECRET_KEY": SECRET,
        "TRADECOUNTER_SNAPSHOT_DIR": str(shared),
        "TMPDIR": str(shared),
    }
    words = ("serve", "--port", "0", "--json")
    with (
        started(*words, folder=tmp_path, environment=environment) as running,
        checked_client(base_url=running.announced["base_url"], headers={"X-Api-Key": key}) as client,
    ):
        wait_for(lambda: client.get("/ready").status_code == 200)
        response = client.get("/product?limit=1")
        assert (response.status_code, response.headers["X-Total-Count"]) == (200, str(COUNT))
        warnings = [line for line in map(json.loads, running.logs) if line["event"] == NOT_SHARED]
        if is_usable:
            assert [path.suffix for path in sorted(shared.iterdir())].count(".catalogue") == 1
            assert warnings == []
        else:
            assert [warning["level"] for warning in warnings] == ["warning"]
            assert "Not a directory" in warnings[0]["reason"]
