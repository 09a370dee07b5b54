"""`tradecounter customer add` and `customer edit`."""

from collections.abc import Callable
from decimal import Decimal
from enum import StrEnum
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import typer
from msgspec import UNSET, structs

from tradecounter.customers.change_account import LARGEST_LIMIT, change_customer, create_customer
from tradecounter.customers.settings import Account, CustomerChange, Packing
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import CustomerId, percent, pounds
from tradecounter.edge.command_line.output import AsJson, show_record
from tradecounter.edge.command_line.session import run_change
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.email_addresses import parse_email
from tradecounter.kit.money import rounded
from tradecounter.shipping.methods import require_method


class Clearable(StrEnum):
    """A customer's members that may be empty."""

    COMPANY = "company"
    ACCOUNTS_EMAIL = "accounts-email"
    PRICE_LIST = "price-list"
    SHIPPING_METHOD = "shipping-method"
    EXTERNAL_ID = "external-id"


def _email(text: str) -> str:
    if parse_email(text) is None:
        raise typer.BadParameter(f"{text!r} is not an e-mail address")
    return text


def _at_most(most: Decimal, value: Decimal) -> Decimal:
    if value > most:
        raise typer.BadParameter(f"must be between 0 and {most}")
    return rounded(value)


def _discount(text: str) -> Decimal:
    return _at_most(Decimal(100), percent(text))


def _limit(text: str) -> Decimal:
    return _at_most(LARGEST_LIMIT, pounds(text))


# The options of both commands, by member of CustomerChange.
_OPTIONS: dict[str, Any] = {
    "email_address": Annotated[str, typer.Option("--email", parser=_email, metavar="E", help="The login address.")],
    "first_name": Annotated[str, typer.Option("--first-name", metavar="F", help="The contact person's first name.")],
    "last_name": Annotated[str, typer.Option("--last-name", metavar="L", help="The contact person's last name.")],
    "company": Annotated[str, typer.Option("--company", metavar="C", help="The company's name.")],
    "accounts_email": Annotated[
        str, typer.Option("--accounts-email", parser=_email, metavar="E", help="Receives copies of invoices.")
    ],
    "trade_account": Annotated[
        bool, typer.Option("--trade/--no-trade", help="A trade account sees expected deliveries.")
    ],
    "price_list": Annotated[
        str, typer.Option("--price-list", metavar="KEY", help="The price list; without one, `default`.")
    ],
    "discount": Annotated[
        Decimal,
        typer.Option(
            "--discount",
            parser=_discount,
            metavar="PERCENT",
            help="Off all prices except contract prices.",
        ),
    ],
    "credit_limit": Annotated[
        Decimal,
        typer.Option("--credit-limit", parser=_limit, metavar="AMOUNT", help="The credit limit, in pounds."),
    ],
    "term_days": Annotated[
        int, typer.Option("--term-days", min=0, max=3650, metavar="N", help="Days from an invoice to its due date.")
    ],
    "packing": Annotated[Packing, typer.Option("--packing", help="The packing: `own` (own brand) or `plain`.")],
    "shipping_method": Annotated[
        int,
        typer.Option(
            "--shipping-method",
            min=1,
            max=2**31 - 1,
            metavar="ID",
            help="The default shipping method of orders.",
        ),
    ],
    "unique_references": Annotated[
        bool,
        typer.Option("--unique-references/--no-unique-references", help="Reject customer references used before."),
    ],
    "order_mails": Annotated[
        bool,
        typer.Option(
            "--order-mails/--no-order-mails",
            help="If an order has no contact, send its e-mails to the login address.",
        ),
    ],
    "external_id": Annotated[
        str, typer.Option("--external-id", metavar="ID", help="Its id in another program; customers never see it.")
    ],
}


def _with_options(*required: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add _OPTIONS to a command; the command receives their values as `change`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        def run(**values: Any) -> None:
            members = {name: values.pop(name) for name in _OPTIONS}
            change = CustomerChange(**{name: UNSET if value is None else value for name, value in members.items()})
            command(change=change, **values)

        options = [
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default=Parameter.empty if name in required else None,
                annotation=annotation,
            )
            for name, annotation in _OPTIONS.items()
        ]
        own = [p for p in signature(command).parameters.values() if p.name != "change"]
        run.__doc__ = command.__doc__
        run.__signature__ = Signature([*options, *own])  # type: ignore[attr-defined]  # Typer reads it
        return run

    return decorate


@_with_options("email_address", "first_name", "last_name")
def add(*, change: CustomerChange, as_json: AsJson = False) -> None:
    """Add a customer; without --credit-limit it has no credit terms and cannot order."""
    if (change.credit_limit is UNSET) != (change.term_days is UNSET):
        raise typer.BadParameter("--credit-limit and --term-days go together")

    async def work(tx: Transaction) -> Account:
        await _check_method(tx, change)
        return await create_customer(tx, change, SystemClock().now())

    show_record(run_change(work), as_json=as_json)


@_with_options()
def edit(
    *,
    customer_id: CustomerId,
    change: CustomerChange,
    no_credit: Annotated[bool, typer.Option("--no-credit", help="Remove the credit terms.")] = False,
    clear: Annotated[
        list[Clearable] | None, typer.Option("--clear", help="Make this member empty; may be repeated.")
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
        await _check_method(tx, change)
        changed = cleared.without_credit() if no_credit else cleared
        return await change_customer(tx, customer_id, changed, SystemClock().now())

    show_record(run_change(work), as_json=as_json)


def _cleared(change: CustomerChange, options: list[Clearable]) -> CustomerChange:
    """Return the change with members cleared. Raises BadParameter for a member that the change also sets."""
    empty = {option.replace("-", "_"): "" if option == Clearable.COMPANY else None for option in options}
    for name in empty:
        if getattr(change, name) is not UNSET:
            option = name.replace("_", "-")
            raise typer.BadParameter(f"--clear {option} contradicts --{option}")
    return structs.replace(change, **empty)


async def _check_method(tx: Transaction, change: CustomerChange) -> None:
    if isinstance(change.shipping_method, int):
        await require_method(tx, change.shipping_method)
