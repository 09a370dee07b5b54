"""The resource Quote, and a request about one (specification, section 2)."""

from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.kit.wire import LocalDateTime
from tradecounter.orders.wire import CreatedOrder


class Quote(CreatedOrder, omit_defaults=True, kw_only=True):
    """A quote as created, with support's prices once it is priced."""

    status: Annotated[
        str,
        Meta(
            description="`Waiting` for support's price; `Priced`: can be confirmed until `expires_on`; `Expired`; "
            "`Declined` by support; `Ordered`: confirmed as `order_reference`. New values may be added.",
            examples=["Priced"],
        ),
    ]
    expires_on: Annotated[LocalDateTime | None, Meta(description="Set once priced.")] = None


class DeclineQuoteRequest(Struct):
    """Why you do not want the quote."""

    reason: Annotated[str, Meta(description="Support reads it; it may be left out.")] = ""
