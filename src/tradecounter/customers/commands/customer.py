"""`tradecounter customer`: the reseller's customers."""

from typing import Any

import typer
from msgspec import structs
from msgspec.structs import asdict

from tradecounter.billing.queries.invoice_records import overdue_of
from tradecounter.billing.queries.ledger import unallocated_of
from tradecounter.credit.queries import outstanding_of
from tradecounter.customers.change_account import block_customer, unblock_customer
from tradecounter.customers.queries.accounts import fetch_account, list_accounts
from tradecounter.customers.queries.addresses import list_addresses
from tradecounter.customers.settings import Account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import CustomerId, Reason
from tradecounter.edge.command_line.output import AsJson, Parts, show, show_record, show_table
from tradecounter.edge.command_line.session import run_change, run_query
from tradecounter.edge.command_line.tables import ColumnNames, Prose, one_line
from tradecounter.identity.queries.api_keys import KeyRecord, list_keys
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.money import NOTHING

app = typer.Typer(no_args_is_help=True, help="The reseller's customers.")

_COLUMNS = ("id", Prose("company"), "email_address", "credit_limit", "price_list", "discount", "term_days",
            "trade_account", "packing", "shipping_method", "blocked")  # fmt: skip
_ADDRESSES = ("id", Prose("contact_name"), Prose("street_one"), Prose("city", 12), "zip", "country_code",
              Prose("company_name"), Prose("street_two"), Prose("street_three"), "state", "contact_number",
              "tax_number")  # fmt: skip
_KEYS = ("id", Prose("name"), "prefix", "last_used_at", "disabled_at", "created_at")
_PARTS: Parts = {"addresses": ("Addresses", _ADDRESSES), "keys": ("API keys", _KEYS)}


@app.command("list")
def show_all(columns: ColumnNames = None, as_json: AsJson = False) -> None:
    """List all customers."""
    show_table(run_query(list_accounts), _COLUMNS, as_json=as_json, names=columns)


@app.command("show")
def show_one(customer_id: CustomerId, as_json: AsJson = False) -> None:
    """Show a customer with its credit, addresses and API keys."""

    async def work(tx: Transaction) -> dict[str, Any]:
        account = await fetch_account(tx, customer_id)
        return {
            **structs.asdict(account),
            "credit": await _credit(tx, account),
            "addresses": await list_addresses(tx, customer_id),
            "keys": [_key(key) for key in await list_keys(tx, customer_id)],
        }

    show_record(run_query(work), parts=_PARTS, as_json=as_json)


@app.command("block")
def block(customer_id: CustomerId, reason: Reason, as_json: AsJson = False) -> None:
    """Block a customer: its keys and tokens are rejected within five seconds, and it cannot order."""
    account = run_change(lambda tx: block_customer(tx, customer_id, reason, SystemClock().now()))
    show(account, f"customer {customer_id} ({one_line(account.name)}) is blocked", as_json=as_json)


@app.command("unblock")
def unblock(customer_id: CustomerId, as_json: AsJson = False) -> None:
    """Let a blocked customer's keys and tokens work again."""
    account = run_change(lambda tx: unblock_customer(tx, customer_id, SystemClock().now()))
    show(account, f"customer {customer_id} ({one_line(account.name)}) is not blocked any more", as_json=as_json)


async def _credit(tx: Transaction, account: Account) -> dict[str, Any]:
    limit, outstanding = account.credit_limit or NOTHING, await outstanding_of(tx, account.id)
    return {
        "credit_limit": limit,
        "total_outstanding": outstanding,
        "available_credit": limit - outstanding,
        "unallocated": await unallocated_of(tx, account.id),
        "overdue": await overdue_of(tx, account.id, SystemClock().now()),
    }


def _key(key: KeyRecord) -> dict[str, Any]:
    return {name: value for name, value in asdict(key).items() if name != "customer_id"}
