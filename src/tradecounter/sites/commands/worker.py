"""`tradecounter worker`: the background jobs."""

import asyncio

import typer

from tradecounter.db.jobs import SILENT_SECONDS
from tradecounter.edge.command_line.output import AsJson, show_json
from tradecounter.edge.command_line.session import configure_logs, reporting_errors, run_until_stopped
from tradecounter.jobs.watch import Backlog
from tradecounter.kit.clock import SystemClock
from tradecounter.settings import read_settings
from tradecounter.sites.commands.service import (
    Metrics,
    MetricsHost,
    MetricsPort,
    announce_metrics,
    checked_database,
    start_wanted_traces,
)
from tradecounter.sites.worker import run_worker


def worker(metrics_host: MetricsHost = "127.0.0.1", metrics_port: MetricsPort = None, as_json: AsJson = False) -> None:
    """Run background jobs until stopped."""
    configure_logs("worker")
    metrics, backlog = Metrics(metrics_host, metrics_port), Backlog(SILENT_SECONDS)
    with reporting_errors(), checked_database(read_settings()) as (settings, url, state):
        start_wanted_traces("worker")

        async def run(stop: asyncio.Event) -> None:
            with metrics.served(backlog.figures) as addresses:
                if as_json:
                    show_json({"revision": state.revision, **addresses})
                else:
                    typer.echo("Working (Ctrl-C stops)", err=True)
                    announce_metrics(addresses)
                watched = backlog if addresses else None
                await run_worker(settings, url, SystemClock(), stop, watched)

        run_until_stopped(run)
