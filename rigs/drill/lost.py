"""What happens after the moment that is restored: a bad import, and what customers and staff do until it is noticed."""

from dataclasses import dataclass, field
from typing import Any

from rigs.kill.sender import Sender
from rigs.kill.stories import PLENTY, RETURNABLE, Buyer
from support.shop import STANDARD, order

BAD_PRICE = "0.01"
_ORDERS = 6


@dataclass
class Lost:
    """What was given out and is lost: references, invoices, and how far a program had read the event log."""

    references: list[str] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    invoices: list[int] = field(default_factory=list)
    position: int = 0
    tag: str = ""


def trade_at_bad_prices(sender: Sender, buyer: Buyer) -> Lost:
    """Orders at the wrong price, of which some are dispatched and invoiced; a program reads all their events."""
    lost = Lost()
    for number in range(_ORDERS):
        key = f"lost-{number}"
        placed = place(sender, buyer, key)
        lost.keys.append(key)
        lost.references.append(placed["order_reference"])
        lost.ids.append(placed["order_id"])
        if number % 2:
            path = f"/api/order/{placed['order_reference']}"
            items = [{"id": item["id"], "quantity": item["quantity"]} for item in placed["items"]]
            sender.staff_post(f"{path}/dispatch", f"{key}-dispatch", {"items": items, "tracking_number": key})
            lost.invoices += sender.staff_post(f"{path}/invoice", f"{key}-invoice", {"part": False})["invoices"]
    return lost


def place(sender: Sender, buyer: Buyer, key: str) -> Any:
    """Place an order over the customers' API."""
    body = order([(RETURNABLE, 1), (PLENTY, 2)], customer_reference=key, auto_confirm=True)
    return sender.customer_post(buyer.key, "/order", key, {**body, "shipping_method": {"id": STANDARD}})


def bad_prices() -> str:
    """A price list with a penny for everything, as CSV."""
    return "price_list,sku,single_unit_cost\n" + "".join(
        f"default,{sku},{BAD_PRICE}\n" for sku in ("PHONE", "CABLE", "SWITCH")
    )
