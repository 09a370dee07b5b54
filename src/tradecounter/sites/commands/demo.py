"""`tradecounter demo`: database, API, back office and worker in one process, with demo data."""

import asyncio
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import psycopg
import structlog
import typer
from msgspec import Struct
from msgspec.structs import asdict
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from tradecounter.db.migrate import upgrade
from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.demo.history.fill import fill_history
from tradecounter.demo.load import DemoCustomer, demo_customers, load_demo
from tradecounter.demo.people import DemoMember, DemoUser, demo_service_token, demo_staff, demo_users
from tradecounter.edge.command_line.output import AsJson, show_json
from tradecounter.edge.command_line.session import configure_logs, database_url, reporting_errors, run_until_stopped
from tradecounter.identity.installation_secret import secret_key, with_secret
from tradecounter.kit.clock import Clock, SystemClock
from tradecounter.notifications.transport import mail_folder
from tradecounter.sandbox.refresh import claim_database
from tradecounter.settings import Settings, read_settings
from tradecounter.sites.back_office import BackOffice
from tradecounter.sites.commands.service import Host, Port, require_secret
from tradecounter.sites.http.server import Listener, listen, serving
from tradecounter.sites.public import Application
from tradecounter.sites.worker import drain, run_worker

_WIDTH = 80  # columns of the smallest usual terminal
_CUSTOMER_FIELDS = ("id", "name", "api_key", "note", "email", "password")


class DemoPeople(Struct, frozen=True):
    """Who can use a demo; nobody new if the database contains other data."""

    customers: Sequence[DemoCustomer] = ()
    users: Sequence[DemoUser] = ()
    staff: Sequence[DemoMember] = ()
    service_token: str | None = None


class Demo(DemoPeople, frozen=True, kw_only=True):
    """The addresses of a demo, and who can use it."""

    base_url: str
    staff_url: str
    mail_folder: str | None


def show_demo_as_json(demo: Demo) -> None:
    """Print one line for programs."""
    show_json(
        {
            "base_url": demo.base_url,
            "docs_url": f"{demo.base_url}/docs",
            "backoffice_url": demo.staff_url,
            "customers": [{name: getattr(customer, name) for name in _CUSTOMER_FIELDS} for customer in demo.customers],
            "users": demo.users,
            "staff": demo.staff,
            "service_token": demo.service_token,
        }
    )


def show_demo(demo: Demo) -> None:
    """Print tables for people, in 80 columns."""
    typer.echo(f"\nTradecounter is ready at {demo.base_url} (reference: {demo.base_url}/docs)")
    typer.echo(f"Back office: {demo.staff_url} (reference: {demo.staff_url}/api/docs)")
    if demo.mail_folder is not None:
        typer.echo(f"E-mails are written to {demo.mail_folder}")
    if not demo.customers:
        typer.echo("\nThe database has no demo customers: it contains other data.\n\nCtrl-C stops everything.")
        return
    _print_table(
        f"Staff, at {demo.staff_url}",
        ("Role", "E-mail", "Password"),
        [(", ".join(member.roles), member.email, member.password) for member in demo.staff],
    )
    typer.echo(f"  Service token\n  {demo.service_token}\n")
    owners: list[tuple[str, ...]] = [(str(each.id), "owner", each.email, each.password) for each in demo.customers]
    others: list[tuple[str, ...]] = [
        (str(user.customer_id), user.role, user.email, user.password) for user in demo.users
    ]
    _print_table("Users of customers", ("Customer", "Role", "E-mail", "Password"), sorted(owners + others))
    typer.echo("  API keys of customers\n")
    for customer in demo.customers:
        lines = textwrap.wrap(f"{customer.id} {customer.name}: {customer.note}", _WIDTH - 4)
        typer.echo("".join(f"  {line}\n" for line in lines) + f"  {_key(customer)}\n")
    key = next((customer.api_key for customer in demo.customers if not customer.disabled), "YOUR_KEY")
    typer.echo("Try it:\n")
    typer.echo(f"  curl -H 'X-Api-Key: {key}' -H 'Accept: application/json' \\")
    typer.echo(f"    '{demo.base_url}/product?inStock=true&sort=price&limit=3'\n\nCtrl-C stops everything.")


def _key(customer: DemoCustomer) -> str:
    return f"{customer.api_key} (disabled)" if customer.disabled else customer.api_key


