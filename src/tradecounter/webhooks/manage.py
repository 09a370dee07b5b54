"""Adds, changes and removes webhook endpoints; shows their deliveries, and makes them again.

Functions that take `customer_id` see only this customer's endpoints; with None, they see all.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import asdict, replace

from tradecounter.audit.record import audit, audit_edit
from tradecounter.customers.queries.accounts import lock_account
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.edge.server.client_address import read_networks
from tradecounter.events.record import ALL_TYPES, CUSTOMER_TYPES, new_event_id
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.identity.vault import Vault
from tradecounter.kit.errors import DomainError, ErrorCollector, Kind, invalid
from tradecounter.kit.web_addresses import Network
from tradecounter.settings import Settings
from tradecounter.webhooks.queries.deliveries import (
    DeliveryRecord,
    fetch_delivery,
    insert_delivery,
    insert_replay,
    latest_deliveries,
    resume_deliveries,
)
from tradecounter.webhooks.queries.endpoints import (
    Endpoint,
    count_endpoints,
    delete_endpoint,
    fetch_endpoint,
    insert_endpoint,
    lock_endpoint,
    lock_reseller_webhooks,
    lock_secrets,
    replace_secrets,
    update_endpoint,
)
from tradecounter.webhooks.rules import BOTH_SECRETS_FOR, MOST_ENDPOINTS, MOST_REPLAYED, check_url, new_webhook_secret
from tradecounter.webhooks.wire import (
    CreatedWebhook,
    Delivery,
    Replay,
    Replayed,
    Webhook,
    WebhookChange,
    WebhookRequest,
    delivery_on_the_wire,
    webhook_on_the_wire,
    with_secret,
)


class WebhookPolicy(Struct, frozen=True):
    """Where endpoints may be, and the vault with their secrets."""

    networks: Sequence[Network]
    allow_http: bool
    vault: Vault

    @classmethod
    def from_settings(cls, settings: Settings) -> "WebhookPolicy":
        """Read the settings; the secret keys are read at the first use."""
        return cls(
            read_networks(settings.webhook_networks),
            settings.webhook_http,
            webhook_vault(lambda: secret_keys(settings)),
        )


def webhook_vault(keys: Callable[[], Sequence[str]]) -> Vault:
    """Return the vault with the endpoints' secrets."""
    return Vault("webhook secrets", keys)


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
    # Webhooks that are added at the same time count each other.
    if wanted.customer_id is None:
        await lock_reseller_webhooks(tx)
    else:
        await lock_account(tx, wanted.customer_id)
    if await count_endpoints(tx, wanted.customer_id) >= MOST_ENDPOINTS:
        raise DomainError(Kind.CONFLICT, f"there are {MOST_ENDPOINTS} webhooks already; delete one first")
    secret = new_webhook_secret()
    sealed = await policy.vault.seal(tx, secret.encode())
    added = await insert_endpoint(tx, wanted.customer_id, wanted.url, types, wanted.description.strip(), sealed, now)
    audit(tx, "webhook.add", f"webhook/{added.id}", now, after={**_shown(added), "customer_id": added.customer_id})
    if added.customer_id is not None:
        queue(tx, "mail_webhook_added", webhook_id=added.id)
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
    change: dict[str, Any] = {name: value for name, value in asdict(wanted).items() if value is not UNSET}
    if "description" in change:
        change["description"] = change["description"].strip()
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
    after = replace(before, **change)
    if after != before:
        await update_endpoint(tx, after)
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
    secret, until = new_webhook_secret(), now + BOTH_SECRETS_FOR
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
    allowed = ALL_TYPES if customer_id is None else CUSTOMER_TYPES
    unknown = sorted(set(types) - allowed)
    if unknown:
        raise invalid("types", f"{unknown[0]!r} is not one of {', '.join(sorted(allowed))}")
    return sorted(set(types))


def _shown(endpoint: Endpoint) -> dict[str, Any]:
    return {name: value for name, value in asdict(endpoint).items() if name in _SHOWN}


