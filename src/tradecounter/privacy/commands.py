"""`tradecounter customer export` and `erase`."""

import shutil
import sys
from datetime import datetime
from tempfile import TemporaryFile
from typing import Annotated, Any

import typer
from msgspec.structs import asdict

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import CustomerId
from tradecounter.edge.command_line.output import AsJson, one_line, show
from tradecounter.edge.command_line.pdf_file import check_output
from tradecounter.edge.command_line.session import fail, run_change, run_query
from tradecounter.kit.private_folder import private_file
from tradecounter.privacy.personal_data import Erasure, erase_customer, export_customer

customer = typer.Typer()


@customer.command("export")
def export(
    customer_id: CustomerId,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="The ZIP file; - for standard output. Default: customer-CUSTOMER_ID.zip.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write all that is stored of a customer to a ZIP file, as JSON and PDF files."""
    check_output(output, as_json=as_json)
    path = output or f"customer-{customer_id}.zip"
    with TemporaryFile() as copy:
        run_query(lambda tx: export_customer(tx, customer_id, copy))
        copy.seek(0)
        if path == "-":
            shutil.copyfileobj(copy, sys.stdout.buffer)
            return
        try:
            with open(path, "xb", opener=private_file) as file:
                shutil.copyfileobj(copy, file)
        except OSError as error:
            fail(f"{path}: {error.strerror}")
    show({"id": customer_id, "file": path}, path, as_json=as_json)


@customer.command("erase")
def erase(
    customer_id: CustomerId,
    yes: Annotated[bool, typer.Option("--yes", help="Erase without a question.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be erased, and change nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase a customer's personal data that tax law does not require to keep. Cannot be undone."""

    async def work(tx: Transaction, now: datetime) -> Erasure:
        return await erase_customer(tx, customer_id, now)

    if dry_run or not yes:
        erasure = run_change(work, dry_run=True)
        if dry_run:
            show({**_shown(erasure), "erased": False}, _would_go(erasure), as_json=as_json)
            return
        _ask(erasure)
    show({**_shown(run_change(work)), "erased": True}, f"customer {customer_id} is erased", as_json=as_json)


def _ask(erasure: Erasure) -> None:
    """Ask whether to erase; end the command unless the answer is yes."""
    if not sys.stdin.isatty():
        fail(f"{_would_go(erasure)}. Nothing was changed; repeat the command with --yes")
    typer.echo(f"{_would_go(erasure)}.\nErase them for good? [y/N] ", err=True, nl=False)
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        fail("nothing was changed")


def _shown(erasure: Erasure) -> dict[str, Any]:
    return {"id": erasure.id, "name": erasure.name, "email_address": erasure.email_address, **asdict(erasure.erased)}


def _would_go(erasure: Erasure) -> str:
    who = f"customer {erasure.id}, {one_line(erasure.name)} ({erasure.email_address})"
    return f"this erases {who}, with {', '.join(erasure.parts) or 'nothing else'}"
