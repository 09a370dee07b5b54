"""Tests in a real Chromium; they are slow, so only `make browser` runs them."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from support.backoffice import BackOfficeSite, backoffice_of
from support.browsing import chromium
from support.cluster import Cluster
from support.demo_sites import DemoSites, demo_sites
from support.service import Service

collect_ignore_glob = [] if os.environ.get("IN_BROWSER") else ["test_*.py"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="session")
def sites(postgres: Cluster) -> Iterator[DemoSites]:
    """The demo, for tests that change nothing."""
    with postgres.database() as url, demo_sites(url) as running:
        yield running


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop) as running:
        yield running


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many clicks the jobs took."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties if report.when == "call" else ():
            if name == "clicks":
                terminalreporter.write_line(f"CLICKS: {value}: {report.nodeid.rpartition('/')[2]}")
