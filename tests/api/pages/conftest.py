"""A back office for each file, and the people who use the pages."""

from collections.abc import Iterator

import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.pages import Person, customer_user, staff_member
from support.service import Customer, Service


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop) as running:
        yield running


@pytest.fixture(scope="module")
def sam(office: BackOfficeSite) -> Person:
    """A member of the staff who may do everything."""
    return staff_member(office.service, office.url, "administrator")


@pytest.fixture
def customer(shop: Service) -> Customer:
    """A customer of this test alone."""
    return shop.customer()


@pytest.fixture
def owner(shop: Service, customer: Customer) -> Person:
    """The customer's user who may do everything in the account."""
    return customer_user(shop, customer.id, "owner")


@pytest.fixture
def buyer(shop: Service, customer: Customer) -> Person:
    """The customer's user who orders."""
    return customer_user(shop, customer.id, "buyer")
