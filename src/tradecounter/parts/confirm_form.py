"""The form with which staff confirm an order or a quote."""

from msgspec import Struct

from tradecounter.edge.rest.call import Call
from tradecounter.edge.session import require_right
from tradecounter.orders.reseller_wire import Confirmation, OverrideCredit
from tradecounter.orders.wire import ShippingChoice


class ConfirmForm(Struct):
    """How an order is sent, and why it may exceed the credit."""

    shipping_method: int | None = None
    override_credit: OverrideCredit | None = None


def confirmation(call: Call, body: ConfirmForm) -> Confirmation:
    """Return what the use case takes. Raises DomainError (forbidden) for an override without the right to it."""
    if body.override_credit is not None:
        require_right(call.request, "billing:write")
    return Confirmation(
        None if body.shipping_method is None else ShippingChoice(body.shipping_method),
        override_credit=body.override_credit,
    )
