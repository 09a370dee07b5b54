"""Creates and disables customers' API keys."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.audit.record import audit
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.edge.permissions import KEY_SCOPES, KeyScope
from tradecounter.edge.server.client_address import read_networks
from tradecounter.identity.credentials import PREFIX_LENGTH
from tradecounter.identity.queries.api_keys import KeyRecord, NewKey, add_key, disable_key, fetch_key
from tradecounter.kit.clock import day_ends
from tradecounter.kit.errors import ErrorCollector, invalid, or_not_found, require_text
from tradecounter.kit.setting_rules import comma_separated
from tradecounter.kit.text import LONGEST_NAME
from tradecounter.kit.wire import Moment, RequiredText

SCOPE_CHOICES: tuple[tuple[KeyScope, str], ...] = (
    ("read", "Read products, orders, quotes and events"),
    ("order", "Order and ask for quotes"),
    ("account", "Invoices, credit, addresses and other data of the account"),
)
_LAST = date.max - timedelta(days=1)  # the day after it exists


class KeyRequest(Struct, omit_defaults=True):
    """An API key to create."""

    name: Annotated[RequiredText, Meta(description="What the key is for.")]
    scopes: Annotated[list[KeyScope] | None, Meta(description="What the key may do; absent: everything.")] = None
    expires_at: Annotated[Moment | None, Meta(description="Until when it is valid; absent: until it is disabled.")] = (
        None
    )
    networks: Annotated[
        list[str] | None,
        Meta(
            description="The networks (CIDR) and addresses from which it may be used; absent or empty: from anywhere."
        ),
    ] = None


class KeyForm(Struct):
    """The same on a page, where all boxes are ticked at first."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    scopes: list[KeyScope] = []
    last_day: date | None = None
    networks: str = ""

    @property
    def request(self) -> KeyRequest:
        """The request that the form makes. The key is valid until the end of its last day."""
        last_day = None if self.last_day is None else min(self.last_day, _LAST)
        return KeyRequest(
            name=self.name,
            scopes=None if set(self.scopes) == set(KEY_SCOPES) else self.scopes,
            expires_at=None if last_day is None else day_ends(last_day),
            networks=comma_separated(self.networks.replace("\n", ",")),
        )


def named_on_page(place: str) -> str:
    """Return what the page calls a field of the request."""
    name = place.partition("[")[0]
    return "last_day" if name == "expires_at" else name


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


async def end_key(tx: Transaction, key_id: int, now: datetime) -> KeyRecord:
    """Disable a key, in every process within a few seconds; a disabled one stays as it is. Raises DomainError."""
    key = or_not_found(await disable_key(tx, key_id, now), "key", key_id)
    if key.disabled_at == now:
        after = {"id": key.id, "name": key.name, "disabled_at": key.disabled_at}
        audit(tx, "key.disable", f"customer/{key.customer_id}", now, after=after)
    return key


async def end_key_of(tx: Transaction, customer_id: int, key_id: int, now: datetime) -> KeyRecord:
    """Disable one of a customer's keys. Raises DomainError (not found)."""
    await fetch_key(tx, customer_id, key_id)
    return await end_key(tx, key_id, now)
