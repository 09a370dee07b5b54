"""What decides on an order besides the request: the customer, the catalogue, shipping, the policy, the time."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from tradecounter.ordering.policy import OrderingPolicy
from tradecounter.shipping.regions import Regions
from tradecounter.shipping.rules import ShippingMethod
from tradecounter.storefront.view import CustomerView


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderContext:
    """The context of a customer's order at one moment; a new order gets `code`, by default a random one."""

    customer_id: int
    view: CustomerView
    methods: Collection[ShippingMethod]
    regions: Regions
    policy: OrderingPolicy
    now: datetime
    code: str | None = None
