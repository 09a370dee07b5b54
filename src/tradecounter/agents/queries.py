"""Agents: their clients, what users allow them, what they spend, and their tokens. Secrets are stored as hashes."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import LiteralString

from msgspec import Struct
from msgspec.structs import asdict
from psycopg.sql import SQL

from tradecounter.agents.rules import AgentScope, returns_to
from tradecounter.db.advisory_locks import REGISTER_CLIENT
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.edge.permissions import CONSENT_GIVERS
from tradecounter.identity.credentials import ExpiredCredentialError, LiveAgent, new_secret, secret_hash
from tradecounter.kit.wire import made_from


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
    return int(await tx.fetch_value(_COUNT_REGISTERED, address=address, since=since))


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


class NewConsent(Struct, frozen=True, kw_only=True):
    """What a user allows an agent; the limits are None without the scope `order`."""

    client_id: str
    customer_id: int
    user_id: int
    name: str
    redirect_uri: str
    code_challenge: str
    scopes: Sequence[AgentScope]
    order_limit: Decimal | None
    day_limit: Decimal | None


_INSERT = Statement("""
    insert into agent_consent (client_id, customer_id, user_id, name, redirect_uri, code_hash, code_challenge,
                               code_expires_at, scopes, order_limit, day_limit, given_at, expires_at)
    values (:client_id, :customer_id, :user_id, :name, :redirect_uri, :code_hash, :code_challenge, :code_expires_at,
            :scopes, :order_limit, :day_limit, :now, :expires_at)
    returning id
""")


async def insert_consent(
    tx: Transaction, new: NewConsent, now: datetime, code_expires_at: datetime, expires_at: datetime
) -> tuple[int, str]:
    """Store a consent; return its id and its code."""
    code = new_secret()
    values = {**asdict(new), "scopes": list(new.scopes), "expires_at": expires_at}
    hashed = {"code_hash": secret_hash(code), "code_expires_at": code_expires_at}
    consent_id: int = await tx.fetch_value(_INSERT, now=now, **values, **hashed)
    return consent_id, code


class AgentConsent(Struct, frozen=True):
    """A consent; `usable` is False once it has ended, or its person could not give it for a time.

    `allowed_by` is None once the user is deleted. Amounts are in pounds with VAT: the limits, None without the scope
    `order`, and `spent_today`, what the agent has ordered by itself for the customer since midnight in the UK.
    """

    id: int
    client_id: str
    customer_id: int
    allowed_by: str | None
    name: str
    redirect_uri: str
    code_challenge: str
    code_expires_at: datetime
    code_used_at: datetime | None
    scopes: list[AgentScope]
    order_limit: Decimal | None
    day_limit: Decimal | None
    given_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    ended_at: datetime | None
    usable: bool
    spent_today: Decimal

    @property
    def returns_to(self) -> str:
        """Where it returns a browser to, for people."""
        return returns_to(self.redirect_uri)


_MAY_GIVE = SQL("""
    (u.disabled_at is null and c.given_at > coalesce(u.agents_ended_at, '-infinity')
     and coalesce((u.role || u.more_roles) && {givers}::text[], false))
""").format(givers=list(CONSENT_GIVERS))
_USABLE = SQL("(c.ended_at is null and c.expires_at > :now and cu.blocked_at is null and {may_give})").format(
    may_give=_MAY_GIVE
)
_TABLES = SQL("""
    from agent_consent c join customer cu on cu.id = c.customer_id
    left join customer_user u on u.id = c.user_id and u.customer_id = c.customer_id
""")
_COLUMNS = SQL("""
    c.id, c.client_id, c.customer_id, u.email as allowed_by, c.name, c.redirect_uri, c.code_challenge,
    c.code_expires_at, c.code_used_at, c.scopes, c.order_limit, c.day_limit, c.given_at, c.expires_at, c.last_used_at,
    c.ended_at, {usable} as usable,
    (select coalesce(sum(o.gross), 0) from agent_order o
     where o.customer_id = c.customer_id and o.client_id = c.client_id
       and o.day = (:now at time zone 'Europe/London')::date) as spent_today
