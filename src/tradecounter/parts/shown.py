"""The customer and the order that a page of the back office shows."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tradecounter.billing.rules import can_invoice
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.settings import Account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.rest.call import Call
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.reseller_wire import ResellerOrder, ResellerOrderItem, ResellerTrackingEvent, Shipment
from tradecounter.orders.states import AnyOrder
from tradecounter.orders.waiting import OpenLine, Wait, waits_of_orders
from tradecounter.parts.present_order import OrderPresenter
from tradecounter.products.on_pages import Scanned


class ShownCustomer(Struct, frozen=True):
    """A customer with its name and the path of its pages."""

    account: Account

    @property
    def id(self) -> int:
        """The customer's id."""
        return self.account.id

    @property
    def name(self) -> str:
        """The company, or the contact person of an account without a company."""
        return self.account.name

    @property
    def contact(self) -> str:
        """The contact person."""
        return f"{self.account.first_name} {self.account.last_name}".strip()

    @property
    def path(self) -> str:
        """The path of the customer's first page."""
        return f"/customer/{self.account.id}"


async def shown_customer(tx: Transaction, call: Call) -> ShownCustomer:
    """Return the customer that a page's path names. Raises DomainError (not found)."""
    return ShownCustomer(await fetch_account(tx, call.path_id("id", "customer")))


class ShownItem(Scanned, Struct, frozen=True):
    """A line with its product's SKU, name and EAN; `left` are the units that can still be dispatched or cancelled.

    `wait` says why units have not left.
    """

    item: ResellerOrderItem
    sku: str
    name: str
    ean: str | None = None
    wait: Wait | None = None

    @property
    def left(self) -> int:
        """Units that are wanted and not dispatched."""
        return self.item.quantity_allocated + self.item.quantity_back_ordered

    @property
    def returnable(self) -> int:
        """Units that were dispatched and did not come back."""
        return self.item.quantity_dispatched - self.item.quantity_returned


class ShownOrder(Struct, frozen=True):
    """An order with its customer's account; `found` is the order as the use cases know it."""

    order: ResellerOrder
    found: AnyOrder
    account: Account
    items: list[ShownItem]

    @property
    def customer(self) -> str:
        """The customer's name."""
        return self.account.name

    @property
    def name(self) -> str:
        """The reference, or the confirmation code of an unconfirmed order."""
        return self.order.order_reference or self.order.confirmation_code

    @property
    def title(self) -> str:
        """What people call the order: by its reference, or by its customer until it has one."""
        return self.order.order_reference or f"the order of {self.customer}"

    @property
    def path(self) -> str:
        """The path of the order's page."""
        return f"/order/{self.name}"

    @property
    def is_confirmed(self) -> bool:
        """Whether the order is confirmed and not cancelled."""
        return self.order.state == "confirmed"

    @property
    def left(self) -> int:
        """Units that are wanted and not dispatched."""
        return sum(item.left for item in self.items)

    @property
    def allocated(self) -> int:
        """Units that can be dispatched now."""
        return sum(item.item.quantity_allocated for item in self.items)

    @property
    def dispatched(self) -> int:
        """Units that were dispatched."""
        return sum(item.item.quantity_dispatched for item in self.items)

    @property
    def can_invoice(self) -> bool:
        """Whether there is something to invoice now."""
        units = sum(item.item.quantity_to_invoice for item in self.items)
        return can_invoice(units, self.left, invoiced=bool(self.order.invoices))

    @property
    def returnable(self) -> int:
        """Units that a customer has and could send back."""
        return sum(item.returnable for item in self.items)

    @property
    def steps(self) -> set[str]:
        """What the state of the order allows, whoever may do it; most are the ends of their pages' paths."""
        if self.order.state == "pending":
            return {"cancel", "quote"} if self.found.kind == "quote" else {"cancel", "confirm", "change"}
        allowed = {"again": True, "return": self.returnable, "tracking": self.order.shipments}
        if self.is_confirmed:
            allowed |= {"amend": self.left, "cancel": self.left, "invoice": self.can_invoice, "video": True}
            allowed |= {"dispatch": self.allocated, "picking-list": self.allocated}
        return {step for step, is_allowed in allowed.items() if is_allowed}

    @property
    def main_step(self) -> str:
        """The most likely next step of the order."""
        steps, likely = self.steps, ["confirm", "dispatch"] if self.left else ["confirm", "dispatch", "invoice"]
        return next((step for step in likely if step in steps), "")

    @property
    def shipping_name(self) -> str:
        """The chosen way to ship."""
        chosen = self.found.chosen_shipping
        return "" if chosen is None else chosen.name

    @property
    def shipments(self) -> list[tuple[Shipment, list[ResellerTrackingEvent]]]:
        """Shipments with their tracking events, the latest shipment first."""
        events = [shipping.tracking_events for shipping in self.order.shipping]
        return list(zip(self.order.shipments, events, strict=False))[::-1]

    @property
    def shipping_net(self) -> Decimal:
        """What the shipping costs."""
        return sum((shipping.cost_net for shipping in self.order.shipping), Decimal(0))

    @property
    def tax(self) -> Decimal:
        """The VAT of items and shipping."""
        return sum((shipping.cost_tax for shipping in self.order.shipping), self.order.cost_tax)

    @property
    def gross(self) -> Decimal:
        """Items and shipping with VAT."""
        return self.order.cost_net + self.shipping_net + self.tax

    def sku_of(self, item_id: int) -> str:
        """Return the SKU of a line."""
        return next((item.sku for item in self.items if item.item.id == item_id), str(item_id))


async def shown_order(tx: Transaction, presenter: OrderPresenter, call: Call, now: datetime) -> ShownOrder:
    """Return the order that a page's path names. Raises DomainError (not found)."""
    order = await fetch_order(tx, call.path_text("reference", "order"))
    return await shown_as(tx, presenter, order, now)


async def shown_as(tx: Transaction, presenter: OrderPresenter, stored: AnyOrder, now: datetime) -> ShownOrder:
    """Return an order with what its page works out."""
    order = await presenter.one(tx, stored, now)
    account = await fetch_account(tx, order.customer_id)
    items = []
    for item in order.items:
        product = msgspec.json.decode(bytes(item.product))
        name = product.get("name") or product.get("description") or ""
        items.append(ShownItem(item, product["sku"], name, product.get("ean")))
    waits = await _waits(tx, order, stored, items, now) if order.state == "confirmed" else {}
    items = [replace(shown, wait=waits.get(shown.item.id)) for shown in items]
    return ShownOrder(order, stored, account, items)


async def _waits(
    tx: Transaction, order: ResellerOrder, stored: AnyOrder, items: Sequence[ShownItem], now: datetime
) -> dict[int, Wait]:
    lines = [
        OpenLine(
            id=shown.item.id,
            sku=shown.sku,
            quantity=shown.item.quantity,
            allocated=shown.item.quantity_allocated,
            back_ordered=shown.item.quantity_back_ordered,
        )
        for shown in items
    ]
    if not any(shown.left for shown in items):
        return {}
    return (await waits_of_orders(tx, {stored.id: lines}, {stored.id: order.expected_dispatch_date}, now))[stored.id]
