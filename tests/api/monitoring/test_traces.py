"""Traces: a span for every request, whatever responds to it, with the round trips to the database inside it."""

import subprocess
import sys
from collections.abc import Iterator

import httpx2
import psycopg
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from support.command_line import without_settings
from support.service import Customer, Service, running_service
from support.shop import order, stock_shop
from support.waiting import wait_for
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import reading
from tradecounter.kit.errors import OperatorError
from tradecounter.kit.telemetry import SPANS, RequestSpan
from tradecounter.monitoring.traces import named_resource
from tradecounter.settings import traces_exporter
from tradecounter.sites.commands.service import start_wanted_traces

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture(scope="module")
def service(database_url: str) -> Iterator[Service]:
    with running_service(database_url) as running:
        stock_shop(running)
        yield running


@pytest.fixture
def customer(service: Service) -> Customer:
    made = service.customer()
    service.refresh()
    assert made.get("/customer").status_code == 200  # the key is cached from here on
    return made


def requests_of(exporter: InMemorySpanExporter, number: int) -> list[ReadableSpan]:
    """The spans of requests, of which there must be that many; they end after their responses."""

    def found() -> list[ReadableSpan]:
        return [span for span in exporter.get_finished_spans() if "http.request.method" in (span.attributes or {})]

    wait_for(lambda: len(found()) == number)
    return found()


def test_every_request_has_a_span_whatever_responds(
    service: Service, customer: Customer, exporter: InMemorySpanExporter
) -> None:
    service.refresh()  # for some seconds, keys are known without a query
    for address in ("198.51.100.7", "198.51.100.8", "198.51.100.8", "198.51.100.7"):
        customer.get("/product?limit=2", headers={"X-Forwarded-For": address})
    customer.get("/product/NOTHING")
    customer.get("/nowhere")
    spans = requests_of(exporter, 6)
    assert [span.name for span in spans] == ["GET /product"] * 4 + ["GET /product/{sku}", "GET"]
    attributes = [dict(span.attributes or {}) for span in spans]
    assert [each["tradecounter.way"] for each in attributes] == [
        "endpoint", "fast_path", "known_bytes", "known_bytes", "endpoint", "endpoint"
    ]  # fmt: skip
    assert [each["http.response.status_code"] for each in attributes] == [200] * 4 + [404] * 2
    assert [each.get("tradecounter.customer") for each in attributes] == [customer.id] * 5 + [None]


def test_a_span_has_the_id_of_its_response(customer: Customer, exporter: InMemorySpanExporter) -> None:
    response = customer.get("/customer", headers={"X-Request-Id": "mine"})
    [span] = requests_of(exporter, 1)
    assert (span.attributes or {})["tradecounter.request_id"] == response.headers["X-Request-Id"] == "mine"


def test_round_trips_to_the_database_are_inside_the_requests_span(
    customer: Customer, exporter: InMemorySpanExporter
) -> None:
    assert customer.post("/order", order()).status_code == 201
    [request] = requests_of(exporter, 1)
    trips = [span for span in exporter.get_finished_spans() if span.name == "postgresql"]
    assert len(trips) == 2
    texts = [str((trip.attributes or {})["db.query.text"]) for trip in trips]
    assert texts[0].startswith("begin; ")
    assert "insert into" in " ".join(texts)
    assert texts[-1].endswith("commit")
    for trip in trips:
        assert trip.parent is not None
        assert request.context is not None
        assert trip.parent.span_id == request.context.span_id


def test_round_trips_have_no_values(customer: Customer, exporter: InMemorySpanExporter) -> None:
    customer.post("/order", order(customer_reference="PO-NOT-TO-BE-SEEN"))
    requests_of(exporter, 1)
    assert "NOT-TO-BE-SEEN" not in "".join(span.to_json() for span in exporter.get_finished_spans())


def test_polls_for_changed_data_have_no_spans(service: Service, exporter: InMemorySpanExporter) -> None:
    service.refresh()
    assert exporter.get_finished_spans() == ()


@pytest.mark.sweep
def test_a_trusted_proxys_span_is_the_parent(
    customer: Customer, exporter: InMemorySpanExporter, database_url: str
) -> None:
    customer.get("/customer", headers={"traceparent": CALLER})
    [span] = requests_of(exporter, 1)
    assert span.parent is not None
    assert f"{span.parent.trace_id:032x}-{span.parent.span_id:016x}" in CALLER
    exporter.clear()
    with running_service(database_url, trusted_proxies=None) as without_proxy:
        headers = {"X-Api-Key": customer.key, "traceparent": CALLER}
        httpx2.get(f"{without_proxy.url}/customer", headers=headers, trust_env=False)
        [span] = requests_of(exporter, 1)
    assert span.parent is None


def test_a_round_trip_that_fails_names_its_error_but_not_the_message(
    service: Service, exporter: InMemorySpanExporter
) -> None:
    async def fail() -> None:
        async with reading(service.application.database) as tx:
            await tx.fetch_all(Statement("select 1 / (:secret::integer - 4711)"), secret=4711)

    async def request() -> None:
        assert SPANS.recorder is not None
        with SPANS.recorder.request(RequestSpan("GET"), None), pytest.raises(psycopg.errors.DivisionByZero):
            await fail()

    service.call(request)
    failed = [span for span in exporter.get_finished_spans() if "error.type" in (span.attributes or {})]
    for span in exporter.get_finished_spans():
        assert not span.events
        assert span.status.description is None
    assert [(span.attributes or {})["db.query.text"] for span in exporter.get_finished_spans()[:2]] == [
        "begin isolation level repeatable read read only",
        "select 1 / ($1::integer - 4711)",
    ]
    assert [(span.attributes or {})["error.type"] for span in failed] == ["DivisionByZero"]


@pytest.mark.parametrize(
    ("variables", "exporter"),
    [
        ({}, None),
        ({"OTEL_SERVICE_NAME": "shop"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, "otlp"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, "otlp"),
        ({"OTEL_TRACES_EXPORTER": "console"}, "console"),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, None),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "otlp"}, None),
    ],
)
def test_opentelemetrys_own_variables_turn_traces_on(variables: dict[str, str], exporter: str | None) -> None:
    assert traces_exporter(variables) == exporter


def test_spans_name_the_site_unless_a_variable_names_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    assert named_resource("public").attributes["service.name"] == "tradecounter-public"
    monkeypatch.setenv("OTEL_SERVICE_NAME", "shop")
    assert named_resource("public").attributes["service.name"] == "shop"


def test_an_unknown_exporter_is_an_error_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "zipkin")
    with pytest.raises(OperatorError, match="OTEL_TRACES_EXPORTER: must be one of otlp, console, none"):
        start_wanted_traces("public")


@pytest.mark.sweep
def test_without_the_variables_the_library_is_not_imported() -> None:
    program = (
        "import sys, tradecounter.sites.commands.serve as s, tradecounter.sites.commands.service as t;"
        "t.start_wanted_traces('public');"
        "sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    environment = {name: value for name, value in without_settings().items() if not name.startswith("OTEL_")}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
