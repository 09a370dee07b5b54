"""Reads the demo data's files as import rows; their dates are relative to today, such as `+12d`."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from tradecounter.bulk.files import open_import
from tradecounter.bulk.rows import BadRow, Row
from tradecounter.imports.kinds import IMPORT_KINDS
from tradecounter.prices.importing import ContractPriceRow

_DAYS = re.compile(r"^[+-]\d+d$")


class DemoContractPrice(msgspec.Struct):
    """A contract price with its customer's e-mail address; dates are days from today."""

    customer_email: str
    sku: str
    single_unit_cost: str
    five_plus_unit_cost: str | None
    ten_plus_unit_cost: str | None
    valid_from: str | None
    valid_until: str | None


def data_file(name: str) -> str:
    """Return the path of a demo data file."""
    return str(files("tradecounter.demo") / "data" / name)


def rows_of(kind: str, path: str) -> Iterator[Row[Any] | BadRow[Any]]:
    """Yield a file's rows as an import of `kind` would."""
    with open_import(path) as file:
        yield from file.rows(IMPORT_KINDS[kind].shape)


def incoming_rows(today: date) -> Iterator[Row[Any] | BadRow[Any]]:
    """Yield the expected deliveries with their dates."""
    for row in rows_of("incoming", data_file("incoming.csv")):
        if isinstance(row, Row):
            row.values.expected_on = _day(row.values.expected_on, today)
        yield row


def contract_rows(today: date, customer_ids: dict[str, int]) -> Iterator[Row[Any] | BadRow[Any]]:
    """Yield the contract prices with their dates; `customer_ids` maps e-mail addresses to ids."""
    with open_import(data_file("contract-prices.csv")) as file:
        for row in file.rows(DemoContractPrice):
            if isinstance(row, BadRow):
                yield row
                continue
            price = msgspec.to_builtins(row.values)
            price["customer_id"] = customer_ids[price.pop("customer_email")]
            for name in ("valid_from", "valid_until"):
                price[name] = _day(price[name], today) if price[name] else None
            yield Row(row.line, msgspec.convert(price, ContractPriceRow, strict=False))


def customer_notes() -> dict[str, str]:
    """Return the notes about demo customers, by e-mail address."""
    return msgspec.json.decode(Path(data_file("customers-notes.json")).read_bytes(), type=dict[str, str])


def _day(text: str, today: date) -> str:
    return str(today + timedelta(days=int(text[:-1]))) if _DAYS.match(text) else text
