"""Prints the demo's addresses, log-ins and keys, for people and for programs."""

import textwrap
from collections.abc import Sequence

import typer
from msgspec import Struct
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from tradecounter.demo.load import DemoCustomer
from tradecounter.demo.people import DemoMember, DemoUser
from tradecounter.edge.command_line.output import show_json

_WIDTH = 80  # columns of the smallest usual terminal
_CUSTOMER_FIELDS = ("id", "name", "api_key", "note", "email", "password")


class Demo(Struct, frozen=True, kw_only=True):
    """The addresses of a demo and who can use it; nobody new if the database contains other data."""

    base_url: str
    staff_url: str
    mail_folder: str | None
    customers: Sequence[DemoCustomer]
    users: Sequence[DemoUser]
    staff: Sequence[DemoMember]
    service_token: str | None


def show_demo_as_json(demo: Demo) -> None:
    """Print one line for programs."""
    show_json(
        {
            "base_url": demo.base_url,
            "docs_url": f"{demo.base_url}/docs",
            "backoffice_url": demo.staff_url,
            "customers": [{name: getattr(each, name) for name in _CUSTOMER_FIELDS} for each in demo.customers],
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
        (str(each.customer_id), each.role, each.email, each.password) for each in demo.users
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
