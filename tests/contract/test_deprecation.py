"""An operation that declares its deprecation says so in each response, the documents and the pages (RFC 9745, 8594)."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import httpx2
import pytest
from msgspec.structs import replace

from support.service import Service, running_service
from support.shop import stock_shop
from tradecounter.edge.rest.operation import LEAST_NOTICE, Deprecation, Endpoint
from tradecounter.kit.clock import Clock
from tradecounter.settings import Settings
from tradecounter.sites.public import Application

OLD = {"listProducts", "getCustomer"}
DEPRECATION = Deprecation(since=date(2027, 1, 1), sunset=date(2027, 7, 3), instead="Use `GET /new`.")
HEADERS = {"Deprecation": "@1798761600", "Sunset": "Sat, 03 Jul 2027 00:00:00 GMT"}


class WithOldOperations(Application):
    """The API with two operations that will go."""

    def _endpoints(self, settings: Settings, clock: Clock) -> list[Endpoint]:
        return [
            Endpoint(replace(each.operation, deprecation=DEPRECATION), each.handler)
            if each.operation.name in OLD
            else each
            for each in super()._endpoints(settings, clock)
        ]


@pytest.fixture(scope="module")
def service(database_url: str) -> Iterator[Service]:
    with running_service(database_url, kind=WithOldOperations) as running:
        stock_shop(running)
        yield running


@pytest.fixture
def client(service: Service) -> Iterator[httpx2.Client]:
    """A client without the check against the interface document, in which nothing is deprecated."""
    with httpx2.Client(
        base_url=service.url, headers={"X-Api-Key": service.customer().key, "Accept": "application/json"}
    ) as made:
        yield made


def assert_deprecated(response: httpx2.Response, service: Service, name: str) -> None:
    assert {header: response.headers.get(header) for header in HEADERS} == HEADERS
    links = [value for header, value in response.headers.multi_items() if header == "link"]
    assert f'<{service.url}/docs#{name}>; rel="deprecation sunset"; type="text/html"' in links


@pytest.mark.spec("9 Versioning", "a deprecated operation has Deprecation and Sunset in each response (an addition)")
def test_each_response_says_since_when_and_until_when(service: Service, client: httpx2.Client) -> None:
    assert_deprecated(client.get("/customer"), service, "getCustomer")
    assert_deprecated(client.head("/customer"), service, "getCustomer")
    for query in ("", "?limit=1", "?limit=1&x=y"):
        for _ in range(3):  # cached from the second request on
            response = client.get(f"/product{query}")
            assert_deprecated(response, service, "listProducts")
            assert f"<{service.url}/product?" in response.headers["Link"], "the links of pages are there too"
    for _ in range(3):
        current = client.get("/product", headers={"If-None-Match": response.headers["ETag"]})
        assert_deprecated(current, service, "listProducts")


def test_other_operations_say_nothing(client: httpx2.Client) -> None:
    for path in ("/product/PHONE", "/order", "/category"):
        assert not HEADERS.keys() & set(client.get(path).headers)
    assert not {"deprecation", "sunset"} & set(client.get(path).headers)


def test_the_interface_document_marks_it(service: Service) -> None:
    document: dict[str, Any] = service.application.document(service.url)
    operation = document["paths"]["/customer"]["get"]
    assert operation["deprecated"] is True
    assert operation["description"].startswith("Deprecated since 2027-01-01; ends on 2027-07-03. Use `GET /new`.")
    assert {"Deprecation", "Sunset", "Link"} <= operation["responses"]["200"]["headers"].keys()
    assert {"Deprecation", "Sunset"} <= document["paths"]["/product"]["get"]["responses"]["304"]["headers"].keys()
    assert {"Deprecation", "Sunset"} <= document["components"]["headers"].keys()
    assert "deprecated" not in document["paths"]["/order"]["get"]


def test_the_reference_and_the_list_of_changes_say_what_to_use(client: httpx2.Client) -> None:
    assert "Deprecated since 2027-01-01; ends on 2027-07-03. Use <code>GET /new</code>." in client.get("/docs").text
    changes = client.get("/changelog").text
    assert "What will go" in changes
    for method, name in (("GET /product", "listProducts"), ("GET /customer", "getCustomer")):
        assert f'<a href="docs#{name}"><code>{method}</code></a>' in changes


def test_customers_get_at_least_the_notice_that_the_guide_promises() -> None:
    begin = date(2027, 1, 1)
    assert Deprecation(since=begin, sunset=begin + LEAST_NOTICE, instead="x").sunset == date(2027, 7, 3)
    with pytest.raises(ValueError, match="183 days"):
        Deprecation(since=begin, sunset=begin + LEAST_NOTICE - timedelta(days=1), instead="x")
