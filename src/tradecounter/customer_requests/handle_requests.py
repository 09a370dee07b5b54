"""Opens requests about orders, with pictures and PDF files, and closes them with an answer."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.customer_requests.queries import (
    CustomerRequest,
    RequestFile,
    RequestKind,
    count_requests,
    find_request,
    insert_file,
    insert_request,
    set_closed,
)
from tradecounter.customers.queries.accounts import lock_account
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import Code, DomainError, Kind, invalid, or_not_found, require_text
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.lines import OrderLine, Purpose, named_lines, what_remains
from tradecounter.orders.queries.orders import fetch_own_order, lines_of_order
from tradecounter.orders.states import CancelledOrder, NumberedOrder

ASKS: Mapping[RequestKind, str] = {"cancel": "Ask to cancel", "return": "Ask to return", "message": "Write to us"}
_LONGEST_TEXT = 5_000
_MOST_OPEN = 50  # of a customer


MOST_BYTES = 5 * 1024 * 1024  # of a file
FIELDS = ("file_one", "file_two", "file_three")  # of the form
ACCEPTED = ".jpg,.jpeg,.png,.webp,.pdf,image/jpeg,image/png,image/webp,application/pdf"

_SIGNATURES: Mapping[str, re.Pattern[bytes]] = {
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
    "application/pdf": re.compile(rb"%PDF-"),
}
_EXTENSIONS = {"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp", "application/pdf": ".pdf"}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 80


class RequestedUnits(Struct):
    """Units of an order's line, by the line's id."""

    id: Annotated[int, Meta(description="The `id` of the order's item.")]
    quantity: Annotated[int, Meta(description="Units to cancel or to return.")] = 0


class RequestDetails(Struct):
    """What is asked: units for cancelling and returning, and words."""

    items: Annotated[
        list[RequestedUnits], Meta(description="The units to cancel or to return; empty with a `message`.")
    ] = []
    text: Annotated[str, Meta(description="Why, or what else: up to 5,000 characters. Required without units.")] = ""


class RequestAnswer(Struct):
    """What the customer is told."""

    text: Annotated[str, Meta(description="What the customer is told.")] = ""


_PURPOSES: Mapping[RequestKind, Purpose] = {
    "cancel": Purpose(verb="cancel", most=lambda line: line.to_come),
    "return": Purpose(verb="return", remaining="to return", most=lambda line: line.dispatched - line.returned),
    "message": Purpose(verb="ask for with a message", most=lambda _line: 0),
}


def askable(line: OrderLine, kind: RequestKind) -> int:
    """Return the units of a line that may be asked for: those to come to cancel, dispatched ones to return."""
    return _PURPOSES[kind].most(line)


def checked_file(field: str, name: str, content: bytes) -> RequestFile:
    """Return a file that was uploaded in a field. Raises DomainError (invalid): another kind of file, or too long."""
    if len(content) > MOST_BYTES:
        raise invalid(field, f"is longer than {MOST_BYTES // 1024 // 1024} MB")
    media_type = next((kind for kind, signature in _SIGNATURES.items() if signature.match(content)), None)
    if media_type is None:
        raise invalid(field, "must be a picture (JPEG, PNG or WebP) or a PDF file")
    stem = _UNSAFE.sub("-", PurePath(name).stem).strip("-.")[:_LONGEST_NAME] or "file"
    return RequestFile(f"{stem}{_EXTENSIONS[media_type]}", media_type, content)


async def open_request(
    tx: Transaction,
    customer_id: int,
    reference: str,
    kind: RequestKind,
    details: RequestDetails,
    now: datetime,
    files: Sequence[RequestFile] = (),
    *,
    user_id: int | None = None,
) -> int:
    """Ask the reseller about an order of a customer; return the request's id. A program has no `user_id`.

    Raises DomainError: not found; invalid; conflict (nothing to cancel or return, too many open requests).
    """
    order = await fetch_own_order(tx, customer_id, reference)
    items = _checked_items(await lines_of_order(tx, order.id), kind, details.items)
    text = require_text("text", details.text, _LONGEST_TEXT) if details.text or not items else ""
    await lock_account(tx, customer_id)  # so that requests at the same time count each other
    if await count_requests(tx, customer_id, "open") >= _MOST_OPEN:
        raise DomainError(
            Kind.CONFLICT,
            f"{_MOST_OPEN} requests wait for us already: give us some time for them",
            code=Code.TOO_MANY_PENDING,
        )
    program = "" if user_id is not None else tx.actor.name
    request_id = await insert_request(tx, kind, order.id, user_id, program, items, text, now)
    for file in files:
        await insert_file(tx, request_id, file)
    facts = {"request": request_id, "kind": kind, "items": items}
    audit_order(tx, "request.open", order, now, after={**facts, "files": [file.name for file in files]})
    record_order_event(tx, "request.opened", order, now, **facts)
    queue(tx, "mail_request_opened", request_id=request_id)
    return request_id


async def close_request(tx: Transaction, request_id: int, answer: str, now: datetime) -> CustomerRequest:
    """Close a request with an answer, which who asked gets by e-mail; return the request.

    Raises DomainError: not found; invalid; conflict (closed already).
    """
    request = await fetch_request(tx, request_id)
    answer = require_text("text", answer, _LONGEST_TEXT)
    staff_id = tx.actor.id if tx.actor.kind == "staff" else None
    if not await set_closed(tx, request_id, staff_id, "" if staff_id else tx.actor.name, answer, now):
        raise DomainError(Kind.CONFLICT, "it is answered already")
    order = await fetch_order(tx, request.order_reference)
    audit_order(tx, "request.close", order, now, after={"request": request_id, "answer": answer})
    record_order_event(tx, "request.closed", order, now, request=request_id, kind=request.kind)
    queue(tx, "mail_request_closed", request_id=request_id)
    return await fetch_request(tx, request_id)


async def fetch_request(tx: Transaction, request_id: int) -> CustomerRequest:
    """Return a request of any customer. Raises DomainError (not found)."""
    return or_not_found(await find_request(tx, request_id), "request", request_id)


def can_ask(order: NumberedOrder, lines: Sequence[OrderLine], kind: RequestKind) -> bool:
    """Return whether an order has units to cancel or to return; anybody may write about any order."""
    return kind == "message" or (not isinstance(order, CancelledOrder) and any(askable(line, kind) for line in lines))


def _checked_items(
    lines: Sequence[OrderLine], kind: RequestKind, wanted: Sequence[RequestedUnits]
) -> list[dict[str, object]]:
    """Return the units as they are stored. Raises DomainError (invalid)."""
    purpose, items = _PURPOSES[kind], list[dict[str, object]]()
    asked = [(number, units) for number, units in enumerate(wanted) if units.quantity]
    named = named_lines(lines, [units.id if units.quantity else None for units in wanted], purpose)
    for (number, units), line in zip(asked, named, strict=True):
        if not 0 < units.quantity <= purpose.most(line):
            raise invalid(f"items[{number}].quantity", what_remains(line, purpose))
        items.append({"id": line.id, "sku": line.sku, "quantity": units.quantity})
    if kind != "message" and not items:
        raise invalid("items", f"say how many units to {kind}")
    return items
