"""Registered OAuth applications, which are all confidential clients."""

import secrets
from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.changes import bump
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.identity.credentials import new_secret, secret_hash
from tradecounter.kit.errors import DomainError, Kind, or_not_found

_ID_BYTES = 16
_SHORTEST_BEGINNING = 4  # characters


class NewApplication(Struct, frozen=True):
    """The id and the secret of a new application; the secret cannot be read again."""

    client_id: str
    client_secret: str


class ApplicationRecord(Struct, frozen=True):
    """An application without its secret."""

    client_id: str
    name: str
    redirect_uris: list[str]
    created_at: datetime
    disabled_at: datetime | None


_ADD_APPLICATION = Statement("""
    insert into application (client_id, name, secret_hash, redirect_uris, created_at)
    values (:client_id, :name, :secret_hash, :redirect_uris, :now)
""")


async def add_application(
    tx: Transaction, name: str, now: datetime, redirect_uris: Sequence[str] = ()
) -> NewApplication:
    """Register an application."""
    new = NewApplication(secrets.token_hex(_ID_BYTES), new_secret())
    await tx.execute(
        _ADD_APPLICATION,
        client_id=new.client_id,
        name=name,
        secret_hash=secret_hash(new.client_secret),
        redirect_uris=list(redirect_uris),
        now=now,
    )
    return new


_COLUMNS = SQL("client_id, name, redirect_uris, created_at, disabled_at")
_LIST_APPLICATIONS = Statement(
    SQL("select {} from application order by created_at, client_id").format(_COLUMNS), ApplicationRecord
)
_FIND_APPLICATION = Statement(
    SQL("select {} from application where client_id = :client_id").format(_COLUMNS), ApplicationRecord
)
_LOCK_APPLICATION = Statement("select from application where client_id = :client_id for no key update")
_CHANGE_APPLICATION = Statement("""
    update application set name = :name, redirect_uris = :redirect_uris where client_id = :client_id
""")


async def find_application(tx: Transaction, client_id: str) -> ApplicationRecord | None:
    """Return an application, disabled or not, or None."""
    return await tx.find_row(_FIND_APPLICATION, client_id=client_id)


async def fetch_application(tx: Transaction, client_id: str) -> ApplicationRecord:
    """Return what `find_application` does. Raises DomainError (not found)."""
    return or_not_found(await find_application(tx, client_id), "application", client_id)


async def lock_application(tx: Transaction, client_id: str) -> ApplicationRecord:
    """Return what `fetch_application` does, locked until the transaction ends."""
    await tx.execute(_LOCK_APPLICATION, client_id=client_id)
    return await fetch_application(tx, client_id)


async def change_application(tx: Transaction, client_id: str, name: str, redirect_uris: Sequence[str]) -> None:
    """Store an application's name and redirect URIs."""
    await tx.execute(_CHANGE_APPLICATION, client_id=client_id, name=name, redirect_uris=list(redirect_uris))
    await bump(tx, "keys")  # tokens are cached with the name


async def list_applications(tx: Transaction) -> list[ApplicationRecord]:
    """Return all applications, disabled ones included, oldest first."""
    return await tx.fetch_all(_LIST_APPLICATIONS)


_DISABLE_APPLICATION = Statement(
    "update application set disabled_at = coalesce(disabled_at, :now) where client_id = :client_id"
    " returning disabled_at"
)


async def disable_application(tx: Transaction, client_id: str, now: datetime) -> datetime | None:
    """Disable an application and its tokens, in every process within a few seconds; return when, or None if unknown."""
    disabled_at: datetime | None = await tx.find_value(_DISABLE_APPLICATION, now=now, client_id=client_id)
    await bump(tx, "keys")
    return disabled_at


_WHOLE_CLIENT_ID = Statement(
    "select client_id from application where starts_with(client_id, lower(:beginning)) order by client_id"
)


async def whole_client_id(tx: Transaction, beginning: str) -> str:
    """Return the client id with this beginning; else the beginning. Raises DomainError (invalid) for several ids."""
    rows = await tx.fetch_all(_WHOLE_CLIENT_ID, beginning=beginning)
    ids = [client_id for (client_id,) in rows]
    if len(beginning) < _SHORTEST_BEGINNING or not ids:
        return beginning
    if len(ids) > 1:
        raise DomainError(Kind.INVALID, f"{beginning} is ambiguous: several client ids begin with it: {', '.join(ids)}")
    return str(ids[0])


class ApplicationSecret(Struct, frozen=True):
    """The name of an application and the hash of its secret."""

    name: str
    secret_hash: bytes


_FIND_SECRET = Statement(
    "select name, secret_hash from application where client_id = :client_id and disabled_at is null", ApplicationSecret
)


async def find_secret(tx: Transaction, client_id: str) -> ApplicationSecret | None:
    """Return the hash of an enabled application's secret, or None."""
    return await tx.find_row(_FIND_SECRET, client_id=client_id)
