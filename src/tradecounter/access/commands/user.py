"""`tradecounter user`: customers' users, who sign in to the account pages."""

from typing import Annotated

import typer
from msgspec import UNSET

from tradecounter.access.links import link_token, user_address
from tradecounter.access.own_users import UserChange, change_user
from tradecounter.access.queries.users import list_users
from tradecounter.access.users import disable_user, fetch_user, invite_user, reset_user
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import CustomerId
from tradecounter.edge.command_line.output import AsJson, show, show_table
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import from_settings, run_change, run_query
from tradecounter.edge.command_line.tables import ColumnNames, Prose
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.permissions import USER_ROLES, UserRole
from tradecounter.identity.installation_secret import secret_key
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.money import in_pounds
from tradecounter.settings import read_settings

app = typer.Typer(no_args_is_help=True, help="Customers' users, who sign in to the account pages.")

Email = Annotated[str, typer.Argument(metavar="EMAIL", help="The user's e-mail address.")]


@app.command("invite")
def invite(
    customer_id: CustomerId,
    email: Email,
    role: Annotated[UserRole, typer.Option(metavar="R", help=f"One of {', '.join(USER_ROLES)}.")],
    as_json: AsJson = False,
) -> None:
    """Add a user, or change the role, and send a link to set the password by e-mail."""
    secret = from_settings(secret_key)
    user, link_id = run_change(lambda tx: invite_user(tx, customer_id, email, role, secret, SystemClock().now()))
    _show(user, secret, link_id, as_json=as_json)


@app.command("list")
def show_all(customer_id: CustomerId, columns: ColumnNames = None, as_json: AsJson = False) -> None:
    """List a customer's users, disabled ones included."""

    async def work(tx: Transaction) -> list[CustomerUser]:
        await fetch_account(tx, customer_id)
        return await list_users(tx, customer_id)

    shown = ("email", Prose("name"), "role", "order_limit", "has_password", "disabled_at", "created_at", "id")
    show_table(run_query(work), shown, as_json=as_json, names=columns)


@app.command("edit")
@takes_request(
    roles=Option("--role", f"One of {', '.join(USER_ROLES)}; may be repeated. Replaces all roles.", "R"),
    order_limit=Option("--limit", "The total, with VAT, above which an order needs approval."),
)
def edit(
    email: Email,
    change: UserChange,
    no_limit: Annotated[bool, typer.Option("--no-limit", help="No order needs approval.")] = False,
    as_json: AsJson = False,
) -> None:
    """Change a user's roles, and the limit for one order; what is not named stays."""
    if no_limit:
        if change.order_limit is not UNSET:
            raise typer.BadParameter("give either --limit or --no-limit")
        change.order_limit = None

    async def work(tx: Transaction) -> CustomerUser:
        user = await fetch_user(tx, email)
        return await change_user(tx, user.customer_id, user.id, change, SystemClock().now())

    user = run_change(work)
    limited = "no limit" if user.order_limit is None else f"a limit of {in_pounds(user.order_limit)} for one order"
    shown = {"email": user.email, "roles": list(user.roles), "order_limit": user.order_limit}
    show(shown, f"{user.email} is {', '.join(user.roles)}, with {limited}", as_json=as_json)


@app.command("disable")
def disable(email: Email, as_json: AsJson = False) -> None:
    """Disable a user."""
    user = run_change(lambda tx: disable_user(tx, email, SystemClock().now()))
    show({"email": user.email, "disabled": True}, f"{user.email} is disabled", as_json=as_json)


@app.command("reset")
def reset(email: Email, as_json: AsJson = False) -> None:
    """Delete a user's password and second factor, enable the user, and send a link to set a new password by e-mail."""
    secret = from_settings(secret_key)
    user, link_id = run_change(lambda tx: reset_user(tx, email, secret, SystemClock().now()))
    _show(user, secret, link_id, as_json=as_json)


def _show(user: CustomerUser, secret: str, link_id: int, *, as_json: bool) -> None:
    link = user_address(read_settings().base_url, link_token(secret, link_id))
    text = f"{user.email} ({user.role}) gets an e-mail with a link to set the password within seven days:\n{link}"
    show({"email": user.email, "role": user.role, "link": link}, text, as_json=as_json)
