"""`tradecounter customer add` and `customer edit`."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer
from msgspec import UNSET, structs
from typer._types import TyperChoice

from tradecounter.customers.change_account import change_customer, create_customer
from tradecounter.customers.operations.changes import account_change
from tradecounter.customers.operations.field_rights import CREDIT
from tradecounter.customers.settings import Account, CustomerChange
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import CustomerId
from tradecounter.edge.command_line.output import AsJson, show_record
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import run_change
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.number_types import alternatives

# Credit terms are removed together, by --no-credit.
_CLEARABLE = [
    field.name.replace("_", "-")
    for field in structs.fields(CustomerChange)
    if type(None) in alternatives(field.type) and field.name not in CREDIT
]

app = typer.Typer()

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


@app.command("add")
@_with_settings(required=("email_address", "first_name", "last_name"))
def add(change: CustomerChange, as_json: AsJson = False) -> None:
    """Add a customer; without --credit-limit it has no credit terms and cannot order."""
    if (change.credit_limit is UNSET) != (change.term_days is UNSET):
        raise typer.BadParameter("--credit-limit and --term-days go together")

    async def work(tx: Transaction) -> Account:
        return await create_customer(tx, await account_change(tx, change, new=True), SystemClock().now())

    show_record(run_change(work), as_json=as_json)


@app.command("edit")
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
    cleared = _cleared(change, clear or [])
    if not no_credit and not cleared.columns():
        raise typer.BadParameter("at least one option is required")

    async def work(tx: Transaction) -> Account:
        changed = await account_change(tx, cleared.without_credit() if no_credit else cleared)
        return await change_customer(tx, customer_id, changed, SystemClock().now())

    show_record(run_change(work), as_json=as_json)


def _cleared(change: CustomerChange, options: Sequence[str]) -> CustomerChange:
    """Return the change with members cleared. Raises BadParameter for a member that the change also sets."""
    for option in options:
        if getattr(change, _member(option)) is not UNSET:
            raise typer.BadParameter(f"--clear {option} contradicts --{option}")
    return structs.replace(change, **{_member(option): None for option in options})


def _member(option: str) -> str:
    return option.replace("-", "_")