PING = "webhook.ping"


async def retry_now(tx: Transaction, webhook_id: int, now: datetime, customer_id: int | None = None) -> None:
    """Have an endpoint's waiting deliveries attempted at once. Raises DomainError (not found, conflict)."""
    await _lock_active(tx, webhook_id, customer_id)
    await resume_deliveries(tx, webhook_id, now)
    audit(tx, "webhook.retry", f"webhook/{webhook_id}", now)


async def ping_webhook(tx: Transaction, webhook_id: int, now: datetime, customer_id: int | None = None) -> Delivery:
    """Have the worker send a ping, and return its delivery. Raises DomainError (not found, conflict)."""
    await _lock_active(tx, webhook_id, customer_id)
    subject = f"webhook/{webhook_id}"
    delivery_id = await insert_delivery(
        tx, webhook_id, now, sequence=None, event_id=new_event_id(), type_=PING, subject=subject
    )
    audit(tx, "webhook.ping", subject, now)
    return delivery_on_the_wire(await fetch_delivery(tx, webhook_id, delivery_id))


async def redeliver(
    tx: Transaction, webhook_id: int, delivery_id: int, now: datetime, customer_id: int | None = None
) -> Delivery:
    """Deliver an event once more, and return the new delivery. Raises DomainError (not found, conflict)."""
    await _lock_active(tx, webhook_id, customer_id)
    old = await fetch_delivery(tx, webhook_id, delivery_id)
    new_id = await insert_delivery(
        tx, webhook_id, now, sequence=old.sequence, event_id=old.event_id, type_=old.type, subject=old.subject
    )
    audit(tx, "webhook.redeliver", f"webhook/{webhook_id}", now, after={"delivery": delivery_id, "event": old.event_id})
    return delivery_on_the_wire(await fetch_delivery(tx, webhook_id, new_id))


async def replay(
    tx: Transaction, webhook_id: int, wanted: Replay, now: datetime, customer_id: int | None = None
) -> Replayed:
    """Deliver the endpoint's events in a range once more. Raises DomainError (not found, invalid, conflict)."""
    if wanted.last < wanted.first:
        raise invalid("to", "must not be before `from`")
    await _lock_active(tx, webhook_id, customer_id)
    made, newest = await insert_replay(tx, webhook_id, wanted.first, wanted.last, MOST_REPLAYED + 1, now)
    if newest is not None and made > MOST_REPLAYED:
        raise invalid("to", f"must be before {newest}: more than {MOST_REPLAYED:,} events would be delivered at once")
    after = {"from": wanted.first, "to": wanted.last, "deliveries": made}
    audit(tx, "webhook.replay", f"webhook/{webhook_id}", now, after=after)
    return Replayed(made)


async def list_deliveries(
    tx: Transaction,
    webhook_id: int,
    before: int | None,
    most: int,
    customer_id: int | None = None,
    *,
    changed_since: datetime | None = None,
) -> list[DeliveryRecord]:
    """Return an endpoint's deliveries, the latest first. Raises DomainError (not found)."""
    await fetch_endpoint(tx, webhook_id, customer_id)
    return await latest_deliveries(tx, webhook_id, before, most, changed_since)


async def show_delivery(
    tx: Transaction, webhook_id: int, delivery_id: int, customer_id: int | None = None
) -> DeliveryRecord:
    """Return one of an endpoint's deliveries. Raises DomainError (not found)."""
    await fetch_endpoint(tx, webhook_id, customer_id)
    return await fetch_delivery(tx, webhook_id, delivery_id)


async def _lock_active(tx: Transaction, webhook_id: int, customer_id: int | None) -> None:
    """Lock an endpoint that gets deliveries. Raises DomainError (not found, conflict: not active)."""
    endpoint = await lock_endpoint(tx, webhook_id, customer_id)
    if endpoint.state != "active":
        raise DomainError(Kind.CONFLICT, f"the webhook is {endpoint.state}; set its state to active first")
