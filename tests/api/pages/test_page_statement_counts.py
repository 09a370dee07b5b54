"""A page has a bounded number of SQL statements, whatever the number of orders, documents and quotes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from support.backoffice import backoffice_of
from support.one_of_everything import SELLER, Reseller, more_of_everything, one_of_everything
from support.page_routes import path_of
from support.page_walk import Walk, walk
from support.pages import Person, browser, customer_user, staff_member
from support.proxy import Link, linked
from support.service import Service, running_backoffice, running_service

pytestmark = pytest.mark.long

MOST = 40  # statements of one page
MORE = 5  # times as many orders, documents and quotes


@dataclass
class Counter:
    """Both sites, connected to their database through a counting proxy."""

    reseller: Reseller
    link: Link
    walks: list[Walk]
    urls: list[str]

    def counts(self) -> dict[str, int]:
        """The statements of each page, by its address, once what is cached is cached."""
        found = {}
        for walked, url in zip(self.walks, self.urls, strict=True):
            person = replace(walked.person, http=browser(url, walked.person.cookie))
            for address in _addresses(walked):
                assert person.get(address).status_code == 200, address
                found[address] = self._statements(person, address)
        return found

    def _statements(self, person: Person, address: str) -> int:
        self.link.spoken.clear()
        person.get(address)
        return self.link.statements


def _addresses(walked: Walk) -> list[str]:
    """An address of each page that is HTML."""
    seen = {path: next((s for s in pages if s.is_html), None) for path, pages in walked.pages.items()}
    return [
        one.address
        for path, one in seen.items()
        if one is not None and one.response.status_code == 200 and path_of(walked.person.site, one.address) == path
    ]


@pytest.fixture
def counter(own_shop: Service) -> Iterator[Counter]:
    with backoffice_of(own_shop, **SELLER) as office, linked(own_shop.database_url) as link:
        reseller = one_of_everything(office)
        beside = replace(own_shop, database_url=link.url, settings=office.site.settings)
        with (
            running_backoffice(beside) as counted_office,
            running_service(link.url, now=own_shop.clock.now(), **SELLER) as counted_service,
        ):
            people = [
                staff_member(own_shop, office.url, "administrator"),
                customer_user(own_shop, reseller.first.customer.id),
            ]
            walks = [walk(person, each=15) for person in people]
            yield Counter(reseller, link, walks, [counted_office.url, counted_service.url])


def test_the_number_of_statements_does_not_depend_on_the_number_of_orders(counter: Counter) -> None:
    before = counter.counts()
    assert {address: count for address, count in before.items() if not 0 < count <= MOST} == {}
    more_of_everything(counter.reseller, MORE)
    after = counter.counts()
    assert {a: (count, after[a]) for a, count in before.items() if after[a] > count} == {}
