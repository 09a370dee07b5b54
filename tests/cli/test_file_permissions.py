"""Files with customers' data or secrets are their owner's alone, whatever the umask is."""

import os
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

from support.billing import invoiced, number_of
from support.command_line import SECRET, Forker, Program, started
from support.orders import buy
from support.permissions import OTHERS, command_lines, open_to_others
from support.service import Service
from support.waiting import wait_for
from tradecounter.db.changes import Version
from tradecounter.storefront.shared_folder import SharedFolder

pytestmark = pytest.mark.long

UMASKS = [0o000, 0o022]
SHARED_MEMORY = Path("/dev/shm")


@pytest.fixture(params=UMASKS, ids=["umask 000", "umask 022"])
def umask(request: pytest.FixtureRequest) -> int:
    found: int = request.param
    return found


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    """A working directory and a folder for temporary files, which everybody can enter."""
    tmp_path.chmod(0o755)
    made = {name: tmp_path / name for name in ("home", "temporary")}
    for place in made.values():
        place.mkdir()
        place.chmod(0o755)
    return made


def open_memory() -> set[str]:
    """The shared memory of this machine's PostgreSQL and Python that others have access to."""
    found = set()
    for place in [*SHARED_MEMORY.glob("PostgreSQL.*"), *SHARED_MEMORY.glob("sem.*"), *SHARED_MEMORY.glob("psm_*")]:
        with suppress(FileNotFoundError):  # its process has ended
            if place.stat().st_mode & OTHERS:
                found.add(place.name)
    return found


def test_all_files_of_a_demo_are_private(places: dict[str, Path], umask: int) -> None:
    before = open_memory()
    words = ("demo", "--port", "0", "--backoffice-port", "0", "--no-history", "--json")
    environment = {"TMPDIR": str(places["temporary"])}
    with started(*words, folder=places["home"], environment=environment, umask=umask):
        made = places["home"] / ".tradecounter"
        wait_for(lambda: list((made / "mail").glob("*.eml")))
        assert {place.name for place in made.iterdir()} == {"mail", "postgres", "secret.key"}
        assert open_to_others(places["home"]) == []
        assert open_to_others(places["temporary"]) == []
        assert open_memory() <= before
    assert open_to_others(places["home"]) == []


def test_all_files_of_services_are_private(places: dict[str, Path], umask: int, shop: Service) -> None:
    before = open_memory()
    buy(shop.customer(), order_notifications={"email_address": "buyer@shop.example"})
    environment = {
        "TMPDIR": str(places["temporary"]),
        "TRADECOUNTER_DATABASE_URL": shop.database_url,
        "TRADECOUNTER_SECRET_KEY": SECRET,
        "TRADECOUNTER_SNAPSHOT_DIR": str(places["home"] / "run" / "catalogue"),
    }
    serving = ("serve", "--port", "0", "--workers", "2", "--metrics-port", "0", "--json")
    with (
        started(*serving, folder=places["home"], environment=environment, umask=umask) as service,
        started("worker", "--json", folder=places["home"], environment=environment, umask=umask, wait=False) as worker,
    ):
        wait_for(lambda: list(places["temporary"].glob("*/*.figures")))
        wait_for(lambda: list((places["home"] / ".tradecounter" / "mail").glob("*.eml")), 30)
        assert httpx2.get(f"{service.announced['base_url']}/ready", trust_env=False).status_code == 200
        assert open_to_others(places["home"]) == []
        assert open_to_others(places["temporary"]) == []
        assert open_memory() <= before
        said = " ".join([*command_lines(service.process.pid), *command_lines(worker.process.pid)])
        assert "tradecounter" in said
        assert SECRET not in said
        assert shop.database_url not in said


def test_the_shared_catalogue_is_private(places: dict[str, Path], umask: int) -> None:
    folder = places["home"] / "run" / "catalogue"
    before = os.umask(umask)
    try:
        with SharedFolder.open(folder, "postgresql:///shop") as shared, shared.alone(), shared.new_file() as file:
            file.write(b"prices")
            assert open_to_others(places["home"]) == []
            shared.publish(Version("server", 1))
    finally:
        os.umask(before)
    assert {place.suffix for place in folder.iterdir()} == {".catalogue", ".lock"}
    assert open_to_others(places["home"]) == []
    assert [place for place in folder.iterdir() if place.stat().st_mode & OTHERS] == []


def test_all_files_that_commands_write_are_private(
    places: dict[str, Path], umask: int, shop: Service, forker: Forker
) -> None:
    buyer = shop.customer()
    placed = invoiced(shop, buyer)
    invoice, reference = str(number_of(shop, placed)), placed["order_reference"]
    settings = {"TRADECOUNTER_SECRET_KEY": SECRET}
    program = Program(places["home"], shop.database_url, forker, settings, umask)
    program.text("init")
    program.text("invoice", "pdf", invoice)
    program.text("order", "packing-slip", reference)
    program.text("statement", str(buyer.id), "--pdf", "statement.pdf")
    program.text("customer", "export", str(buyer.id))
    given = '{"sku": "PHONE", "available": 7}\n'
    program.text("import", "stock", "-", "--dry-run", "--diff", "-o", "changes.csv", given=given)
    written = {place.name for place in places["home"].iterdir()} - {".in", ".out", ".err"}
    assert written == {
        ".env", f"invoice-{invoice}.pdf", f"packing-slip-{reference}.pdf", "statement.pdf", f"customer-{buyer.id}.zip",
        "changes.csv",
    }  # fmt: skip
    assert [found for found in open_to_others(places["home"]) if found.split()[0] in written] == []
