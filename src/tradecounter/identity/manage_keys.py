"""Creates and disables customers' API keys."""

from collections.abc import Sequence
from datetime import UTC, datetime

from tradecounter.audit.record import audit
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.edge.permissions import KEY_SCOPES
from tradecounter.edge.server.client_address import read_networks
from tradecounter.identity.credentials import PREFIX_LENGTH
from tradecounter.identity.queries.api_keys import KeyRecord, NewKey, add_key, disable_key, find_key_of_customer
from tradecounter.identity.requests import KeyRequest
from tradecounter.kit.errors import ErrorCollector, invalid, or_not_found, require_text
from tradecounter.kit.text import LONGEST_NAME

_MOST_NETWORKS = 50
_EXAMPLE = "203.0.113.0/24"
_LATEST = datetime(9999, 1, 1, tzinfo=UTC)  # Python's times end with this year


async def create_key(tx: Transaction, customer_id: int, request: KeyRequest, now: datetime) -> NewKey:
    """Create a key for a customer, and have its owners told. Raises DomainError (invalid)."""
    collector = ErrorCollector()
    name, networks = "", []
    expires_at = request.expires_at
    with collector.collecting():
        name = require_text("name", request.name, LONGEST_NAME)
    with collector.collecting():
        if request.scopes is not None and not (request.scopes and set(request.scopes) <= set(KEY_SCOPES)):
            raise invalid("scopes", f"must be some of {', '.join(KEY_SCOPES)}")
    with collector.collecting():
        if expires_at is not None and not now < expires_at < _LATEST:
            raise invalid("expires_at", "must be in the future, before the year 9999")
    with collector.collecting():
        networks = _networks(request.networks or ())
    collector.check()
    scopes = None if request.scopes is None else [scope for scope in KEY_SCOPES if scope in request.scopes]
    new = await add_key(tx, customer_id, name, now, scopes=scopes, expires_at=expires_at, networks=networks)
    after = {
        "id": new.id,
        "name": name,
        "prefix": new.key[:PREFIX_LENGTH],
        "scopes": scopes,
        "expires_at": expires_at,
        "networks": networks,
    }
    audit(tx, "key.create", f"customer/{customer_id}", now, after=after)
    queue(tx, "mail_key_added", key_id=new.id)
    return new


def _networks(texts: Sequence[str]) -> list[str]:
    """Return networks as they are stored, each once. Raises DomainError (invalid)."""
    collector = ErrorCollector()
    found = dict[str, None]()
    for number, text in enumerate(texts):
        with collector.collecting():
            try:
                [network] = read_networks(text)
            except ValueError as error:
                raise invalid(f"networks[{number}]", f"must be a network such as {_EXAMPLE}, or an address") from error
            found[str(network)] = None
    if len(found) > _MOST_NETWORKS:
        raise invalid("networks", f"must be at most {_MOST_NETWORKS}")
    collector.check()
    return list(found)


async def fetch_key(tx: Transaction, customer_id: int, key_id: int) -> KeyRecord:
    """Return one of a customer's keys. Raises DomainError (not found)."""
    return or_not_found(await find_key_of_customer(tx, customer_id, key_id), "key", key_id)


async def end_key(tx: Transaction, key_id: int, now: datetime) -> KeyRecord:
    """Disable a key, in every process within a few seconds. Raises DomainError (not found)."""
    key = or_not_found(await disable_key(tx, key_id, now), "key", key_id)
    after = {"id": key.id, "name": key.name, "disabled_at": key.disabled_at}
    audit(tx, "key.disable", f"customer/{key.customer_id}", now, after=after)
    return key


async def end_key_of(tx: Transaction, customer_id: int, key_id: int, now: datetime) -> KeyRecord:
    """Disable one of a customer's keys. Raises DomainError (not found)."""
    await fetch_key(tx, customer_id, key_id)
    return await end_key(tx, key_id, now)
