"""The commands and their options."""

import argparse
import os
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from tradecounter_client.client import Tradecounter
from tradecounter_client.errors import TradecounterError
from tradecounter_client.trade.catalogue_copy import synchronise
from tradecounter_client.trade.invoices import show_invoices, zip_invoices
from tradecounter_client.trade.lists import show_orders, show_products
from tradecounter_client.trade.order_file import FileError, Wanted, amount, place_order

_EPILOG = """\
TRADECOUNTER_URL is the service's address. The API key is in TRADECOUNTER_KEY, or in the file that
TRADECOUNTER_KEY_FILE names."""
_WIDE = 200  # columns of output that no terminal shows


def main(arguments: list[str] | None = None) -> int:
    """Run a command: 0 when it is done, 1 with a message on standard error, 2 for wrong options."""
    given = _parser().parse_args(arguments)
    try:
        with _client() as client:
            given.run(client, given)
    except (TradecounterError, FileError, OSError, sqlite3.Error) as error:
        print(f"trade: {error}", file=sys.stderr)  # noqa: T201 the message of a command
        return 1
    except EOFError:
        print("trade: nobody is there to answer: give --reference and --yes, or use a terminal", file=sys.stderr)  # noqa: T201
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _client() -> Tradecounter:
    url, key, file = (os.environ.get(f"TRADECOUNTER_{name}", "") for name in ("URL", "KEY", "KEY_FILE"))
    if not url or not (key or file):
        raise FileError("set TRADECOUNTER_URL, and TRADECOUNTER_KEY or TRADECOUNTER_KEY_FILE")
    return Tradecounter(url, (key or Path(file).read_text(encoding="utf-8")).strip())


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else _WIDE, highlight=False, markup=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="trade",
        description="Orders telecoms hardware.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _products(_command(commands, "products", "list what you can buy, at your prices", _list_products))
    _sync(_command(commands, "sync", "keep a copy of the catalogue in a SQLite database", _synchronise))
    _order(_command(commands, "order", "order what a CSV file lists", _place_order))
    _orders(_command(commands, "orders", "list your orders", _list_orders))
    _invoices(_command(commands, "invoices", "list your invoices, or save them as PDF files", _list_invoices))
    return parser


_Run = Callable[[Tradecounter, argparse.Namespace], None]


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, text: str, run: _Run
) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    made.set_defaults(run=run)
    return made


def _products(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="*", help="words that the products must have")
    parser.add_argument("--in-stock", action="store_true", help="only products in stock")
    parser.add_argument("--manufacturer", help="keys, comma-separated")
    parser.add_argument("--category", help="keys, comma-separated")


def _list_products(client: Tradecounter, given: argparse.Namespace) -> None:
    found = client.products(
        query=" ".join(given.query) or None,
        inStock=given.in_stock or None,
        manufacturer=given.manufacturer,
        category=given.category,
    )
    show_products(_console(), found)


def _sync(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="the database, which is created if need be")
    parser.add_argument("--follow", action="store_true", help="stay, and store changes as soon as there are any")


def _synchronise(client: Tradecounter, given: argparse.Namespace) -> None:
    synchronise(_console(), client, given.file, follow=given.follow)


def _order(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="columns sku and quantity, and if you like max_unit_cost")
    parser.add_argument("--reference", help="your own reference, else asked for; with the same file it orders once")
    parser.add_argument("--address", type=int, help="the id of a saved address to ship to; by default the only one")
    parser.add_argument("--billing-address", type=int, help="the id of a saved address; by default that to ship to")
    parser.add_argument("--shipping-method", type=int, help="the id of a shipping option; by default the cheapest")
    parser.add_argument("--max-cost", type=amount, help="the most that the items may cost in pounds, with VAT")
    parser.add_argument("--no-back-orders", action="store_true", help="order only what is in stock")
    parser.add_argument("--yes", action="store_true", help="confirm without asking")


def _place_order(client: Tradecounter, given: argparse.Namespace) -> None:
    wanted = Wanted(
        file=given.file,
        reference=given.reference,
        address=given.address,
        billing_address=given.billing_address,
        shipping_method=given.shipping_method,
        max_cost=given.max_cost,
        back_orders=not given.no_back_orders,
    )
    place_order(_console(), client, wanted, ask=not given.yes)


def _orders(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reference", help="your own reference")
    parser.add_argument("--status", help="such as 'Awaiting dispatch'")
    parser.add_argument("--changed-since", metavar="TIME", help="UK local time, such as 2026-03-02T17:30:00")


def _list_orders(client: Tradecounter, given: argparse.Namespace) -> None:
    found = client.orders(customer_reference=given.reference, status=given.status, changed_since=given.changed_since)
    show_orders(_console(), found)


def _invoices(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", dest="first", metavar="DAY", help="issued on this UK day or later")
    parser.add_argument("--to", dest="last", metavar="DAY", help="issued on this UK day or before")
    parser.add_argument(
        "--zip", nargs="?", const=Path("invoices.zip"), type=Path, metavar="FILE",
        help="save them as PDF files in a ZIP file, by default invoices.zip",
    )  # fmt: skip


def _list_invoices(client: Tradecounter, given: argparse.Namespace) -> None:
    found = client.invoices(issued_from=given.first, issued_to=given.last)
    if given.zip is None:
        show_invoices(_console(), found)
    else:
        zip_invoices(_console(), client, found, given.zip)