""").format(usable=_USABLE)


def _consents(where: LiteralString) -> Statement[AgentConsent]:
    condition = SQL(where).format(may_give=_MAY_GIVE)
    return Statement(SQL("select {} {} where {}").format(_COLUMNS, _TABLES, condition), AgentConsent)


_BY_ID = _consents("c.id = :id")
_OF_CODE = Statement("select id from agent_consent where code_hash = :hash")
_OF_REFRESH_TOKEN = Statement("select consent_id from agent_token where hash = :hash and refreshes")
_LOCK = Statement("select from agent_consent where id = :id for update")


async def lock_consent_of_code(tx: Transaction, code: str, now: datetime) -> AgentConsent | None:
    """Return the consent of a code, locked, or None: of several requests with the code, the others see the first."""
    return await _locked(tx, await tx.find_value(_OF_CODE, hash=secret_hash(code)), now)


async def lock_consent_of_refresh_token(tx: Transaction, token: str, now: datetime) -> AgentConsent | None:
    """Return the consent of a refresh token, locked, or None."""
    return await _locked(tx, await tx.find_value(_OF_REFRESH_TOKEN, hash=secret_hash(token)), now)


async def find_consent(tx: Transaction, consent_id: int, now: datetime) -> AgentConsent | None:
    """Return a consent of any customer, or None."""
    return await tx.find_row(_BY_ID, id=consent_id, now=now)


async def _locked(tx: Transaction, consent_id: int | None, now: datetime) -> AgentConsent | None:
    if consent_id is None:
        return None
    # The row is read by a statement of its own, which sees what was committed while this one waited.
    await tx.execute(_LOCK, id=consent_id)
    return await tx.find_row(_BY_ID, id=consent_id, now=now)


_STANDING = _consents(
    "c.customer_id = :customer_id and c.code_used_at is not null and c.ended_at is null and c.expires_at > :now"
    " order by c.given_at desc, c.id desc"
)


async def standing_consents(tx: Transaction, customer_id: int, now: datetime) -> list[AgentConsent]:
    """Return what a customer's users allow agents, the latest first."""
    return await tx.fetch_all(_STANDING, customer_id=customer_id, now=now)


_WITHOUT_GIVER = _consents("c.ended_at is null and c.expires_at > :now and not {may_give} order by c.id")


async def consents_without_giver(tx: Transaction, now: datetime) -> list[AgentConsent]:
    """Return the consents that have not ended, and whose users were disabled or lost the roles to give them since."""
    return await tx.fetch_all(_WITHOUT_GIVER, now=now)


_USE_CODE = Statement("update agent_consent set code_used_at = :now where id = :id")
_END = Statement("update agent_consent set ended_at = :now where id = :id and ended_at is null")
_EARLIER = _consents(
    "c.client_id = :client_id and c.customer_id = :customer_id and c.user_id = :user_id and c.ended_at is null"
    " order by c.id"
)


async def use_code(tx: Transaction, consent_id: int, now: datetime) -> None:
    """Record that a code was used."""
    await tx.execute(_USE_CODE, id=consent_id, now=now)


async def end_consent(tx: Transaction, consent_id: int, now: datetime) -> bool:
    """End a consent with all its tokens, in every process; return whether it stood."""
    return await tx.execute(_END, id=consent_id, now=now) == 1


async def earlier_consents(
    tx: Transaction, client_id: str, customer_id: int, user_id: int, now: datetime
) -> list[AgentConsent]:
    """Return what a user has allowed a client before, and not ended."""
    return await tx.fetch_all(_EARLIER, client_id=client_id, customer_id=customer_id, user_id=user_id, now=now)


# Not the consents that a scheduled job deletes, in an order of its own.
_LOCK_OF_CLIENT = Statement("""
    select from agent_consent
    where customer_id = :customer_id and client_id = :client_id
      and code_used_at is not null and ended_at is null and expires_at > :now
    order by id for update
""")
_INSERT_ORDER = Statement("""
    insert into agent_order (order_id, customer_id, client_id, day, gross)
    values (:order_id, :customer_id, :client_id, :day, :gross)
""")


async def lock_spending(tx: Transaction, agent: LiveAgent, now: datetime) -> AgentConsent | None:
    """Return an agent's consent; other orders of the agent, and its revocation, wait until the transaction ends."""
    await tx.execute(_LOCK_OF_CLIENT, customer_id=agent.customer_id, client_id=agent.client_id, now=now)
    return await find_consent(tx, agent.id, now)


