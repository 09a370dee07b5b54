"""Writes PDF files of invoices, credit notes and statements."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer

from tradecounter.billing.queries.invoices import PrintedInvoice
from tradecounter.cli.output import show
from tradecounter.cli.session import fail, run_query
from tradecounter.db.transaction import Transaction

Output = Annotated[
    str | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="The file to write; - for standard output.", show_default=False
    ),
]


def write_pdf(
    kind: str,
    number: int,
    output: str | None,
    printed: Callable[[Transaction], Awaitable[PrintedInvoice]],
    *,
    as_json: bool,
) -> None:
    """Write a document as a PDF file, by default KIND-NUMBER.pdf in the working directory."""
    if output == "-" and as_json:
        raise typer.BadParameter("--json and --output - both write to standard output")
    content = run_query(printed).pdf
    if output == "-":
        sys.stdout.buffer.write(content)
        return
    path = Path(output or f"{kind}-{number}.pdf")
    write_file(path, content)
    text = f"{kind.replace('-', ' ')} {number} is in {path}"
    show({"number": number, "file": str(path), "bytes": len(content)}, text, as_json=as_json)


def write_file(path: Path, content: bytes) -> None:
    """Write a file, or end the command with the reason why it cannot be written."""
    try:
        path.write_bytes(content)
    except OSError as error:
        fail(f"{path} cannot be written: {error.strerror}")
