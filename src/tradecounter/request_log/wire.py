"""The entries of the request log as programs see them (specification, request log)."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.kit.clock import local_text
from tradecounter.kit.wire import LocalDateTime
from tradecounter.request_log.queries import RequestRecord


class LoggedRequest(Struct):
    """One request, or with `count` several requests of one minute."""

    at: Annotated[LocalDateTime, Meta(description="When it ended; with `count`, the minute.")]
    method: Annotated[str, Meta(description="The method, such as `POST`.")]
    path: Annotated[str, Meta(description="The path without its query; with `count`, the path of the operation.")]
    status: Annotated[
        int | UnsetType, Meta(description="Not of reads that are only counted: all of them succeeded.")
    ] = UNSET
    code: Annotated[str | UnsetType, Meta(description="The code of an error.")] = UNSET
    milliseconds: Annotated[int | UnsetType, Meta(description="How long it took, without the network.")] = UNSET
    request_id: Annotated[str | UnsetType, Meta(description="The response's `X-Request-Id`.")] = UNSET
    bytes: Annotated[int | UnsetType, Meta(description="The length of the response's body as it was sent.")] = UNSET
    count: Annotated[int | UnsetType, Meta(description="The number of requests in this minute.")] = UNSET


def logged_request(record: RequestRecord) -> LoggedRequest:
    """Return an entry as programs see it."""
    at = local_text(record.at)
    if record.count is not None:
        counted = LoggedRequest(at, record.method, record.path, count=record.count)
        if record.status:
            counted.status = record.status
            counted.code = record.code or UNSET
        return counted
    return LoggedRequest(
        at=at,
        method=record.method,
        path=record.path,
        status=record.status,
        code=record.code or UNSET,
        milliseconds=record.milliseconds or 0,
        request_id=record.request_id or "",
        bytes=record.bytes or 0,
    )


ERROR = LoggedRequest(
    at="2026-06-16T10:12:44",
    method="PUT",
    path="/order/8a7c2f10",
    status=410,
    code="expired",
    milliseconds=12,
    request_id="3f1c9a0b5d7e2468",
    bytes=74,
)
READS = LoggedRequest("2026-06-16T10:12:00", "GET", "/product", count=57)