async def insert_agent_order(tx: Transaction, agent: LiveAgent, order_id: int, day: date, gross: Decimal) -> None:
    """Note an order that an agent confirms by itself."""
    await tx.execute(
        _INSERT_ORDER, order_id=order_id, customer_id=agent.customer_id, client_id=agent.client_id, day=day, gross=gross
    )


_DELETE_TOKENS = Statement("delete from agent_token where expires_at < :before")
_DELETE_CONSENTS = Statement("""
    delete from agent_consent
    where least(ended_at, expires_at) < :ended_before or (code_used_at is null and code_expires_at < :unused_before)
""")
_DELETE_ORDERS = Statement("delete from agent_order where day < :before")


async def delete_old_consents(tx: Transaction, ended_before: datetime, unused_before: datetime) -> int:
    """Delete tokens and consents that ended before a moment, and consents whose code nobody used; return how many."""
    return (
        await tx.execute(_DELETE_TOKENS, before=ended_before)
        + await tx.execute(_DELETE_CONSENTS, ended_before=ended_before, unused_before=unused_before)
        + await tx.execute(_DELETE_ORDERS, before=ended_before.date())
    )


_USED_EVERY = timedelta(minutes=1)


_INSERT_TOKEN = Statement("""
    insert into agent_token (hash, consent_id, refreshes, created_at, expires_at)
    values (:hash, :consent_id, :refreshes, :now, :expires_at)
""")


async def insert_token(
    tx: Transaction, consent_id: int, now: datetime, expires_at: datetime, *, refreshes: bool
) -> str:
    """Store and return a new token."""
    token = new_secret()
    await tx.execute(
        _INSERT_TOKEN,
        hash=secret_hash(token),
        consent_id=consent_id,
        refreshes=refreshes,
        now=now,
        expires_at=expires_at,
    )
    return token


_TOKEN_USED = Statement("select used_at from agent_token where hash = :hash")
_USE_TOKEN = Statement("update agent_token set used_at = :now where hash = :hash")
_END_ACCESS = Statement("""
    delete from agent_token t using agent_consent c
    where t.hash = :hash and not t.refreshes and c.id = t.consent_id and c.client_id = :client_id
""")


async def find_use_of_refresh_token(tx: Transaction, token: str) -> datetime | None:
    """Return when a refresh token, whose consent is locked, was used, or None."""
    used_at: datetime | None = await tx.find_value(_TOKEN_USED, hash=secret_hash(token))
    return used_at


async def use_refresh_token(tx: Transaction, token: str, now: datetime) -> None:
    """Record that a refresh token was used."""
    await tx.execute(_USE_TOKEN, hash=secret_hash(token), now=now)


async def end_access_token(tx: Transaction, token: str, client_id: str) -> None:
    """End one access token of a client; do nothing for an unknown one."""
    await tx.execute(_END_ACCESS, hash=secret_hash(token), client_id=client_id)


class _PresentedToken(Struct, frozen=True):
    id: int
    customer_id: int
    user_id: int | None
    client_id: str
    agent: str
    allowed_by: str | None
    scopes: list[str]
    last_used_at: datetime | None
    valid: bool


_PRESENTED = Statement(
    SQL("""
    select c.id, c.customer_id, u.id as user_id, c.client_id, c.name as agent, u.email as allowed_by,
           c.scopes, c.last_used_at, t.expires_at > :now and {usable} as valid
    {tables} join agent_token t on t.consent_id = c.id where t.hash = :hash and not t.refreshes
    """).format(usable=_USABLE, tables=_TABLES),
    _PresentedToken,
)
# Not while an order of the agent has it locked: reading does not wait for that.
_RECORD_USE = Statement("""
    update agent_consent set last_used_at = :now
    where id = (select id from agent_consent where id = :id for update skip locked)
""")


async def find_agent_of_token(tx: Transaction, digest: bytes, now: datetime) -> LiveAgent | None:
    """Return the agent whose access token has a hash, and record its use, at most once a minute; None if it is unknown.

    Raises ExpiredCredentialError for a token that has ended.
    """
    row = await tx.find_row(_PRESENTED, hash=digest, now=now)
    if row is None:
        return None
    if not row.valid or row.allowed_by is None or row.user_id is None:
        raise ExpiredCredentialError
    if row.last_used_at is None or row.last_used_at < now - _USED_EVERY:
        tx.commit_at_once()
        await tx.execute(_RECORD_USE, id=row.id, now=now)
    return made_from(row, LiveAgent)
