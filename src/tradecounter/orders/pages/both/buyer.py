"""The buyer in the form of a new order: a user, whose lines are the basket, or a caller for whom staff order."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct

from tradecounter.approvals.rules import needs_approval
from tradecounter.baskets.change_basket import NotedItem, save_basket
from tradecounter.baskets.queries import BasketLine, lines_of_basket
from tradecounter.billing.queries.invoice_records import overdue_of
from tradecounter.credit.queries import fetch_credit_room
from tradecounter.credit.rules import CreditRoom
from tradecounter.customers.address_rules import address_lines
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.queries.addresses import list_addresses
from tradecounter.customers.wire import SavedAddress
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.rest.call import Call
from tradecounter.edge.session import require_right
from tradecounter.orders.reseller_wire import OverrideCredit
from tradecounter.orders.states import AnyOrder
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
