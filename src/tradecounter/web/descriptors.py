"""The number of connections that the process's limit of open files allows."""

import resource
from pathlib import Path

import structlog

from tradecounter.kit.errors import OperatorError
from tradecounter.settings import PREFIX
from tradecounter.web.connection.connections import DESCRIPTORS_KEPT_FREE

log = structlog.get_logger()


def fitting_connections(wanted: int, database_connections: int) -> int:
    """Return how many of the wanted client connections can be open at the same time; log a warning if not all can.

    Raises the soft limit of open files up to the hard limit if necessary. The service itself needs the open files, the
    database's connections and some more. Raises OperatorError when no client connection fits beside them.
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
