"""The buyer and the fields in the form of a new order, and the request that they make."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from msgspec import Meta, Struct, to_builtins

from tradecounter.approvals.rules import needs_approval
from tradecounter.baskets.change_basket import LONGEST_NOTE, NotedItem, save_basket
from tradecounter.baskets.queries import BasketLine, lines_of_basket
from tradecounter.billing.queries.invoice_records import overdue_of
from tradecounter.credit.queries import fetch_credit_room
from tradecounter.credit.rules import CreditRoom
from tradecounter.customers.address_rules import address_lines
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.queries.addresses import list_addresses
from tradecounter.customers.wire import SavedAddress
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.pages.countries import COUNTRIES
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.rest.call import Call
from tradecounter.edge.session import require_right
from tradecounter.kit.json_text import to_json
from tradecounter.kit.numbers import read_id
from tradecounter.orders.reseller_wire import OverrideCredit
from tradecounter.orders.states import AnyOrder, NumberedOrder, OrderBase, PendingOrder
from tradecounter.orders.wire import Reference
from tradecounter.parts.shown import ShownCustomer
from tradecounter.storefront.view import CustomerView

OWN, OF_CALLER = "/account/new-order", "/order/new/{id}"  # where the form is


class BuyerFacts(Struct, frozen=True):
    """What the form shows of the customer; staff also see the caller's account and what is overdue."""

    addresses: Sequence[SavedAddress]
    room: CreditRoom
    caller: ShownCustomer | None = None
    overdue: Decimal | None = None

    @property
    def address_choices(self) -> list[tuple[str, str]]:
        """The ids of the saved addresses, with each address in a line."""
        return [(str(address.id), ", ".join(address_lines(address)[:-1])) for address in self.addresses]


class Buyer(Struct, frozen=True):
    """A user who orders or, without `user`, a caller.

    A user's lines are the basket. A caller's lines exist only in the form, and so do those of a form that `replaces` a
    pending order.
    """

    customer_id: int
    user: CustomerUser | None
    replaces: bool = False

    @property
    def path(self) -> str:
        """The path of the form."""
        return OF_CALLER.format(id=self.customer_id) if self.user is None else OWN

    async def basket(self, tx: Transaction) -> list[BasketLine]:
        """Return the lines of the basket, if there is one."""
        return [] if self.user is None or self.replaces else await lines_of_basket(tx, self.user.id)

    async def save_basket(self, tx: Transaction, view: CustomerView, items: Sequence[NotedItem], seen: int) -> None:
        """Replace the items of the basket up to the position `seen`, if there is one."""
        if self.user is not None and not self.replaces:
            await save_basket(tx, self.user.id, view, items, seen)

    async def facts(self, tx: Transaction, now: datetime) -> BuyerFacts:
        """Return what the form shows of the customer. Raises DomainError (not found)."""
        account = None if self.user is not None else await fetch_account(tx, self.customer_id)
        addresses = await list_addresses(tx, self.customer_id)
        room = await fetch_credit_room(tx, self.customer_id)
        if account is None:
            return BuyerFacts(addresses, room)
        return BuyerFacts(addresses, room, ShownCustomer(account), await overdue_of(tx, self.customer_id, now))

    def needs_approval(self, gross: Decimal) -> bool:
        """Return whether an order with this gross total needs approval."""
        return self.user is not None and needs_approval(self.user.roles, self.user.order_limit, gross)

    def reason_to_override(self, call: Call, wanted: OverrideCredit | None) -> str | None:
        """Return the reason why the order may exceed the credit, which only staff can have.

        Raises DomainError (forbidden) without the right to it.
        """
        if wanted is None or self.user is not None:
            return None
        require_right(call.request, "billing:write")
        return wanted.reason

    def page_after(self, made: AnyOrder) -> str:
        """Return the path of the page after the form."""
        code, is_quote = made.confirmation_code, made.kind == "quote"
        if self.user is not None:
            return f"/account/quote/{code}" if is_quote else f"{OWN}/{code}"
        return f"/quote/{code}" if is_quote else f"/order/{code}/confirm"

    def message_after(self, made: AnyOrder) -> str:
        """Return the message of the page after the form."""
        is_quote = made.kind == "quote"
        if self.user is not None:
            return "Your request is sent. You get an e-mail when the quote is priced." if is_quote else ""
        if is_quote:
            return "The quote is created: price it now, or leave it to a colleague."
        return "The order is created. Nothing is charged or reserved until you confirm it."


