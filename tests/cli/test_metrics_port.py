"""`--metrics-port`: metrics of all processes of a service on one port of their own."""

import shutil
import signal
import time
from pathlib import Path

import httpx2
import pytest

from support.command_line import SECRET, started
from support.metrics import value
from support.service import Service
from support.waiting import wait_for

pytestmark = pytest.mark.long

REQUESTS = 60
PATIENCE = 120  # seconds for processes to start on a busy machine


@pytest.fixture
def environment(service: Service) -> dict[str, str]:
    return {
        "TRADECOUNTER_DATABASE_URL": service.database_url,
        "TRADECOUNTER_SECRET_KEY": SECRET,
        "TRADECOUNTER_RATE_LIMIT": "0",
    }


def requested(base_url: str, key: str, number: int) -> None:
    """Send requests on connections of their own, so that every process gets some."""
    for _ in range(number):
        response = httpx2.get(f"{base_url}/customer", headers={"X-Api-Key": key}, trust_env=False)
        assert response.status_code == 200


def test_one_port_shows_the_sums_of_all_processes_also_of_those_that_have_ended(
    environment: dict[str, str], service: Service, tmp_path: Path
) -> None:
    key = service.customer().key
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**environment, "TMPDIR": str(temporary)}
    words = ("serve", "--port", "0", "--workers", "2", "--metrics-port", "0", "--json")
    with started(*words, folder=tmp_path, environment=environment) as running:
        metrics, base_url = running.announced["metrics_url"], running.announced["base_url"]

        def counted() -> float:
            return value(metrics, "tradecounter_requests_total", route="/customer", status="200")

        def processes() -> float:
            time.sleep(0.2)
            return value(metrics, "tradecounter_processes", site="public")

        wait_for(lambda: processes() == 2, PATIENCE)
        requested(base_url, key, REQUESTS)
        wait_for(lambda: counted() == REQUESTS)
        assert value(metrics, "tradecounter_request_duration_seconds_count", route="/customer") == REQUESTS
        assert value(metrics, "tradecounter_database_connections_limit") == 20
        running.process.send_signal(signal.SIGHUP)  # replaces both processes
        wait_for(lambda: processes() > 2, PATIENCE)
        wait_for(lambda: processes() == 2, PATIENCE)
        assert counted() == REQUESTS
        requested(base_url, key, REQUESTS)
        wait_for(lambda: counted() == 2 * REQUESTS)
        folders = list(temporary.iterdir())  # the figures, and the address of the fork server
        assert len(folders) == 2
        assert not [folder for folder in folders if folder.stat().st_mode & 0o077]
        running.stop(signal.SIGTERM)
    assert not list(temporary.iterdir())


def test_processes_go_on_when_the_folder_of_their_figures_is_gone(environment: dict[str, str], tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    words = ("serve", "--port", "0", "--workers", "2", "--metrics-port", "0", "--json")
    with started(*words, folder=tmp_path, environment={**environment, "TMPDIR": str(temporary)}) as running:
        metrics, base_url = running.announced["metrics_url"], running.announced["base_url"]
        wait_for(lambda: value(metrics, "tradecounter_processes", site="public") == 2, PATIENCE)
        [folder] = temporary.glob("tradecounter-metrics-*")
        shutil.rmtree(folder)
        wait_for(lambda: sum("the figures for the metrics" in line for line in running.logs) == 2, 20)
        assert not [line for line in running.logs if "an API process ended" in line]
        assert httpx2.get(f"{base_url}/check-health", trust_env=False).status_code == 200
        running.stop(signal.SIGTERM)


@pytest.mark.parametrize("command", ["serve", "backoffice"])
def test_one_process_serves_its_own_metrics(environment: dict[str, str], tmp_path: Path, command: str) -> None:
    words = (command, "--port", "0", "--metrics-port", "0", "--json")
    with started(*words, folder=tmp_path, environment=environment) as running:
        metrics, base_url = running.announced["metrics_url"], running.announced["base_url"]
        httpx2.get(f"{base_url}/check-health", trust_env=False)
        wait_for(lambda: value(metrics, "tradecounter_requests_total", route="/check-health", status="200") == 1)
        assert httpx2.get(f"{base_url}/metrics", trust_env=False).status_code == 404
        running.stop(signal.SIGTERM)


def test_without_a_port_there_are_no_metrics(environment: dict[str, str], tmp_path: Path) -> None:
    with started("serve", "--port", "0", "--json", folder=tmp_path, environment=environment) as running:
        assert set(running.announced) == {"base_url"}
        running.stop(signal.SIGTERM)


def test_a_port_in_use_is_an_error_of_the_command(
    environment: dict[str, str], service: Service, tmp_path: Path
) -> None:
    taken = service.url.rsplit(":", 1)[1]
    words = ("serve", "--port", "0", "--metrics-port", taken, "--json")
    with started(*words, folder=tmp_path, environment=environment, wait=False) as running:
        assert running.process.wait(60) == 1
        running.reader.join(10)
    assert running.logs[-1].startswith(f"error: cannot listen on 127.0.0.1 port {taken}: Address already in use")


def test_a_worker_shows_what_waits_in_the_database(environment: dict[str, str], tmp_path: Path) -> None:
    words = ("worker", "--metrics-port", "0", "--json")
    with started(*words, folder=tmp_path, environment=environment) as running:
        metrics = running.announced["metrics_url"]
        wait_for(lambda: value(metrics, "tradecounter_workers_alive") == 1, PATIENCE)
        assert value(metrics, "tradecounter_processes", site="worker") == 1
        assert value(metrics, "tradecounter_unnumbered_events") == 0
        assert value(metrics, "tradecounter_backlog_age_seconds") < PATIENCE
        running.stop(signal.SIGTERM)
