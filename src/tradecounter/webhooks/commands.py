"""`tradecounter webhook`: endpoints that events are posted to."""

from typing import Annotated

import typer

from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import LARGEST_ID, Customer, IdOf, Limit
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import LISTED, AsJson, Prose, one_line, show, show_record
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import run_change, run_query
from tradecounter.settings import read_settings
from tradecounter.webhooks.manage import (
    WebhookPolicy,
    add_webhook,
    change_webhook,
    list_deliveries,
    ping_webhook,
    redeliver,
    remove_webhook,
    replay,
    rotate_webhook_secret,
    show_webhook,
)
from tradecounter.webhooks.queries.endpoints import endpoints_after
from tradecounter.webhooks.wire import (
    Delivery,
    Replay,
    Webhook,
    WebhookChange,
    WebhookRequest,
    delivery_on_the_wire,
    webhook_on_the_wire,
)

app = typer.Typer(no_args_is_help=True, help="Webhooks: addresses that events are posted to.")

WebhookId = Annotated[int, IdOf("ID", "The webhook's id, from `webhook list`.")]
DeliveryId = Annotated[int, IdOf("DELIVERY", "The delivery's id, from `webhook deliveries`.")]
_TYPES = Option("--type", metavar="T", help="Only events of this type; may be repeated. Default: all types.")

_COLUMNS = ("id", "state", "customer_id", "url", Prose("types", 30), Prose("description"), Prose("reason", 40))
_DELIVERIES = (
    "id", "event", "type", "subject", "attempt", "at", "status", "milliseconds", Prose("error", 40), "next_attempt_at",
)  # fmt: skip


@app.command("add")
@takes_request(
    url=Option("URL"), types=_TYPES, customer_id=Option("--customer", "Whose events it gets. Default: all.", "ID")
)
def add(wanted: WebhookRequest, as_json: AsJson = False) -> None:
    """Add a webhook; its secret is shown only once."""
    added = run_change(lambda tx, now: add_webhook(tx, _policy(), wanted, now))
    show(added, f"webhook {added.id}: {added.secret}\n{_STORE}", as_json=as_json)


_STORE = "Store the secret now: it is not shown again."


@app.command("list")
@lists_records(_COLUMNS)
async def show_all(tx: Transaction, customer: Customer = None, limit: Limit = LISTED) -> list[Webhook]:
    """List webhooks."""
    return [webhook_on_the_wire(endpoint) for endpoint in await endpoints_after(tx, 0, limit, customer)]


@app.command("show")
def show_one(webhook_id: WebhookId, as_json: AsJson = False) -> None:
    """Show a webhook."""
    show_record(run_query(lambda tx: show_webhook(tx, webhook_id)), as_json=as_json)


@app.command("edit")
@takes_request(url=Option(metavar="URL"), types=_TYPES)
def edit(
    webhook_id: WebhookId,
    change: WebhookChange,
    all_types: Annotated[bool, typer.Option("--all-types", help="Events of all types.")] = False,
    as_json: AsJson = False,
) -> None:
    """Change a webhook, or pause it, or set it active."""
    if all_types:
        change.types = []
    changed = run_change(lambda tx, now: change_webhook(tx, _policy(), webhook_id, change, now))
    show_record(changed, as_json=as_json)


@app.command("rotate")
def rotate(webhook_id: WebhookId, as_json: AsJson = False) -> None:
    """Make a new secret, shown only once; for a day, deliveries are signed with the former one too."""
    rotated = run_change(lambda tx, now: rotate_webhook_secret(tx, _policy(), webhook_id, now))
    show(rotated, f"webhook {rotated.id}: {rotated.secret}\n{_STORE}", as_json=as_json)


@app.command("ping")
def ping(webhook_id: WebhookId, as_json: AsJson = False) -> None:
    """Have the worker send a ping; see `webhook deliveries` for the result."""
    _show_delivery(run_change(lambda tx, now: ping_webhook(tx, webhook_id, now)), as_json=as_json)


@app.command("deliveries")
@lists_records(_DELIVERIES)
async def deliveries(
    tx: Transaction,
    webhook_id: WebhookId,
    after: Annotated[
        int, typer.Option("--after", min=0, max=LARGEST_ID, metavar="ID", help="Only deliveries before this one.")
    ] = 0,
    limit: Limit = 100,
) -> list[Delivery]:
    """List deliveries, the latest first, with the result of the last attempt."""
    return [delivery_on_the_wire(record) for record in await list_deliveries(tx, webhook_id, after or None, limit)]


@app.command("redeliver")
def deliver_again(webhook_id: WebhookId, delivery_id: DeliveryId, as_json: AsJson = False) -> None:
    """Deliver an event once more."""
    _show_delivery(run_change(lambda tx, now: redeliver(tx, webhook_id, delivery_id, now)), as_json=as_json)


@app.command("replay")
@takes_request(first=Option(help="The first sequence, see `event list`."))
def replay_range(webhook_id: WebhookId, events: Replay, as_json: AsJson = False) -> None:
    """Deliver all events of a range once more."""
    made = run_change(lambda tx, now: replay(tx, webhook_id, events, now))
    show(made, f"{made.deliveries} deliveries", as_json=as_json)


@app.command("remove")
def remove(webhook_id: WebhookId, as_json: AsJson = False) -> None:
    """Delete a webhook with its deliveries."""
    removed = run_change(lambda tx, now: remove_webhook(tx, webhook_id, now))
    shown = {"id": webhook_id, "removed": True, "url": removed.url}
    show(shown, f"webhook {webhook_id} ({one_line(removed.url)}) is removed", as_json=as_json)


def _policy() -> WebhookPolicy:
    return WebhookPolicy.from_settings(read_settings())


def _show_delivery(delivery: Delivery, *, as_json: bool) -> None:
    show(delivery, f"delivery {delivery.id} of event {delivery.event} waits for the worker", as_json=as_json)
