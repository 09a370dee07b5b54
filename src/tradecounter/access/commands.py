"""`tradecounter staff`, `user` and `token`: staff members, customers' users, and service tokens."""

from datetime import datetime
from typing import Annotated

import typer
from msgspec import UNSET

from tradecounter.access.links import PAGE, link_token, site_address, staff_address
from tradecounter.access.queries.people import ListedMember, fetch_user, list_staff, list_users
from tradecounter.access.queries.tokens import TokenRecord, list_tokens
from tradecounter.access.staff import (
    NewStaffMember,
    add_staff_member,
    disable_staff_member,
    edit_staff_member,
    reset_staff_member,
)
from tradecounter.access.tokens import add_token, revoke_token
from tradecounter.access.users import UserChange, change_user, disable_user, invite_user, reset_user
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import CustomerId, IdOf, until
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import AsJson, Prose, show
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import from_settings, run_change
from tradecounter.edge.people import CustomerUser, StaffMember
from tradecounter.edge.permissions import ROLES, SCOPES, USER_ROLES, UserRole
from tradecounter.identity.installation_secret import secret_key
from tradecounter.kit.money import in_pounds
from tradecounter.settings import read_settings

staff_app = typer.Typer(no_args_is_help=True, help="Staff members, who use the back office.")

MemberEmail = Annotated[str, typer.Argument(metavar="EMAIL", help="The staff member's e-mail address.")]


@staff_app.command("add")
@takes_request(required=("roles",), email=Option("EMAIL"), roles=Option("--role", metavar="R"))
def staff_add(new: NewStaffMember, as_json: AsJson = False) -> None:
    """Add a staff member; prints a link to set the password."""
    secret = from_settings(secret_key)
    member, link_id = run_change(lambda tx, now: add_staff_member(tx, new, secret, now))
    _show_member(member, secret, link_id, as_json=as_json)


@staff_app.command("list")
@lists_records(
    ("email", Prose("name"), "roles", "has_password", "has_second_factor", "seen_at", "disabled_at", "created_at", "id")
)
async def staff_list(tx: Transaction) -> list[ListedMember]:
    """List staff members, disabled ones included."""
    return await list_staff(tx)


