"""The inputs to an order besides its request: customer, catalogue view, shipping, policy, time."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from tradecounter.ordering.policy import OrderingPolicy
from tradecounter.shipping.regions import Regions
from tradecounter.shipping.rules import ShippingMethod
from tradecounter.storefront.view import CustomerView


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderContext:
    """The context of a customer's order; `code` is the confirmation code of a new order, random by default."""

    customer_id: int
    view: CustomerView
    methods: Collection[ShippingMethod]
    regions: Regions
    policy: OrderingPolicy
    now: datetime
    code: str | None = None
