"""`/account`: what waits for the customer, the latest orders, and the way to the other pages."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct, field
from starlette.responses import Response

from tradecounter.approvals.queries import MOST, Approval, count_orders_to_approve, waiting_approvals
from tradecounter.approvals.rules import APPROVERS
from tradecounter.billing.credit_overview import owed_of
from tradecounter.billing.queries.ledger import open_invoices, unallocated_of
from tradecounter.credit.queries import outstanding_of
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.settings import Account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.values import money
from tradecounter.edge.pages.operation import page, user_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.money import NOTHING
from tradecounter.kit.text import counted
from tradecounter.orders.queries.all_orders import OrderFilter, OrderRow, order_table
from tradecounter.orders.queries.today import MOST_COUNTED, AccountSummary, account_summary
from tradecounter.orders.states import PricedQuote
from tradecounter.orders.waiting import Wait, waits_of_rows
from tradecounter.parts.account import AccountParts
from tradecounter.payments.remittances import announced_invoices
from tradecounter.quotes.queries import open_quotes
from tradecounter.saved_lists.queries import usual_items
from tradecounter.storefront.shown_product import ShownLine, shown_lines
from tradecounter.storefront.view import CustomerView

_MOST_SHOWN = 5
_MOST_USUAL = 3
_OF_USUAL = 10  # products, because the customer may no longer be able to buy some of them
_OF_LATEST = 50  # orders, so that the page is as quick for who orders much


class Tile(Struct, frozen=True):
    """A figure, with the page behind it."""

    name: str
    value: str
    path: str
    state: str = ""


class _Home(Struct):
    """What the page shows to a person."""

    tiles: list[Tile] = field(default_factory=list)
    quotes: Sequence[PricedQuote] = ()
    latest: Sequence[OrderRow] = ()
    waits: Mapping[int, Wait] = field(default_factory=dict)
    usual: Sequence[ShownLine] = ()
    pending: int = 0
    to_pay: Decimal = NOTHING
    on_account: Decimal = NOTHING
    to_approve: Sequence[Approval] = ()
    buys: bool = False


class HomePages(Struct, frozen=True):
    """The first page of the account."""

    desk: PageDesk
    parts: AccountParts

    @page("/account", "Your account")
    async def show_home(self, call: Call) -> Response:
        user, now = user_of(call), self.desk.clock.now()
        home = _Home(buys=user.has_role("buyer"))
        view = await self._view(call) if home.buys else None
        async with self.desk.reading() as tx:
            account = await fetch_account(tx, call.customer_id)
            if home.buys:
                await self._add_orders(tx, account, home, view, now)
            if user.has_role(*APPROVERS):
                home.to_approve = await waiting_approvals(tx, account.id, now)
            if user.has_role("accounts"):
                await self._add_money(tx, account, home, now)
        return self.desk.show(call, "today/home.html", account=account, home=home, most_to_approve=MOST)

    async def _view(self, call: Call) -> CustomerView | None:
        """Return the customer's view of the catalogue, or None if it is unavailable: the page opens without it."""
        try:
            return await self.parts.views.of(call.customer_id)
        except DomainError as error:
            if error.kind is not Kind.UNAVAILABLE:
                raise
            return None

    async def _add_orders(
        self, tx: Transaction, account: Account, home: _Home, view: CustomerView | None, now: datetime
    ) -> None:
        summary = await account_summary(tx, account.id, now)
        home.tiles += _order_tiles(summary)
        if summary.pending:
            home.pending = max(summary.pending - await count_orders_to_approve(tx, account.id, now), 0)
        if summary.quotes_priced:
            quotes = await open_quotes(tx, account.id, _MOST_SHOWN)
            home.quotes = [q for q in quotes if isinstance(q, PricedQuote) and not q.has_expired(now)]
        wanted = OrderFilter(customer_id=account.id, state="confirmed")
        home.latest = await order_table(tx, wanted, "confirmed", _MOST_SHOWN, descending=True)
        home.waits = await waits_of_rows(tx, home.latest, now, sees_deliveries=account.trade_account)
        if view is not None:
            usual = await usual_items(tx, account.id, now, _OF_USUAL, _OF_LATEST)
            home.usual = shown_lines(view, ((line.product_id, line.quantity) for line in usual))[:_MOST_USUAL]

    async def _add_money(self, tx: Transaction, account: Account, home: _Home, now: datetime) -> None:
        used = await outstanding_of(tx, account.id)
        owed = owed_of(await open_invoices(tx, account.id), await announced_invoices(tx, account.id, now), now)
        home.to_pay = owed.to_pay
        home.on_account = await unallocated_of(tx, account.id)
        limit = account.credit_limit or NOTHING
        home.tiles += [
            Tile("Credit available", money(limit - used), "/account/credit"),
            Tile("Overdue", money(owed.overdue), "/account/invoice?show=overdue", "bad" if owed.overdue else ""),
        ]


def _order_tiles(summary: AccountSummary) -> list[Tile]:
    return [
        Tile("Orders to come", _count(summary.to_dispatch), "/account/order"),
        Tile("Back-ordered", _count(summary.back_ordered), "/account/order?status=Back-ordered"),
        Tile(
            "Quotes to accept", _count(summary.quotes_priced), "/account/quote", "warn" if summary.quotes_priced else ""
        ),
    ]


def _count(number: int) -> str:
    return counted(number, MOST_COUNTED)
