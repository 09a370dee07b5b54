"""The endpoint in docs/endpoints.md works as it stands, and all that its text promises follows from its declaration."""

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx2
import pytest

from support.error_bodies import error_body
from support.interface import problems_by
from support.service import Customer, Service, running_service
from support.web_page import Page
from tradecounter.edge.openapi.postman import postman_collection
from tradecounter.edge.rest.operation import Endpoint, endpoints_of
from tradecounter.kit.clock import Clock
from tradecounter.settings import Settings
from tradecounter.sites.public import Application

SOURCE = Path(__file__).parents[2] / "src" / "tradecounter"
PAGE = (Path(__file__).parents[2] / "docs" / "endpoints.md").read_text()
LIMIT = 10


def code_blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_operation_from_types_stands_in_its_file() -> None:
    copied, *_ = code_blocks()
    assert copied in (SOURCE / "customer_notes" / "operations.py").read_text()


def written_module(folder: Path) -> ModuleType:
    """The code block of docs/endpoints.md that is a module of its own."""
    *_, code = code_blocks()
    path = folder / "worked_example.py"
    path.write_text(code)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def service(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    example = written_module(Path(tmp_path_factory.mktemp("example")))

    class WithExample(Application):
        """The API with the worked example."""

        def _endpoints(self, settings: Settings, clock: Clock) -> list[Endpoint]:
            shelves = example.ShelfEndpoints({"CV-320P": 3})
            return [*super()._endpoints(settings, clock), *endpoints_of(shelves)]

    with running_service(database_url, kind=WithExample, rate_limit=LIMIT) as running:
        yield running


@pytest.fixture
def customer(service: Service) -> Customer:
    return service.customer()


@pytest.fixture
def client(service: Service, customer: Customer) -> Iterator[httpx2.Client]:
    """A client without the check against the interface document, which lacks the example."""
    with httpx2.Client(base_url=service.url, headers={"X-Api-Key": customer.key}) as made:
        yield made


@pytest.fixture(scope="module")
def document(service: Service) -> dict[str, Any]:
    return service.application.document("https://api.example")


def operation(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["paths"]["/shelf/{sku}"]["get"]
    return found


def test_the_path_is_routed_and_needs_a_credential(service: Service, client: httpx2.Client) -> None:
    assert client.get("/shelf/CV-320P").json() == {"shelf": "B4", "enough": True}
    assert client.head("/shelf/CV-320P").status_code == 200
    assert client.get("/shelf/NONE").json() == error_body("not_found", "product NONE not found")
    assert client.options("/shelf/CV-320P").headers["Allow"] == "GET, HEAD, OPTIONS"
    assert client.get("/shelves/CV-320P").status_code == 404
    assert httpx2.get(f"{service.url}/shelf/CV-320P").status_code == 401


def test_the_query_is_validated(client: httpx2.Client) -> None:
    assert client.get("/shelf/CV-320P?quantity=4").json() == {"shelf": "B4", "enough": False}
    wrong = client.get("/shelf/CV-320P?quantity=0")
    assert (wrong.status_code, wrong.json()["message"]) == (400, "quantity: must be at least 1")
    assert client.get("/shelf/CV-320P?quantity=many").status_code == 400
    assert client.get("/shelf/CV-320P?qty=4").headers["X-Ignored"] == "qty"


def test_requests_are_counted_against_the_rate_limit(client: httpx2.Client) -> None:
    statuses = [client.get("/shelf/CV-320P").status_code for _ in range(LIMIT + 1)]
    assert statuses == [*[200] * LIMIT, 429]


def test_the_interface_document_describes_it(client: httpx2.Client, document: dict[str, Any]) -> None:
    described = operation(document)
    assert [(p["in"], p["name"], p["example"]) for p in described["parameters"]] == [
        ("path", "sku", "CV-320P"),
        ("query", "quantity", 2),
    ]
    assert set(described["responses"]) == {"200", "400", "401", "403", "404", "429", "500", "503"}
    [media] = described["responses"]["200"]["content"].values()
    problems = problems_by(document, media["schema"])
    assert problems(media["examples"]["Shelf"]["value"]) == []
    assert problems(client.get("/shelf/CV-320P").json()) == []
    assert "RateLimit" in described["responses"]["200"]["headers"]


def test_a_link_leads_to_it(document: dict[str, Any]) -> None:
    links = document["paths"]["/product"]["get"]["responses"]["200"]["links"]
    assert links["getShelf"]["parameters"] == {"sku": "$response.body#/0/sku"}


@pytest.mark.sweep
def test_the_reference_and_the_postman_collection_have_it(service: Service, document: dict[str, Any]) -> None:
    page = Page(httpx2.get(f"{service.url}/docs").text)
    samples = {language: code for (language, name), code in page.samples.items() if name == "getShelf"}
    assert len(samples) == 4
    assert all(f"{service.url}/shelf/CV-320P" in code for code in samples.values())
    [catalogue] = [folder for folder in postman_collection(document)["item"] if folder["name"] == "Catalogue"]
    assert "Where a product is" in [request["name"] for request in catalogue["item"]]


def test_only_the_exempt_operations_have_no_rate_limit(service: Service) -> None:
    """Specification, section 8: creating orders and quotes is never rejected for its rate."""
    exempt = {e.operation.name for e in service.application.endpoints if not e.operation.rate_limited}
    assert exempt == {"createOrder", "createQuote"}
