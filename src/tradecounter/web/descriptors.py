"""How many connections fit below the number of files that the process may have open."""

import resource
from pathlib import Path

import structlog

from tradecounter.kit.errors import OperatorError
from tradecounter.settings import PREFIX
from tradecounter.web.connection.connections import DESCRIPTORS_KEPT_FREE

log = structlog.get_logger()


def fitting_connections(wanted: int, database_connections: int) -> int:
    """Return how many of the wanted client connections can be open at once, and log it when that is not all.

    The soft limit of open files is raised as far as that is needed and the hard limit allows. What is open now, the
    database's connections and some more are left for the service itself; when no client connection fits beside them,
    OperatorError is raised.
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
