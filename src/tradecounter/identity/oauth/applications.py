"""Registered OAuth applications, confidential clients all of them: made, listed, disabled."""

import secrets
from dataclasses import dataclass
from datetime import datetime

from tradecounter.db.changes import bump
from tradecounter.db.rows import execute, fetch_all, fetch_one, fetch_tuples
from tradecounter.db.transaction import Transaction
from tradecounter.identity.secret_hash import new_secret, secret_hash
from tradecounter.kit.errors import DomainError, Kind

_ID_BYTES = 16
_SHORTEST_BEGINNING = 4  # characters


@dataclass(frozen=True, slots=True)
class NewApplication:
    """An application that was just made: its id, and its secret, which is shown this once."""

    client_id: str
    client_secret: str


@dataclass(frozen=True, slots=True)
class ApplicationRecord:
    """An application as it is known afterwards."""

    client_id: str
    name: str
    created_at: datetime
    disabled_at: datetime | None


@dataclass(frozen=True, slots=True)
class ActiveApplication:
    """What a presented secret is compared with."""

    client_id: str
    secret_hash: bytes


async def add_application(tx: Transaction, name: str, now: datetime) -> NewApplication:
    """Register an application."""
    made = NewApplication(secrets.token_hex(_ID_BYTES), new_secret())
    await execute(
        tx,
        "insert into application (client_id, name, secret_hash, created_at) values (%s, %s, %s, %s)",
        [made.client_id, name, secret_hash(made.client_secret), now],
    )
    return made


async def list_applications(tx: Transaction) -> list[ApplicationRecord]:
    """Return all applications, disabled ones included, oldest first."""
    return await fetch_all(
        tx,
        ApplicationRecord,
        "select client_id, name, created_at, disabled_at from application order by created_at, client_id",
    )


async def disable_application(tx: Transaction, client_id: str, now: datetime) -> bool:
    """Disable an application and its tokens, in every process within a few seconds; tell whether there is one."""
    found = await execute(
        tx, "update application set disabled_at = coalesce(disabled_at, %s) where client_id = %s", [now, client_id]
    )
    await bump(tx, "keys")
    return found == 1


async def whole_client_id(tx: Transaction, beginning: str) -> str:
    """Return the client id that a text is the beginning of, or else the text.

    Raises DomainError (invalid) when several client ids begin so.
    """
    found = await fetch_tuples(
        tx, "select client_id from application where starts_with(client_id, lower(%s)) order by client_id", [beginning]
    )
    ids = [client_id for (client_id,) in found]
    if len(beginning) < _SHORTEST_BEGINNING or not ids:
        return beginning
    if len(ids) > 1:
        raise DomainError(Kind.INVALID, f"{beginning} is the beginning of several client ids: {', '.join(ids)}")
    return str(ids[0])


async def application_exists(tx: Transaction, client_id: str) -> bool:
    """Tell whether an application is registered, disabled or not."""
    return await execute(tx, "select from application where client_id = %s", [client_id]) == 1


async def find_active_application(tx: Transaction, client_id: str) -> ActiveApplication | None:
    """Return an enabled application, or None."""
    return await fetch_one(
        tx,
        ActiveApplication,
        "select client_id, secret_hash from application where client_id = %s and disabled_at is null",
        [client_id],
    )