@staff_app.command("edit")
def staff_edit(
    email: MemberEmail,
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="The member's new name.")] = None,
    roles: Annotated[
        list[str] | None,
        typer.Option("--role", metavar="R", help=f"One of {', '.join(ROLES)}; may be repeated. Replaces all roles."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change a staff member's name or roles."""
    member = run_change(lambda tx, now: edit_staff_member(tx, email, name, roles or None, now))
    text = f"{member.email}: {member.name} ({', '.join(member.roles)})"
    show({"email": member.email, "name": member.name, "roles": member.roles}, text, as_json=as_json)


@staff_app.command("disable")
def staff_disable(email: MemberEmail, as_json: AsJson = False) -> None:
    """Disable a staff member."""
    member = run_change(lambda tx, now: disable_staff_member(tx, email, now))
    show({"email": member.email, "disabled": True}, f"{member.email} is disabled", as_json=as_json)


@staff_app.command("reset")
def staff_reset(email: MemberEmail, as_json: AsJson = False) -> None:
    """Delete a member's password and second factor, and enable it; prints a link to set a new password."""
    secret = from_settings(secret_key)
    member, link_id = run_change(lambda tx, now: reset_staff_member(tx, email, secret, now))
    _show_member(member, secret, link_id, as_json=as_json)


def _show_member(member: StaffMember, secret: str, link_id: int, *, as_json: bool) -> None:
    link = staff_address(read_settings(), link_token(secret, link_id))
    text = f"{member.email} ({', '.join(member.roles)}) sets the password at\n{link}\nwithin seven days."
    show({"email": member.email, "roles": member.roles, "link": link}, text, as_json=as_json)


user_app = typer.Typer(no_args_is_help=True, help="Customers' users, who sign in to the account pages.")

UserEmail = Annotated[str, typer.Argument(metavar="EMAIL", help="The user's e-mail address.")]


@user_app.command("invite")
def user_invite(
    customer_id: CustomerId,
    email: UserEmail,
    role: Annotated[UserRole, typer.Option(metavar="R", help=f"One of {', '.join(USER_ROLES)}.")],
    as_json: AsJson = False,
) -> None:
    """Add a user, or change the first role, and send a link to set the password by e-mail."""
    secret = from_settings(secret_key)
    user, link_id = run_change(lambda tx, now: invite_user(tx, customer_id, email, role, secret, now))
    _show_user(user, secret, link_id, as_json=as_json)


@user_app.command("list")
@lists_records(("email", Prose("name"), "role", "order_limit", "has_password", "disabled_at", "created_at", "id"))
async def user_list(tx: Transaction, customer_id: CustomerId) -> list[CustomerUser]:
    """List a customer's users, disabled ones included."""
    await fetch_account(tx, customer_id)
    return await list_users(tx, customer_id)


@user_app.command("edit")
@takes_request(
    roles=Option("--role", f"One of {', '.join(USER_ROLES)}; may be repeated. Replaces all roles.", "R"),
    order_limit=Option("--limit", "The total, with VAT, above which an order needs approval."),
)
def user_edit(
    email: UserEmail,
    change: UserChange,
    no_limit: Annotated[bool, typer.Option("--no-limit", help="No order needs approval.")] = False,
    as_json: AsJson = False,
) -> None:
    """Change a user's roles, and the limit for one order; what is not named stays."""
    if no_limit:
        if change.order_limit is not UNSET:
            raise typer.BadParameter("give either --limit or --no-limit")
        change.order_limit = None

    async def work(tx: Transaction, now: datetime) -> CustomerUser:
        user = await fetch_user(tx, email)
        return await change_user(tx, user.customer_id, user.id, change, now)

    user = run_change(work)
    limited = "no limit" if user.order_limit is None else f"a limit of {in_pounds(user.order_limit)} for one order"
    shown = {"email": user.email, "roles": list(user.roles), "order_limit": user.order_limit}
    show(shown, f"{user.email} is {', '.join(user.roles)}, with {limited}", as_json=as_json)


@user_app.command("disable")
def user_disable(email: UserEmail, as_json: AsJson = False) -> None:
    """Disable a user."""

    async def work(tx: Transaction, now: datetime) -> CustomerUser:
        user = await fetch_user(tx, email)
        await disable_user(tx, user, now)
        return user

    user = run_change(work)
    show({"email": user.email, "disabled": True}, f"{user.email} is disabled", as_json=as_json)


@user_app.command("reset")
def user_reset(email: UserEmail, as_json: AsJson = False) -> None:
    """Delete a user's password and second factor, enable the user, and send a link to set a new password by e-mail."""
    secret = from_settings(secret_key)
    user, link_id = run_change(lambda tx, now: reset_user(tx, email, secret, now))
    _show_user(user, secret, link_id, as_json=as_json)


def _show_user(user: CustomerUser, secret: str, link_id: int, *, as_json: bool) -> None:
    link = site_address("account", read_settings().base_url, f"{PAGE}{link_token(secret, link_id)}")
    text = f"{user.email} ({user.role}) gets an e-mail with a link to set the password within seven days:\n{link}"
    show({"email": user.email, "role": user.role, "link": link}, text, as_json=as_json)


token_app = typer.Typer(no_args_is_help=True, help="Service tokens, with which programs call the back office.")


@token_app.command("add")
def token_add(
    name: Annotated[str, typer.Option(metavar="TEXT", help="The program that uses it.")],
    scopes: Annotated[
        list[str],
        typer.Option("--scope", metavar="S", help=f"One of {', '.join(SCOPES)}; may be repeated. Write includes read."),
    ],
    expires: Annotated[
        datetime | None, typer.Option(parser=until, metavar="D", help="The last day, or a UK time. Default: never.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a service token; it is shown only once."""
    added, token = run_change(lambda tx, now: add_token(tx, name, scopes, now, expires))
    text = f"token {added.id}: {token}\nStore it now: it is not shown again."
    show({"id": added.id, "name": added.name, "scopes": added.scopes, "token": token}, text, as_json=as_json)


@token_app.command("list")
@lists_records(("id", Prose("name"), "prefix", "scopes", "last_used_at", "expires_at", "revoked_at", "created_at"))
async def token_list(tx: Transaction) -> list[TokenRecord]:
    """List service tokens, revoked ones included."""
    return await list_tokens(tx)


@token_app.command("revoke")
def token_revoke(
    token_id: Annotated[int, IdOf("ID", "The token's id, from `token list`.")], as_json: AsJson = False
) -> None:
    """Revoke a service token, at once."""
    revoked = run_change(lambda tx, now: revoke_token(tx, token_id, now))
    show({"id": token_id, "revoked": True}, f"token {token_id} ({revoked.name}) is revoked", as_json=as_json)
