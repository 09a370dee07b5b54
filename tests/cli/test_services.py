"""`serve` and `worker`, started from scratch: they respond, work, and stop cleanly."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import psycopg
import pytest

from support.command_line import SECRET, Running, started, without_settings
from support.interface import checked_client
from support.processes import alive, api_processes, children, fork_servers, kill_server
from support.service import Service
from support.shop import STANDARD, order, stock_shop
from support.steady_clients import steady_clients
from support.waiting import LONG, wait_for
from tradecounter.db.embedded import EmbeddedPostgres

pytestmark = pytest.mark.long

BACK = "the embedded PostgreSQL is running again"
READY = "Working (Ctrl-C stops)"
PAUSE = (
    0.05  # seconds between the requests of a client: eight keep every process busy, and leave time for what is tested
)


@pytest.fixture(scope="module")
def environment(database_url: str) -> dict[str, str]:
    """The settings of a service that logs no warning."""
    return {
        "TRADECOUNTER_DATABASE_URL": database_url,
        "TRADECOUNTER_SECRET_KEY": SECRET,
        "TRADECOUNTER_BASE_URL": "https://api.shop.example",
        "TRADECOUNTER_SMTP_URL": "smtp://127.0.0.1:9",
        "TRADECOUNTER_MAIL_FROM": "orders@shop.example",
        "TRADECOUNTER_SUPPORT_EMAIL": "support@shop.example",
        "TRADECOUNTER_SELLER_NAME": "Shop Ltd",
        "TRADECOUNTER_SELLER_ADDRESS": "1 High Street, Leeds",
        "TRADECOUNTER_SELLER_VAT_NUMBER": "GB123456782",
    }


def responding(running: Running) -> str:
    """The address of a service, once it responds: it is announced before the processes behind it have started."""
    address: str = running.announced["base_url"]
    assert httpx2.get(f"{address}/check-health", timeout=LONG).status_code == 200
    return address


def workers(running: Running) -> set[int]:
    """The child processes of a service that serve requests."""
    return api_processes(running.process.pid)


def test_a_service_goes_on_when_its_log_cannot_be_written(database_url: str, tmp_path: Path) -> None:
    settings = {"TRADECOUNTER_DATABASE_URL": database_url, "TRADECOUNTER_SECRET_KEY": SECRET}  # it warns of the others
    words = ["serve", "--port", "0", "--json"]
    with Path("/dev/full").open("w") as full:
        process = subprocess.Popen(
            [sys.executable, "-m", "tradecounter", *words],
            stdout=subprocess.PIPE,
            stderr=full,
            cwd=tmp_path,
            env={**without_settings(), **settings},
        )
    with process:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["base_url"]
        assert httpx2.get(f"{address}/check-health", timeout=LONG).json()["status"] == "ok"
        process.terminate()
        assert process.wait(LONG) == 0


def test_several_processes_respond_and_are_replaced_and_ended_without_breaking_a_request(
    environment: dict[str, str], service: Service, tmp_path: Path
) -> None:
    headers = {"X-Api-Key": service.customer().key, "Accept": "application/json"}
    paths = ["/product?limit=1", "/customer", "/check-health"]
    words = ("serve", "--port", "0", "--workers", "2", "--json")
    settings = {**environment, "TRADECOUNTER_RATE_LIMIT": "0"}
    with (
        started(*words, folder=tmp_path, environment=settings) as running,
        steady_clients(8, responding(running), paths, headers, pause=PAUSE) as clients,
    ):
        wait_for(lambda: clients.statuses[200] > 100)
        former = workers(running)
        running.process.send_signal(signal.SIGHUP)
        wait_for(lambda: len(now := workers(running)) == len(former) and not now & former)
        assert (clients.broken, clients.gone) == ([], 0)
        with checked_client(base_url=running.announced["base_url"]) as client:
            assert client.get("/check-health").status_code == 200
            assert client.get("/product").status_code == 401
        processes = [*children(running.process.pid), *workers(running)]
        assert len(processes) >= 4  # with the fork server, and a process of multiprocessing
        assert running.stop(signal.SIGTERM) == (0, "")
    wait_for(lambda: not any(map(alive, processes)))
    assert clients.broken == []
    assert clients.gone == 8
    assert set(clients.statuses) == {200}
    assert running.logs == []


def test_new_processes_import_a_program_that_was_installed_meanwhile(
    environment: dict[str, str], tmp_path: Path
) -> None:
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    settings = {**environment, "PYTHONPATH": str(libraries)}
    words = ("serve", "--port", "0", "--workers", "2", "--json")
    with started(*words, folder=tmp_path, environment=settings) as running:
        responding(running)
        supervisor = running.process.pid

        def forked() -> set[int]:
            return {pid for server in fork_servers(supervisor) for pid in children(server)}

        wait_for(lambda: len(workers(running)) == 2)
        former = workers(running)
        assert forked() == former
        (libraries / "another.py").touch()
        running.process.send_signal(signal.SIGHUP)
        wait_for(lambda: len(now := workers(running)) == 2 and not now & former, LONG)
        assert not forked()
        assert running.stop(signal.SIGTERM) == (0, "")
    assert len(running.logs) == 2
    assert all("another release is installed" in line for line in running.logs)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stopping_all_processes_together_breaks_no_request(
    environment: dict[str, str], service: Service, tmp_path: Path, number: int
) -> None:
    """As systemd tells every process of a service, and a terminal every process that Ctrl-C is meant for."""
    headers = {"X-Api-Key": service.customer().key, "Accept": "application/json"}
    settings = {**environment, "TRADECOUNTER_RATE_LIMIT": "0"}
    with (
        started("serve", "--port", "0", "--workers", "2", "--json", folder=tmp_path, environment=settings) as running,
        steady_clients(8, responding(running), ["/product?limit=1"], headers, pause=PAUSE) as clients,
    ):
        wait_for(lambda: clients.statuses[200] > 100)
        for pid in [*workers(running), *fork_servers(running.process.pid)]:
            os.kill(pid, number)
        time.sleep(0.3)  # the supervisor may look for signals later than they do
        assert running.stop(number) == (0, "")
    assert clients.broken == []
    assert clients.gone == 8
    assert running.logs == []


def test_one_process_responds_and_stops_cleanly(environment: dict[str, str], tmp_path: Path) -> None:
    with started("serve", "--port", "0", "--json", folder=tmp_path, environment=environment) as running:
        base_url = running.announced["base_url"]
        with checked_client() as client:  # its open connection does not keep the server up
            assert client.get(f"{base_url}/check-health").status_code == 200
            assert running.stop(signal.SIGINT) == (0, "")
        assert running.logs == []
        with pytest.raises(httpx2.ConnectError):
            httpx2.get(f"{base_url}/check-health")


@pytest.fixture(scope="module")
def embedded_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an embedded database."""
    folder = Path(tmp_path_factory.mktemp("embedded"))
    command = [sys.executable, "-m", "tradecounter", "db", "upgrade"]
    subprocess.run(command, cwd=folder, env=without_settings(), capture_output=True, check=True)
    return folder


