"""Credits what came back with a return."""

from collections import Counter
from datetime import datetime

from tradecounter.billing.issue_credit_note import credit_units
from tradecounter.billing.queries.credit_notes import credited_of, invoiced_lines
from tradecounter.billing.queries.ledger import invoices_of_order, lock_account
from tradecounter.billing.reseller_wire import CreditNote
from tradecounter.billing.rules import Billed
from tradecounter.db.transaction import Transaction
from tradecounter.letterhead.seller import Letterhead
from tradecounter.ordering.queries.lines import lines_of_order
from tradecounter.ordering.queries.returns import lines_of_returns, returns_of_orders
from tradecounter.ordering.returns.find_return import the_return
from tradecounter.ordering.returns.receive_return import Units, credit_returned_units, receive_return
from tradecounter.ordering.returns.wire import return_number


async def receive_and_credit(
    tx: Transaction, number: str, restocked: Units, scrapped: Units, letterhead: Letterhead, now: datetime
) -> list[CreditNote]:
    """Receive units of a return, and credit all its received units that are invoiced and not credited yet.

    Units of a line that were credited without a return count as those that came back, so none is credited twice.

    Raises DomainError as `receive_return` and `issue_credit_note` do.
    """
    found = await the_return(tx, number)
    await lock_account(tx, found.customer_id)
    await receive_return(tx, number, restocked, scrapped, now)
    [lines] = (await lines_of_returns(tx, [found.id])).values()
    if not any(line.uncredited for line in lines):
        return []
    before = await _credited_without_return(tx, found.order_id)
    units = Counter(await credit_returned_units(tx, number, now)) - before
    reason = f"Return {return_number(found.id)}: {found.reason}"
    return await credit_units(tx, found.order_id, units, reason, letterhead, now)


async def _credited_without_return(tx: Transaction, order_id: int) -> Counter[int]:
    """Return the units on credit notes that no return accounts for, by line id."""
    noted: Counter[int] = Counter()
    for invoice in await invoices_of_order(tx, order_id):
        credited = await credited_of(tx, invoice.invoice)
        for line in await invoiced_lines(tx, invoice.invoice):
            if line.line_id is not None:
                noted[line.line_id] += credited.get(line.position, Billed()).units
    returned: Counter[int] = Counter()
    return_ids = (await returns_of_orders(tx, [order_id]))[order_id]
    for came_back in (await lines_of_returns(tx, return_ids)).values():
        for unit in came_back:
            returned[unit.line_id] += unit.credited
    # A return accounts for units that were not invoiced as well; these are on no credit note.
    returned -= Counter({line.id: line.unbilled for line in await lines_of_order(tx, order_id)})
    return noted - returned
