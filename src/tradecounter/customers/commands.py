"""`tradecounter customer`: adds, edits, lists, shows and blocks customers."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Any

import typer
from msgspec import UNSET, structs
from msgspec.structs import asdict

from tradecounter.customers.change_account import block_customer, unblock_customer
from tradecounter.customers.operations.changes import CREDIT, change_customer, create_customer
from tradecounter.customers.operations.staff import present_customer
from tradecounter.customers.queries.accounts import fetch_account, list_accounts
from tradecounter.customers.queries.addresses import list_addresses
from tradecounter.customers.settings import Account, CustomerChange
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import CustomerId, Reason
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import AsJson, Parts, Prose, one_line, show, show_record
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import run_change, run_query
from tradecounter.edge.command_line.typer_internals import TyperChoice
from tradecounter.identity.queries.api_keys import KeyRecord, list_keys
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.numbers import alternatives

# Credit terms are removed together, by --no-credit.
_CLEARABLE = [
    field.name.replace("_", "-")
    for field in structs.fields(CustomerChange)
    if type(None) in alternatives(field.type) and field.name not in CREDIT
]

editing = typer.Typer()

_with_settings = partial(
    takes_request,
    email_address=Option("--email", metavar="E"),
    first_name=Option(metavar="F"),
    last_name=Option(metavar="L"),
    company=Option(metavar="C", help="The company's name."),
    accounts_email=Option(metavar="E"),
    trade_account=Option("--trade/--no-trade"),
    price_list=Option(metavar="KEY", help="The price list; without one, `default`."),
    credit_limit=Option(help="The credit limit, in pounds."),
    shipping_method=Option(metavar="ID"),
    order_mails=Option(help="If an order has no contact, send its e-mails to the login address."),
    external_id=Option(metavar="ID", help="Its id in another program; customers never see it."),
)


@editing.command("add")
@_with_settings(required=("email_address", "first_name", "last_name"))
def add(change: CustomerChange, as_json: AsJson = False) -> None:
    """Add a customer; without --credit-limit it has no credit terms and cannot order."""
    if (change.credit_limit is UNSET) != (change.term_days is UNSET):
        raise typer.BadParameter("--credit-limit and --term-days go together")

    async def work(tx: Transaction, now: datetime) -> Account:
        return await create_customer(tx, change, now)

    show_record(run_change(work), as_json=as_json)


@editing.command("edit")
@_with_settings()
def edit(
    customer_id: CustomerId,
    change: CustomerChange,
    no_credit: Annotated[bool, typer.Option("--no-credit", help="Remove the credit terms.")] = False,
    clear: Annotated[
        list[str] | None,
        typer.Option(click_type=TyperChoice(_CLEARABLE), help="Make this member empty; may be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change a customer; values without an option stay the same."""
    if no_credit and (change.credit_limit, change.term_days) != (UNSET, UNSET):
        raise typer.BadParameter("--no-credit contradicts --credit-limit and --term-days")
    cleared = _cleared(change, [*(clear or []), *(("credit-limit", "term-days") if no_credit else ())])
    if not cleared.columns():
        raise typer.BadParameter("at least one option is required")

    async def work(tx: Transaction, now: datetime) -> Account:
        return await change_customer(tx, customer_id, cleared, now)

    show_record(run_change(work), as_json=as_json)


def _cleared(change: CustomerChange, options: Sequence[str]) -> CustomerChange:
    """Return the change with members cleared. Raises BadParameter for a member that the change also sets."""
    for option in options:
        if getattr(change, _member(option)) is not UNSET:
            raise typer.BadParameter(f"--clear {option} contradicts --{option}")
    return structs.replace(change, **{_member(option): None for option in options})


def _member(option: str) -> str:
    return option.replace("-", "_")


app = typer.Typer(no_args_is_help=True, help="The reseller's customers.")

_COLUMNS = ("id", Prose("company"), "email_address", "credit_limit", "price_list", "discount", "term_days",
            "trade_account", "packing", "shipping_method", "blocked")  # fmt: skip
_ADDRESSES = ("id", Prose("contact_name"), Prose("street_one"), Prose("city", 12), "zip", "country_code",
              Prose("company_name"), Prose("street_two"), Prose("street_three"), "state", "contact_number",
              "tax_number")  # fmt: skip
_KEYS = ("id", Prose("name"), "prefix", "last_used_at", "disabled_at", "created_at")
_CREDIT = ("credit_limit", "total_outstanding", "available_credit", "unallocated", "overdue")
_PARTS: Parts = {"addresses": ("Addresses", _ADDRESSES), "keys": ("API keys", _KEYS)}


@app.command("list")
@lists_records(_COLUMNS)
async def show_all(tx: Transaction) -> list[Account]:
    """List all customers."""
    return await list_accounts(tx)


@app.command("show")
def show_one(customer_id: CustomerId, as_json: AsJson = False) -> None:
    """Show a customer with its credit, addresses and API keys."""

    async def work(tx: Transaction) -> dict[str, Any]:
        account = await fetch_account(tx, customer_id)
        credit = (await present_customer(tx, account, SystemClock().now())).credit
        return {
            **asdict(account),
            "credit": {name: getattr(credit, name) for name in _CREDIT},
            "addresses": await list_addresses(tx, customer_id),
            "keys": [_key(key) for key in await list_keys(tx, customer_id)],
        }

    show_record(run_query(work), parts=_PARTS, as_json=as_json)


@app.command("block")
def block(customer_id: CustomerId, reason: Reason, as_json: AsJson = False) -> None:
    """Block a customer: its keys and tokens are rejected within five seconds, and it cannot order."""
    account = run_change(lambda tx, now: block_customer(tx, customer_id, reason, now))
    show(account, f"customer {customer_id} ({one_line(account.name)}) is blocked", as_json=as_json)


@app.command("unblock")
def unblock(customer_id: CustomerId, as_json: AsJson = False) -> None:
    """Let a blocked customer's keys and tokens work again."""
    account = run_change(lambda tx, now: unblock_customer(tx, customer_id, now))
    show(account, f"customer {customer_id} ({one_line(account.name)}) is not blocked any more", as_json=as_json)


def _key(key: KeyRecord) -> dict[str, Any]:
    return {name: value for name, value in asdict(key).items() if name != "customer_id"}
