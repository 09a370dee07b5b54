"""All metrics: their names and meanings, the figures of a process, and how those of several processes become one."""

import fcntl
import os
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import msgspec
import structlog
from msgspec import Struct

from tradecounter.kit.tasks import Seldom

log = structlog.get_logger()

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


_VERSION = version("tradecounter")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_MEMORY = Path("/proc/self/statm")  # of Linux; its second number is the resident memory in pages


def process_figures(site: str, connections: Mapping[str, int]) -> Figures:
    """Return the figures of this process, which serves `site`; `connections` are the statistics of its psycopg pool."""
    figures: Figures = {
        "processes": {(site, _VERSION): [1]},
        "processor_seconds": one(time.process_time()),
        **_pool_figures(connections),
    }
    if _MEMORY.exists():
        figures["resident_memory_bytes"] = one(int(_MEMORY.read_text().split()[1]) * _PAGE_BYTES)
    return figures


def _pool_figures(stats: Mapping[str, int]) -> Figures:
    size, idle = stats.get("pool_size", 0), stats.get("pool_available", 0)
    return {
        "database_connections": {("idle",): [idle], ("in_use",): [size - idle]},
        "database_connections_limit": one(stats.get("pool_max", 0)),
        "database_waiting": one(stats.get("requests_waiting", 0)),
        "database_waits": one(stats.get("requests_queued", 0)),
        "database_wait_seconds": one(stats.get("requests_wait_ms", 0) / 1000),
        "database_connection_failures": one(stats.get("connections_errors", 0)),
    }


_OUTDATED_SECONDS = 10.0  # after which a process that writes nothing hangs or has ended

_SUFFIX = ".figures"
_FOLDERS = "tradecounter-metrics-"
_IN_USE = "in-use"  # a file that the owner of a folder has locked, also until a kill -9


class _Written(msgspec.Struct):
    """The contents of a file; `at` is monotonic, which is the same time in all processes.

    Each process writes its figures to a file of its own, about once a second, and the process with the port reads all
    of them. Counters of processes that have ended are kept, or the sums would fall and look like restarts.
    """

    pid: int
    at: float
    figures: dict[str, list[tuple[Labels, list[float]]]]


@contextmanager
def figures_folder() -> Iterator[Path]:
    """Yield a new temporary folder for the files, and remove those that killed services have left."""
    with tempfile.TemporaryDirectory(prefix=_FOLDERS) as name, (Path(name) / "new").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Only now, because another service that starts removes a folder whose file it can lock.
        (Path(name) / "new").rename(Path(name) / _IN_USE)
        for folder in Path(name).parent.glob(f"{_FOLDERS}*"):
            _remove_unless_used(folder)
        yield Path(name)


def _remove_unless_used(folder: Path) -> None:
    with suppress(OSError):  # it is another user's, in use, or just made and without its lock yet
        if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
            return
        with (folder / _IN_USE).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)


class FiguresFile:
    """The file of one process in the folder that the processes share."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / f"{os.getpid()}-{secrets.token_hex(4)}{_SUFFIX}"
        self._failures = Seldom()

    def write(self, figures: Figures) -> None:
        """Replace the file's contents; readers see the old or the new contents.

        A failure is logged: a process serves requests also while the disk is full or the folder is gone.
        """
        rows = {name: list(of.items()) for name, of in figures.items()}
        new = self._path.with_suffix(".new")
        try:
            new.write_bytes(msgspec.json.encode(_Written(os.getpid(), time.monotonic(), rows)))
            new.replace(self._path)
        except OSError as error:
            if self._failures.is_due():
                log.warning("the figures for the metrics were not written", reason=str(error))


class SharedFigures:
    """The sums of the figures in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ended: Figures = {}
        self._one_at_a_time = threading.Lock()

    def read(self) -> Figures:
        """Return the sums; deletes the files of processes that have ended."""
        with self._one_at_a_time:
            return self._read()

    def _read(self) -> Figures:
        running = []
        for path in sorted(self._folder.glob(f"*{_SUFFIX}")):
            written = msgspec.json.decode(path.read_bytes(), type=_Written)
            # The processes may be of a newer release, which has further metrics.
            figures = {name: dict(rows) for name, rows in written.figures.items() if name in _BY_NAME}
            if time.monotonic() - written.at < _OUTDATED_SECONDS:
                running.append(figures)
            elif _is_running(written.pid):
                running.append(counters_of(figures))
            else:
                self._ended = combined([self._ended, counters_of(figures)])
                path.unlink()
        return combined([self._ended, *running])


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
