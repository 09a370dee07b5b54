"""Health checks for monitoring and load balancers: whether the process is alive, and whether it is ready."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from support.cluster import Cluster
from support.outage import database_away
from support.service import Service, running_service
from support.shop import stock_shop
from support.waiting import wait_for
from tradecounter.sites.http import health

OFTEN = timedelta(seconds=0.05)


@pytest.fixture
def shop(postgres: Cluster) -> Iterator[Service]:
    with postgres.database() as url, running_service(url, refresh_interval=OFTEN) as service:
        stock_shop(service)
        yield service


@pytest.fixture
def hasty(postgres: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A service with very short time limits for stale data and outages."""
    monkeypatch.setattr(health, "_MOST_AWAY_SECONDS", 0.1)
    soon = timedelta(seconds=1)
    with postgres.database() as url, running_service(url, refresh_interval=OFTEN, stale_after=soon) as service:
        stock_shop(service)
        yield service


def healthy(service: Service) -> dict[str, Any]:
    response = service.client().get("/check-health")
    assert response.status_code == 200
    found: dict[str, Any] = response.json()
    return found


def ready(service: Service) -> tuple[int, dict[str, Any]]:
    response = service.client().get("/ready")
    assert ("Retry-After" in response.headers) == (response.status_code == 503)
    return response.status_code, response.json()


def test_a_working_process_is_healthy_and_ready(shop: Service) -> None:
    found = healthy(shop)
    assert found == {"status": "ok", "database": "ok", "data_age": found["data_age"], "writes": True}
    assert found["data_age"] < 60
    assert ready(shop) == (200, {"ready": True, "reasons": [], "warnings": []})


@pytest.mark.sweep
@pytest.mark.spec("4 GET /check-health", "public; an object")
def test_health_lists_problems_with_status_200(hasty: Service, postgres: Cluster) -> None:
    wait_for(lambda: healthy(hasty)["status"] == "ok")
    with capture_logs() as logged, database_away(postgres, hasty.database_url):
        wait_for(lambda: healthy(hasty)["database"] == "away")
        assert healthy(hasty)["status"] == "degraded"
        wait_for(lambda: healthy(hasty)["data_age"] > 1)
        wait_for(lambda: any("too old" in line["event"] for line in logged))
    [line] = [line for line in logged if "too old" in line["event"]]
    assert (line["log_level"], line["data_age"] > 0.9) == ("error", True)
    wait_for(lambda: healthy(hasty)["status"] == "ok")
    hasty.application.stopping.set()
    assert healthy(hasty)["status"] == "stopping"


@pytest.mark.spec("4 GET /ready", "public; 503 with the reasons while the process should get no requests")
def test_ready_says_why_the_process_should_get_no_requests(hasty: Service, postgres: Cluster) -> None:
    wait_for(lambda: ready(hasty)[0] == 200)
    with database_away(postgres, hasty.database_url):
        wait_for(lambda: len(ready(hasty)[1]["reasons"]) == 2)
        status, found = ready(hasty)
        assert (status, found["ready"]) == (503, False)
        away, stale = found["reasons"]
        assert away.startswith("the database has been away for ")
        assert stale.startswith("products, prices and stock were last verified ")
    wait_for(lambda: ready(hasty) == (200, {"ready": True, "reasons": [], "warnings": []}))
    hasty.application.stopping.set()
    assert ready(hasty) == (503, {"ready": False, "reasons": ["the process is stopping"], "warnings": []})
    assert hasty.client().head("/ready").status_code == 503


def test_a_process_stays_ready_during_a_short_outage(shop: Service, postgres: Cluster) -> None:
    with database_away(postgres, shop.database_url):
        wait_for(lambda: healthy(shop)["database"] == "away")
        assert ready(shop)[0] == 200


def test_an_untrusted_proxy_is_a_warning(shop: Service) -> None:
    shop.application.admission.addresses.untrusted_forwarding = True
    status, found = ready(shop)
    assert (status, found["ready"]) == (200, True)
    [warning] = found["warnings"]
    assert "TRADECOUNTER_TRUSTED_PROXIES" in warning
