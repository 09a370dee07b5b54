"""Finds the headings of a bank's file, and what each column is; the headings of banks and ledgers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tradecounter.bulk.columns import ColumnOptions, normal_name, read_header, renamed_columns
from tradecounter.bulk.tables import Line
from tradecounter.kit.errors import invalid
from tradecounter.payments.bank_line import FIELDS, BankRow


class Source(NamedTuple):
    """A bank or a ledger, and the headings of its files as it writes them."""

    name: str
    headings: str


SOURCES = (
    Source("Barclays", "Number,Date,Account,Amount,Subcategory,Memo"),
    Source("HSBC", "Date,Description,Amount"),
    Source("HSBC", "Date,Type,Description,Paid out,Paid in,Balance"),
    Source(
        "Lloyds, Halifax, Bank of Scotland",
        "Transaction Date,Transaction Type,Sort Code,Account Number,Transaction Description,Debit Amount,"
        "Credit Amount,Balance",
    ),
    Source(
        "Monzo",
        "Transaction ID,Date,Time,Type,Name,Emoji,Category,Amount,Currency,Local amount,Local currency,"
        "Notes and #tags,Address,Receipt,Description,Category split,Money Out,Money In",
    ),
    Source("NatWest, RBS", "Date,Type,Description,Value,Balance,Account Name,Account Number"),
    Source("QuickBooks", "Date,Description,Amount"),
    Source("QuickBooks", "Date,Description,Credit,Debit"),
    Source("QuickBooks", "Date,Description,Payee,Spent,Received"),
    Source("Santander", "Date,Type,Merchant/Description,Debit/Credit,Balance"),
    Source("Santander", "Date,Description,Money in,Money out,Balance"),
    Source("Starling", "Date,Counter Party,Reference,Type,Amount (GBP),Balance (GBP),Spending Category,Notes"),
    Source("Tide", "Date,Transaction ID,Transaction description,Reference,Paid in,Paid out,Type,Status"),
    Source("Xero", "*Date,*Amount,Payee,Description,Reference,Cheque No."),
)

# The field of each heading. The bank's own account, the balance and categories have none.
_MEANINGS: Mapping[str, tuple[str, ...]] = {
    "date": ("Date", "*Date", "Transaction Date"),
    "amount": ("Amount", "*Amount", "Value", "Debit/Credit"),
    "credit": ("Credit", "Credit Amount", "Money In", "Paid in", "Received"),
    "debit": ("Debit", "Debit Amount", "Money Out", "Paid out", "Spent"),
    "payer": ("Payer", "Payee", "Counter Party", "Name"),
    "reference": ("Reference", "Notes and #tags"),
    "description": ("Description", "Transaction Description", "Merchant/Description", "Memo"),
    "currency": ("Currency",),
}
_MONEY_FIELDS = {"amount", "credit", "debit"}
_UNITS = ("", " (GBP)", " GBP", " (\u00a3)", " \u00a3")  # behind a heading for money
FIELD_OF: Mapping[str, str] = {
    normal_name(heading + unit): field
    for field, headings in _MEANINGS.items()
    for heading in headings
    for unit in (_UNITS if field in _MONEY_FIELDS else _UNITS[:1])
}


MOST_ABOVE = 20  # lines above the headings, such as the account's name and balance

_MONEY = {"amount", "credit"}
_TEXTS = {"reference", "description", "payer"}
# The columns of files without headings, as HSBC writes them.
WITHOUT_HEADINGS: Mapping[str, int] = {"date": 0, "description": 1, "amount": 2}


class Headings(NamedTuple):
    """The line of the headings, how many cells it has, and the place and the heading of each field."""

    line: int
    width: int
    places: Mapping[str, int]
    named: Mapping[str, str]


def read_renamed(pairs: Iterable[str]) -> dict[str, str]:
    """Return the field of each heading from texts such as `Their heading=amount`. Raises DomainError (invalid)."""
    try:
        return renamed_columns(pairs, FIELDS)
    except ValueError as error:
        raise invalid("map", str(error)) from error


def known_headings(renamed: Mapping[str, str]) -> dict[str, str]:
    """Return the field of each heading that is known, in the form for comparison; those in `renamed` come first."""
    chosen = {normal_name(theirs): ours for theirs, ours in renamed.items()}
    known = {name: name for name in FIELDS} | dict(FIELD_OF)
    return {name: ours for name, ours in known.items() if ours not in chosen.values()} | chosen


def find_headings(lines: Sequence[Line], known: Mapping[str, str]) -> int | None:
    """Return the index of the first line with headings for a date and an amount."""
    for at, (_, cells) in enumerate(lines[:MOST_ABOVE]):
        fields = _fields(map(str, cells), known)
        if "date" in fields and fields & _MONEY:
            return at
    return None


def read_headings(line: Line, known: Mapping[str, str], renamed: Mapping[str, str]) -> Headings:
    """Return what the columns are. Raises DomainError (invalid), naming the line and all that is wrong."""
    number, names = line[0], list(map(str, line[1]))
    present = {name: known[name] for name in map(normal_name, names) if name in known}
    missing = [theirs for theirs in renamed if normal_name(theirs) not in present]
    header = read_header(names, BankRow, ColumnOptions(present, ignore_unknown=True))
    errors = [error for error in header.errors if not error.startswith("the columns may be")]
    errors += [f"there is no column {theirs!r} to map" for theirs in missing]
    fields = _fields(names, known)
    for wanted, what in (({"date"}, "the date"), (_MONEY, "the amount"), (_TEXTS, "the reference")):
        if not fields & wanted:
            errors.append(f"there is no column for {what}")
    if errors:
        raise invalid("file", f"line {number}: {'; '.join(errors)}; a column can be mapped to {', '.join(FIELDS)}")
    places = {column.name: column.place for column in header.columns}
    return Headings(number, len(names), places, {name: names[place].strip() for name, place in places.items()})


def _fields(cells: Iterable[str], known: Mapping[str, str]) -> set[str]:
    return {known[name] for name in map(normal_name, cells) if name in known}