def _print_table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    typer.echo()
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=True)
    for name in names:
        table.add_column(name, no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(table, width=max(_WIDTH, table.__rich_measure__(console, console.options).minimum))


log = structlog.get_logger()

_LAST_PORT = 65535
_BANK = "Example Bank|Sort code 00-00-00|Account number 01234567"
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
    history: Annotated[
        bool,
        typer.Option(
            "--history/--no-history",
            help="Whether to add three months of orders, payments and returns after the start.",
        ),
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Start the whole service with demo data: database, API, back office and worker. Ctrl-C stops all of them."""
    configure_logs("demo")
    with reporting_errors():
        settings = read_settings()
        listener = listen(host, port)
        if backoffice_port is None:
            backoffice_port = port + 1 if 0 < port < _LAST_PORT else 0
        staff_listener = listen(host, backoffice_port, "--backoffice-port")
        with database_url(settings, create=True, serving=True) as url:
            upgrade(url)
            settings = with_secret(settings)
            if settings.sandbox:
                history = False  # its orders have their own times, and would all live on at once
                asyncio.run(_claim(url))
            settings = replace(settings, seller_bank=settings.seller_bank or _BANK)
            require_secret(settings, url)
            listeners = (listener, staff_listener)
            run_until_stopped(
                lambda stop: _run(settings, url, listeners, catalogue, stop, history=history, as_json=as_json)
            )


async def _claim(url: str) -> None:
    async with Database(url, connections=1) as database, transaction(database) as tx:
        await claim_database(tx)


async def _run(
    settings: Settings,
    url: str,
    listeners: tuple[Listener, Listener],
    catalogue: str | None,
    stop: asyncio.Event,
    *,
    history: bool,
    as_json: bool,
) -> None:
    clock = SystemClock()
    listener, staff_listener = listeners
    async with Database(url, connections=2) as database:
        await load_demo(database, settings, clock.now(), catalogue)
        people = await _people(database, secret_key(settings), clock)
    # E-mails name both sites, and addresses of pictures the customers' site.
    base_url = settings.base_url or listener.url
    linked_settings = replace(settings, base_url=base_url, backoffice_url=settings.backoffice_url or staff_listener.url)
    if settings.smtp_url is None:
        await drain(linked_settings, url, clock)  # before the keys, so that log lines about e-mails precede them
    # Few people use the back office of a demo.
    staff_settings = replace(
        settings,
        base_url=base_url,
        database_connections=min(settings.database_connections, _STAFF_CONNECTIONS),
    )
    async with (
        serving(Application, settings, url, clock, listener),
        serving(BackOffice, staff_settings, url, clock, staff_listener),
    ):
        working = asyncio.create_task(run_worker(linked_settings, url, clock, stop))
        shown = Demo(
            base_url=listener.url,
            staff_url=staff_listener.url,
            mail_folder=str(mail_folder(settings)) if settings.smtp_url is None else None,
            **asdict(people),
        )
        (show_demo_as_json if as_json else show_demo)(shown)
        filling = asyncio.create_task(_fill(settings, url, as_json=as_json)) if history and people.customers else None
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait({stopped, working}, return_when=asyncio.FIRST_COMPLETED)
        stop.set()
        if filling is not None:
            filling.cancel()
            await asyncio.wait({filling})
        await working


async def _people(database: Database, secret: str, clock: Clock) -> DemoPeople:
    customers = await demo_customers(database, secret, clock.now())
    if not customers:
        return DemoPeople()
    first = customers[0]
    _, _, domain = first.email.partition("@")
    return DemoPeople(
        customers=customers,
        users=await demo_users(database, secret, first.id, domain, clock.now()),
        staff=await demo_staff(database, secret, clock.now()),
        service_token=await demo_service_token(database, secret, clock.now()),
    )


async def _fill(settings: Settings, url: str, *, as_json: bool) -> None:
    """Add the history while the demo serves; a failure is logged, and the next start continues."""
    try:
        async with Database(url, connections=1) as database:
            filled = await fill_history(database, settings, secret_key(settings))
    except psycopg.Error as error:
        log.warning("the history is not complete: the next start continues", reason=str(error).strip())
        return
    if filled is None:
        return
    if as_json:  # standard output has one document, which says where the demo is
        log.info("the history is complete", added=filled.added, rejected=len(filled.rejected))
    else:
        typer.echo(f"\nThe history is complete: {filled.added} steps of the last three months.")
