"""What an order is judged by: who orders, what it sees, how it can be shipped, the policy, the moment."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from tradecounter.ordering.policy import OrderingPolicy
from tradecounter.shipping.regions import Regions
from tradecounter.shipping.rules import ShippingMethod
from tradecounter.storefront.view import CustomerView


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """A customer's circumstances at one moment; `now` is in UTC. A new order has `code`, by default a random one."""

    customer_id: int
    view: CustomerView
    methods: Collection[ShippingMethod]
    regions: Regions
    policy: OrderingPolicy
    now: datetime
    code: str | None = None
