"""Adds, changes and removes webhook endpoints. Every function takes its caller's transaction.

Functions that take `customer_id` see only this customer's endpoints; with None, they see all.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import asdict

from tradecounter.audit.record import audit, audit_edit
from tradecounter.customers.queries.accounts import lock_account
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.events.types import CUSTOMER_TYPES
from tradecounter.kit.errors import DomainError, ErrorCollector, Kind, invalid
from tradecounter.webhooks.policy import WebhookPolicy, webhook_vault
from tradecounter.webhooks.queries.deliveries import resume_deliveries
from tradecounter.webhooks.queries.endpoints import (
    Endpoint,
    count_endpoints,
    delete_endpoint,
    fetch_endpoint,
    insert_endpoint,
    lock_endpoint,
    lock_secrets,
    replace_secrets,
    update_endpoint,
)
from tradecounter.webhooks.rules import MAX_ENDPOINTS_PER_OWNER, ROTATION, check_url
from tradecounter.webhooks.sign import new_secret
from tradecounter.webhooks.wire import (
    TYPES,
    CreatedWebhook,
    Webhook,
    WebhookChange,
    WebhookRequest,
    webhook_on_the_wire,
    with_secret,
)

_SHOWN = ("url", "types", "description", "state")  # in the audit log


async def add_webhook(tx: Transaction, policy: WebhookPolicy, wanted: WebhookRequest, now: datetime) -> CreatedWebhook:
    """Add an endpoint, have the customer's owners told, and return it with its secret.

    Raises DomainError (invalid, not found, conflict).
    """
    collector = ErrorCollector()
    with collector.collecting():
        check_url(wanted.url, policy.networks, allow_http=policy.allow_http)
    types = collector.attempt(lambda: _checked_types(wanted.types, wanted.customer_id)) or []
    collector.check()
    if wanted.customer_id is not None:
        await lock_account(tx, wanted.customer_id)  # so that webhooks that are made at the same time count each other
    if await count_endpoints(tx, wanted.customer_id) >= MAX_ENDPOINTS_PER_OWNER:
        raise DomainError(Kind.CONFLICT, f"there are {MAX_ENDPOINTS_PER_OWNER} webhooks already; delete one first")
    secret = new_secret()
    sealed = await policy.vault.seal(tx, secret.encode())
    added = await insert_endpoint(tx, wanted.customer_id, wanted.url, types, wanted.description.strip(), sealed, now)
    audit(tx, "webhook.add", f"webhook/{added.id}", now, after={**_shown(added), "customer_id": added.customer_id})
    if added.customer_id is not None:
        await queue(tx, "mail_webhook_added", webhook_id=added.id)
    return with_secret(webhook_on_the_wire(added), secret)


async def show_webhook(tx: Transaction, webhook_id: int, customer_id: int | None = None) -> Webhook:
    """Return an endpoint. Raises DomainError (not found)."""
    return webhook_on_the_wire(await fetch_endpoint(tx, webhook_id, customer_id))


async def change_webhook(
    tx: Transaction,
    policy: WebhookPolicy,
    webhook_id: int,
    wanted: WebhookChange,
    now: datetime,
    customer_id: int | None = None,
) -> Webhook:
    """Change an endpoint. Raises DomainError (not found, invalid)."""
    before = await lock_endpoint(tx, webhook_id, customer_id)
    change: dict[str, Any] = {
        name: value for name, value in msgspec.structs.asdict(wanted).items() if value is not msgspec.UNSET
    }
    collector = ErrorCollector()
    if "url" in change:
        with collector.collecting():
            check_url(change["url"], policy.networks, allow_http=policy.allow_http)
    if "types" in change:
        with collector.collecting():
            change["types"] = _checked_types(change["types"], before.customer_id)
    collector.check()
    changes_state = change.get("state", before.state) != before.state
    if changes_state:
        change |= {"reason": None, "failing_since": None}
    await update_endpoint(tx, webhook_id, change)
    after = await fetch_endpoint(tx, webhook_id, customer_id)
    if after.state == "active" and (changes_state or after.url != before.url):
        await resume_deliveries(tx, webhook_id, now)
    audit_edit(tx, "webhook.edit", f"webhook/{webhook_id}", now, before=_shown(before), after=_shown(after))
    return webhook_on_the_wire(after)


async def remove_webhook(tx: Transaction, webhook_id: int, now: datetime, customer_id: int | None = None) -> Webhook:
    """Delete an endpoint with its deliveries, and return it as it was. Raises DomainError (not found)."""
    endpoint = await lock_endpoint(tx, webhook_id, customer_id)
    await delete_endpoint(tx, webhook_id)
    audit(tx, "webhook.remove", f"webhook/{webhook_id}", now, before=_shown(endpoint))
    return webhook_on_the_wire(endpoint)


async def rotate_webhook_secret(
    tx: Transaction, policy: WebhookPolicy, webhook_id: int, now: datetime, customer_id: int | None = None
) -> CreatedWebhook:
    """Give an endpoint a new secret, and return it; the old one signs too for a day. Raises DomainError."""
    endpoint = await lock_endpoint(tx, webhook_id, customer_id)
    secret, until = new_secret(), now + ROTATION
    await replace_secrets(tx, webhook_id, await policy.vault.seal(tx, secret.encode()), endpoint.secret, until)
    audit(tx, "webhook.rotate", f"webhook/{webhook_id}", now, after={"former_secret_until": until})
    return with_secret(webhook_on_the_wire(await fetch_endpoint(tx, webhook_id, customer_id)), secret)


async def reseal_webhooks(tx: Transaction, keys: Sequence[str]) -> None:
    """Re-encrypt all endpoints' secrets with the first key; unreadable ones stay as they are."""
    vault = webhook_vault(lambda: keys)
    for webhook_id, secret, former, until in await lock_secrets(tx):
        resealed = None if former is None else vault.reseal(former) or former
        await replace_secrets(tx, webhook_id, vault.reseal(secret) or secret, resealed, until)


def _checked_types(types: Iterable[str], customer_id: int | None) -> list[str]:
    allowed = TYPES if customer_id is None else CUSTOMER_TYPES
    unknown = sorted(set(types) - allowed)
    if unknown:
        raise invalid("types", f"{unknown[0]!r} is not one of {', '.join(sorted(allowed))}")
    return sorted(set(types))


def _shown(endpoint: Endpoint) -> dict[str, Any]:
    return {name: value for name, value in asdict(endpoint).items() if name in _SHOWN}
