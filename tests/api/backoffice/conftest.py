"""A back office for each file."""

from collections.abc import Iterator

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.service import Service


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop) as running:
        yield running


@pytest.fixture(scope="module")
def staff(office: BackOfficeSite) -> httpx2.Client:
    """A client that may do everything."""
    return office.caller()
