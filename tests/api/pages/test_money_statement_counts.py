"""A page has a fixed number of SQL statements, whatever there is to show."""

from collections.abc import Iterator

import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.billing import credit, invoiced, number_of, pay_in
from support.orders import rows
from support.pages import Person, fields_of, staff_member
from support.proxy import Link, linked
from support.service import Customer, Service, running_service

pytestmark = pytest.mark.sweep

PAGES = ("/", "/money", "/vat", "/vat/document", "/invoice", "/invoice/{invoice}", "/invoice/{invoice}/credit-note",
         "/credit-note", "/payment", "/payment/{payment}", "/webhook", "/job", "/audit", "/staff",
         "/search?q={reference}", "/search?q=PHONE", "/search?q=test")  # fmt: skip


class Counted:
    """A back office, connected to its database through a counting proxy."""

    def __init__(self, office: BackOfficeSite, link: Link) -> None:
        self.office, self.link = office, link
        self.sam = staff_member(office.service, office.url, "administrator")

    def count(self, path: str) -> int:
        self.sam.get(path)  # the session's use is recorded once a minute
        self.link.spoken.clear()
        assert self.sam.get(path).status_code in {200, 303}
        return self.link.statements


@pytest.fixture(scope="module")
def counted(shop: Service) -> Iterator[Counted]:
    with linked(shop.database_url) as link, running_service(link.url) as service, backoffice_of(service) as office:
        yield Counted(office, link)


def fill(service: Service, customer: Customer, sam: Person, size: int) -> dict[str, object]:
    """Make invoices, payments, credit notes, failed jobs, webhooks and tokens."""
    values: dict[str, object] = {"customer": customer.id}
    for number in range(size):
        placed = invoiced(service, customer, ("PHONE", 1), ("CABLE", 1))
        values |= {"invoice": number_of(service, placed), "reference": placed["order_reference"]}
        values["payment"] = pay_in(service, customer, "1.00", int(str(values["invoice"]))).id
        credit(service, int(str(values["invoice"])), amount="1.00")
        rows(
            service,
            "insert into procrastinate_jobs (queue_name, task_name, status, args)"
            " values ('default', 'mail_order_confirmed', 'failed', '{\"order_id\": 1}') returning id",
        )
        fields = fields_of(sam.get("/token/new")) | {"name": f"Token {number}", "scopes": "orders:read"}
        assert sam.send("/token/new", fields).status_code == 200
    return values


def test_the_number_of_statements_does_not_grow_with_the_data(counted: Counted) -> None:
    service, customer = counted.office.service, counted.office.service.customer()
    values = fill(service, customer, counted.sam, 1)
    before = {path: counted.count(path.format_map(values)) for path in PAGES}
    values = fill(service, customer, counted.sam, 2)
    after = {path: counted.count(path.format_map(values)) for path in PAGES}
    assert after == before
    assert max(after.values()) < 20
