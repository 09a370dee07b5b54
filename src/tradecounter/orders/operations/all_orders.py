"""What the reseller's API and the pages filter orders by."""

from typing import Annotated

from msgspec import Meta

from tradecounter.customers.named_customer import named_customer
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import ChangingParameters, text
from tradecounter.edge.page_kit.tables import TableParameters
from tradecounter.edge.rest.days import end_of, start_of, time_or_end_of, time_or_start_of
from tradecounter.kit.errors import invalid
from tradecounter.kit.keys import key_form
from tradecounter.kit.text import joined_word
from tradecounter.orders.queries.all_orders import OrderFilter
from tradecounter.orders.rules import STATUSES
from tradecounter.orders.states import State
from tradecounter.products.queries.products import whole_products


class OrderTable(TableParameters, frozen=True, kw_only=True):
    """What the pages filter orders by."""

    status: str | None = None
    reference: str | None = None
    customer_reference: str | None = None
    sku: str | None = None
    created_from: str | None = None
    created_to: str | None = None


class AllOrdersParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/order`. Orders must match all of them."""

    state: Annotated[State | None, Meta(description="Only orders in this state.")] = None
    status: Annotated[str | None, Meta(description="Only orders with this status, in any case.")] = None
    customer_id: Annotated[int, Meta(ge=1, description="Only this customer's orders.")] | None = None
    reference: Annotated[str | None, Meta(description="Only orders whose reference begins with this.")] = None
    customer_reference: Annotated[str | None, Meta(description="Only orders with this customer reference.")] = None
    external_id: Annotated[str | None, Meta(description="Only the order with this external id.")] = None
    sku: Annotated[str | None, Meta(description="Only orders with this product.")] = None
    created_from: Annotated[
        str | None, Meta(description="Only orders placed at this time or later; a date is when that UK day begins.")
    ] = None
    created_to: Annotated[
        str | None, Meta(description="Only orders placed before this time; a date includes the whole UK day.")
    ] = None


async def all_orders_filter(
    tx: Transaction,
    wanted: AllOrdersParameters | OrderTable,
    customer: int | str | None,
    state: State | None,
    *,
    external_id: str | None = None,
    in_days: bool = False,
) -> OrderFilter:
    """Return the filter for a query; only staff may ask for an external id. Pages ask `in_days` of the UK.

    `customer` is an id, or what names the customer.

    What does not exist, such as a product, matches no order. Raises DomainError (invalid).
    """
    sku, status = text("sku", wanted.sku), text("status", wanted.status)
    return OrderFilter(
        customer_id=await named_customer(tx, "customer_id", customer) if isinstance(customer, str) else customer,
        reference=text("reference", wanted.reference),
        customer_reference=text("customer_reference", wanted.customer_reference),
        external_id=text("external_id", external_id) or None,
        product_ids=None if sku is None else [found.record.id for found in await whole_products(tx, [key_form(sku)])],
        created_from=(start_of if in_days else time_or_start_of)("created_from", wanted.created_from),
        created_to=(end_of if in_days else time_or_end_of)("created_to", wanted.created_to),
        status=None if status is None else _status(status),
        state=state,
    )


def _status(label: str) -> str:
    match = next((status for status in STATUSES if joined_word(status) == joined_word(label)), None)
    if match is None:
        raise invalid("status", f"{label[:40]!r} is not one of {', '.join(STATUSES)}")
    return match
