"""Writes PDF files of invoices, credit notes, statements and the papers of orders."""

import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Protocol

import typer

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.output import show
from tradecounter.edge.command_line.session import fail, run_query
from tradecounter.kit.private_folder import private_file

Output = Annotated[
    str | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="The file to write; - for standard output.", show_default=False
    ),
]


class Printed(Protocol):
    """A printed document."""

    @property
    def pdf(self) -> bytes:
        """The content of its PDF file."""


def write_pdf(
    kind: str, number: int, output: str | None, printed: Callable[[Transaction], Awaitable[Printed]], *, as_json: bool
) -> None:
    """Write a document as a PDF file, by default KIND-NUMBER.pdf in the working directory."""
    check_output(output, as_json=as_json)
    content = run_query(printed).pdf
    put_pdf(content, output, kind, {"number": number}, as_json=as_json)


def check_output(output: str | None, *, as_json: bool) -> None:
    """Raise BadParameter if a file and JSON would both go to standard output."""
    if output == "-" and as_json:
        raise typer.BadParameter("--json and --output - both write to standard output")


def put_pdf(content: bytes, output: str | None, kind: str, name: dict[str, Any], *, as_json: bool) -> None:
    """Write a PDF file, by default KIND-NAME.pdf, and print its path; `name` is the member that names the document."""
    [called] = name.values()
    path = output or f"{kind}-{called}.pdf"
    write_file(path, content)
    if path != "-":
        text = f"{kind.replace('-', ' ')} {called} is in {path}"
        show({**name, "file": path, "bytes": len(content)}, text, as_json=as_json)


def write_file(path: str, content: bytes) -> None:
    """Write a file that only its owner can read, if it is new; `-` is standard output. Ends the command on an error."""
    if path == "-":
        sys.stdout.buffer.write(content)
        return
    try:
        with open(path, "wb", opener=private_file) as file:
            file.write(content)
    except OSError as error:
        fail(f"{path} cannot be written: {error.strerror}")
