"""Traces of the worker: a span for every job and every delivery, without what they carry."""

from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from support.mail import deliver_mail, queue_job
from support.receiver import deliver, policy_of
from support.service import Service, running_service
from support.shop import stock_shop
from tradecounter.webhooks.manage import add_webhook, ping_webhook
from tradecounter.webhooks.wire import WebhookRequest


@pytest.fixture(scope="module")
def service(database_url: str) -> Iterator[Service]:
    with running_service(database_url) as running:
        stock_shop(running)
        yield running


def starting(exporter: InMemorySpanExporter, word: str) -> list[ReadableSpan]:
    return [span for span in exporter.get_finished_spans() if span.name.startswith(word)]


def test_a_job_is_a_span_with_its_round_trips_inside(service: Service, exporter: InMemorySpanExporter) -> None:
    queue_job(service, "mail_order_confirmed", order_id=987654321)
    deliver_mail(service)
    job = next(span for span in starting(exporter, "job mail_order_confirmed"))
    assert (job.attributes or {})["tradecounter.attempt"] == 1
    assert job.context is not None
    trips = [span for span in starting(exporter, "postgresql") if span.parent is not None]
    assert job.context.span_id in {trip.parent.span_id for trip in trips if trip.parent is not None}
    assert "987654321" not in "".join(span.to_json() for span in exporter.get_finished_spans())


def test_a_delivery_is_a_span_that_fails_with_it(service: Service, exporter: InMemorySpanExporter) -> None:
    def add(url: str) -> int:
        policy, now = policy_of(service), service.clock.now()
        made = service.in_transaction(lambda tx: add_webhook(tx, policy, WebhookRequest(url=url), now))
        service.in_transaction(lambda tx: ping_webhook(tx, made.id, now))
        return made.id

    dead = add("http://127.0.0.1:9/SECRET-PATH")
    service.call(lambda: deliver(service))
    [span] = starting(exporter, "delivery ")
    assert (span.attributes or {})["tradecounter.webhook"] == dead
    assert not span.status.is_ok
    assert "SECRET-PATH" not in span.to_json()
