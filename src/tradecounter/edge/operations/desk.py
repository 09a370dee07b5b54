"""What all back-office endpoints share: reading bodies, changing once per idempotency key, lists by cursor."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar, overload

import msgspec
from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.db.idempotency import KeyedRequest, RecordedResponse, once
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.days import time_or_start_of
from tradecounter.edge.rest.headers import IDEMPOTENCY_KEY
from tradecounter.edge.rest.idempotency import IDEMPOTENCY_HEADER, REPLAY_HEADER, fingerprint, read_key
from tradecounter.edge.rest.negotiation import JSON
from tradecounter.edge.rest.operation import Header, Parameter
from tradecounter.edge.rest.paging import next_link
from tradecounter.edge.rest.responses import json_response
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, ErrorCollector, invalid, invalid_fields
from tradecounter.kit.json_text import decode_json, read_json, to_json

Body = TypeVar("Body", bound=Struct)
Item = TypeVar("Item")

MOST_LISTED = 1_000
_OK = 200
_NO_CONTENT = 204

Limit = Annotated[int, Meta(ge=1, le=MOST_LISTED, description="Results per page: 100 by default, at most 1,000.")]
Cursor = Annotated[
    int, Meta(ge=0, description="Only results after this one; take it from the `Link` of the page before.")
]

ACTING_USER = "X-Acting-User"
LONGEST_ACTING_USER = 200
ACTING_USER_HEADER = Parameter(
    ACTING_USER,
    "The person on whose behalf the change is made; the audit log shows it.",
    {"type": "string", "maxLength": LONGEST_ACTING_USER},
    "sam@reseller.example",
)
CHANGE_HEADERS = (ACTING_USER_HEADER,)  # of `PATCH` and `DELETE`
POST_HEADERS = (IDEMPOTENCY_KEY, ACTING_USER_HEADER)
NEXT = Header(
    "Link", "The next page, unless this is the last one.", {"type": "string"}, '</api/order?after=4>; rel="next"'
)
LOCATION = Header("Location", "The address of what is new.", {"type": "string"}, "/api/customer/1001")


ChangedSince = Annotated[
    str | None,
    Meta(
        description="Only what changed at this time or later, such as 2026-06-01T09:30:00Z. Ask from some minutes "
        "before your last request on: a change that was being made then has its earlier time."
    ),
]

CREATED = 201
Address = str | Callable[[Mapping[str, Any]], str]


class Nothing(Struct):
    """An empty body."""


class PageParameters(Struct, frozen=True, kw_only=True):
    """The parameters of a list that is read page by page."""

    after: Cursor = 0
    limit: Limit = 100


class _Since:
    """The moment of a field `changed_since`."""

    __slots__ = ()
    changed_since: str | None

    @property
    def since(self) -> datetime | None:
        """The moment of `changed_since`. Raises DomainError (invalid)."""
        return time_or_start_of("changed_since", self.changed_since)


class SinceParameters(_Since, Struct, frozen=True, kw_only=True):
    """The parameter of a list without pages that programs read again and again."""

    changed_since: ChangedSince = None


class ChangingParameters(_Since, PageParameters, frozen=True, kw_only=True):
    """The parameters of a list that programs read again and again."""

    changed_since: ChangedSince = None


class DryRun(Struct, frozen=True):
    """The query parameter of a change with a preview."""

    dry_run: Annotated[bool, Meta(description="`true`: respond with the result, but change nothing.")] = False


class Unchanged(Struct, Generic[Item], frozen=True):
    """The result of a change that had been made before, where the first time is a 201."""

    result: Item


class ChangeResponse(Struct, frozen=True):
    """A response to a change. A `lasting` one is stored: who repeats the request gets the body `kept`."""

    status: int
    body: bytes
    kept: bytes
    lasting: bool = True


class Desk(Struct, frozen=True):
    """The database and the clock, with the steps that every operation takes."""

    database: Database
    clock: Clock

    def reading(self) -> AbstractAsyncContextManager[Transaction]:
        """Run a block of reads."""
        return reading(self.database)

    async def change(
        self,
        call: Call,
        shape: type[Body],
        work: Callable[[Transaction, Body, datetime], Awaitable[Any]],
        *,
        status: int = 200,
        location: Address = "",
        shown_once: str = "",
        dry_run: bool = False,
        keyed: bool = True,
        check: Callable[[Transaction, bytes, datetime], Awaitable[Any]] | None = None,
    ) -> Response:
        """Run a change in a transaction of its own, and respond with its result.

        If a field has the wrong type, `check` finds what else is wrong with the body, and raises it. With an
        idempotency key, a repeated request gets the recorded response, with null in the field `shown_once`. The address
        of what is new is `location`, with fields of the result in braces; it is sent with the status 201. If the work
        returns `Unchanged`, the status is 200. A `dry_run` rolls the change back, does not use the key, and responds
        with 200. Without `keyed`, the key is not used.
        """
        raw = await call.json_text(required=any(field.required for field in msgspec.structs.fields(shape)))
        try:
            body = read_json(raw, shape)
            decode_json(raw)  # rejects numbers out of range in ignored fields too, as the fingerprint does
        except DomainError as error:
            if check is None or not error.field_errors:
                raise
            raise await self._with_further(error, lambda tx: check(tx, raw, self.clock.now())) from error

        async def run(tx: Transaction, now: datetime) -> ChangeResponse:
            found = await work(tx, body, now)
            if dry_run:
                tx.set_rollback()
            unchanged = isinstance(found, Unchanged)
            result = found.result if unchanged else found
            kept = msgspec.structs.replace(result, **{shown_once: None}) if shown_once else result
            return ChangeResponse(_OK if dry_run or unchanged else status, to_json(result), to_json(kept))

        return await self.once(
            call,
            lambda: fingerprint(*call.target, raw),
            run,
            location="" if dry_run else location,
            keyed=keyed and not dry_run,
        )

    async def _with_further(self, error: DomainError, check: Callable[[Transaction], Awaitable[Any]]) -> DomainError:
        """Return an error about a body together with what a check finds."""
        collector = ErrorCollector(error.field_errors)
        with collector.collecting():
            async with self.reading() as tx:
                await check(tx)
        return invalid_fields(list(dict.fromkeys(collector.errors)))

    async def once(
        self,
        call: Call,
        print_of: Callable[[], bytes],
        work: Callable[[Transaction, datetime], Awaitable[ChangeResponse]],
        *,
        location: Address = "",
        keyed: bool = True,
    ) -> Response:
        """Run a change in a transaction of its own, once per idempotency key; `print_of` returns its fingerprint.

        Without `keyed`, the key is not used. What `work` returns must not be `lasting` after a roll-back.
        """
        takes_key = keyed and call.request.method == "POST"
        key = read_key(call.request.headers.getlist(IDEMPOTENCY_HEADER)) if takes_key else None
        customer_id = call.admitted_customer_id
        caller = f"{call.actor.kind}/{call.actor.id}" if customer_id is None else customer_id
        request = None if key is None else KeyedRequest(caller, key, print_of())
        now = self.clock.now()

        def response_of(made: ChangeResponse) -> RecordedResponse | None:
            return RecordedResponse(made.status, made.kept) if made.lasting else None

        outcome = await once(self.database, call.actor, request, now, lambda tx: work(tx, now), response_of)
        if isinstance(outcome, RecordedResponse):
            return _response(outcome, location, {REPLAY_HEADER: "true"})
        return _response(RecordedResponse(outcome.status, outcome.body), location, {})

    async def delete(self, call: Call, work: Callable[[Transaction, datetime], Awaitable[Any]]) -> Response:
        """Run a change that has no response body."""
        async with transaction(self.database, call.actor) as tx:
            await work(tx, self.clock.now())
        return Response(status_code=_NO_CONTENT)


def _response(recorded: RecordedResponse, location: Address, headers: Mapping[str, str]) -> Response:
    if location and recorded.status == CREATED:
        body = msgspec.json.decode(recorded.body)
        headers = {**headers, "Location": location.format_map(body) if isinstance(location, str) else location(body)}
    return Response(recorded.body, recorded.status, headers, JSON)


def page_response(
    call: Call, rows: Sequence[Item], limit: int, cursor: Callable[[Item], Any], shown: Iterable[Any]
) -> Response:
    """Respond with a page of a list: `rows` has one item more than `limit` when there is a next page.

    `shown` are the items of the page as the response has them.
    """
    headers = next_link(call, cursor(rows[limit - 1]), limit) if len(rows) > limit else {}
    return json_response(list(shown), headers=headers)


@overload
def text(field: str, value: str) -> str: ...


@overload
def text(field: str, value: str | None) -> str | None: ...


def text(field: str, value: str | None) -> str | None:
    """Return a text parameter, stripped. Raises DomainError (invalid) for a NUL character."""
    if value is not None and "\x00" in value:
        raise invalid(field, "must not contain a NUL character")
    return None if value is None else value.strip()
