"""Exports all that is stored of a customer, and erases its personal data, except what tax law requires."""

import zipfile
from datetime import datetime
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import asdict

from tradecounter.audit.record import audit
from tradecounter.customers.change_account import record_customer_change
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.settings import Account
from tradecounter.db.changes import bump
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.text import plural
from tradecounter.privacy.queries.erasure import PersonalData, erase_rows, lock_all_of, open_business, personal_data
from tradecounter.privacy.queries.stored_rows import stored_tables
from tradecounter.returns.wire import return_number

_README = """\
One JSON file for each kind of record, and the PDF files and pictures in folders named after theirs.

Not included: hashes of keys and passwords, and the configurations of devices, which are encrypted.
"""


_ROWS_AT_ONCE, _FILES_AT_ONCE = 500, 10


async def export_customer(tx: Transaction, customer_id: int, file: BinaryIO) -> None:
    """Write the ZIP file, with few rows in memory. Raises DomainError (not found)."""
    await fetch_account(tx, customer_id)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.txt", _README)
        for table in await stored_tables(tx, customer_id):
            with archive.open(f"{table.name}.json", "w", force_zip64=True) as rows:
                separator = "["
                async for (row,) in tx.stream(table.rows, _ROWS_AT_ONCE):
                    rows.write(f"{separator}{row}".encode())
                    separator = ", "
                rows.write(b"[]" if separator == "[" else b"]")
            if table.files is not None:
                async for name, content in tx.stream(table.files, _FILES_AT_ONCE):
                    archive.writestr(f"{table.name}/{name}", content)


_MOST_NAMED = 20
_NOUNS = {
    "users": ("user", "users"),
    "addresses": ("saved address", "saved addresses"),
    "keys": ("API key", "API keys"),
    "applications": ("application with access", "applications with access"),
    "agents": ("agent's consent", "agents' consents"),
    "webhooks": ("webhook", "webhooks"),
    "feeds": ("feed", "feeds"),
    "contract_prices": ("contract price", "contract prices"),
    "orders": ("order's addresses and notes", "orders' addresses and notes"),
    "configurations": ("configuration", "configurations"),
    "packing_videos": ("packing video", "packing videos"),
}


class Erasure(Struct, frozen=True):
    """A customer, and what goes of it.

    Invoices, payments, and the items and sums of orders stay, and so do the event log and the audit log.
    """

    id: int
    name: str
    email_address: str
    erased: PersonalData

    @property
    def parts(self) -> list[str]:
        """What goes, in words."""
        return [plural(count, *_NOUNS[name]) for name, count in asdict(self.erased).items() if count]


async def erase_customer(tx: Transaction, customer_id: int, now: datetime) -> Erasure:
    """Erase a customer; its keys and tokens stop working. Raises DomainError: not found, conflict (open or owed)."""
    await what_goes(tx, await fetch_account(tx, customer_id))  # before hundreds of thousands of orders may be locked
    await lock_all_of(tx, customer_id)
    account = await fetch_account(tx, customer_id)
    erasure = await what_goes(tx, account)
    email = _erased_address(customer_id)
    await erase_rows(tx, customer_id, email, now)
    for topic in ("customers", "keys", "contracts"):
        await bump(tx, topic)
    audit(tx, "customer.erase", f"customer/{customer_id}", now, after={"email_address": email})
    record_customer_change(tx, customer_id, ["erased"], now)
    return erasure


async def what_goes(tx: Transaction, account: Account) -> Erasure:
    """Return what an erasure would erase. Raises DomainError (conflict): something is open or owed, or it is erased."""
    customer_id = account.id
    if account.email_address == _erased_address(customer_id):
        raise DomainError(Kind.CONFLICT, f"customer {customer_id} is already erased")
    business = await open_business(tx, customer_id)
    returns = list(map(return_number, business.returns))
    for what, names in (("order", business.orders), ("return", returns), ("request", business.requests)):
        if names:
            counted, named = plural(len(names), f"open {what}"), ", ".join(names[:_MOST_NAMED])
            raise DomainError(Kind.CONFLICT, f"customer {customer_id} has {counted}: {named}")
    if business.owed:
        raise DomainError(Kind.CONFLICT, f"customer {customer_id} owes {business.owed}")
    if business.unallocated:
        raise DomainError(Kind.CONFLICT, f"customer {customer_id} has {business.unallocated} on its account: refund it")
    return Erasure(
        id=customer_id,
        name=account.name,
        email_address=account.email_address,
        erased=await personal_data(tx, customer_id),
    )


def _erased_address(customer_id: int) -> str:
    return f"erased-{customer_id}@erased.invalid"
