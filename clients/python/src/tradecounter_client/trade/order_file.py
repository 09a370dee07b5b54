"""An order from a CSV file, placed once however often the command runs."""

import csv
import hashlib
import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.prompt import Confirm, Prompt

from tradecounter_client.base import to_json
from tradecounter_client.client import Tradecounter
from tradecounter_client.errors import Expired, TradecounterError
from tradecounter_client.models import (
    ConfirmOrderRequest,
    CreatedOrder,
    CreateOrderItem,
    CreateOrderRequest,
    CreateOrderShipping,
    OrderAddressDetails,
    ShippingChoice,
)
from tradecounter_client.trade.lists import pounds, table

_WHOLE = re.compile("[1-9][0-9]{0,2}(?:,[0-9]{3}){1,2}|[0-9]{1,9}")
_AMOUNT = re.compile(r"£?((?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?)")
_COLUMNS = ("sku", "quantity", "max_unit_cost")
_MOST_UNITS = 100_000  # of a line, as the service takes them


class FileError(TradecounterError):
    """A file or an option that cannot be used as it is."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to order, and how."""

    file: Path
    reference: str | None
    address: int | None
    billing_address: int | None
    shipping_method: int | None
    max_cost: Decimal | None
    back_orders: bool


def place_order(console: Console, client: Tradecounter, wanted: Wanted, *, ask: bool) -> None:
    """Create the order, show what it costs, and confirm it."""
    request = _request(console, client, wanted)
    key = f"trade-{hashlib.sha256(to_json(request)).hexdigest()}"
    while True:
        created = client.create_order(request, key)
        option = _option(created, wanted.shipping_method)
        if created.order_reference is None:
            _show(console, created, option)
            if ask and not Confirm.ask(f"Order for {pounds(option.total_gross)}?", console=console, default=False):
                console.print("Not ordered.")
                return
        try:
            done = client.confirm_order(
                created.confirmation_code, ConfirmOrderRequest(shipping_method=ShippingChoice(id=option.id))
            )
        except Expired:  # so it was never confirmed
            key = f"trade-{hashlib.sha256(f'{key} {created.confirmation_code}'.encode()).hexdigest()}"
            continue
        console.print(f"Ordered as {done.order_reference}.")
        return


def amount(text: str) -> Decimal:
    """An amount in pounds, such as £1,234.50; raises ValueError for another text."""
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    return Decimal(found[1].replace(",", ""))


def read_items(file: Path) -> list[CreateOrderItem]:
    """The lines of a CSV file; raises FileError, which names the line."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as text:
            rows = csv.DictReader(text, strict=True)
            names = rows.fieldnames = [name.strip().lower() for name in rows.fieldnames or ()]
            if missing := {"sku", "quantity"} - set(names):
                raise FileError(f"{file}: the first line names no column {' and no column '.join(sorted(missing))}")
            for name in _COLUMNS:
                if names.count(name) > 1:
                    raise FileError(f"{file}: the first line names the column {name} twice")
            items = [_item(file, rows.line_num, row) for row in rows if any(row.values())]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{file}: is no CSV file in UTF-8: {error}") from None
    if not items:
        raise FileError(f"{file}: no lines to order")
    return items


def _item(file: Path, line: int, row: dict[Any, Any]) -> CreateOrderItem:
    if any(row.get(None, ())):
        raise FileError(f"{file}, line {line}: more cells than columns: put a number with a comma in quotation marks")
    sku, quantity, limit = ((row.get(name) or "").strip() for name in _COLUMNS)
    if not sku:
        raise FileError(f"{file}, line {line}: sku: missing")
    units = int(quantity.replace(",", "")) if _WHOLE.fullmatch(quantity) else 0
    if not 1 <= units <= _MOST_UNITS:
        raise FileError(f"{file}, line {line}: quantity: '{quantity}' is no whole number from 1 to {_MOST_UNITS}")
    try:
        return CreateOrderItem(sku=sku, quantity=units, max_unit_cost=amount(limit) if limit else None)
    except ValueError:
        raise FileError(f"{file}, line {line}: max_unit_cost: '{limit}' is no amount") from None


def _request(console: Console, client: Tradecounter, wanted: Wanted) -> CreateOrderRequest:
    items = read_items(wanted.file)
    address = wanted.address if wanted.address is not None else _only_address(client)
    billing = wanted.billing_address if wanted.billing_address is not None else address
    return CreateOrderRequest(
        customer_reference=wanted.reference or Prompt.ask("Your reference", console=console),
        items=items,
        billing_address=OrderAddressDetails(id=billing),
        shipping_address=OrderAddressDetails(id=address),
        max_cost_gross=wanted.max_cost,
        allow_back_orders=None if wanted.back_orders else False,
    )


def _only_address(client: Tradecounter) -> int:
    saved = client.addresses()
    if len(saved) != 1:
        listed = "; ".join(f"{each.id}: {each.street_one}, {each.city}" for each in saved)
        raise FileError(f"choose one of your {len(saved)} addresses with --address ({listed})")
    return saved[0].id


def _option(created: CreatedOrder, method: int | None) -> CreateOrderShipping:
    options = sorted(created.shipping_options, key=lambda option: option.total_gross)
    if method is not None:
        options = [option for option in options if option.id == method]
    if not options:
        listed = ", ".join(f"{each.id}: {each.description}" for each in created.shipping_options)
        raise FileError(f"no such shipping option; there are: {listed or 'none'}")
    return options[0]


def _show(console: Console, created: CreatedOrder, option: CreateOrderShipping) -> None:
    shown = table("SKU", ">Quantity", ">Net")
    for item in created.items:
        shown.add_row(item.sku, str(item.quantity), pounds(item.cost_net))
    shown.add_row(f"{option.provider} {option.description}", "", pounds(option.cost_net))
    shown.add_row("Total, with VAT", "", pounds(option.total_gross), style="bold")
    console.print(shown)
