"""A back office for each file."""

from collections.abc import Iterator

import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.pages import Person, staff_member
from support.service import Service


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop) as running:
        yield running


@pytest.fixture(scope="module")
def sam(office: BackOfficeSite) -> Person:
    """A member of the staff who may do everything."""
    return staff_member(office.service, office.url, "administrator")
