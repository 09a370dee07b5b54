"""Spans in memory."""

from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tradecounter.kit.telemetry import SPANS
from tradecounter.monitoring.traces import SpanRecorder


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    SPANS.recorder = SpanRecorder(provider)
    yield kept
    SPANS.recorder = None
