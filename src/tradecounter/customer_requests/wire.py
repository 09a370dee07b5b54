"""Requests as customers' programs and as the reseller's programs see them (specification, requests)."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.customer_requests.handle_requests import RequestDetails
from tradecounter.customer_requests.queries import CustomerRequest, RequestKind, State
from tradecounter.kit.clock import local_text
from tradecounter.kit.wire import LocalDateTime, Moment, Timed, made_from


class OpenRequestRequest(RequestDetails, kw_only=True):
    """What you ask about an order: to cancel or to return units of its items, or anything else in words."""

    kind: Annotated[
        RequestKind,
        Meta(description="`cancel` units that are not dispatched, `return` dispatched ones, or a `message`."),
    ]
    order_reference: Annotated[
        str, Meta(min_length=1, max_length=100, description="The order reference or the numeric order id.")
    ]


class RequestItem(Struct, frozen=True, kw_only=True):
    """Units of an order's item."""

    id: Annotated[int, Meta(description="The `id` of the order's item.")]
    sku: Annotated[str, Meta(description="The product's SKU.")]
    quantity: Annotated[int, Meta(description="Units to cancel or to return.")]


class RequestFields(Struct, frozen=True, kw_only=True):
    """What a request has, whatever the form of its times."""

    id: Annotated[int, Meta(description="The request's id.")]
    kind: Annotated[RequestKind, Meta(description="What is asked.")]
    state: Annotated[State, Meta(description="`open` until it is answered.")]
    order_reference: Annotated[str, Meta(description="The order that it is about.")]
    items: Annotated[list[RequestItem], Meta(description="The units to cancel or to return.")]
    text: Annotated[str, Meta(description="What was written.")]


class SupportRequest(RequestFields, frozen=True, kw_only=True):
    """A request to support about an order, with the answer once there is one."""

    opened_on: Annotated[LocalDateTime, Meta(description="When it was raised.")]
    closed_on: Annotated[LocalDateTime, Meta(description="When it was answered.")] | UnsetType = UNSET
    answer: Annotated[str, Meta(description="What support says, once it is closed.")] | UnsetType = UNSET


class RequestFileName(Struct, frozen=True, kw_only=True):
    """A picture or a PDF file of a request."""

    id: int
    name: str
    media_type: str


class ResellerRequest(Timed, RequestFields, frozen=True, kw_only=True):
    """A request of a customer; `asked_by` is a user's e-mail address or the name of a key."""

    customer_id: int
    asked_by: str
    opened_at: Moment
    closed_at: Moment | None
    closed_by: str | None
    answer: str | None
    files: list[RequestFileName]


def own_request(request: CustomerRequest) -> SupportRequest:
    """Return a request as its customer sees it."""
    closed = request.closed_at
    return made_from(
        request,
        SupportRequest,
        items=_items(request),
        opened_on=local_text(request.opened_at),
        closed_on=UNSET if closed is None else local_text(closed),
        answer=UNSET if closed is None else request.answer,
    )


def present_request(request: CustomerRequest) -> ResellerRequest:
    """Return a request as the resource ResellerRequest."""
    is_open = request.closed_at is None
    return made_from(
        request,
        ResellerRequest,
        items=_items(request),
        asked_by=request.user or request.program,
        closed_by=None if is_open else request.closed_by,
        answer=None if is_open else request.answer,
        files=[RequestFileName(**file) for file in request.files],
    )


def _items(request: CustomerRequest) -> list[RequestItem]:
    return [RequestItem(**item) for item in request.items]
