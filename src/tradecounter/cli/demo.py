"""`tradecounter demo`: database, API, back office and worker in one process, with demo data."""

import asyncio
from dataclasses import dataclass, replace
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
from tradecounter.demo.people import DemoMember, demo_service_token, demo_staff
from tradecounter.identity.installation_secret import secret_key
from tradecounter.kit.clock import Clock, SystemClock
from tradecounter.notifications.transport import mail_folder
from tradecounter.settings import Settings, read_settings
from tradecounter.web.app import Application
from tradecounter.web.backoffice import BackOffice
from tradecounter.web.server import Listener, listen, serving
from tradecounter.worker import drain, run_worker

_LAST_PORT = 65535
_STAFF_CONNECTIONS = 4


def demo(
    host: Host = "127.0.0.1",
    port: Port = 8000,
    catalogue: Annotated[
        str | None, typer.Option(metavar="FILE", help="Products to load on the first start, instead of the demo's own.")
    ] = None,
    backoffice_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            metavar="P",
            help="The back office's port; 0 for any free one. Default: the next after --port.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start the whole service with demo data: database, API, back office and worker. Ctrl-C stops all of them."""
    configure_logs()
    with reporting_errors():
        settings = read_settings()
        listener = listen(host, port)
        staff_listener = listen(host, _next_port(port) if backoffice_port is None else backoffice_port)
        with database_url(settings, create=True, serving=True) as url:
            upgrade(url)
            require_secret(settings, url)
            listeners = (listener, staff_listener)
            run_until_stopped(lambda stop: _run(settings, url, listeners, catalogue, stop, as_json=as_json))


def _next_port(port: int) -> int:
    return port + 1 if 0 < port < _LAST_PORT else 0


async def _run(
    settings: Settings,
    url: str,
    listeners: tuple[Listener, Listener],
    catalogue: str | None,
    stop: asyncio.Event,
    *,
    as_json: bool,
) -> None:
    clock = SystemClock()
    listener, staff_listener = listeners
    async with Database(url, connections=2) as database:
        await load_demo(database, settings, clock.now(), catalogue)
        demo = await _demo(database, secret_key(settings), clock)
    mail_settings = replace(settings, base_url=settings.base_url or listener.url)  # e-mails contain links to the API
    if settings.smtp_url is None:
        await drain(mail_settings, url, clock)  # before the keys, so that log lines about e-mails precede them
    # Few people use the back office of a demo.
    staff_settings = replace(settings, database_connections=min(settings.database_connections, _STAFF_CONNECTIONS))
    async with (
        serving(Application, settings, url, clock, listener),
        serving(BackOffice, staff_settings, url, clock, staff_listener),
    ):
        working = asyncio.create_task(run_worker(mail_settings, url, clock, stop))
        _announce(listener.url, staff_listener.url, demo, settings, as_json=as_json)
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait({stopped, working}, return_when=asyncio.FIRST_COMPLETED)
        stop.set()
        await working


@dataclass(frozen=True, slots=True)
class _Demo:
    """Who can use the demo; nobody new if the database contains other data."""

    customers: list[DemoCustomer]
    staff: list[DemoMember]
    service_token: str | None


async def _demo(database: Database, secret: str, clock: Clock) -> _Demo:
    customers = await demo_customers(database, secret, clock.now())
    if not customers:
        return _Demo([], [], None)
    staff = await demo_staff(database, secret, clock.now())
    return _Demo(customers, staff, await demo_service_token(database, secret, clock.now()))


def _announce(base_url: str, staff_url: str, demo: _Demo, settings: Settings, *, as_json: bool) -> None:
    if as_json:
        names = ("id", "name", "api_key", "note", "email", "password")
        show_json(
            {
                "base_url": base_url,
                "docs_url": f"{base_url}/docs",
                "backoffice_url": staff_url,
                "customers": [{name: getattr(customer, name) for name in names} for customer in demo.customers],
                "staff": demo.staff,
                "service_token": demo.service_token,
            }
        )
        return
    typer.echo(f"\nTradecounter is ready at {base_url} (reference: {base_url}/docs)")
    typer.echo(f"Back office: {staff_url} (reference: {staff_url}/api/docs)\n")
    if settings.smtp_url is None:
        typer.echo(f"E-mails are written to {mail_folder(settings)}\n")
    for customer in demo.customers:
        disabled = " (disabled)" if customer.disabled else ""
        typer.echo(f"  {customer.name}\n    key   {customer.api_key}{disabled}\n    note  {customer.note}\n")
    if not demo.customers:
        typer.echo("The database has no demo customers: it contains other data.\n\nCtrl-C stops everything.")
        return
    typer.echo(f"  Back office\n    token {demo.service_token}\n")
    key = next((customer.api_key for customer in demo.customers if not customer.disabled), "YOUR_KEY")
    typer.echo("Try it:\n")
    typer.echo(f"  curl -H 'X-Api-Key: {key}' -H 'Accept: application/json' \\")
    typer.echo(f"    '{base_url}/product?inStock=true&sort=price&limit=3'\n\nCtrl-C stops everything.")
