"""`tradecounter customer export` and `erase`."""

from io import BytesIO
from pathlib import Path
from typing import Annotated

import typer

from tradecounter.cli.arguments import CustomerId
from tradecounter.cli.output import AsJson, show
from tradecounter.cli.session import fail, run_change, run_query
from tradecounter.kit.clock import SystemClock
from tradecounter.privacy.erase_customer import erase_customer
from tradecounter.privacy.export_customer import export_customer


def export(
    customer_id: CustomerId,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="The ZIP file. Default: customer-CUSTOMER_ID.zip."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write all that is stored of a customer to a ZIP file, as JSON and PDF files."""
    path, copy = Path(output or f"customer-{customer_id}.zip"), BytesIO()
    run_query(lambda tx: export_customer(tx, customer_id, copy))
    try:
        path.touch(mode=0o600, exist_ok=False)
        path.write_bytes(copy.getvalue())
    except OSError as error:
        fail(f"{path}: {error.strerror}")
    show({"id": customer_id, "file": str(path)}, str(path), as_json=as_json)


def erase(customer_id: CustomerId, as_json: AsJson = False) -> None:
    """Erase a customer's personal data that tax law does not require to keep. Cannot be undone."""
    run_change(lambda tx: erase_customer(tx, customer_id, SystemClock().now()))
    show({"id": customer_id, "erased": True}, f"customer {customer_id} is erased", as_json=as_json)
