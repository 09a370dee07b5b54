"""Generated requests, right ones and wrong ones, get the responses that the interface document announces."""

import gc

import pytest

from support.fuzzing import BEHIND_A_PROXY, Report, fill, run_phases
from support.interface import interface_document
from support.service import running_service

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def report(database_url: str) -> Report:
    """A short run, the same every time; `make fuzz` is the long one, and tries every constraint of every schema too."""
    found = Report()
    with running_service(database_url, **BEHIND_A_PROXY) as service:
        run_phases(found, service, fill(service), ("examples", "fuzzing"), examples=12)
        assert open_pools() == 0
    return found


def open_pools() -> int:
    """The pools of urllib3, which Schemathesis uses, that are not collected."""
    return sum(type(found).__name__ == "HTTPConnectionPool" for found in gc.get_objects())


@pytest.mark.spec("4 GET /openapi.json, GET /openapi.yaml", "the document is true")
def test_no_response_breaks_the_documents_promises(report: Report) -> None:
    assert not report.failures, report.summary()


def test_every_operation_was_tried_with_right_and_with_wrong_requests(report: Report) -> None:
    operations = {
        f"{method.upper()} {path}": operation
        for path, methods in interface_document()["paths"].items()
        for method, operation in methods.items()
        if path != "/openapi.json"  # where the requests come from
    }
    for label, operation in operations.items():
        statuses = {found.removeprefix(f"{label} ") for found in report.responses if found.startswith(f"{label} ")}
        assert statuses, f"{label} was never tried"
        if statuses & {"200", "201"} and "security" not in operation:
            assert "401" in statuses, f"{label} was never tried without a credential"
        if "requestBody" in operation:
            assert statuses & {"400", "404", "415"}, label
    assert report.requests > 250