def test_services_survive_their_embedded_database_being_killed(embedded_folder: Path) -> None:
    server = EmbeddedPostgres(embedded_folder / ".tradecounter")
    with (
        started("worker", folder=embedded_folder, environment={}, wait=False) as worker,
        started(
            "serve", "--port", "0", "--workers", "2", "--json", folder=embedded_folder, environment={}
        ) as site,
    ):  # fmt: skip
        wait_for(lambda: READY in "".join(worker.logs))
        killed = server.postmaster
        assert killed is not None
        kill_server(killed)
        wait_for(lambda: server.postmaster not in {killed, None} and BACK in "".join([*worker.logs, *site.logs]))
        with checked_client(base_url=site.announced["base_url"]) as client:
            wait_for(lambda: client.get("/check-health").json()["database"] == "ok")
            # A connection that broke before the outage was noticed fails one request.
            wait_for(lambda: client.get("/product", headers={"X-Api-Key": "no such key"}).status_code == 401)
        assert (worker.process.poll(), site.process.poll()) == (None, None)
        last = server.postmaster
        assert last is not None
        assert site.stop(signal.SIGTERM) == (0, "")
        assert alive(last)  # the worker uses it
        assert worker.stop(signal.SIGTERM) == (0, "")
    assert not alive(last)
    assert all(sum(BACK in line for line in running.logs) <= 1 for running in (worker, site))


def test_a_worker_runs_jobs_until_it_is_stopped(environment: dict[str, str], service: Service, tmp_path: Path) -> None:
    stock_shop(service)
    buyer = service.customer(shipping_method=STANDARD)
    pending = buyer.post("/order", json=order()).json()["confirmation_code"]
    with psycopg.connect(service.database_url, autocommit=True) as database:
        database.execute("update orders set expires_at = now() - interval '1 second'")
        database.execute(
            "insert into procrastinate_jobs (queue_name, task_name, args)"
            " values ('default', 'expire_orders', '{\"timestamp\": 0}')"
        )

        def state() -> object:
            row = database.execute("select state from orders where confirmation_code = %s", [pending]).fetchone()
            return None if row is None else row[0]

        assert state() == "pending"
        with started("worker", "--json", folder=tmp_path, environment=environment) as running:
            assert set(running.announced) == {"revision"}
            wait_for(lambda: state() == "expired")
            assert running.stop(signal.SIGTERM) == (0, "")
    assert sum("pending orders expired" in line for line in running.logs) == 1


@pytest.mark.parametrize("words", [["serve", "--port", "0", "--workers", "2"], ["worker"]], ids=" ".join)
def test_a_service_warns_once_about_unknown_and_example_settings(
    words: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    needed = {name: environment[name] for name in ("TRADECOUNTER_DATABASE_URL", "TRADECOUNTER_SECRET_KEY")}
    wrong = {
        "TRADECOUNTER_BASE_ULR": "https://api.shop.example",
        "TRADECOUNTER_BACKOFFICE_URL": "http://backoffice.shop.example",
    }
    with started(*words, "--json", folder=tmp_path, environment={**needed, **wrong}) as running:
        if words[0] == "serve":
            httpx2.get(f"{running.announced['base_url']}/check-health", timeout=30)  # the processes are up
        assert running.stop(signal.SIGTERM) == (0, "")
    entries = [json.loads(line) for line in running.logs]
    logged = [entry for entry in entries if "setting" in entry]  # a busy machine can cause others
    assert {entry["level"] for entry in entries} == {"warning"}
    assert [(entry["event"], entry["setting"]) for entry in logged] == [
        ("unknown setting", "TRADECOUNTER_BASE_ULR"),
        *(("setting is still an example", name) for name in environment if name.startswith("TRADECOUNTER_SELLER_")),
        *(
            ("setting is still an example", f"TRADECOUNTER_{name}")
            for name in ("MAIL_FROM", "SUPPORT_EMAIL", "SMTP_URL", "BASE_URL")
        ),
        ("nobody can sign in over plain HTTP", "TRADECOUNTER_BACKOFFICE_URL"),
    ]
    assert logged[0]["nearest"] == "TRADECOUNTER_BASE_URL"
