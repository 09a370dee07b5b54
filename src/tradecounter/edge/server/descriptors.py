"""Limits client connections to the number that the process's limit of open files allows."""

import resource
from pathlib import Path

import structlog

from tradecounter.edge.server.connection.connections import DESCRIPTORS_KEPT_FREE
from tradecounter.kit.errors import OperatorError
from tradecounter.settings import PREFIX

log = structlog.get_logger()


def fitting_connections(wanted: int, database_connections: int) -> int:
    """Return how many client connections can be open, at most `wanted`; log a warning if fewer can.

    Increases the soft limit of open files up to the hard limit if necessary. Counts the files that are open, the
    database connections and a reserve first. Raises OperatorError if they leave no client connection.
    """
    own = sum(1 for _ in Path("/dev/fd").iterdir()) + database_connections + DESCRIPTORS_KEPT_FREE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted + own:
        return wanted
    limit = wanted + own if hard == resource.RLIM_INFINITY else min(wanted + own, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    if limit <= own:
        raise OperatorError(f"the process may open only {limit} files and needs {own} by itself: raise `ulimit -n`")
    if limit < wanted + own:
        log.warning(
            "fewer client connections than wanted: the process may not open enough files",
            setting=f"{PREFIX}MAX_CONNECTIONS",
            wanted=wanted,
            possible=limit - own,
            files=limit,
        )
    return min(wanted, limit - own)
