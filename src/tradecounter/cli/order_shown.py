"""An order as the command line prints it."""

from collections.abc import Sequence
from typing import Any

from tradecounter.kit.local_time import local_text
from tradecounter.ordering.records import LineRecord, OrderRecord


def as_operators_see_it(order: OrderRecord, lines: Sequence[LineRecord]) -> dict[str, Any]:
    """Return an order with the names of the wire, its lines by SKU, and what only the reseller may see."""
    return {
        "id": order.number,
        "kind": order.kind,
        "order_reference": order.order_reference,
        "confirmation_code": order.confirmation_code,
        "customer_id": order.customer_id,
        "customer_reference": order.customer_reference,
        "state": order.state,
        "status": order.status,
        "created_on": local_text(order.confirmed_at or order.created_at),
        "cost_net": order.cost_net,
        "cost_tax": order.cost_tax,
        "cost_gross": order.cost_net + order.cost_tax,
        "shipping_cost_net": order.shipping_net,
        "shipping_cost_tax": order.shipping_tax,
        "shipping_method": order.shipping_method,
        "billing_address": order.billing_address,
        "shipping_address": order.shipping_address,
        "items": [
            {
                "id": line.id,
                "sku": line.sku,
                "name": line.name,
                "quantity": line.quantity,
                "unit_cost": line.unit_cost,
                "cost_net": line.cost_net,
                "cost_tax": line.cost_tax,
                "allocated": line.allocated,
                "back_ordered": line.back_ordered,
            }
            for line in lines
        ],
    }