class TypedAddress(Struct, omit_defaults=True):
    """The fields of an address as typed; `read_address` checks them."""

    contact_name: str | None = None
    company_name: str | None = None
    street_one: str | None = None
    street_two: str | None = None
    street_three: str | None = None
    city: str | None = None
    state: str | None = None
    zip: str | None = None
    country_code: str | None = None
    contact_number: str | None = None
    tax_number: str | None = None


REPLACES = "replaces"  # the field with the code of the pending order that the new one replaces
ANOTHER, SAME = "new", "same"  # instead of the id of a saved address
_DELIVERY = "Delivery: "  # before the note on the delivery, among the notes of an order


class AddressChoice(TypedAddress):
    """A saved address, or another one with its fields."""

    id: str = ANOTHER

    def in_json(self) -> dict[str, Any]:
        """Return the address as the API's body has it."""
        if (saved := read_id(self.id)) is not None:
            return {"id": saved}
        return {name: value for name, value in to_builtins(self).items() if name != "id"}


class Contact(Struct, omit_defaults=True):
    """Where the news of an order goes."""

    email_address: str | None = None
    phone_number: str | None = None


class OrderForm(Struct, kw_only=True):
    """The whole form."""

    customer_reference: Reference
    items: list[NotedItem] = []
    shipping_address: AddressChoice
    billing_address: AddressChoice
    external_customer_id: str | None = None
    order_notifications: Contact | None = None
    courier_notifications: Contact | None = None
    delivery_note: Annotated[str, Meta(max_length=LONGEST_NOTE)] = ""
    in_stock_only: bool = False
    override_credit: OverrideCredit | None = None
    replaces: str | None = None

    @property
    def notes(self) -> list[str]:
        """The user's notes: about the delivery, on one line, and about the lines."""
        delivery = " ".join(self.delivery_note.split())
        of_lines = [f"{item.sku}: {item.note}" for item in self.items if item.note]
        return [f"{_DELIVERY}{delivery}", *of_lines] if delivery else of_lines

    def in_json(self) -> bytes:
        """Return the body of `POST /order`."""
        shipping = self.shipping_address.in_json()
        billing = shipping if self.billing_address.id == SAME else self.billing_address.in_json()
        body = {
            "customer_reference": self.customer_reference,
            "items": [{"sku": item.sku, "quantity": item.quantity} for item in self.items],
            "shipping_address": shipping,
            "billing_address": billing,
            "external_customer_id": self.external_customer_id,
            "order_notifications": self.order_notifications,
            "courier_notifications": self.courier_notifications,
            "allow_back_orders": False if self.in_stock_only else None,
        }
        return to_json({name: value for name, value in body.items() if value is not None})


def delivery_country(filled: Filled, saved: Sequence[SavedAddress]) -> str:
    """Return the country code of the delivery address; without a choice, browsers send the first address."""
    chosen = filled.value("shipping_address-id") or (str(saved[0].id) if saved else ANOTHER)
    for address in saved:
        if str(address.id) == chosen:
            return address.country_code
    return filled.value("shipping_address-country_code") or COUNTRIES[0][0]


def delivery_note_of(notes: Iterable[str]) -> str:
    """Return the note on the delivery among the notes of an order; empty without one."""
    lines = (line for text in notes for line in text.splitlines())
    return next((line.removeprefix(_DELIVERY) for line in lines if line.startswith(_DELIVERY)), "")


def values_of(order: OrderBase) -> dict[str, Sequence[str]]:
    """Return the fields that a new form takes from an order; all of them from a pending order that it replaces."""
    values: dict[str, Sequence[str]] = {}
    for place in ("shipping_address", "billing_address"):
        address = getattr(order, place)
        values[f"{place}-id"] = [ANOTHER if address.id is None else str(address.id)]
        if address.id is None:
            values |= {f"{place}-{name}": [value] for name, value in to_builtins(address).items() if name != "id"}
    if order.billing_address == order.shipping_address:
        values = {name: found for name, found in values.items() if not name.startswith("billing_address")}
        values["billing_address-id"] = [SAME]
    if isinstance(order, NumberedOrder):
        return values
    values["customer_reference"] = [order.customer_reference]
    if not order.allow_back_orders:
        values["in_stock_only"] = ["true"]
    values["external_customer_id"] = [order.external_customer_id or ""]
    for name in ("order_notifications", "courier_notifications"):
        contact = to_builtins(getattr(order, name)) or {}
        values |= {f"{name}-{part}": [value] for part, value in contact.items()}
    if isinstance(order, PendingOrder):
        values[REPLACES] = [order.confirmation_code]
    return values
