"""Numbering the events that were recorded, and reading the log as it is stored."""

from typing import Any

from support.orders import rows
from support.service import Customer, Service
from tradecounter.events.sequencer import number_all


def number_events(service: Service) -> int:
    """Number all committed events, as the worker does; how many."""
    return service.call(lambda: number_all(service.commands))


def events(service: Service, customer: Customer, query: str = "") -> list[dict[str, Any]]:
    """A customer's events, after all are numbered."""
    number_events(service)
    response = customer.get(f"/event?limit=1000{query}")
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()
    return found


def types_of(service: Service, customer: Customer) -> list[tuple[str, bool]]:
    """The types of all events about a customer, and whether the customer may read them, in order."""
    number_events(service)
    return [
        (type_, readable)
        for type_, readable in rows(
            service, "select type, for_customer from event where customer_id = %s order by sequence", customer.id
        )
    ]


def last_sequence(service: Service) -> int:
    """The last sequence in the log."""
    number_events(service)
    [(last,)] = rows(service, "select last from event_sequence")
    return int(last)


def assert_contiguous(service: Service) -> None:
    """The sequences are 1, 2, 3 …, and nothing waits for a number."""
    assert rows(service, "select count(*) from unnumbered_event") == [(0,)]
    [(count, first, last)] = rows(service, "select count(*), coalesce(min(sequence), 1), max(sequence) from event")
    assert (first, last) == (1, count or None)
    assert rows(service, "select last from event_sequence") == [(count,)]
