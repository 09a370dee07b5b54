"""Steps of orders, quotes and returns in the demo's history."""

from dataclasses import dataclass
from datetime import datetime

from tradecounter.billing.credit_return import receive_and_credit
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.demo.place_orders import Market
from tradecounter.demo.steps import Reseller, Step
from tradecounter.kit.errors import not_found
from tradecounter.orders.add_note import add_note
from tradecounter.orders.back_orders.adjust_stock import Adjustment, adjust_stock
from tradecounter.orders.confirm_order import confirm_order
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.queries.lines import lines_of_order
from tradecounter.orders.requests import QuotedItem, QuotePrice
from tradecounter.orders.units import NamedUnits
from tradecounter.orders.withdraw_order import expire_orders
from tradecounter.quotes.decline_quote import decline_quote
from tradecounter.quotes.price_quote import price_quote
from tradecounter.returns.open_return import open_return
from tradecounter.returns.queries.returns import returns_of_orders
from tradecounter.returns.receive_return import close_return, receive_return
from tradecounter.returns.requests import Receipt, ReceivedUnits, ReturnedUnits, ReturnRequest
from tradecounter.returns.wire import return_number
from tradecounter.shipments.dispatch_order import dispatch_order
from tradecounter.shipments.requests import DispatchRequest


@dataclass(frozen=True, slots=True)
class Trader(Reseller):
    """A reseller with the data needed to place and confirm orders."""

    market: Market


@dataclass(frozen=True, slots=True)
class Accepted(Step):
    """The customer accepts a quote."""

    async def _apply(self, tx: Transaction, code: str, reseller: Reseller, now: datetime) -> None:
        if not isinstance(reseller, Trader):
            raise TypeError("only a trader can accept quotes")
        account = await fetch_account(tx, (await fetch_order(tx, code)).customer_id)
        await confirm_order(tx, code, None, reseller.market.context(account, reseller.policy, now, code))


@dataclass(frozen=True, slots=True)
class Noted(Step):
    """Support adds a note."""

    text: str

    async def _apply(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        await add_note(tx, (await fetch_order(tx, code)).name, self.text, now)


@dataclass(frozen=True, slots=True)
class Discounted(Step):
    """Support prices a quote with a discount in per cent."""

    percent: int
    note: str

    async def _apply(self, tx: Transaction, code: str, reseller: Reseller, now: datetime) -> None:
        lines = await _lines(tx, code)
        costs = [(line.sku, round(line.unit_cost * (100 - self.percent) / 100, 2)) for line in lines]
        lifetime = reseller.policy.quote_lifetime
        price = QuotePrice(items=[QuotedItem(*cost) for cost in costs], note=self.note, force=True)
        await price_quote(tx, code, price, now, lifetime, reseller.secret)


@dataclass(frozen=True, slots=True)
class Declined(Step):
    """Support declines a quote."""

    reason: str

    async def _apply(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        await decline_quote(tx, code, self.reason, now)


@dataclass(frozen=True, slots=True)
class Expired(Step):
    """The worker lets orders and quotes expire."""

    async def _apply(self, tx: Transaction, _code: str, _reseller: Reseller, now: datetime) -> None:
        await expire_orders(tx, now)


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfDispatched(Step):
    """The warehouse dispatches the first unit of the first line."""

    tracking: str

    async def _apply(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        [first, *_] = await _lines(tx, code)
        request = DispatchRequest(items=[NamedUnits(first.id, 1)], tracking_number=self.tracking)
        await dispatch_order(tx, code, request, now)


@dataclass(frozen=True, slots=True)
class Supplied(Step):
    """A supplier delivers the order's back-ordered units."""

    async def _apply(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        missing: dict[str, int] = {}
        for line in await _lines(tx, code):
            for part in line.components or (line,):
                if part.back_ordered:
                    missing[part.sku] = missing.get(part.sku, 0) + part.back_ordered
        reason = "Delivery from the supplier"
        await adjust_stock(tx, [Adjustment(sku=sku, change=n, reason=reason) for sku, n in missing.items()], now)


@dataclass(frozen=True, slots=True)
class Returned(Step):
    """Support opens a return of some units of the first line."""

    units: int
    reason: str

    async def _apply(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        [first, *_] = await _lines(tx, code)
        units = ReturnedUnits(first.id, min(self.units, first.quantity))
        await open_return(tx, code, ReturnRequest([units], self.reason), now)


@dataclass(frozen=True, slots=True)
class Received(Step):
    """The warehouse receives the returned units, for sale again or as scrap."""

    units: int
    restock: bool = True

    async def _apply(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        items = await _returned_units(tx, code, self.units, restock=self.restock)
        await receive_return(tx, await _return_of(tx, code), items, now)


@dataclass(frozen=True, slots=True)
class ReceivedAndCredited(Step):
    """The returned units come back and are credited, which closes the return."""

    units: int
    restock: bool = True

    async def _apply(self, tx: Transaction, code: str, reseller: Reseller, now: datetime) -> None:
        items = await _returned_units(tx, code, self.units, restock=self.restock)
        await receive_and_credit(tx, await _return_of(tx, code), Receipt(items, credit=True), reseller.letterhead, now)


@dataclass(frozen=True, slots=True)
class GivenUp(Step):
    """Support closes a return whose units never came back."""

    async def _apply(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        await close_return(tx, await _return_of(tx, code), now)


async def _return_of(tx: Transaction, code: str) -> str:
    order = await fetch_order(tx, code)
    found = (await returns_of_orders(tx, [order.id])).get(order.id)
    if not found:
        raise not_found("return of order", code)
    return return_number(found[-1])


async def _returned_units(tx: Transaction, code: str, units: int, *, restock: bool) -> list[ReceivedUnits]:
    [first, *_] = await _lines(tx, code)
    came_back = min(units, first.quantity)
    return [ReceivedUnits(first.id, restock=came_back) if restock else ReceivedUnits(first.id, scrap=came_back)]


async def _lines(tx: Transaction, code: str) -> list[OrderLine]:
    return await lines_of_order(tx, (await fetch_order(tx, code)).id)
