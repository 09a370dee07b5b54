"""Traces for OpenTelemetry: a span for each request, job and delivery, and for each of their database round trips.

This module is imported only where traces are on, because it needs the extra `tracing` and takes time. The library reads
the standard `OTEL_` variables itself: exporter, endpoint, headers, sampler, service name.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.util import Finalize

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SpanExporter
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from tradecounter.kit.clock import SystemClock
from tradecounter.kit.errors import OperatorError
from tradecounter.kit.telemetry import SPANS, RequestSpan, WorkSpan

_EXPORTERS: dict[str, type[SpanExporter]] = {"otlp": OTLPSpanExporter, "console": ConsoleSpanExporter}
_FAULT = 500
_NANOSECONDS = 1_000_000_000
_LONGEST_TEXT = 2_000  # characters of a round trip's statements

_propagator = TraceContextTextMapPropagator()


class SpanRecorder:
    """Records spans with a tracer, but no exceptions: their messages may contain secrets and personal data."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer("tradecounter")

    @contextmanager
    def request(self, span: RequestSpan, traceparent: str | None) -> Iterator[RequestSpan]:
        """Record a request; `traceparent` names the caller's span."""
        parent = None if traceparent is None else _propagator.extract({"traceparent": traceparent})
        with self._tracer.start_as_current_span(
            span.method, parent, SpanKind.SERVER, record_exception=False, set_status_on_exception=False
        ) as recorded:
            try:
                yield span
            finally:
                _complete(recorded, span)

    def responded(self, span: RequestSpan, seconds: float) -> None:
        """Record a request that took `seconds` and has ended now."""
        end = round(SystemClock().now().timestamp() * _NANOSECONDS)
        began = end - round(seconds * _NANOSECONDS)
        recorded = self._tracer.start_span(span.method, kind=SpanKind.SERVER, start_time=began)
        _complete(recorded, span)
        recorded.end(end)

    @contextmanager
    def work(self, span: WorkSpan) -> Iterator[None]:
        """Record a job or a delivery."""
        kind = SpanKind.CLIENT if span.kind == "delivery" else SpanKind.CONSUMER
        with self._tracer.start_as_current_span(
            f"{span.kind} {span.name}", None, kind, record_exception=False, set_status_on_exception=False
        ) as recorded:
            try:
                yield
            except BaseException as error:
                span.failed = True
                recorded.set_attribute("error.type", type(error).__name__)
                raise
            finally:
                for name, value in span.values.items():
                    recorded.set_attribute(f"tradecounter.{name}", value)
                if span.failed:
                    recorded.set_status(Status(StatusCode.ERROR))

    @contextmanager
    def round_trip(self, text: str) -> Iterator[None]:
        """Record a round trip; those outside of another span, such as polls, are left out."""
        if not get_current_span().get_span_context().is_valid:
            yield
            return
        attributes = {"db.system.name": "postgresql", "db.query.text": text[:_LONGEST_TEXT]}
        with self._tracer.start_as_current_span(
            "postgresql", None, SpanKind.CLIENT, attributes, record_exception=False, set_status_on_exception=False
        ) as recorded:
            try:
                yield
            except BaseException as error:
                recorded.set_attribute("error.type", type(error).__name__)
                recorded.set_status(Status(StatusCode.ERROR))
                raise


def _complete(recorded: Span, span: RequestSpan) -> None:
    recorded.update_name(f"{span.method} {span.route}" if span.route else span.method)
    recorded.set_attribute("http.request.method", span.method)
    recorded.set_attribute("tradecounter.request_id", span.request_id)
    recorded.set_attribute("tradecounter.way", span.way)
    if span.route is not None:
        recorded.set_attribute("http.route", span.route)
    if span.customer_id is not None:
        recorded.set_attribute("tradecounter.customer", span.customer_id)
    if span.status:
        recorded.set_attribute("http.response.status_code", span.status)
    if span.status >= _FAULT or not span.status:
        recorded.set_status(Status(StatusCode.ERROR))


def named_resource(site: str) -> Resource:
    """Return what spans say about their process; the OTEL_ variables take precedence over the site's name."""
    resource = Resource.create()
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        return resource.merge(Resource({SERVICE_NAME: f"tradecounter-{site}"}))
    return resource


def start_traces(site: str, exporter: str) -> None:
    """Record spans from now on, and send them until the process ends.

    `exporter` is `otlp` or `console`. Raises OperatorError for another one.
    """
    kind = _EXPORTERS.get(exporter)
    if kind is None:
        raise OperatorError(f"OTEL_TRACES_EXPORTER: must be one of {', '.join(_EXPORTERS)}, none")
    provider = TracerProvider(resource=named_resource(site), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(kind()))
    SPANS.recorder = SpanRecorder(provider)
    Finalize(None, provider.shutdown, exitpriority=10)  # processes of a pool do not run `atexit` functions
