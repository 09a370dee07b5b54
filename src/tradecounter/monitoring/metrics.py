"""All metrics: their names, labels and meanings, and how the figures of several processes become one."""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

Labels = tuple[str, ...]

# The values of a process, by metric and labels. A counter or a gauge has one value, a histogram those of `Durations`.
Figures = dict[str, dict[Labels, list[float]]]

PREFIX = "tradecounter_"


class Metric(Struct, frozen=True):
    """A metric; `largest` means that several processes show their largest value, otherwise their sum."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    labels: Labels = ()
    largest: bool = False

    @property
    def full_name(self) -> str:
        """The name in queries; a histogram's series end with `_bucket`, `_sum` and `_count` instead."""
        return f"{PREFIX}{self.name}" + ("_total" if self.kind == "counter" else "")


_OF_REQUESTS = (
    Metric(
        "requests",
        "counter",
        "Requests by what responded: `known_bytes`, `fast_path`, `response_cache`, `endpoint`, `connection`.",
        ("method", "route", "status", "way"),
    ),
    Metric(
        "request_duration_seconds",
        "histogram",
        "Time from a request's head to the last byte of its response.",
        ("method", "route", "way"),
    ),
    Metric("rejections", "counter", "Requests with an error as the response, by its reason.", ("reason",)),
)
_OF_PROCESSES = (
    Metric("processes", "gauge", "Running processes, by what they serve and their version.", ("site", "version")),
    Metric("resident_memory_bytes", "gauge", "Memory of the processes, which may share some."),
    Metric("processor_seconds", "counter", "Processor time of the processes."),
    Metric("client_connections", "gauge", "Open connections of clients."),
    Metric("database_connections", "gauge", "Connections to the database, by `state`: `idle` or `in_use`.", ("state",)),
    Metric("database_connections_limit", "gauge", "The most connections to the database that the processes may open."),
    Metric("database_waiting", "gauge", "Requests and jobs that wait for a connection to the database."),
    Metric("database_waits", "counter", "How often a request or a job had to wait for a connection to the database."),
    Metric("database_wait_seconds", "counter", "How long requests and jobs have waited for such connections."),
    Metric("database_connection_failures", "counter", "Failed attempts to connect to the database."),
)
_OF_SITES = (
    Metric(
        "database_away_seconds", "gauge", "Time since the database stopped responding; 0 while it does.", largest=True
    ),
    Metric("data_age_seconds", "gauge", "Time since products, prices and stock were last verified.", largest=True),
    Metric("refresh_duration_seconds", "histogram", "Time that a poll for changed data took."),
    Metric("refresh_failures", "counter", "Polls for changed data that failed."),
    Metric("snapshot_products", "gauge", "Products in memory.", largest=True),
    Metric("replica_reads", "counter", "Catalogues that were read from the replica."),
    Metric(
        "replica_failures", "counter", "Catalogues that were read from the primary because the replica was not usable."
    ),
    Metric("response_cache_bytes", "gauge", "Memory of cached responses."),
    Metric("response_cache_responses", "gauge", "Cached responses."),
    Metric("blocked_addresses", "gauge", "Addresses that are blocked for wrong credentials.", largest=True),
    Metric("address_blocks", "counter", "Blocks that began, for wrong API keys and tokens."),
)
_OF_THE_BACKLOG = (
    Metric("jobs_due", "gauge", "Jobs that could start.", largest=True),
    Metric("jobs_due_seconds", "gauge", "How long the oldest due job has been due.", largest=True),
    Metric("jobs_scheduled", "gauge", "Jobs for later.", largest=True),
    Metric("jobs_failed", "gauge", "Jobs that failed for good and wait for `job retry`.", ("task",), largest=True),
    Metric("workers_alive", "gauge", "Workers with a recent heartbeat.", largest=True),
    Metric(
        "webhook_deliveries_waiting",
        "gauge",
        "Deliveries to active webhooks that no receiver has accepted yet.",
        largest=True,
    ),
    Metric("webhook_deliveries_waiting_seconds", "gauge", "Age of the oldest of these deliveries.", largest=True),
    Metric("webhooks_failing", "gauge", "Active webhooks whose last delivery failed.", largest=True),
    Metric("webhooks_stopped", "gauge", "Webhooks that the service has paused or disabled.", largest=True),
    Metric("unnumbered_events", "gauge", "Events that the sequencer has not numbered yet.", largest=True),
    Metric("unnumbered_events_seconds", "gauge", "Age of the oldest of these events.", largest=True),
    Metric("events", "counter", "Events in the log since the worker started, by type.", ("type",), largest=True),
    Metric(
        "wal_archive_failing_seconds",
        "gauge",
        "Time since PostgreSQL last archived a WAL file, while that fails or stands still; 0 otherwise.",
        largest=True,
    ),
    Metric(
        "base_backup_age_seconds",
        "gauge",
        "Seconds since the last base backup. Without one, since PostgreSQL started; without archiving, 0.",
        largest=True,
    ),
    Metric(
        "backlog_age_seconds", "gauge", "Time since the worker last read the figures about the database.", largest=True
    ),
)
METRICS = (*_OF_REQUESTS, *_OF_PROCESSES, *_OF_SITES, *_OF_THE_BACKLOG)
_BY_NAME = {metric.name: metric for metric in METRICS}


def combined(parts: Iterable[Figures]) -> Figures:
    """Return the figures of several processes as one."""
    whole: Figures = {}
    for part in parts:
        for name, series in part.items():
            together, largest = whole.setdefault(name, {}), _BY_NAME[name].largest
            for labels, values in series.items():
                before = together.get(labels)
                together[labels] = values if before is None else _joined(before, values, largest=largest)
    return whole


def counters_of(figures: Figures) -> Figures:
    """Return only what stays true after the process has ended."""
    return {name: series for name, series in figures.items() if _BY_NAME[name].kind != "gauge"}


def _joined(before: list[float], values: list[float], *, largest: bool) -> list[float]:
    return [max(pair) if largest else sum(pair) for pair in zip(before, values, strict=True)]


def one(value: float) -> dict[Labels, list[float]]:
    """Return the series of a metric without labels."""
    return {(): [value]}
