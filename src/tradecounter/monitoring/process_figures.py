"""The figures that every process has: memory, processor time, connections to the database."""

import os
import time
from importlib.metadata import version
from pathlib import Path

from tradecounter.db.pool import Database
from tradecounter.monitoring.metrics import Figures, one

_VERSION = version("tradecounter")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_MEMORY = Path("/proc/self/statm")  # of Linux; its second number is the resident memory in pages


def process_figures(site: str, database: Database) -> Figures:
    """Return the figures of this process, which serves `site` and uses `database`."""
    figures: Figures = {
        "processes": {(site, _VERSION): [1]},
        "processor_seconds": one(time.process_time()),
        **_pool_figures(database),
    }
    if _MEMORY.exists():
        figures["resident_memory_bytes"] = one(int(_MEMORY.read_text().split()[1]) * _PAGE_BYTES)
    return figures


def _pool_figures(database: Database) -> Figures:
    stats = database.pool.get_stats()
    size, idle = stats.get("pool_size", 0), stats.get("pool_available", 0)
    return {
        "database_connections": {("idle",): [idle], ("in_use",): [size - idle]},
        "database_connections_limit": one(stats.get("pool_max", 0)),
        "database_waiting": one(stats.get("requests_waiting", 0)),
        "database_waits": one(stats.get("requests_queued", 0)),
        "database_wait_seconds": one(stats.get("requests_wait_ms", 0) / 1000),
        "database_connection_failures": one(stats.get("connections_errors", 0)),
    }
