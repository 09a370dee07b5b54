"""`serve` and `worker`, started from scratch: they answer, work, and stop cleanly."""

import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from support.command_line import SECRET, Running, started
from support.embedded_user import alive, wait_for


@pytest.fixture(scope="module")
def environment(database_url: str) -> dict[str, str]:
    return {"TRADECOUNTER_DATABASE_URL": database_url, "TRADECOUNTER_SECRET_KEY": SECRET}


@pytest.fixture(scope="module")
def served(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The API from two processes."""
    folder = Path(tmp_path_factory.mktemp("served"))
    with started("serve", "--port", "0", "--workers", "2", "--json", folder=folder, environment=environment) as running:
        yield running


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_several_processes_answer_and_stop_cleanly(served: Running) -> None:
    base_url = served.announced["base_url"]
    with httpx.Client(timeout=30) as client:
        assert client.get(f"{base_url}/check-health").status_code == 200
        assert client.get(f"{base_url}/product").status_code == 401
    processes = children(served.process.pid)
    assert len(processes) >= 2
    status, printed = served.stop(signal.SIGTERM)
    assert (status, printed) == (0, "")
    wait_for(lambda: not any(map(alive, processes)))
    assert not [line for line in served.logs if "Traceback" in line]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_process_answers_and_stops_cleanly(number: int, environment: dict[str, str], tmp_path: Path) -> None:
    with started("serve", "--port", "0", "--json", folder=tmp_path, environment=environment) as running:
        base_url = running.announced["base_url"]
        with httpx.Client(timeout=30) as client:  # its open connection does not keep the server up
            assert client.get(f"{base_url}/check-health").status_code == 200
            assert running.stop(number) == (0, "")
        assert running.logs == []
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{base_url}/check-health")


def test_a_worker_works_until_it_is_told_to_stop(environment: dict[str, str], tmp_path: Path) -> None:
    with started("worker", "--json", folder=tmp_path, environment=environment) as running:
        assert set(running.announced) == {"revision"}
        assert running.stop(signal.SIGTERM) == (0, "")
        assert running.logs == []
