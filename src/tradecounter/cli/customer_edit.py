"""`customer add` and `customer edit`: what the reseller sets for a customer."""

import re
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Annotated, Any, cast

import typer
from msgspec import UNSET, structs

from tradecounter.cli.arguments import CustomerId
from tradecounter.cli.output import AsJson, show_record
from tradecounter.cli.session import with_database
from tradecounter.customers.queries.accounts import (
    Account,
    AccountChange,
    add_account,
    edit_account,
)
from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.kit.money import rounded
from tradecounter.shipping.methods import require_method


class Clearable(StrEnum):
    """What of a customer may be empty."""

    COMPANY = "company"
    ACCOUNTS_EMAIL = "accounts-email"
    PRICE_LIST = "price-list"
    SHIPPING_METHOD = "shipping-method"


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
FirstName = Annotated[str | None, typer.Option("--first-name", metavar="F", help="Of the person to talk to.")]
LastName = Annotated[str | None, typer.Option("--last-name", metavar="L", help="Of the same person.")]
Company = Annotated[str | None, typer.Option("--company", metavar="C", help="The company's name.")]
AccountsEmail = Annotated[
    str | None, typer.Option("--accounts-email", parser=_email, metavar="E", help="Receives copies of invoices.")
]
Trade = Annotated[bool | None, typer.Option("--trade/--no-trade", help="A trade account sees expected deliveries.")]
PriceList = Annotated[str | None, typer.Option("--price-list", metavar="KEY", help="Without one, the list `default`.")]
Discount = Annotated[
    Decimal | None,
    typer.Option("--discount", parser=_discount, metavar="PERCENT", help="Off every price but contract prices."),
]
CreditLimit = Annotated[
    Decimal | None, typer.Option("--credit-limit", parser=_limit, metavar="AMOUNT", help="Pounds that may be owed.")
]
TermDays = Annotated[
    int | None,
    typer.Option("--term-days", min=0, max=3650, metavar="N", help="Days from an invoice to the last day to pay it."),
]
PackingChoice = Annotated[Packing | None, typer.Option("--packing", help="Own-brand or plain.")]
ShippingMethod = Annotated[
    int | None,
    typer.Option("--shipping-method", min=1, max=2**31 - 1, metavar="ID", help="The one of orders that name none."),
]
UniqueReferences = Annotated[
    bool | None,
    typer.Option("--unique-references/--no-unique-references", help="Refuse a customer reference used before."),
]
OrderMails = Annotated[
    bool | None,
    typer.Option(
        "--order-mails/--no-order-mails", help="Whether the login address gets the mails of orders that name no other."
    ),
]


def _cleared(change: AccountChange, names: list[Clearable]) -> AccountChange:
    """Return a change that also makes members empty. Raises BadParameter for one that it sets."""
    empty = {name.replace("-", "_"): "" if name == Clearable.COMPANY else None for name in names}
    for name in empty:
        if getattr(change, name) is not UNSET:
            option = name.replace("_", "-")
            raise typer.BadParameter(f"--clear {option} contradicts --{option}")
    return structs.replace(change, **empty)


def _change(**options: Any) -> AccountChange:
    values = {name: UNSET if value is None else value for name, value in options.items()}
    if isinstance(values["packing"], Packing):
        values["packing"] = values["packing"].value
    return AccountChange(**cast("dict[str, Any]", values))


def add(
    email: Annotated[str, typer.Option("--email", parser=_email, metavar="E", help="The login address.")],
    first_name: Annotated[str, typer.Option("--first-name", metavar="F", help="Of the person to talk to.")],
    last_name: Annotated[str, typer.Option("--last-name", metavar="L", help="Of the same person.")],
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
    order_mails: OrderMails = None,
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
        order_mails=order_mails,
    )

    async def work(database: Database) -> Account:
        async with transaction(database) as tx:
            if shipping_method is not None:
                await require_method(tx, shipping_method)
            return await add_account(tx, change)

    show_record(with_database(work), as_json=as_json)


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
    order_mails: OrderMails = None,
    no_credit: Annotated[bool, typer.Option("--no-credit", help="Take the credit terms away.")] = False,
    clear: Annotated[
        list[Clearable] | None, typer.Option("--clear", help="Make it empty; repeat the option for others.")
    ] = None,
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
        order_mails=order_mails,
    )

    cleared = _cleared(change, clear or [])
    if not no_credit and not cleared.columns():
        raise typer.BadParameter("give at least one option: what is to be changed")

    async def work(database: Database) -> Account:
        async with transaction(database) as tx:
            if shipping_method is not None:
                await require_method(tx, shipping_method)
            return await edit_account(tx, customer_id, cleared.without_credit() if no_credit else cleared)

    show_record(with_database(work), as_json=as_json)
