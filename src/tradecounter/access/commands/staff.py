"""`tradecounter staff`: the staff members who use the back office."""

from typing import Annotated

import typer

from tradecounter.access.links import link_token, staff_address
from tradecounter.access.queries.staff import list_staff
from tradecounter.access.staff import (
    NewStaffMember,
    add_staff_member,
    disable_staff_member,
    edit_staff_member,
    reset_staff_member,
)
from tradecounter.edge.command_line.output import AsJson, show, show_table
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import from_settings, run_change, run_query
from tradecounter.edge.command_line.tables import ColumnNames, Prose
from tradecounter.edge.people import StaffMember
from tradecounter.edge.permissions import ROLES
from tradecounter.identity.installation_secret import secret_key
from tradecounter.kit.clock import SystemClock
from tradecounter.settings import read_settings

app = typer.Typer(no_args_is_help=True, help="Staff members, who use the back office.")

Email = Annotated[str, typer.Argument(metavar="EMAIL", help="The staff member's e-mail address.")]


@app.command("add")
@takes_request(required=("roles",), email=Option("EMAIL"), roles=Option("--role", metavar="R"))
def add(new: NewStaffMember, as_json: AsJson = False) -> None:
    """Add a staff member; prints a link to set the password."""
    secret = from_settings(secret_key)
    member, link_id = run_change(lambda tx: add_staff_member(tx, new, secret, SystemClock().now()))
    _show(member, secret, link_id, as_json=as_json)


@app.command("list")
def show_all(columns: ColumnNames = None, as_json: AsJson = False) -> None:
    """List staff members, disabled ones included."""
    signing_in = ("has_password", "has_second_factor", "seen_at")
    shown = ("email", Prose("name"), "roles", *signing_in, "disabled_at", "created_at", "id")
    show_table(run_query(list_staff), shown, as_json=as_json, names=columns)


@app.command("edit")
def edit(
    email: Email,
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="The member's new name.")] = None,
    roles: Annotated[
        list[str] | None,
        typer.Option("--role", metavar="R", help=f"One of {', '.join(ROLES)}; may be repeated. Replaces all roles."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change a staff member's name or roles."""
    member = run_change(lambda tx: edit_staff_member(tx, email, name, roles or None, SystemClock().now()))
    text = f"{member.email}: {member.name} ({', '.join(member.roles)})"
    show({"email": member.email, "name": member.name, "roles": member.roles}, text, as_json=as_json)


@app.command("disable")
def disable(email: Email, as_json: AsJson = False) -> None:
    """Disable a staff member."""
    member = run_change(lambda tx: disable_staff_member(tx, email, SystemClock().now()))
    show({"email": member.email, "disabled": True}, f"{member.email} is disabled", as_json=as_json)


@app.command("reset")
def reset(email: Email, as_json: AsJson = False) -> None:
    """Delete a member's password and second factor, and enable it; prints a link to set a new password."""
    secret = from_settings(secret_key)
    member, link_id = run_change(lambda tx: reset_staff_member(tx, email, secret, SystemClock().now()))
    _show(member, secret, link_id, as_json=as_json)


def _show(member: StaffMember, secret: str, link_id: int, *, as_json: bool) -> None:
    link = staff_address(read_settings(), link_token(secret, link_id))
    text = f"{member.email} ({', '.join(member.roles)}) sets the password at\n{link}\nwithin seven days."
    show({"email": member.email, "roles": member.roles, "link": link}, text, as_json=as_json)
