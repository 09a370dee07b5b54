"""An order as its page shows it: the resource of the API, with what the page works out."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from tradecounter.backoffice.order_wire import ResellerOrder, ResellerOrderItem
from tradecounter.backoffice.present_order import OrderPresenter
from tradecounter.customers.queries.accounts import the_account
from tradecounter.customers.wire import CustomerAddress
from tradecounter.db.transaction import Transaction
from tradecounter.ordering.lookup import any_order
from tradecounter.rest.call import Call


@dataclass(frozen=True, slots=True)
class ShownItem:
    """A line with its product's SKU and name; `left` are the units that can still be dispatched or cancelled."""

    item: ResellerOrderItem
    sku: str
    name: str

    @property
    def left(self) -> int:
        """Units that are wanted and not dispatched."""
        return self.item.quantity_allocated + self.item.quantity_back_ordered


@dataclass(frozen=True, slots=True)
class ShownOrder:
    """An order with its customer's name."""

    order: ResellerOrder
    customer: str
    items: list[ShownItem]

    @property
    def name(self) -> str:
        """The reference, or the confirmation code of an unconfirmed order."""
        return self.order.order_reference or self.order.confirmation_code

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
    def shipping_net(self) -> Decimal:
        """What the shipping costs."""
        return sum((shipping.cost_net for shipping in self.order.shipping), Decimal(0))

    @property
    def gross(self) -> Decimal:
        """Items and shipping with VAT."""
        shipping = sum((s.cost_net + s.cost_tax for s in self.order.shipping), Decimal(0))
        return self.order.cost_gross + shipping

    def sku_of(self, item_id: int) -> str:
        """Return the SKU of a line."""
        return next((item.sku for item in self.items if item.item.id == item_id), str(item_id))


def address_lines(address: CustomerAddress) -> list[str]:
    """Return an address line by line, without empty ones."""
    values: dict[str, Any] = msgspec.structs.asdict(address)
    skipped = {"id", "phone_number", "email_address", "first_name", "last_name"}
    name = " ".join(str(values[part]) for part in ("first_name", "last_name") if values.get(part))
    return [name, *(str(value) for field, value in values.items() if field not in skipped and isinstance(value, str))]


async def shown_order(tx: Transaction, presenter: OrderPresenter, call: Call, now: datetime) -> ShownOrder:
    """Return the order that a page's path names. Raises DomainError (not found)."""
    found = await any_order(tx, call.path_text("reference", "order"))
    order = await presenter.one(tx, found, now)
    account = await the_account(tx, order.customer_id)
    items = []
    for item in order.items:
        product = msgspec.json.decode(bytes(item.product))
        items.append(ShownItem(item, product["sku"], product.get("name") or product.get("description") or ""))
    return ShownOrder(order, account.name, items)
