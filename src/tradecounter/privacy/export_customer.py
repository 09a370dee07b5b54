"""Exports all that is stored of a customer: a ZIP file with a JSON file for each table, and the files in them."""

import zipfile
from typing import BinaryIO

from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.privacy.queries.stored_data import stored_rows

_README = """\
One JSON file for each kind of record, and the PDF files and pictures in folders named after theirs.

Not included: hashes of keys and passwords, and the configurations of devices, which are encrypted.
"""


async def export_customer(tx: Transaction, customer_id: int, file: BinaryIO) -> None:
    """Write the ZIP file. Raises DomainError (not found)."""
    await fetch_account(tx, customer_id)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.txt", _README)
        async for found in stored_rows(tx, customer_id):
            archive.writestr(f"{found.table}.json", found.rows)
            for name, content in found.files.items():
                archive.writestr(f"{found.table}/{name}", content)
