"""What all jobs share: a back office that may issue invoices."""

import os
from collections.abc import Iterator

import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.reseller_twin import SELLER
from support.service import Service

collect_ignore_glob = [] if os.environ.get("IN_BROWSER") else ["test_*.py"]


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop, **SELLER) as running:
        yield running
