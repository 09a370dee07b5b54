"""Clients of agents: registered ones, and those whose id is the address of a document."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from tradecounter.db.advisory_locks import REGISTER_CLIENT
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class AgentClient(Struct, frozen=True):
    """A program that customers may allow to order; `read_at` is None for a registered one."""

    client_id: str
    name: str
    redirect_uris: list[str]
    created_at: datetime
    read_at: datetime | None


_FIND = Statement(
    "select client_id, name, redirect_uris, created_at, read_at from agent_client where client_id = :client_id",
    AgentClient,
)


async def find_client(tx: Transaction, client_id: str) -> AgentClient | None:
    """Return a client, or None."""
    return await tx.find_row(_FIND, client_id=client_id)


_COUNT_REGISTERED = Statement("select count(*) from agent_client where address = :address and created_at > :since")
_REGISTER = Statement("""
    insert into agent_client (client_id, name, redirect_uris, address, created_at)
    values (:client_id, :name, :redirect_uris, :address, :now)
""")


async def count_registered(tx: Transaction, address: str, since: datetime) -> int:
    """Return how many clients an address has registered since; others wait until the transaction ends."""
    await tx.execute(REGISTER_CLIENT, address=address)
    count: int = await tx.fetch_value(_COUNT_REGISTERED, address=address, since=since)
    return count


async def insert_client(
    tx: Transaction, client_id: str, name: str, redirect_uris: Sequence[str], address: str, now: datetime
) -> None:
    """Store a client that an address has registered."""
    await tx.execute(
        _REGISTER, client_id=client_id, name=name, redirect_uris=list(redirect_uris), address=address, now=now
    )


_STORE_READ = Statement("""
    insert into agent_client (client_id, name, redirect_uris, created_at, read_at)
    values (:client_id, :name, :redirect_uris, :now, :now)
    on conflict (client_id) do update set name = excluded.name, redirect_uris = excluded.redirect_uris,
                                          read_at = excluded.read_at
""")


async def store_read(tx: Transaction, client_id: str, name: str, redirect_uris: Sequence[str], now: datetime) -> None:
    """Store what a client's document says."""
    await tx.execute(_STORE_READ, client_id=client_id, name=name, redirect_uris=list(redirect_uris), now=now)


_FORGET_ADDRESS = Statement("update agent_client set address = null where client_id = :client_id")


async def forget_address(tx: Transaction, client_id: str) -> None:
    """Forget from where a client was registered."""
    await tx.execute(_FORGET_ADDRESS, client_id=client_id)


_DELETE_UNUSED = Statement("""
    delete from agent_client a
    where coalesce(a.read_at, a.created_at) < :before
      and not exists (select from agent_consent c where c.client_id = a.client_id)
""")


async def delete_unused_clients(tx: Transaction, before: datetime) -> int:
    """Delete clients that nobody allows, registered or read before a moment; return how many."""
    return await tx.execute(_DELETE_UNUSED, before=before)
