"""`tradecounter demo`: database, API and worker in one process, with demo data."""

import asyncio
from dataclasses import replace
from typing import Annotated

import typer

from tradecounter.cli.logs import configure_logs
from tradecounter.cli.output import AsJson, show_json
from tradecounter.cli.secret import require_secret
from tradecounter.cli.serve import Host, Port
from tradecounter.cli.session import database_url, reporting_errors, run_until_stopped
from tradecounter.db.migrate import upgrade
from tradecounter.db.pool import Database
from tradecounter.demo.load import DemoCustomer, demo_customers, load_demo
from tradecounter.identity.installation_secret import secret_key
from tradecounter.kit.clock import SystemClock
from tradecounter.notifications.transport import mail_folder
from tradecounter.settings import Settings, read_settings
from tradecounter.web.app import Application
from tradecounter.web.server import Listener, listen, serving
from tradecounter.worker import drain, run_worker


def demo(
    host: Host = "127.0.0.1",
    port: Port = 8000,
    catalogue: Annotated[
        str | None, typer.Option(metavar="FILE", help="Products to load on the first start, instead of the demo's own.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start the whole service with demo data: database, API and worker. Ctrl-C stops all of it."""
    configure_logs()
    with reporting_errors():
        settings = read_settings()
        listener = listen(host, port)
        with database_url(settings, create=True, serving=True) as url:
            upgrade(url)
            require_secret(settings, url)
            run_until_stopped(lambda stop: _run(settings, url, listener, catalogue, stop, as_json=as_json))


async def _run(
    settings: Settings, url: str, listener: Listener, catalogue: str | None, stop: asyncio.Event, *, as_json: bool
) -> None:
    clock = SystemClock()
    async with Database(url, connections=2) as database:
        await load_demo(database, settings, clock.now(), catalogue)
        customers = await demo_customers(database, secret_key(settings), clock.now())
    mail_settings = replace(settings, base_url=settings.base_url or listener.url)  # mails link to the API
    if settings.smtp_url is None:
        await drain(
            mail_settings, url, clock
        )  # before the keys are printed, so that the log lines of mails do not follow them
    async with serving(Application, settings, url, clock, listener):
        working = asyncio.create_task(run_worker(mail_settings, url, clock, stop))
        _announce(listener.url, customers, settings, as_json=as_json)
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait({stopped, working}, return_when=asyncio.FIRST_COMPLETED)
        stop.set()
        await working


def _announce(base_url: str, customers: list[DemoCustomer], settings: Settings, *, as_json: bool) -> None:
    if as_json:
        shown = [{"id": c.id, "name": c.name, "api_key": c.api_key, "note": c.note} for c in customers]
        show_json({"base_url": base_url, "docs_url": f"{base_url}/docs", "customers": shown})
        return
    typer.echo(f"\nTradecounter is ready at {base_url} (reference: {base_url}/docs)\n")
    if settings.smtp_url is None:
        typer.echo(f"Mails are written to {mail_folder(settings)}\n")
    for customer in customers:
        disabled = " (disabled)" if customer.disabled else ""
        typer.echo(f"  {customer.name}\n    key   {customer.api_key}{disabled}\n    note  {customer.note}\n")
    if not customers:
        typer.echo("The database has no demo customers: it contains other data.\n\nCtrl-C stops everything.")
        return
    key = next((customer.api_key for customer in customers if not customer.disabled), "YOUR_KEY")
    typer.echo("Try it:\n")
    typer.echo(f"  curl -H 'X-Api-Key: {key}' -H 'Accept: application/json' \\")
    typer.echo(f"    '{base_url}/product?inStock=true&sort=price&limit=3'\n\nCtrl-C stops everything.")
