"""The SQL of webhook endpoints, and which of them need attention."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.advisory_locks import ADD_RESELLER_WEBHOOK
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import or_not_found

WebhookState = Literal["active", "paused", "disabled"]


class Endpoint(Struct, frozen=True):
    """An endpoint; its secrets are encrypted."""

    id: int
    customer_id: int | None
    url: str
    types: list[str]
    description: str
    state: WebhookState
    reason: str | None
    secret: bytes
    former_secret: bytes | None
    former_secret_until: datetime | None
    failing_since: datetime | None
    created_at: datetime


_COLUMNS = SQL(
    "id, customer_id, url, types, description, state, reason, secret, former_secret, former_secret_until,"
    " failing_since, created_at"
)


async def lock_reseller_webhooks(tx: Transaction) -> None:
    """Block the adding of the reseller's webhooks until the transaction ends."""
    await tx.execute(ADD_RESELLER_WEBHOOK)


_COUNT = Statement("select count(*) from webhook where customer_id is not distinct from :customer_id::bigint")


async def count_endpoints(tx: Transaction, customer_id: int | None) -> int:
    """Return the number of a customer's endpoints, or of the reseller's with None."""
    count: int = await tx.fetch_value(_COUNT, customer_id=customer_id)
    return count


_INSERT = Statement(
    SQL(
        "insert into webhook (customer_id, url, types, description, state, secret, read_up_to, created_at)"
        " select :customer_id::bigint, :url, :types::text[], :description, 'active', :secret::bytea, last, :now"
        " from event_sequence returning {}"
    ).format(_COLUMNS),
    Endpoint,
)


async def insert_endpoint(
    tx: Transaction,
    customer_id: int | None,
    url: str,
    types: Sequence[str],
    description: str,
    secret: bytes,
    now: datetime,
) -> Endpoint:
    """Store an endpoint, which gets the events from now on."""
    values = {"customer_id": customer_id, "url": url, "types": list(types), "description": description}
    return await tx.fetch_row(_INSERT, **values, secret=secret, now=now)


_AFTER = Statement(
    SQL(
        "select {} from webhook where id > :after and (:customer_id::bigint is null or customer_id = :customer_id)"
        " and (:changed_since::timestamptz is null or changed_at >= :changed_since) order by id limit :most"
    ).format(_COLUMNS),
    Endpoint,
)


async def endpoints_after(
    tx: Transaction, after: int, most: int, customer_id: int | None = None, changed_since: datetime | None = None
) -> list[Endpoint]:
    """Return endpoints in the order of their ids; with `customer_id`, only this customer's."""
    return await tx.fetch_all(_AFTER, after=after, most=most, customer_id=customer_id, changed_since=changed_since)


_ONE = SQL("select {} from webhook where id = :id and (:customer_id::bigint is null or customer_id = :customer_id) {}")
_FETCH = Statement(_ONE.format(_COLUMNS, SQL("")), Endpoint)
_LOCK = Statement(_ONE.format(_COLUMNS, SQL("for no key update")), Endpoint)


async def find_endpoint(tx: Transaction, webhook_id: int, customer_id: int | None = None) -> Endpoint | None:
    """Return an endpoint of any owner, or of a customer, or None."""
    return await tx.find_row(_FETCH, id=webhook_id, customer_id=customer_id)


async def fetch_endpoint(tx: Transaction, webhook_id: int, customer_id: int | None = None) -> Endpoint:
    """Return what `find_endpoint` does. Raises DomainError (not found)."""
    return or_not_found(await find_endpoint(tx, webhook_id, customer_id), "webhook", webhook_id)


async def lock_endpoint(tx: Transaction, webhook_id: int, customer_id: int | None = None) -> Endpoint:
    """Lock an endpoint until the transaction ends, and return it. Raises DomainError (not found)."""
    endpoint = await tx.find_row(_LOCK, id=webhook_id, customer_id=customer_id)
    return or_not_found(endpoint, "webhook", webhook_id)


_LOCK_SEVERAL = Statement(
    SQL("select {} from webhook where id = any(:ids::bigint[]) order by id for no key update").format(_COLUMNS),
    Endpoint,
)


async def lock_endpoints(tx: Transaction, ids: Iterable[int]) -> list[Endpoint]:
    """Return endpoints in the order of their ids, locked until the transaction ends; missing ones are left out."""
    return await tx.fetch_all(_LOCK_SEVERAL, ids=list(ids))


_UPDATE = Statement(
    "update webhook set url = :url, types = :types::text[], description = :description, state = :state,"
    " reason = :reason, failing_since = :failing_since::timestamptz where id = :id"
)


async def update_endpoint(tx: Transaction, changed: Endpoint) -> None:
    """Store what may change of an endpoint that the caller has locked; its secrets stay."""
    await tx.execute(
        _UPDATE,
        id=changed.id,
        url=changed.url,
        types=changed.types,
        description=changed.description,
        state=changed.state,
        reason=changed.reason,
        failing_since=changed.failing_since,
    )


_DELETE = Statement("delete from webhook where id = :id")


async def delete_endpoint(tx: Transaction, webhook_id: int) -> None:
    """Delete an endpoint with its deliveries."""
    await tx.execute(_DELETE, id=webhook_id)


_LOCK_SECRETS = Statement(
    "select id, secret, former_secret, former_secret_until from webhook order by id for no key update"
)
_REPLACE_SECRETS = Statement(
    "update webhook set secret = :secret::bytea, former_secret = :former::bytea,"
    " former_secret_until = :until::timestamptz where id = :id"
)


async def lock_secrets(tx: Transaction) -> list[tuple[Any, ...]]:
    """Return ids and encrypted secrets of all endpoints, with their rows locked."""
    return await tx.fetch_all(_LOCK_SECRETS)


async def replace_secrets(
    tx: Transaction, webhook_id: int, secret: bytes, former: bytes | None, until: datetime | None
) -> None:
    """Store an endpoint's secrets, and until when the old one signs."""
    await tx.execute(_REPLACE_SECRETS, id=webhook_id, secret=secret, former=former, until=until)


class Trouble(Struct, frozen=True):
    """How many endpoints are paused or disabled by the service, and how many active ones fail."""

    stopped: int
    failing: int


_TROUBLE = Statement(
    "select count(*) filter (where state <> 'active' and reason is not null) as stopped,"
    " count(*) filter (where state = 'active' and failing_since is not null) as failing from webhook",
    Trouble,
)


async def webhooks_in_trouble(tx: Transaction) -> Trouble:
    """Return how many endpoints need attention; those that their owners paused do not."""
    return await tx.fetch_row(_TROUBLE)
