"""Starts traces, if OpenTelemetry's variables ask for them."""

from importlib import import_module

import structlog

from tradecounter.settings import traces_exporter

log = structlog.get_logger()


def start_wanted_traces(site: str) -> None:
    """Record traces of a process that serves `site`, if they are configured; without the extra, warn.

    The library is imported only then: it takes as long as the rest of the program. Raises OperatorError.
    """
    exporter = traces_exporter()
    if exporter is None:
        return
    try:
        traces = import_module("tradecounter.monitoring.traces")
    except ModuleNotFoundError as error:
        log.warning(
            "traces are configured but cannot be sent: install tradecounter[tracing], or unset the OTEL_ variables",
            missing=error.name,
        )
        return
    traces.start_traces(site, exporter)
