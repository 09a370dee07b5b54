"""The resource Quote for the reseller."""

from typing import Annotated

from msgspec import Meta

from tradecounter.kit.wire import Moment, Timed
from tradecounter.orders.reseller_wire import ResellerShippingOption
from tradecounter.orders.wire import CreatedOrder
from tradecounter.quotes.margin import Margin


class ResellerQuote(Timed, CreatedOrder, omit_defaults=True, kw_only=True):
    """A quote of any customer."""

    customer_id: Annotated[int, Meta(description="The customer's id.")]
    status: Annotated[
        str, Meta(description="`Waiting`, `Priced`, `Expired`, `Declined` or `Ordered`.", examples=["Priced"])
    ]
    shipping_method: ResellerShippingOption | None = None  # type: ignore[assignment]  # times are in UTC here
    shipping_options: list[ResellerShippingOption]  # type: ignore[assignment]
    created_at: Moment
    priced_at: Moment | None = None
    expires_at: Moment | None = None
    note: Annotated[str | None, Meta(description="Support's note to the customer.")] = None
    margin: Annotated[Margin | None, Meta(description="Absent while the purchase cost of a product is not known.")] = (
        None
    )
