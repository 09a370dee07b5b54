"""Checks of the event log and of webhooks after a trial: each change has its event once, in order, and it arrived."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from rigs.kill.receivers import Endpoint
from rigs.kill.sender import Sender
from rigs.kill.trial import Trial
from support.orders import rows
from support.service import Service
from tradecounter.events.record import CUSTOMER_TYPES

Faults = dict[str, Any]
Event = dict[str, Any]

_PAGE = 1000
# Recorded by the worker on its own, not by an operation.
_BY_THEMSELVES = {"stock.changed", "price.changed", "order.expected_date_changed"}
# What distinguishes an event from others of its type and subject.
_MARKS: dict[str, Callable[[Any], str]] = {
    "order.dispatched": lambda data: data["tracking_number"],
    "order.tracking_updated": lambda data: data["description"],
    "order.cancelled": lambda data: data["reason"],
    "order.returned": lambda data: f"{data['number']} {data['state']}",
    "invoice.issued": lambda data: str(data["invoice"]["number"]),
    "credit_note.issued": lambda data: data["credit_note"]["reason"],
    "payment.recorded": lambda data: data["reference"],
    "payment.reversed": lambda data: data["reason"],
}


def all_events(sender: Sender, trial: Trial) -> list[Event]:
    """The trial's events, as the back office lists them."""
    return _pages(lambda after: sender.staff_get(f"/api/event?limit={_PAGE}&after={after}").json(), trial)


def _events_of(sender: Sender, trial: Trial, key: str) -> list[Event]:
    """The events that a customer can read."""
    headers = {"X-Api-Key": key}
    return _pages(
        lambda after: sender.read(sender.public, f"/event?limit={_PAGE}&after={after}", headers).json(), trial
    )


def _pages(read: Callable[[int], list[Event]], trial: Trial) -> list[Event]:
    found: list[Event] = []
    while page := read(found[-1]["sequence"] if found else trial.first_sequence):
        found += page
    return found


def faults_in_events(service: Service, sender: Sender, trial: Trial, log: list[Event]) -> Faults:
    """Events that are missing, doubled or out of order, and gaps in their sequences."""
    return {**_faults_in_sequences(service, trial, log), **_faults_in_subjects(trial, log)} | _faults_in_reading(
        service, sender, trial, log
    )


def _faults_in_sequences(service: Service, trial: Trial, log: list[Event]) -> Faults:
    faults: Faults = {}
    found, first = [event["sequence"] for event in log], trial.first_sequence + 1
    if found != list(range(first, first + len(log))):
        faults["event: gap in the sequences"] = sorted(set(range(first, found[-1])) - set(found))
    if doubled := [id_ for id_, times in Counter(event["id"] for event in log).items() if times > 1]:
        faults["event: id used twice"] = doubled
    if left := rows(service, "select id from unnumbered_event"):
        faults["event: without a number"] = left
    return faults


def _faults_in_subjects(trial: Trial, log: list[Event]) -> Faults:
    faults: Faults = {}
    happened: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for event in log:
        if event["type"] not in _BY_THEMSELVES:
            mark = _MARKS.get(event["type"], lambda _: "")(event["data"])
            happened[event["subject"]].append((event["type"], mark))
    for subject in happened.keys() | trial.ledger.events.keys():
        expected, found = trial.ledger.events[subject], happened[subject]
        if expected != found:
            kind = "out of order" if Counter(expected) == Counter(found) else "missing, doubled or unknown"
            faults[f"event: {kind}, {subject}"] = {"expected": expected, "found": found}
    return faults


def _faults_in_reading(service: Service, sender: Sender, trial: Trial, log: list[Event]) -> Faults:
    """Where the APIs do not show what the table holds."""
    faults: Faults = {}
    stored = rows(
        service,
        "select sequence, id, customer_id, for_customer from event where sequence > %s order by 1",
        trial.first_sequence,
    )
    if [(event["sequence"], event["id"]) for event in log] != [row[:2] for row in stored]:
        faults["event: GET /api/event differs from the table"] = (len(log), len(stored))
    for buyer in trial.buyers:
        shown = [event["sequence"] for event in _events_of(sender, trial, buyer.key)]
        readable = [sequence for sequence, _, customer, may in stored if customer == buyer.id and may]
        if shown != readable:
            faults[f"event: GET /event of {buyer.id} differs from the table"] = (shown, readable)
    return faults


def faults_in_deliveries(trial: Trial, log: list[Event]) -> Faults:
    """Events that a receiver did not accept, or got changed or out of order."""
    faults: Faults = {}
    known = {event["id"]: event for event in log}
    for endpoint in trial.endpoints:
        found: dict[str, list[Any]] = {
            "skipped": [e for e in _meant_for(endpoint, log) if e["id"] not in endpoint.accepted],
            "not in the log, or different": [e for e in endpoint.attempts if known.get(e["id"]) != e],
            "out of order": list(_out_of_order(endpoint.attempts)),
            "not as the standard says": endpoint.faults,
        }
        name = f"webhook of {endpoint.customer_id or 'the reseller'}"
        faults.update({f"{name}: {what}": where[:5] for what, where in found.items() if where})
    return faults


def _meant_for(endpoint: Endpoint, log: Iterable[Event]) -> list[Event]:
    whose = endpoint.customer_id
    return [e for e in log if whose is None or (e.get("customer_id") == whose and e["type"] in CUSTOMER_TYPES)]


def _out_of_order(attempts: Iterable[Event]) -> Iterable[tuple[str, int, int]]:
    """Attempts that came after one of a later event of the same subject."""
    latest: dict[str, int] = {}
    for event in attempts:
        before = latest.get(event["subject"], 0)
        if event["sequence"] < before:
            yield event["subject"], before, event["sequence"]
        latest[event["subject"]] = max(before, event["sequence"])
