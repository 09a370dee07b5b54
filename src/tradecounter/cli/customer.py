"""`tradecounter customer`: the reseller's customers."""

import re
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Annotated, Any, cast

import typer
from msgspec import UNSET

from tradecounter.cli.arguments import CustomerId
from tradecounter.cli.output import AsJson, show_record, show_table
from tradecounter.cli.session import with_database
from tradecounter.cli.tables import ColumnNames, Prose
from tradecounter.customers.accounts import (
    Account,
    AccountChange,
    add_account,
    edit_account,
    find_account,
    list_accounts,
)
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading, transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.money import rounded

app = typer.Typer(no_args_is_help=True, help="The reseller's customers.")


class Packing(StrEnum):
    """How a customer's orders are packed."""

    OWN = "own"
    PLAIN = "plain"


_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_LARGEST_LIMIT = Decimal(1_000_000_000)


def _email(text: str) -> str:
    if not _EMAIL.fullmatch(text):
        raise typer.BadParameter(f"{text!r} is not an e-mail address")
    return text


def _amount(text: str, most: Decimal) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation as error:
        raise typer.BadParameter(f"{text!r} is not a number") from error
    if not value.is_finite() or not 0 <= value <= most:
        raise typer.BadParameter(f"must be between 0 and {most}")
    return rounded(value)


def _discount(text: str) -> Decimal:
    return _amount(text, Decimal(100))


def _limit(text: str) -> Decimal:
    return _amount(text, _LARGEST_LIMIT)


Email = Annotated[str | None, typer.Option("--email", parser=_email, metavar="E", help="The login address.")]
FirstName = Annotated[str | None, typer.Option("--first-name", metavar="F")]
LastName = Annotated[str | None, typer.Option("--last-name", metavar="L")]
Company = Annotated[str | None, typer.Option("--company", metavar="C")]
AccountsEmail = Annotated[
    str | None, typer.Option("--accounts-email", parser=_email, metavar="E", help="Receives copies of invoices.")
]
Trade = Annotated[bool | None, typer.Option("--trade/--no-trade", help="A trade account sees expected deliveries.")]
PriceList = Annotated[str | None, typer.Option("--price-list", metavar="KEY", help="Else the list `default`.")]
Discount = Annotated[
    Decimal | None,
    typer.Option("--discount", parser=_discount, metavar="PERCENT", help="Off every price but contract prices."),
]
CreditLimit = Annotated[Decimal | None, typer.Option("--credit-limit", parser=_limit, metavar="AMOUNT")]
TermDays = Annotated[int | None, typer.Option("--term-days", min=0, max=3650, metavar="N")]
PackingChoice = Annotated[Packing | None, typer.Option("--packing", help="Own-brand or plain.")]
ShippingMethod = Annotated[
    int | None, typer.Option("--shipping-method", min=1, max=2**31 - 1, metavar="ID", help="The default.")
]
UniqueReferences = Annotated[
    bool | None,
    typer.Option("--unique-references/--no-unique-references", help="Refuse a customer reference used before."),
]


def _change(**options: Any) -> AccountChange:
    values = {name: UNSET if value is None else value for name, value in options.items()}
    if isinstance(values["packing"], Packing):
        values["packing"] = values["packing"].value
    return AccountChange(**cast("dict[str, Any]", values))


@app.command("add")
def add(
    email: Annotated[str, typer.Option("--email", parser=_email, metavar="E", help="The login address.")],
    first_name: Annotated[str, typer.Option("--first-name", metavar="F")],
    last_name: Annotated[str, typer.Option("--last-name", metavar="L")],
    company: Company = None,
    accounts_email: AccountsEmail = None,
    trade: Trade = None,
    price_list: PriceList = None,
    discount: Discount = None,
    credit_limit: CreditLimit = None,
    term_days: TermDays = None,
    packing: PackingChoice = None,
    shipping_method: ShippingMethod = None,
    unique_references: UniqueReferences = None,
    as_json: AsJson = False,
) -> None:
    """Add a customer; without --credit-limit it has no credit terms and cannot order."""
    if (credit_limit is None) != (term_days is None):
        raise typer.BadParameter("--credit-limit and --term-days go together")
    change = _change(
        email_address=email,
        first_name=first_name,
        last_name=last_name,
        company=company,
        accounts_email=accounts_email,
        trade_account=trade,
        price_list=price_list,
        discount=discount,
        credit_limit=credit_limit,
        term_days=term_days,
        packing=packing,
        shipping_method=shipping_method,
        unique_references=unique_references,
    )

    async def work(database: Database) -> Account:
        async with transaction(database) as tx:
            return await add_account(tx, change)

    show_record(with_database(work), as_json=as_json)


@app.command("edit")
def edit(
    customer_id: CustomerId,
    email: Email = None,
    first_name: FirstName = None,
    last_name: LastName = None,
    company: Company = None,
    accounts_email: AccountsEmail = None,
    trade: Trade = None,
    price_list: PriceList = None,
    discount: Discount = None,
    credit_limit: CreditLimit = None,
    term_days: TermDays = None,
    packing: PackingChoice = None,
    shipping_method: ShippingMethod = None,
    unique_references: UniqueReferences = None,
    no_credit: Annotated[bool, typer.Option("--no-credit", help="Take the credit terms away.")] = False,
    as_json: AsJson = False,
) -> None:
    """Change a customer; what is not named stays."""
    if no_credit and (credit_limit is not None or term_days is not None):
        raise typer.BadParameter("--no-credit contradicts --credit-limit and --term-days")
    change = _change(
        email_address=email,
        first_name=first_name,
        last_name=last_name,
        company=company,
        accounts_email=accounts_email,
        trade_account=trade,
        price_list=price_list,
        discount=discount,
        credit_limit=credit_limit,
        term_days=term_days,
        packing=packing,
        shipping_method=shipping_method,
        unique_references=unique_references,
    )

    async def work(database: Database) -> Account:
        async with transaction(database) as tx:
            return await edit_account(tx, customer_id, change.without_credit() if no_credit else change)

    show_record(with_database(work), as_json=as_json)


@app.command("list")
def show_all(columns: ColumnNames = None, as_json: AsJson = False) -> None:
    """List all customers."""

    async def work(database: Database) -> list[Account]:
        async with reading(database) as tx:
            return await list_accounts(tx)

    shown = ("id", Prose("company"), "email_address", "credit_limit", "price_list", "discount", "term_days",
             "trade_account", "packing", "shipping_method")  # fmt: skip
    show_table(with_database(work), shown, as_json=as_json, names=columns)


@app.command("show")
def show_one(customer_id: CustomerId, as_json: AsJson = False) -> None:
    """Show a customer."""

    async def work(database: Database) -> Account:
        async with reading(database) as tx:
            account = await find_account(tx, customer_id)
        if account is None:
            raise DomainError(Kind.NOT_FOUND, f"there is no customer {customer_id}")
        return account

    show_record(with_database(work), as_json=as_json)
