"""Invoices or credit notes as one ZIP file of their PDF files."""

import zipfile
from collections.abc import Sequence
from io import BytesIO

from tradecounter.billing.queries.invoices import PrintedInvoice


def zipped_documents(documents: Sequence[PrintedInvoice], name: str) -> bytes:
    """Return a ZIP file with documents, whose files are called `name` and their number."""
    written = BytesIO()
    with zipfile.ZipFile(written, "w") as archive:  # PDF files are compressed already
        for document in documents:
            archive.writestr(f"{name}-{document.number}.pdf", document.pdf)
    return written.getvalue()
