"""`tradecounter quote`: lists, prices and confirms quotes."""

from datetime import datetime
from typing import Annotated, Any

import typer

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import LARGEST_METHOD, Limit, OptionalId, named_number, numbered
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import (
    LISTED,
    AsJson,
    Prose,
    show_json,
    show_part,
    show_record,
    show_table,
)
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import from_settings, run_change, run_query
from tradecounter.identity.installation_secret import secret_if_set
from tradecounter.kit.clock import local_text
from tradecounter.kit.money import in_pounds
from tradecounter.kit.numbers import read_pounds
from tradecounter.orders.commands.change import OverrideReason, confirmation
from tradecounter.orders.commands.show import as_operators_see_it, print_order, whole_order
from tradecounter.orders.find_by_name import whole_code
from tradecounter.orders.order_context import OrderingPolicy
from tradecounter.orders.states import pricing_of
from tradecounter.quotes.handle_quotes import confirm_quote, decline_quote
from tradecounter.quotes.price_quote import CostedQuote, fetch_costed_quote, price_quote, with_costs
from tradecounter.quotes.queries import list_quotes
from tradecounter.quotes.wire import Declination, QuotePrice

app = typer.Typer(no_args_is_help=True, help="Quotes that customers requested.")

Code = Annotated[str, typer.Argument(help="The confirmation code, or its beginning.")]

_COLUMNS = ("confirmation_code", "created_on", "cost_gross", "customer_id", "customer_reference", "state", "priced_on",
            "expires_on")  # fmt: skip


@app.command("list")
@lists_records(_COLUMNS)
async def show_all(
    tx: Transaction,
    everything: Annotated[
        bool, typer.Option("--all", help="Include quotes that are priced, confirmed or expired.")
    ] = False,
    limit: Limit = LISTED,
) -> list[dict[str, Any]]:
    """List unpriced quotes, the oldest first; with --all, list all quotes, the latest first."""
    quotes = await list_quotes(tx, limit, waiting=not everything)
    return [_as_support_sees_it(found) for found in await with_costs(tx, quotes)]


@app.command("show")
def show_one(code: Code, as_json: AsJson = False) -> None:
    """Show a quote."""
    _print(run_query(lambda tx: _quote(tx, code)), as_json=as_json)


def _priced_item(text: str) -> dict[str, Any]:
    sku, cost = named_number(text, "SKU=UNIT_COST", read_pounds)
    return {"sku": sku, "cost_net": cost}


def _carriage(text: str) -> dict[str, Any]:
    method, cost = numbered(text, "ID=COST", read_pounds)
    return {"id": method, "cost_net": cost}


@app.command("price")
@takes_request(
    items=Option(
        "--item", "The net unit cost for all lines of the SKU; may be repeated.", "SKU=UNIT_COST", _priced_item
    ),
    shipping=Option("", "Offer a shipping method at this net cost; may be repeated.", "ID=COST", _carriage),
    note=Option(help="A note to the customer, sent with the price."),
    discount=Option(help="Per cent off the prices at the request, for other items."),
)
def price(
    code: Code,
    request: QuotePrice,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the priced quote with its margin; change nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Set or change a quote's prices; other items keep their prices. The customer gets an e-mail."""
    if not request.items and not request.shipping and request.discount is None:
        raise typer.BadParameter("at least one --item or --shipping is required, or --discount")
    lifetime, secret = from_settings(lambda settings: (settings.quote_lifetime, secret_if_set(settings)))

    async def work(tx: Transaction, now: datetime) -> dict[str, Any]:
        whole = await whole_code(tx, code)
        await price_quote(tx, whole, request, now, lifetime, secret)
        return await _quote(tx, code)

    _print(run_change(work, dry_run=dry_run), as_json=as_json)


@app.command("decline")
@takes_request()
def decline(code: Code, request: Declination, as_json: AsJson = False) -> None:
    """Decline a quote. The customer gets an e-mail."""

    async def work(tx: Transaction, now: datetime) -> dict[str, Any]:
        await decline_quote(tx, await whole_code(tx, code), request.reason, now)
        return await _quote(tx, code)

    _print(run_change(work), as_json=as_json)


@app.command("confirm")
def confirm(
    code: Code,
    shipping_method: Annotated[
        int | None,
        OptionalId(
            "--shipping-method",
            "ID",
            "One of the quote's options. Default: the quote's choice, or else the account's default.",
            largest=LARGEST_METHOD,
        ),
    ] = None,
    override_credit: OverrideReason = None,
    as_json: AsJson = False,
) -> None:
    """Confirm a priced quote that the customer has accepted: it becomes an order. The customer gets an e-mail."""
    policy, request = from_settings(OrderingPolicy.from_settings), confirmation(shipping_method, override_credit)

    async def work(tx: Transaction, now: datetime) -> dict[str, Any]:
        order = await confirm_quote(tx, await whole_code(tx, code), request, policy, now)
        return await whole_order(tx, order)

    print_order(run_change(work), as_json=as_json)


async def _quote(tx: Transaction, code: str) -> dict[str, Any]:
    return _as_support_sees_it(await fetch_costed_quote(tx, await whole_code(tx, code)))


def _as_support_sees_it(costed: CostedQuote) -> dict[str, Any]:
    quote, pricing = costed.quote, pricing_of(costed.quote)
    shown = as_operators_see_it(quote, costed.lines)
    items = shown.pop("items")
    return {
        **shown,
        "priced_on": pricing and local_text(pricing.priced_at),
        "expires_on": pricing and local_text(pricing.expires_at),
        "pricings": 0 if pricing is None else pricing.pricings,
        "note": pricing and pricing.quote_note,
        "margin": costed.margin,
        "items": items,
        "shipping_options": [
            {
                "id": o.id,
                "provider": o.provider,
                "description": o.description,
                "cost_net": o.cost_net,
                "total_gross": quote.gross_with(o),
            }
            for o in quote.shipping_options
        ],
    }


def _print(quote: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        show_json(quote)
        return
    items, options, margin = quote.pop("items"), quote.pop("shipping_options"), quote.pop("margin")
    if margin is not None:
        quote["margin"] = f"{in_pounds(margin.margin)} of {in_pounds(margin.net)}"
    show_record(quote, as_json=False)
    typer.echo()
    show_table(items, ("id", "sku", "quantity", "unit_cost", "cost_net", "cost_tax", Prose("name")), as_json=False)
    show_part("Shipping options", options, ("id", "cost_net", "provider", Prose("description"), "total_gross"))
