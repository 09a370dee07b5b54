"""The inputs to an order besides its request: customer, catalogue view, shipping, policy, time."""

from dataclasses import dataclass
from datetime import datetime

from tradecounter.orders.policy import OrderingPolicy
from tradecounter.shipping.methods import Shipping
from tradecounter.storefront.view import CustomerView


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderContext:
    """The context of a customer's order; `code` is the confirmation code of a new order, random by default."""

    customer_id: int
    view: CustomerView
    shipping: Shipping
    policy: OrderingPolicy
    now: datetime
    code: str | None = None
