"""The query parameters of `GET /order` (specification, section 4; orders asked for)."""

from datetime import datetime, timedelta
from typing import Annotated, Any

from msgspec import Meta, Struct

from tradecounter.edge.rest.negotiation import Accept
from tradecounter.edge.rest.paging import DEFAULT_LIMIT, PageLimit, PageNumber
from tradecounter.kit.errors import ErrorCollector, invalid
from tradecounter.kit.keys import key_form
from tradecounter.kit.local_time import moment_of
from tradecounter.orders.queries.order_lists import OrderListFilter
from tradecounter.orders.wire import LONGEST_SKU, Reference

_ONE_SECOND = timedelta(seconds=1)
# For the interface document only. `_moment` also rejects days that do not exist, such as 30 February.
_MOMENT: dict[str, Any] = {
    "pattern": r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$"
}
_LONGEST_QUOTED = 40


class OrderListParameters(Struct, frozen=True):
    """The query parameters of `GET /order`. Orders must match all of them."""

    accept: Accept = None
    page: PageNumber = 1
    limit: PageLimit = DEFAULT_LIMIT
    customer_reference: Annotated[
        Reference | None,
        Meta(description="Only orders with this customer reference; case does not matter.", examples=["DEMO-001"]),
    ] = None
    status: Annotated[
        Annotated[str, Meta(max_length=100)] | None,
        Meta(description="Only orders with this status; case does not matter.", examples=["Completed"]),
    ] = None
    created_from: Annotated[
        str | None,
        Meta(
            description="Only orders created at this UK local time or later.",
            examples=["2026-01-01T00:00:00"],
            extra_json_schema=_MOMENT,
        ),
    ] = None
    created_to: Annotated[
        str | None,
        Meta(
            description="Only orders created at this UK local time or earlier.",
            examples=["2099-12-31T23:59:59"],
            extra_json_schema=_MOMENT,
        ),
    ] = None
    changed_since: Annotated[
        str | None,
        Meta(
            description="Only orders changed at this UK local time or later, by their `changed_on`.",
            examples=["2026-01-01T00:00:00"],
            extra_json_schema=_MOMENT,
        ),
    ] = None
    sku: Annotated[
        Annotated[str, Meta(max_length=LONGEST_SKU)] | None,
        Meta(
            description="Only orders with this product, also in a bundle; case does not matter.",
            examples=["TH6S-0050-BLK"],
        ),
    ] = None
    tracking_number: Annotated[
        Annotated[str, Meta(max_length=100)] | None,
        Meta(
            description="Only orders with a shipment of this tracking number; case does not matter.",
            examples=["NW-4410-2265"],
        ),
    ] = None


def order_filter(parameters: OrderListParameters) -> OrderListFilter:
    """Return the filter for the parameters. Raises DomainError (invalid) with all errors."""
    collector = ErrorCollector()
    for name in ("customer_reference", "status", "sku", "tracking_number"):
        with collector.collecting():
            if "\x00" in (getattr(parameters, name) or ""):
                raise invalid(name, "must not contain a NUL character")
    created_from = created_to = changed_since = None
    with collector.collecting():
        created_from = _moment("created_from", parameters.created_from)
    with collector.collecting():
        created_to = _moment("created_to", parameters.created_to, latest=True)
    with collector.collecting():
        changed_since = _moment("changed_since", parameters.changed_since)
    collector.check()
    return OrderListFilter(
        customer_reference=_stripped(parameters.customer_reference),
        status=_stripped(parameters.status),
        confirmed_from=created_from,
        confirmed_before=_next_second(created_to),
        changed_since=changed_since,
        sku_key=None if parameters.sku is None else key_form(parameters.sku),
        tracking_number=_stripped(parameters.tracking_number),
    )


def _stripped(text: str | None) -> str | None:
    return None if text is None else text.strip()


def _moment(name: str, text: str | None, *, latest: bool = False) -> datetime | None:
    if text is None:
        return None
    try:
        return moment_of(text, latest=latest)
    except ValueError as error:
        problem = f"must be a UK local time such as 2026-03-02T17:30:00, not {text[:_LONGEST_QUOTED]!r}"
        raise invalid(name, problem) from error


def _next_second(moment: datetime | None) -> datetime | None:
    """Return the exclusive bound that includes the whole second of `moment`; None without a bound."""
    try:
        return None if moment is None else moment + _ONE_SECOND
    except OverflowError:  # the last second of the year 9999
        return None
