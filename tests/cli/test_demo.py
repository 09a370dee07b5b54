"""`demo`: the whole service with its data, from nothing; stopped without a trace; the same again; another catalogue."""

import json
import signal
import subprocess
import sys
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import httpx2
import pytest

from support.command_line import started, without_settings
from support.interface import checked_client
from support.processes import alive
from support.waiting import wait_for
from tradecounter.edge.permissions import ROLES

pytestmark = pytest.mark.long

SMALL_CATALOGUE = [
    {"sku": f"ODD/{number}", "name": f"Odd {number}", "manufacturer": "odd", "manufacturer_name": "Odd Ltd",
     "categories": ["oddities"], "attributes": {"number": str(number)}, "weight_kg": 0.1}
    for number in range(1, 301)
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(tmp_path_factory.mktemp("demo"))


def postmaster_of(folder: Path) -> int:
    return int((folder / ".tradecounter" / "postgres" / "data" / "postmaster.pid").read_text().split("\n", 1)[0])


@pytest.fixture(scope="module")
def interrupted(folder: Path) -> int:
    """The process of the database of a demo that was told to stop while it started."""
    with started("demo", "--port", "0", "--no-history", folder=folder, environment={}, wait=False) as running:
        pid_file = folder / ".tradecounter" / "postgres" / "data" / "postmaster.pid"
        wait_for(lambda: pid_file.exists() and pid_file.read_text())
        postmaster = postmaster_of(folder)
        running.stop(signal.SIGTERM)
    return postmaster


@pytest.fixture(scope="module")
def announced(folder: Path, interrupted: int) -> dict[str, Any]:
    """What the next start announced; it responded to every customer and Ctrl-C stopped it."""
    with started("demo", "--port", "0", "--json", "--no-history", folder=folder, environment={}) as running:
        told: dict[str, Any] = running.announced
        with checked_client(base_url=told["base_url"], headers={"Accept": "application/json"}) as client:
            assert client.get("/docs").status_code == 200
            for customer in told["customers"]:
                key = {"X-Api-Key": customer["api_key"]}
                assert client.get("/customer", headers=key).status_code == 200
                products = client.get("/product", params={"limit": 5}, headers=key)
                assert len(products.json()) == 5
        staff = f"{told['backoffice_url']}/api/customer"
        shown = httpx2.get(staff, headers={"Authorization": f"Bearer {told['service_token']}"}).json()
        assert [customer["id"] for customer in shown] == [customer["id"] for customer in told["customers"]]
        postmaster = postmaster_of(folder)
        assert postmaster != interrupted
        assert running.stop(signal.SIGINT) == (0, "")
        assert not alive(postmaster)
        assert {json.loads(line)["event"] for line in running.logs} == {
            "e-mail written to a folder", "confirmation not sent: the order is cancelled"
        }  # fmt: skip
    return told


def test_emails_about_the_demos_orders_are_in_the_mail_folder(announced: dict[str, Any], folder: Path) -> None:
    assert announced["customers"]
    kinds = {path.stem.partition("Z-")[2].rstrip("-0123456789") for path in (folder / ".tradecounter/mail").iterdir()}
    assert kinds == {
        "quote-requested", "quote-received", "quote-priced", "quote-expiring", "order-confirmed", "order-expected-date",
        "order-cancelled", "order-changed", "order-dispatched", "order-invoiced", "invoice-copy", "payment-received",
        "request-opened",
    }  # fmt: skip


def test_emails_about_the_demos_quotes_contain_its_url(announced: dict[str, Any], folder: Path) -> None:
    mails = list((folder / ".tradecounter/mail").glob("*-quote-priced-*.eml"))
    assert mails
    for mail in mails:
        content = message_from_bytes(mail.read_bytes(), policy=policy.default).get_body(("plain",))
        assert content is not None
        assert f"PUT {announced['base_url']}/order/" in content.get_content()


@pytest.mark.usefixtures("announced")
def test_other_users_cannot_read_the_demos_files(folder: Path) -> None:
    made = folder / ".tradecounter"
    folders = [made, *(place for place in made.rglob("*") if place.is_dir())]
    assert {place.name for place in folders} >= {".tradecounter", "mail", "postgres", "data"}
    assert [place for place in folders if place.stat().st_mode & 0o077] == []
    secrets = [made / "secret.key", made / "postgres" / "server.log", *(made / "mail").iterdir()]
    assert [place for place in secrets if place.stat().st_mode & 0o077] == []


def test_a_demo_that_is_stopped_while_it_starts_leaves_nothing_running(interrupted: int) -> None:
    assert not alive(interrupted)


def command(folder: Path, *words: str) -> Any:
    """What another command prints, which shares the demo's database while it runs."""
    line = [sys.executable, "-m", "tradecounter", *words, "--json"]
    return json.loads(subprocess.run(line, cwd=folder, env=without_settings(), capture_output=True, check=True).stdout)


def customers_in(folder: Path) -> list[int]:
    return [customer["id"] for customer in command(folder, "customer", "list")]


def test_the_first_output_line_is_complete_for_programs(announced: dict[str, Any]) -> None:
    assert set(announced) == {
        "base_url", "docs_url", "backoffice_url", "customers", "users", "staff", "service_token",
    }  # fmt: skip
    assert announced["docs_url"] == f"{announced['base_url']}/docs"
    assert len(announced["customers"]) >= 4
    for customer in announced["customers"]:
        assert set(customer) == {"id", "name", "api_key", "note", "email", "password"}
        assert len(customer["password"]) >= 12
        assert len(customer["api_key"]) == 64
        assert customer["note"]
    assert [user["role"] for user in announced["users"]] == ["buyer", "approver", "accounts", "developer"]
    assert [member["roles"] for member in announced["staff"]] == [[role] for role in ROLES]


def test_a_second_start_has_the_same_data_and_keys_and_prints_an_example(
    announced: dict[str, Any], folder: Path
) -> None:
    first, second = announced["customers"][:2]
    command(folder, "key", "disable", str(command(folder, "key", "list", str(first["id"]))[0]["id"]))
    with started("demo", "--port", "0", "--no-history", folder=folder, environment={}) as running:
        assert running.process.stdout is not None
        text = ""
        while "Ctrl-C stops everything." not in text:
            text += running.process.stdout.readline()
        assert all(customer["api_key"] in text for customer in announced["customers"])
        assert f"{first['api_key']} (disabled)\n" in text
        assert text.count("(disabled)") == 1
        assert f"curl -H 'X-Api-Key: {second['api_key']}'" in text
        assert "E-mails are written to .tradecounter/mail" in text
        postmaster = postmaster_of(folder)
        assert customers_in(folder) == [customer["id"] for customer in announced["customers"]]
        assert alive(postmaster)
        status, _ = running.stop(signal.SIGTERM)
        assert status == 0
        assert not alive(postmaster)


def test_another_catalogue_gets_prices_and_stock(tmp_path: Path) -> None:
    lines = "".join(json.dumps(product) + "\n" for product in SMALL_CATALOGUE)
    words = ("demo", "--port", "0", "--json", "--no-history", "--catalogue", "-")
    with started(*words, folder=tmp_path, environment={}, given=lines) as running:
        key = {"X-Api-Key": running.announced["customers"][0]["api_key"], "Accept": "application/json"}
        with checked_client(base_url=running.announced["base_url"], headers=key) as client:
            response = client.get("/product", params={"limit": 100})
            assert response.headers["X-Total-Count"] == str(len(SMALL_CATALOGUE))
            assert all(product["single_unit_cost"] > 0 for product in response.json())
            assert client.get("/product", params={"inStock": "true", "limit": 1}).headers["X-Total-Count"] != "0"
            assert client.get("/manufacturer").json()
            assert client.get("/order").json()
        assert running.stop(signal.SIGTERM)[0] == 0


def test_the_orders_of_a_demo_that_is_a_sandbox_live_by_themselves(tmp_path: Path) -> None:
    environment = {"TRADECOUNTER_SANDBOX": "true", "TRADECOUNTER_SANDBOX_PACE": "1"}
    with started("demo", "--port", "0", "--json", folder=tmp_path, environment=environment) as running:
        told = running.announced
        headers = {"X-Api-Key": told["customers"][0]["api_key"]}
        assert headers["X-Api-Key"].startswith("sbx_")
        with httpx2.Client(base_url=told["base_url"], headers=headers) as client:
            address = {"id": client.get("/customer/address").json()[0]["id"]}
            items = [{"sku": "CV-320P", "quantity": 2}]
            body = {"customer_reference": "LIVES", "items": items, "billing_address": address}
            placed = client.post("/order", json={**body, "shipping_address": address, "auto_confirm": True})
            assert (placed.status_code, placed.headers["X-Sandbox"]) == (201, "true"), placed.text
            order = f"/order/{placed.json()['order_id']}"
            wait_for(lambda: client.get(order).json()["status"] == "Completed", seconds=90)
