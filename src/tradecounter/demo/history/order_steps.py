"""Steps of orders, quotes and returns in the demo's history."""

from datetime import datetime

from msgspec import Struct

from tradecounter.billing.credit_return import receive_and_credit
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found
from tradecounter.orders.add_note import add_note
from tradecounter.orders.confirm_order import confirm_order
from tradecounter.orders.expire_orders import expire_orders
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.returns.open_return import open_return
from tradecounter.returns.queries.returns import returns_of_orders
from tradecounter.returns.receive_return import close_return, receive_return
from tradecounter.returns.requests import Receipt, ReceivedUnits, ReturnedUnits, ReturnRequest
from tradecounter.returns.wire import return_number
from tradecounter.sandbox.steps import Reseller, lines_of


class Accepted(Struct, frozen=True):
    """The customer accepts a quote."""

    async def __call__(self, tx: Transaction, code: str, reseller: Reseller, now: datetime) -> None:
        quote = await fetch_order(tx, code)
        await confirm_order(tx, quote.customer_id, code, None, reseller.policy, now)


class Noted(Struct, frozen=True):
    """Support adds a note."""

    text: str

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        await add_note(tx, (await fetch_order(tx, code)).name, self.text, now)


class Expired(Struct, frozen=True):
    """The worker lets orders and quotes expire."""

    async def __call__(self, tx: Transaction, _code: str, _reseller: Reseller, now: datetime) -> None:
        await expire_orders(tx, now)


class Returned(Struct, frozen=True):
    """Support opens a return of some units of the first line."""

    units: int
    reason: str

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        [first, *_] = await lines_of(tx, code)
        units = ReturnedUnits(first.id, min(self.units, first.quantity))
        await open_return(tx, code, ReturnRequest([units], self.reason), now)


class Received(Struct, frozen=True):
    """The warehouse receives the returned units, for sale again or as scrap."""

    units: int
    restock: bool = True

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        items = await _returned_units(tx, code, self.units, restock=self.restock)
        await receive_return(tx, await _return_of(tx, code), items, now)


class ReceivedAndCredited(Struct, frozen=True):
    """The returned units come back and are credited, which closes the return."""

    units: int
    restock: bool = True

    async def __call__(self, tx: Transaction, code: str, reseller: Reseller, now: datetime) -> None:
        items = await _returned_units(tx, code, self.units, restock=self.restock)
        await receive_and_credit(tx, await _return_of(tx, code), Receipt(items, credit=True), reseller.letterhead, now)


class GivenUp(Struct, frozen=True):
    """Support closes a return whose units never came back."""

    async def __call__(self, tx: Transaction, code: str, _reseller: Reseller, now: datetime) -> None:
        await close_return(tx, await _return_of(tx, code), now)


async def _return_of(tx: Transaction, code: str) -> str:
    order = await fetch_order(tx, code)
    found = (await returns_of_orders(tx, [order.id])).get(order.id)
    if not found:
        raise not_found("return of order", code)
    return return_number(found[-1])


async def _returned_units(tx: Transaction, code: str, units: int, *, restock: bool) -> list[ReceivedUnits]:
    [first, *_] = await lines_of(tx, code)
    came_back = min(units, first.quantity)
    return [ReceivedUnits(first.id, restock=came_back) if restock else ReceivedUnits(first.id, scrap=came_back)]
