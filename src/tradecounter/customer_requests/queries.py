"""Reads and writes requests about orders."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, LiteralString

from msgspec import Struct
from msgspec.structs import asdict
from psycopg.sql import SQL

from tradecounter.customers.queries.accounts import CUSTOMER_NAME
from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import or_not_found
from tradecounter.orders.queries.today import Waiting

RequestKind = Literal["cancel", "return", "message"]
State = Literal["open", "closed"]


class RequestFile(Struct, frozen=True):
    """A file: a name that is safe in a header and in a folder, its media type, and its bytes."""

    name: str
    media_type: str
    content: bytes


class CustomerRequest(Struct, frozen=True):
    """A request about an order: `items` are objects with `sku` and `quantity`; `answer` is what staff said.

    `files` are objects with the `id`, the `name` and the `media_type` of each file.
    """

    id: int
    kind: RequestKind
    order_reference: str
    customer_id: int
    customer: str
    user: str  # the e-mail address; empty once the user is deleted, and for a program
    program: str  # the name of the key that asked; empty for a user
    items: list[dict[str, Any]]
    text: str
    opened_at: datetime
    closed_at: datetime | None
    closed_by: str  # a member of the staff, or a program or a command's user
    answer: str
    files: list[dict[str, Any]]

    @property
    def asked_by(self) -> str:
        """Who asked, for people."""
        return self.user or (f"the program {self.program}" if self.program else "")

    @property
    def title(self) -> str:
        """The kind for people."""
        return {"cancel": "To cancel", "return": "To return", "message": "Message"}[self.kind]

    @property
    def state(self) -> State:
        """Whether it waits for staff."""
        return "open" if self.closed_at is None else "closed"


_REQUESTS = SQL("""
    select r.id, r.kind, o.order_reference, o.customer_id,
           {customer} as customer,
           coalesce(u.email, '') as user, r.opened_as as program, r.items, r.text, r.opened_at, r.closed_at,
           coalesce(m.email, r.closed_as) as closed_by, r.answer,
           coalesce((
               select jsonb_agg(to_jsonb(f) order by f.id)
               from (select id, name, media_type from request_file where request_id = r.id) as f
           ), '[]') as files
    from customer_request r
    join orders o on o.id = r.order_id
    join customer c on c.id = o.customer_id
    left join customer_user u on u.id = r.user_id
    left join staff_member m on m.id = r.closed_by
    where {condition} order by r.id desc offset :start limit :most
""")


def _requests(condition: LiteralString) -> Statement[CustomerRequest]:
    return Statement(_REQUESTS.format(customer=CUSTOMER_NAME, condition=SQL(condition)), CustomerRequest)


_OF_ORDER = _requests("r.order_id = :order_id")
_OPEN_OF_CUSTOMER = _requests("r.closed_at is null and o.customer_id = :customer_id")
_ONE = _requests("r.id = :id")
_TABLE = _requests(
    "(:is_open::boolean is null or (r.closed_at is null) = :is_open)"
    " and (:customer_id::bigint is null or o.customer_id = :customer_id)"
    " and (:before::bigint is null or r.id < :before)"
    " and (:changed_since::timestamptz is null or r.changed_at >= :changed_since)"
)
_COUNT = Statement("""
    select count(*) from customer_request r join orders o on o.id = r.order_id
    where o.customer_id = :customer_id and (:is_open::boolean is null or (r.closed_at is null) = :is_open)
""")
_MOST = 100


async def requests_of_order(tx: Transaction, order_id: int) -> list[CustomerRequest]:
    """Return the latest requests about an order, by its internal id."""
    return await tx.fetch_all(_OF_ORDER, order_id=order_id, most=_MOST, start=0)


async def open_requests_of(tx: Transaction, customer_id: int) -> list[CustomerRequest]:
    """Return the requests of a customer that wait, the latest first."""
    return await tx.fetch_all(_OPEN_OF_CUSTOMER, customer_id=customer_id, most=_MOST, start=0)


async def find_request(tx: Transaction, request_id: int) -> CustomerRequest | None:
    """Return a request, or None."""
    return await tx.find_row(_ONE, id=request_id, most=1, start=0)


async def request_table(
    tx: Transaction,
    state: State | None,
    most: int,
    before: int | None,
    *,
    customer_id: int | None = None,
    start: int = 0,
    changed_since: datetime | None = None,
) -> list[CustomerRequest]:
    """Return the latest requests in a state, or in any, from a position on; `before` selects those with lower ids."""
    return await tx.fetch_all(
        _TABLE,
        is_open=_is_open(state),
        customer_id=customer_id,
        most=most,
        before=before,
        start=start,
        changed_since=changed_since,
    )


async def count_requests(tx: Transaction, customer_id: int, state: State | None) -> int:
    """Return how many requests of a customer there are in a state, or in any."""
    return int(await tx.fetch_value(_COUNT, customer_id=customer_id, is_open=_is_open(state)))


def _is_open(state: State | None) -> bool | None:
    return None if state is None else state == "open"


_INSERT = Statement("""
    insert into customer_request (kind, order_id, user_id, opened_as, items, text, opened_at)
    values (:kind, :order_id, :user_id, :program, :items, :text, :now) returning id
""")


async def insert_request(
    tx: Transaction,
    kind: RequestKind,
    order_id: int,
    user_id: int | None,
    program: str,
    items: Sequence[Any],
    text: str,
    now: datetime,
) -> int:
    """Store a request of a user or of a program, and return its id."""
    return int(
        await tx.fetch_value(
            _INSERT,
            kind=kind,
            order_id=order_id,
            user_id=user_id,
            program=program,
            items=json_of(items),
            text=text,
            now=now,
        )
    )


_INSERT_FILE = Statement("""
    insert into request_file (request_id, name, media_type, content)
    values (:request_id, :name, :media_type, :content)
""")
_FILE = Statement(
    """
    select f.name, f.media_type, f.content from request_file f join customer_request r on r.id = f.request_id
    where f.id = :id and (:order_id::bigint is null or r.order_id = :order_id)
    """,
    RequestFile,
)


async def insert_file(tx: Transaction, request_id: int, file: RequestFile) -> None:
    """Store a file of a request."""
    await tx.execute(_INSERT_FILE, request_id=request_id, **asdict(file))


async def fetch_file(tx: Transaction, file_id: int, order_id: int | None = None) -> RequestFile:
    """Return a file of a request; of a request about one order if it is given. Raises DomainError (not found)."""
    row = await tx.find_row(_FILE, id=file_id, order_id=order_id)
    return or_not_found(row, "file", file_id)


_CLOSE = Statement("""
    update customer_request set closed_at = :now, closed_by = :staff_id, closed_as = :program, answer = :answer
    where id = :id and closed_at is null
""")


async def set_closed(tx: Transaction, request_id: int, staff_id: Any, program: str, answer: str, now: datetime) -> bool:
    """Store the answer of staff, or of a program, to a request; return False if it is closed already."""
    closed = await tx.execute(_CLOSE, id=request_id, staff_id=staff_id, program=program, answer=answer, now=now)
    return closed == 1


_COUNT_WAITING = Statement(
    "select count(*), min(opened_at) as oldest from customer_request where closed_at is null", Waiting
)


async def requests_waiting(tx: Transaction) -> Waiting:
    """Return the requests of customers that wait for an answer."""
    return await tx.fetch_row(_COUNT_WAITING)
