"""Logs: a JSON object per line on standard error."""

import logging
import os
import sys
from functools import partial

import structlog
from structlog.tracebacks import ExceptionDictTransformer


def configure_logs(process: str) -> None:
    """Write all logs, including those of libraries, to standard error as JSON lines.

    Each line names the process: what it does (`serve`, `worker` …) and its id.
    """
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        partial(_named, process),
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        # Tracebacks without local variables, which contain API keys and customers' data.
        structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False)),
    ]
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer()],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=True,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, structlog.processors.JSONRenderer()],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    # Warns at every attempt to connect; the program says once that the database is away, and when it is back.
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)


def _named(
    process: str, _logger: structlog.types.WrappedLogger, _method: str, event: structlog.types.EventDict
) -> structlog.types.EventDict:
    event.setdefault("process", process)
    event.setdefault("pid", os.getpid())  # at each line: API processes are forked
    return event
