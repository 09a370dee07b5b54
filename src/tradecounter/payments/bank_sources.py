"""The headings that UK banks and ledgers write above the lines of an account, and what each of them is."""

from collections.abc import Mapping
from typing import NamedTuple

from tradecounter.bulk.columns import normal_name


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
_MONEY = {"amount", "credit", "debit"}
_UNITS = ("", " (GBP)", " GBP", " (\u00a3)", " \u00a3")  # behind a heading for money
FIELD_OF: Mapping[str, str] = {
    normal_name(heading + unit): field
    for field, headings in _MEANINGS.items()
    for heading in headings
    for unit in (_UNITS if field in _MONEY else _UNITS[:1])
}
